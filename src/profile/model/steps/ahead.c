// SPDX-License-Identifier: Apache-2.0
// A JAX loop launches its steps and runs ahead of the work until a queue is full or a result is
// read. Without a device, a step is then as long as its launch, and the step that waits contains
// the work of many: it is no outlier.
//
// Method: XLA runs programs on threads other than the loop's for half of the long steps. It also
// runs some at the ends of half of the usual steps, or hardly any during them. Limits: a long step
// with work of its own (an evaluation with jitted functions) looks the same, unless a name shows
// what it is.
#include "base/alloc.h"
#include "profile/model/steps/ahead.h"

#define BUSY 2    // 1/BUSY of the long steps' time, and of the ends of others, has programs
#define HARDLY 20 // programs run for at most 1/HARDLY of the usual steps' time
#define PAUSE_NS (50 * STK_US) // between two programs of one step

// JAX's short programs leave only the events of their operations.
static bool collect_programs(const struct stk_analysis *a, struct stk_spans *runs)
{
    bool is_jax = a->t->framework_hint & (1u << STK_FW_JAX);
    uint32_t work = is_jax ? STK_NAME_XLA_RUN | STK_NAME_MODEL_OP : STK_NAME_XLA_RUN;
    for (uint32_t row = 0; row < a->t->track_count; row++) {
        const struct stk_track *k = &a->t->tracks[row];
        if (!a->threads[row].in_rank || a->threads[row].root == a->driver) {
            continue;
        }
        for (uint32_t e = k->first; e < k->first + k->count; e++) {
            if (!(stk_class_of(a, e) & work)) {
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

// Do the steps other than the long ones leave their work to later steps?
static bool leave_work(const struct stk_analysis *a, const struct stk_spans *runs,
                       const uint32_t *at, uint32_t count)
{
    uint32_t busy = 0, others = 0, next = 0;
    int64_t work_ns = 0, others_ns = 0;
    for (uint32_t i = 0; i + 1 < a->step_count; i++) {
        if (next < count && at[next] == i) {
            next++;
            continue;
        }
        int64_t end_ns = a->steps[i].end_ns;
        others++;
        others_ns += end_ns - a->steps[i].start_ns;
        work_ns += stk_spans_overlap(runs, a->steps[i].start_ns, end_ns);
        busy += stk_spans_overlap(runs, end_ns - PAUSE_NS, end_ns) > 0 &&
                stk_spans_overlap(runs, end_ns, end_ns + PAUSE_NS) > 0;
    }
    return others > 0 && (BUSY * busy >= others || work_ns <= others_ns / HARDLY);
}

bool stk_steps_run_ahead(const struct stk_analysis *a, const uint32_t *at, uint32_t count,
                         bool *ahead)
{
    *ahead = false;
    if (a->driver == STK_NONE || a->sum->device_count > 0 || count == 0) {
        return true;
    }
    struct stk_spans runs;
    stk_spans_init(&runs);
    bool ok = collect_programs(a, &runs);
    int64_t long_ns = 0, busy_ns = 0;
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct stk_host_step *s = &a->steps[at[i]];
        long_ns += s->end_ns - s->start_ns;
        busy_ns += stk_spans_overlap(&runs, s->start_ns, s->end_ns);
    }
    *ahead = ok && busy_ns >= long_ns / BUSY && leave_work(a, &runs, at, count);
    stk_spans_deinit(&runs);
    return ok;
}
