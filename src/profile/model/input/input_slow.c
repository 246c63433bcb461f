// SPDX-License-Identifier: Apache-2.0
// The stage that keeps the others waiting, for ranks that wait for their input: what `stoker stats
// input` calls limiting, kept with the rank's summary so that the report can name it.
#include <string.h>

#include "base/assert.h"
#include "profile/model/input/input_kinds.h"
#include "profile/model/input/input_stages.h"

#define LEAST_SHARE 0.3 // of the work of all stages, its thread's other stages included
#define CLOSE 0.8       // of the limiting stage's work

// Do the batches come from a buffer that other threads fill, with only bookkeeping in between?
static bool is_buffered(const struct stk_input_sums *sums)
{
    for (uint32_t i = 0; i < sums->stage_count; i++) {
        const struct stk_input_stage *s = &sums->stages[i];
        bool is_last = s->is_pipeline && s->kind == STK_INPUT_BUFFER;
        for (uint32_t up = s->parent; is_last && up != STK_NONE; up = sums->stages[up].parent) {
            enum stk_input_kind kind = sums->stages[up].kind;
            is_last = kind == STK_INPUT_BUFFER || kind == STK_INPUT_CONTROL ||
                      kind == STK_INPUT_TRANSFER || kind == STK_INPUT_FETCH;
        }
        if (is_last) {
            return true;
        }
    }
    return false;
}

static bool is_alone(const struct stk_input_stage *s)
{
    return s->is_pipeline && s->parallelism <= 1 && !s->is_async;
}

// Another stage of the pipeline on the limiting stage's thread, with about as much work: once one
// of them is fixed, the other is the limit. STK_NONE: none.
static uint32_t close_behind(const struct stk_input_sums *sums, uint32_t limiting)
{
    const struct stk_input_stage *slow = &sums->stages[limiting];
    uint32_t best = STK_NONE;
    for (uint32_t i = 0; i < sums->stage_count && slow->is_pipeline && slow->parallelism <= 1;
         i++) {
        const struct stk_input_stage *s = &sums->stages[i];
        if (i != limiting && is_alone(s) && stk_input_takes_turns(sums, i, limiting) &&
            (double)s->self_ns >= CLOSE * (double)slow->self_ns &&
            (best == STK_NONE || s->self_ns > sums->stages[best].self_ns)) {
            best = i;
        }
    }
    return best;
}

// Another stage of the pipeline, on its own threads, with more total work than the limiting one: on
// few CPU cores, work counts more than who waits for whom. STK_NONE: none.
static uint32_t more_beside(const struct stk_input_sums *sums, uint32_t limiting)
{
    const struct stk_input_stage *slow = &sums->stages[limiting];
    uint32_t best = STK_NONE;
    for (uint32_t i = 0; i < sums->stage_count && slow->is_pipeline; i++) {
        const struct stk_input_stage *s = &sums->stages[i];
        if (s->is_pipeline && s->parallelism > 1 && s->kind != STK_INPUT_BUFFER &&
            s->self_ns > slow->self_ns &&
            (best == STK_NONE || s->self_ns > sums->stages[best].self_ns)) {
            best = i;
        }
    }
    return best;
}

// Batches are split before the limiting stage, on its thread, and each row continues alone.
static bool is_taken_apart(const struct stk_input_sums *sums, uint32_t limiting)
{
    for (uint32_t i = 0; i < sums->stage_count; i++) {
        const struct stk_input_stage *s = &sums->stages[i];
        if (s->is_pipeline && stk_input_takes_turns(sums, i, limiting) &&
            strncmp(stk_input_stage_itself(s->name), "Unbatch", strlen("Unbatch")) == 0) {
            return true;
        }
    }
    return false;
}

// window() and flat_map over sources in memory (tensors, numbers). A window's source is in its
// path, so any other source reads files, or is Python.
static bool is_windowed(const struct stk_input_sums *sums, uint32_t limiting)
{
    bool has_window = false;
    for (uint32_t i = 0; i < sums->stage_count; i++) {
        const struct stk_input_stage *s = &sums->stages[i];
        const char *stage = stk_input_stage_itself(s->name);
        if (!s->is_pipeline) {
            continue;
        }
        bool spreads = strncmp(stage, "FlatMap", strlen("FlatMap")) == 0 ||
                       strstr(stage, "Interleave") != NULL;
        if (s->kind == STK_INPUT_READ && !spreads && !stk_input_is_in_memory(s->name)) {
            return false;
        }
        has_window |= strcmp(stage, "Window") == 0 && strstr(s->name, "::FlatMap::") &&
                      stk_input_takes_turns(sums, i, limiting);
    }
    return has_window && strstr(sums->stages[limiting].name, "::FlatMap");
}

// Work of a stage and of those that share its thread.
static int64_t work_in_turn(const struct stk_input_sums *sums, uint32_t stage)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < sums->stage_count; i++) {
        ns = stk_input_takes_turns(sums, i, stage) ? stk_add_ns(ns, sums->stages[i].self_ns) : ns;
    }
    return ns;
}

enum stoker_status stk_input_slow_find(struct stk_analysis *a, struct stoker_err *err)
{
    STK_ASSERT(a->t && a->sum);
    void *partial = NULL;
    uint32_t at;
    enum stoker_status status = stk_input_stages_see(a, &a->scratch, &partial, err);
    if (status != STOKER_OK) {
        return status;
    }
    const struct stk_input_sums *sums = partial;
    if (!stk_input_stages_limit(sums, &at)) {
        return stk_err_nomem(err);
    }
    if (at == STK_NONE) {
        return STOKER_OK;
    }
    const struct stk_input_stage *s = &sums->stages[at];
    int64_t all_ns = 0;
    for (uint32_t i = 0; i < sums->stage_count; i++) {
        all_ns = stk_add_ns(all_ns, sums->stages[i].self_ns);
    }
    double share = all_ns > 0 ? (double)s->self_ns / (double)all_ns : 0;
    // The stage is the limit, but what the step waits for isn't in the profile.
    if ((double)work_in_turn(sums, at) < LEAST_SHARE * (double)all_ns) {
        return STOKER_OK;
    }
    a->sum->slow_stage = (struct stk_slow_stage){
        .stage = stk_arena_strndup(a->out, s->name, strlen(s->name)),
        .kind = stk_input_kind_key(s->kind),
        .is_pipeline = s->is_pipeline,
        .is_async = s->is_async,
        .is_fetch = s->kind == STK_INPUT_FETCH,
        .is_buffered = is_buffered(sums),
        .is_taken_apart = is_taken_apart(sums, at),
        .is_windowed = is_windowed(sums, at),
        .self_ns = s->self_ns,
        .elements = s->elements,
        .parallelism = s->parallelism,
        .share = share,
    };
    struct stk_slow_stage *slow = &a->sum->slow_stage;
    uint32_t next = close_behind(sums, at);
    if (next == STK_NONE) {
        next = more_beside(sums, at);
        slow->next_is_beside = next != STK_NONE;
    }
    if (next != STK_NONE) {
        const char *name = sums->stages[next].name;
        slow->next = stk_arena_strndup(a->out, name, strlen(name));
        slow->next_kind = stk_input_kind_key(sums->stages[next].kind);
    }
    return slow->stage && (next == STK_NONE || slow->next) ? STOKER_OK : stk_err_nomem(err);
}
