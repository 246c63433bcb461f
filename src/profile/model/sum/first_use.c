// SPDX-License-Identifier: Apache-2.0
// First use: calls that are slow only because they are the first (creating the context, loading
// modules, growing pools). They are joined with the marks of compilation.
//
// A runtime call that neither synchronises nor copies is a first use if it takes 20 ms or more and
// is either 20 times the median of its name and among the first 5% of its calls, or one of the
// first eight where the name occurs at most 15 times. A name whose calls are always slow doesn't
// count: an allocator without a cache frees memory slowly in every step.
//
// TensorFlow prepares a traced function (placement, graph optimization) within the first call of
// that trace, before it records any of its execution: that stretch is a first use if it takes 1 ms
// or more.
//
// Method: names with a call that long are rare, and only their calls are collected.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "profile/model/analysis.h"
#include "profile/model/median.h"

#define SLOW_NS (20 * STK_MS)
#define TIMES_MEDIAN 20
#define FIRST_PERCENT 5
#define RARE_CALLS 15
#define RARE_FIRST 8
#define READY_NS (1 * STK_MS)

struct call {
    int64_t start_ns, dur_ns;
    uint32_t event, name;
};

static bool is_candidate(const struct stk_analysis *a, uint32_t event)
{
    const uint32_t not_first_use = STK_NAME_SYNC | STK_NAME_COPY_CALL | STK_NAME_BLOCKING_COPY;
    return a->t->kind[event] == STK_KIND_RUNTIME && !(stk_class_of(a, event) & not_first_use);
}

// Names that have a slow call: slow[id] is set.
static bool mark_slow_names(const struct stk_analysis *a, uint8_t *slow)
{
    const struct stk_trace *t = a->t;
    bool any = false;
    for (uint32_t k = 0; k < t->track_count; k++) {
        if (!a->threads[k].in_rank) {
            continue;
        }
        for (uint32_t e = t->tracks[k].first; e < t->tracks[k].first + t->tracks[k].count; e++) {
            if (t->dur_low[e] >= SLOW_NS && is_candidate(a, e)) {
                slow[t->name[e]] = 1, any = true;
            }
        }
    }
    return any;
}

static bool collect(const struct stk_analysis *a, const uint8_t *slow, struct stk_vec *calls)
{
    const struct stk_trace *t = a->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        if (!a->threads[k].in_rank) {
            continue;
        }
        for (uint32_t e = t->tracks[k].first; e < t->tracks[k].first + t->tracks[k].count; e++) {
            if (!slow[t->name[e]] || !is_candidate(a, e)) {
                continue;
            }
            struct call *c = stk_vec_push(calls);
            if (!c) {
                return false;
            }
            *c = (struct call){t->start_ns[e], stk_dur_ns(t, e), e, t->name[e]};
        }
    }
    return true;
}

STK_ORDER(by_name_and_time, struct call, STK_UP(name) STK_UP(start_ns) STK_UP(event))

// The calls of one name, in time order.
static bool judge_name(const struct call *c, size_t n, int64_t *durs, struct stk_vec *marks)
{
    for (size_t i = 0; i < n; i++) {
        durs[i] = c[i].dur_ns;
    }
    int64_t median = stk_median_low(durs, n);
    for (size_t i = 0; i < n; i++) {
        bool rare = n <= RARE_CALLS && i < RARE_FIRST;
        bool among_first = i * 100 < n * FIRST_PERCENT && c[i].dur_ns / TIMES_MEDIAN >= median;
        if (c[i].dur_ns < SLOW_NS || !(rare || among_first)) {
            continue;
        }
        struct stk_mark *m = stk_vec_push(marks);
        if (!m) {
            return false;
        }
        *m = (struct stk_mark){c[i].start_ns, c[i].start_ns + c[i].dur_ns, c[i].event};
    }
    return true;
}

static bool judge_all(struct stk_vec *calls, struct stk_vec *marks)
{
    struct call *c = calls->items;
    int64_t *durs = stk_alloc_array(calls->count + 1, sizeof *durs);
    bool ok = durs != NULL;
    stk_sort(c, calls->count, sizeof *c, by_name_and_time);
    for (size_t i = 0, end; i < calls->count && ok; i = end) {
        for (end = i + 1; end < calls->count && c[end].name == c[i].name;) {
            end++;
        }
        ok = judge_name(c + i, end - i, durs, marks);
    }
    stk_free(durs);
    return ok;
}

// When a call begins to run the function's nodes; INT64_MAX: not recorded inside it.
static int64_t runs_ns(const struct stk_analysis *a, const struct stk_mark *call)
{
    const struct stk_trace *t = a->t;
    const struct stk_track *row = &t->tracks[stk_track_of(t, call->event)];
    uint32_t end = row->first + row->count;
    for (uint32_t e = call->event + 1; e < end && t->start_ns[e] < call->end_ns; e++) {
        if (stk_class_of(a, e) & (STK_NAME_GRAPH_NODE | STK_NAME_MODEL_OP)) {
            return t->start_ns[e];
        }
    }
    return INT64_MAX;
}

// First calls of TensorFlow's traced functions. `seen` has a zero byte per string id.
static bool add_first_traces(const struct stk_analysis *a, uint8_t *seen, struct stk_vec *marks)
{
    for (size_t i = 0; i < a->step_events.count; i++) {
        const struct stk_mark *call = &a->step_events.v[i];
        uint8_t *known = &seen[a->t->name[call->event]];
        if (!(stk_class_of(a, call->event) & STK_NAME_FUNCTION) || *known) {
            continue;
        }
        *known = 1;
        int64_t end_ns = runs_ns(a, call);
        if (end_ns == INT64_MAX || end_ns - call->start_ns < READY_NS) {
            continue;
        }
        struct stk_mark *m = stk_vec_push(marks);
        if (!m) {
            return false;
        }
        *m = (struct stk_mark){call->start_ns, end_ns, call->event};
    }
    return true;
}

enum stoker_status stk_first_use_find(struct stk_analysis *a, struct stoker_err *err)
{
    struct stk_vec calls, marks;
    stk_vec_init(&calls, sizeof(struct call), UINT32_MAX);
    stk_vec_init(&marks, sizeof(struct stk_mark), UINT32_MAX);
    uint8_t *slow = stk_alloc_zero((size_t)a->t->strings.count + 1, 1);
    bool ok = slow != NULL;
    if (ok && mark_slow_names(a, slow)) {
        ok = collect(a, slow, &calls) && judge_all(&calls, &marks);
        memset(slow, 0, (size_t)a->t->strings.count + 1);
    }
    ok = ok && add_first_traces(a, slow, &marks);
    // Compile marks and first uses are one set.
    for (size_t i = 0; i < a->compiles.count && ok; i++) {
        struct stk_mark *m = stk_vec_push(&marks);
        ok = m != NULL;
        if (ok) {
            *m = a->compiles.v[i];
        }
    }
    stk_free(slow);
    stk_vec_deinit(&calls);
    if (!ok) {
        stk_vec_deinit(&marks);
        return stk_err_nomem(err);
    }
    stk_free(a->compiles.v);
    a->compiles = (struct stk_marks){marks.items, marks.count};
    stk_marks_flatten(&a->compiles);
    return STOKER_OK;
}
