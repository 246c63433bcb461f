// SPDX-License-Identifier: Apache-2.0
// A loop of JAX launches its steps and runs ahead of the work until a queue is full or a result is
// read. Without a device, a step's length is then that of launching it, and the step that waits
// holds the work of many: it is not longer than they are together.
//
// Method: the usual step is far shorter than the mean one, and while the long ones last, XLA runs
// programs on threads other than the loop's. Limits: a long step that launches work of its own, an
// evaluation with jitted functions, looks alike unless a name says what it is.
#include "base/alloc.h"
#include "profile/model/steps/ahead.h"

#define HANDS_OVER 4 // the mean step is as many times as long as one that only launches
#define BUSY 2       // programs run for 1/BUSY of the long steps' time at least

static bool collect_programs(const struct stk_analysis *a, struct stk_spans *runs)
{
    for (uint32_t row = 0; row < a->t->track_count; row++) {
        const struct stk_track *k = &a->t->tracks[row];
        if (!a->threads[row].in_rank || a->threads[row].root == a->driver) {
            continue;
        }
        for (uint32_t e = k->first; e < k->first + k->count; e++) {
            if (!(stk_class_of(a, e) & (STK_NAME_XLA_RUN | STK_NAME_MODEL_OP))) {
                continue;
            }
            if (!stk_spans_reserve(runs, runs->count + 1)) {
                return false;
            }
            runs->v[runs->count++] = (struct stk_span){a->t->start_ns[e], stk_end_ns(a->t, e)};
        }
    }
    stk_spans_normalize(runs);
    return true;
}

bool stk_steps_run_ahead(const struct stk_analysis *a, const uint32_t *at, uint32_t count,
                         int64_t usual_ns, bool *ahead)
{
    const struct stk_host_step *steps = a->steps;
    *ahead = false;
    if (a->driver == STK_NONE || a->sum->device_count > 0 || count == 0 ||
        !(a->t->framework_hint & (1u << STK_FW_JAX)) ||
        usual_ns >
            (steps[a->step_count - 1].end_ns - steps[0].start_ns) / a->step_count / HANDS_OVER) {
        return true;
    }
    struct stk_spans runs;
    stk_spans_init(&runs);
    bool ok = collect_programs(a, &runs);
    int64_t long_ns = 0, busy_ns = 0;
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct stk_host_step *s = &steps[at[i]];
        long_ns += s->end_ns - s->start_ns;
        busy_ns += stk_spans_overlap(&runs, s->start_ns, s->end_ns);
    }
    *ahead = ok && busy_ns >= long_ns / BUSY;
    stk_spans_deinit(&runs);
    return ok;
}
