// SPDX-License-Identifier: Apache-2.0
// A Python loop within each step that calls the same few TensorFlow operations one by one: moves of
// a game, time steps. The number of rounds shows how much one round does, and whether a tf.function
// of it would be worth its call.
//
// Method: of the operations with at least ROUNDS_LEAST calls a step, the least frequent gives the
// number of rounds. All others of these must be called a whole number of times per round, and few
// operations may be left over. One pass over the events.
// Limit: two loops with different numbers of rounds aren't found.
#include <math.h>

#include "base/alloc.h"
#include "profile/model/analysis.h"

#define ROUNDS_LEAST 16.0 // a step
#define LEFT_MOST 0.1     // of all operations may be outside of rounds
#define OFF_MOST 0.05     // from a whole number of calls a round: some are outside the loop

static uint64_t rounds_of(const uint32_t *counts, uint32_t names, double steps, uint64_t all)
{
    uint32_t rounds = UINT32_MAX;
    for (uint32_t id = 0; id < names; id++) {
        if ((double)counts[id] >= ROUNDS_LEAST * steps && counts[id] < rounds) {
            rounds = counts[id];
        }
    }
    uint64_t inside = 0;
    for (uint32_t id = 0; id < names && rounds != UINT32_MAX; id++) {
        if (counts[id] < rounds) {
            continue;
        }
        double each = (double)counts[id] / (double)rounds, whole = round(each);
        if (fabs(each - whole) > OFF_MOST * whole) {
            return 0;
        }
        inside += counts[id];
    }
    return (double)inside >= (1 - LEFT_MOST) * (double)all && inside > 0 ? rounds : 0;
}

bool stk_eager_rounds_count(struct stk_analysis *a)
{
    const struct stk_trace *t = a->t;
    double steps = a->step_count;
    if (a->step_count == 0 ||
        (double)a->sum->facts.signs[STK_SIGN_EAGER_OP].count < ROUNDS_LEAST * steps) {
        return true;
    }
    uint32_t *counts = stk_alloc_zero((size_t)t->strings.count + 1, sizeof *counts);
    uint64_t all = 0;
    for (uint32_t k = 0; counts && k < t->track_count; k++) {
        const struct stk_track *row = &t->tracks[k];
        for (uint32_t e = row->first; a->threads[k].in_rank && e < row->first + row->count; e++) {
            if (t->kind[e] == STK_KIND_HOST_OP && a->signs[t->name[e]] == STK_SIGN_EAGER_OP + 1) {
                counts[t->name[e]]++;
                all++;
            }
        }
    }
    if (counts) {
        a->sum->facts.eager_rounds = rounds_of(counts, t->strings.count, steps, all);
    }
    stk_free(counts);
    return counts != NULL;
}
