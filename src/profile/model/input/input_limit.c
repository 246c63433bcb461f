// SPDX-License-Identifier: Apache-2.0
// What the stages of an input pipeline could deliver, and which of them limits it.
//
// Method: stages that one thread runs one after the other make a section; a stage's own workers are
// a section too. All sections work for the same batches. So the slowest is the one that is busy
// longest (its work divided by the threads that share it), and its stage with the most work is the
// limit.
// Limits: sections compete for the same cores; speeding one up may slow another down.
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/input/input_stages.h"

#define FETCH_SHARE 2 // a fetch counts as waiting if workers are busy for 1 / this of it

double stk_input_stage_capacity(const struct stk_input_stage *s)
{
    if (s->self_ns <= 0 || s->elements <= 0 || s->parallelism <= 0) {
        return -1;
    }
    return (double)s->elements * (double)s->parallelism * 1e9 / (double)s->self_ns;
}

static int64_t wall_of(const struct stk_input_stage *s)
{
    return s->parallelism > 1 ? s->self_ns / s->parallelism : s->self_ns;
}

// A section has the number of the stage whose workers run it: the stages that they call, and their
// functions.
struct sections {
    int64_t *wall_ns;
    uint32_t count; // of stages
};

static uint32_t consumer(const struct sections *x)
{
    return 2 * x->count;
}

static uint32_t section_of(const struct sections *x, const struct stk_input_sums *sums, uint32_t i)
{
    const struct stk_input_stage *s = &sums->stages[i];
    if (s->is_pipeline && s->is_async) {
        return x->count + i;
    }
    if (s->is_pipeline) {
        return s->section == STK_NONE ? consumer(x) : s->section;
    }
    return s->is_on_consumer ? consumer(x) : consumer(x) + 1;
}

bool stk_input_fetch_waits(const struct stk_input_stage *s, const struct stk_input_workers *w)
{
    return !s->is_pipeline && s->kind == STK_INPUT_FETCH &&
           (w->has_pipeline || w->wall_ns > s->self_ns / FETCH_SHARE);
}

int64_t stk_input_worker_time(const struct stk_input_stage *s)
{
    return s->is_pipeline || s->is_on_consumer ? 0 : wall_of(s);
}

struct stk_input_workers stk_input_workers_of(const struct stk_input_sums *sums)
{
    struct stk_input_workers w = {.wall_ns = 0};
    for (uint32_t i = 0; i < sums->stage_count; i++) {
        const struct stk_input_stage *s = &sums->stages[i];
        w.has_pipeline |= s->is_pipeline && s->calls > 0;
        w.wall_ns = stk_add_ns(w.wall_ns, stk_input_worker_time(s));
    }
    return w;
}

bool stk_input_takes_turns(const struct stk_input_sums *sums, uint32_t a, uint32_t b)
{
    struct sections x = {.count = sums->stage_count};
    return section_of(&x, sums, a) == section_of(&x, sums, b);
}

bool stk_input_stages_limit(const struct stk_input_sums *sums, uint32_t *stage)
{
    struct sections x = {.count = sums->stage_count};
    struct stk_input_workers workers = {.has_pipeline = false};
    *stage = STK_NONE;
    x.wall_ns = stk_alloc_zero(2 * (size_t)x.count + 2, sizeof *x.wall_ns);
    if (!x.wall_ns) {
        return false;
    }
    for (uint32_t i = 0; i < x.count; i++) {
        uint32_t at = section_of(&x, sums, i);
        workers.has_pipeline |= sums->stages[i].is_pipeline && sums->stages[i].calls > 0;
        x.wall_ns[at] = stk_add_ns(x.wall_ns[at], wall_of(&sums->stages[i]));
    }
    workers.wall_ns = x.wall_ns[consumer(&x) + 1];
    int64_t best_ns = 0, most_ns = 0;
    for (uint32_t i = 0; i < x.count; i++) {
        const struct stk_input_stage *s = &sums->stages[i];
        int64_t wall_ns = x.wall_ns[section_of(&x, sums, i)];
        if (s->self_ns <= 0 || stk_input_fetch_waits(s, &workers)) {
            continue;
        }
        if (wall_ns < best_ns || (wall_ns == best_ns && wall_of(s) <= most_ns)) {
            continue;
        }
        best_ns = wall_ns;
        most_ns = wall_of(s);
        *stage = i;
    }
    stk_free(x.wall_ns);
    return true;
}
