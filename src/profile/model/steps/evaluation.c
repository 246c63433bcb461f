// SPDX-License-Identifier: Apache-2.0
// Steps that evaluate: they run the model forward at least twice as often as the other steps, and
// backward no more often. The forward passes are most of the extra time.
//
// Method: of each step, how many outermost operators the driving thread runs outside of the
// backward pass and the optimizer, and how many nodes of the backward pass any thread runs; a step
// is compared with the median of those that aren't long. Names show which is which (phases.def).
// Limits: this only works for frameworks whose driving thread runs the operators itself (PyTorch).
// One evaluation batch per training batch isn't noticed.
#include <string.h>

#include "base/alloc.h"
#include "profile/model/analysis.h"
#include "profile/model/median.h"
#include "profile/model/phase_names.h"
#include "profile/model/steps/evaluated.h"
#include "profile/model/steps/evaluation.h"

#define TIMES 2  // as many forward operators as in a usual step
#define MOSTLY 2 // at least 1/MOSTLY of the step's extra time

#define UNKNOWN 0xff

struct passes {
    int64_t *forward, *backward; // counts by step
    int64_t *forward_ns;         // time of the forward ones
    uint8_t *phases;             // by string id: bits of enum stk_phase, or UNKNOWN
};

static uint8_t phases_of(const struct stk_analysis *a, struct passes *p, uint32_t event)
{
    uint8_t *bits = &p->phases[a->t->name[event]];
    if (*bits == UNKNOWN) {
        *bits = stk_phases_of_name(stk_name_of(a->t, event));
    }
    return *bits;
}

static void count_row(const struct stk_analysis *a, uint32_t row, bool is_driver, struct passes *p)
{
    const struct stk_track *k = &a->t->tracks[row];
    int64_t end_ns = INT64_MIN;
    uint32_t at = 0;
    for (uint32_t e = k->first; e < k->first + k->count; e++) {
        if (!(stk_class_of(a, e) & STK_NAME_MODEL_OP) || a->t->start_ns[e] < end_ns) {
            continue;
        }
        end_ns = stk_end_ns(a->t, e);
        uint32_t step = stk_step_at(a, a->t->start_ns[e], &at);
        if (step == STK_NONE) {
            continue;
        }
        uint8_t phases = phases_of(a, p, e);
        if (phases >> STK_PHASE_BACKWARD & 1) {
            p->backward[step]++;
        } else if (is_driver && !(phases >> STK_PHASE_OPTIMIZER & 1)) {
            p->forward[step]++;
            p->forward_ns[step] += stk_dur_ns(a->t, e);
        }
    }
}

// The median of the steps that aren't long; `room` has space for all steps.
static int64_t usual(const struct stk_analysis *a, const int64_t *count, const bool *is_long,
                     int64_t *room)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!is_long[i]) {
            room[n++] = count[i];
        }
    }
    return n ? stk_nth_value(room, n, n / 2) : 0;
}

static void compare(const struct stk_analysis *a, const struct passes *p, int64_t usual_ns,
                    bool *is_long, int64_t *room)
{
    int64_t forward = usual(a, p->forward, is_long, room);
    int64_t backward = usual(a, p->backward, is_long, room);
    int64_t forward_ns = usual(a, p->forward_ns, is_long, room);
    for (uint32_t i = 0; i < a->step_count; i++) {
        int64_t more_ns = a->steps[i].end_ns - a->steps[i].start_ns - usual_ns;
        is_long[i] = is_long[i] && forward > 0 && backward > 0 &&
                     p->forward[i] / TIMES >= forward && p->backward[i] < TIMES * backward &&
                     p->forward_ns[i] - forward_ns >= more_ns / MOSTLY;
    }
}

bool stk_evaluating_steps(const struct stk_analysis *a, int64_t usual_ns, bool *is_long)
{
    uint32_t n = a->step_count;
    size_t strings = a->t->strings.count;
    struct passes p = {.forward = stk_alloc_zero(n, sizeof *p.forward),
                       .backward = stk_alloc_zero(n, sizeof *p.backward),
                       .forward_ns = stk_alloc_zero(n, sizeof *p.forward_ns),
                       .phases = stk_alloc_array(strings, 1)};
    int64_t *room = stk_alloc_array(n, sizeof *room);
    bool ok = p.forward && p.backward && p.forward_ns && p.phases && room;
    if (ok) {
        memset(p.phases, UNKNOWN, strings);
    }
    for (uint32_t row = 0; ok && row < a->t->track_count; row++) {
        if (a->threads[row].in_rank) {
            count_row(a, row, a->threads[row].root == a->driver, &p);
        }
    }
    if (ok) {
        compare(a, &p, usual_ns, is_long, room);
    }
    stk_free(p.forward);
    stk_free(p.backward);
    stk_free(p.forward_ns);
    stk_free(p.phases);
    stk_free(room);
    return ok;
}
