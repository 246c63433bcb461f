// SPDX-License-Identifier: Apache-2.0
// How long next() of a TensorFlow dataset takes in the job's own loop, beyond the operation that
// returns the batch. The tracer records no Python: around the operation it shows the call from
// Python. After it, it shows nothing while the batch is assembled, and then the deletion of the
// previous batch's tensors, once their names are reused.
//
// Method: each such fetch on the driving thread begins with the call around the operation. It ends
// where the next event begins that doesn't delete a tensor, unless a piece without events is too
// long to count as the host's. O(f) in fetches, with a limit of events for each.
// Limit: short work on a batch before the loop calls TensorFlow again counts as next()'s.
#include "profile/model/analysis.h"

#define SHORT_PIECE_NS (200 * STK_US)
#define LOOKED_MAX 64

static bool is_eager_next(const struct stk_analysis *a, uint32_t event)
{
    return stk_track_of(a->t, event) == a->driver &&
           stk_str_starts(stk_name_of(a->t, event), STK_STR("EagerLocalExecute: IteratorGetNext"));
}

// The outermost call from Python around an operation; the operation itself if none is recorded.
static uint32_t call_around(const struct stk_analysis *a, uint32_t operation)
{
    const struct stk_trace *t = a->t;
    uint32_t first = t->tracks[a->driver].first, call = operation;
    first = operation - first > LOOKED_MAX ? operation - LOOKED_MAX : first;
    for (uint32_t e = operation; e-- > first && t->depth[call] > 0;) {
        if (t->depth[e] >= t->depth[call]) {
            continue;
        }
        struct stk_str name = stk_name_of(t, e);
        if (!stk_str_starts(name, STK_STR("TFE_")) &&
            !stk_str_starts(name, STK_STR("EagerExecute"))) {
            break;
        }
        call = e;
    }
    return call;
}

// When next() has returned, and the previous batch is deleted.
static int64_t returned_ns(const struct stk_analysis *a, uint32_t call)
{
    const struct stk_trace *t = a->t;
    const struct stk_track *row = &t->tracks[a->driver];
    int64_t end_ns = stk_end_ns(t, call), over_ns = end_ns;
    uint32_t last = row->first + row->count;
    last = last - call > LOOKED_MAX ? call + LOOKED_MAX : last;
    for (uint32_t e = call + 1; e < last && t->start_ns[e] - over_ns < SHORT_PIECE_NS; e++) {
        if (t->start_ns[e] < over_ns) {
            continue; // inside
        }
        if (!stk_str_eq(stk_name_of(t, e), STK_STR("TFE_DeleteTensorHandle"))) {
            return t->start_ns[e];
        }
        over_ns = stk_end_ns(t, e);
        end_ns = over_ns;
    }
    return end_ns;
}

void stk_eager_nexts_widen(struct stk_analysis *a)
{
    bool any = false;
    for (size_t i = 0; a->driver != STK_NONE && i < a->fetches.count; i++) {
        struct stk_mark *m = &a->fetches.v[i];
        if (is_eager_next(a, m->event)) {
            uint32_t call = call_around(a, m->event);
            m->start_ns = a->t->start_ns[call];
            m->end_ns = returned_ns(a, call);
            any = true;
        }
    }
    if (any) {
        stk_marks_flatten(&a->fetches);
    }
}
