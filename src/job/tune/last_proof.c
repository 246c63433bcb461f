// SPDX-License-Identifier: Apache-2.0
// The final comparison; see last_proof.h.
#include "job/tune/last_proof.h"

#include "base/assert.h"
#include "base/clock.h"
#include "job/tune/attempt.h"

#include <stdio.h>
#include <string.h>

static void take_over(struct stk_tune *tune, const struct stk_tune_pairs *p)
{
    tune->has_proof = tune->is_last_proof = true;
    tune->proof = p->strict;
    tune->pairs = p->count;
    tune->before_s = stk_tune_middle(p->a_s, p->count);
    tune->after_s = stk_tune_middle(p->b_s, p->count);
    tune->start_more_s =
        stk_tune_middle(p->b_start_s, p->count) - stk_tune_middle(p->a_start_s, p->count);
}

// Drops the fixes that the final comparison doesn't confirm.
static void drop_kept(struct stk_tuning *t)
{
    struct stk_tune *tune = t->tune;
    struct stk_tune_tried *all = tune->tried.items;
    bool is_worse = tune->proof.verdict == STK_PAIRED_SLOWER;
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (all[i].state == STK_TUNE_KEPT && !all[i].choice.fix->is_of_start) {
            size_t n = strlen(all[i].why);
            snprintf(all[i].why + n, sizeof all[i].why - n, "; not in the final comparison");
            stk_attempt_decide(t, &all[i], is_worse ? STK_TUNE_WORSE : STK_TUNE_NO_EFFECT, NULL);
        }
    }
    tune->kept.count = 0;
}

static enum stoker_status prove_kept(struct stk_tuning *t, struct stoker_err *err)
{
    struct stk_tune_set none = {.count = 0};
    struct stk_tune_pairs p = {.first = NULL};
    const struct stk_tune_match match = {&none, &t->tune->kept, STK_TUNE_PAIRS, STK_TUNE_LAST,
                                         false};
    snprintf(t->what, sizeof t->what, "the final comparison");
    enum stoker_status status = stk_tune_pair_up(t, &match, &p, err);
    if (status == STOKER_OK && p.has_failed) {
        return stk_err_set(err, STOKER_EINPUT,
                           "the job with the kept fixes ran before, but failed now: %s", p.why);
    }
    if (status == STOKER_OK) {
        take_over(t->tune, &p);
        t->tune->verdict_ns = stk_clock_ns() - t->begun_ns;
    }
    if (status == STOKER_OK &&
        (p.strict.verdict == STK_PAIRED_SLOWER || p.strict.verdict == STK_PAIRED_NO_DIFFERENCE)) {
        drop_kept(t);
    }
    return status;
}

enum stoker_status stk_tune_last_proof(struct stk_tuning *t, struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    bool is_proved = tune->chain.ratio.verdict == STK_PAIRED_FASTER;
    return tune->kept.count && !is_proved ? prove_kept(t, err) : STOKER_OK;
}
