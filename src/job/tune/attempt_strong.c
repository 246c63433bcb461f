// SPDX-License-Identifier: Apache-2.0
// The strong baseline as one trial; see attempt.h. It shows what its fixes save together even if
// each alone saves nothing (a parallel map without a prefetch), for the runs of one trial.
// Limits: if the set is faster, it isn't known which part is; a slower part isn't seen.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "job/tune/attempt.h"

// Decides all rows of the set's fixes alike.
static enum stoker_status decide_all(struct stk_tuning *t, const struct stk_tune_set *set,
                                     enum stk_tune_state state, const char *why,
                                     const struct stk_tune_losses *losses, struct stoker_err *err)
{
    STK_ASSERT(set->count > 0);
    for (int i = 0; i < set->count; i++) {
        struct stk_candidate *c = stk_candidates_of(t->found, set->items[i].fix);
        struct stk_tune_tried *row = c ? stk_attempt_row(t, c, set->items[i].value) : NULL;
        if (!row) {
            return stk_err_nomem(err);
        }
        c->is_taken = true;
        row->has_losses = losses != NULL;
        row->losses = losses ? *losses : row->losses;
        row->is_unfinished = state == STK_TUNE_SKIPPED;
        stk_attempt_decide(t, row, state, why);
    }
    return STOKER_OK;
}

static enum stoker_status keep_all(struct stk_tuning *t, const struct stk_tune_set *set,
                                   const struct stk_tune_pairs *p, const struct stk_bounded *with,
                                   struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    struct stk_tune_losses losses =
        stk_losses_compare(&tune->original[0].facts.losses, &tune->original[1].facts.losses,
                           &with->facts.losses, stk_tune_changes_of(set));
    if (losses.numerics == STK_NUMERICS_DIFFER) {
        return STOKER_OK; // the trial of each shows which one is at fault
    }
    stk_attempt_keep_set(t, p, set);
    for (int i = 0; i < set->count; i++) {
        stk_facts_set(&tune->facts, set->items[i].fix->id, set->items[i].value);
    }
    stk_candidates_after(t->found, set->items[0].fix, p->result.estimate, with->wait_share);
    return decide_all(t, set, STK_TUNE_KEPT, "proved together with the others, not alone", &losses,
                      err);
}

static enum stoker_status judge(struct stk_tuning *t, const struct stk_tune_set *set,
                                const struct stk_tune_pairs *p, const struct stk_bounded *with,
                                struct stoker_err *err)
{
    char why[STK_TUNE_WHY];
    double change = p->result.estimate - 1;
    if (p->count >= STK_PAIRED_MIN && p->result.verdict == STK_PAIRED_FASTER &&
        change <= -STK_TUNE_GAIN) {
        return keep_all(t, set, p, with, err);
    }
    if (fabs(change) > STK_TUNE_GAIN) {
        return STOKER_OK; // each gets its own turn
    }
    snprintf(why, sizeof why, "%.1f%% %s time together with the others, in %d pairs",
             100 * fabs(change), change < 0 ? "less" : "more", p->count);
    return decide_all(t, set, STK_TUNE_NO_EFFECT, why, NULL, err);
}

enum stoker_status stk_attempt_strong(struct stk_tuning *t, const struct stk_tune_set *set,
                                      struct stoker_err *err)
{
    STK_ASSERT(set->count > 1);
    struct stk_tune *tune = t->tune;
    struct stk_bounded with;
    struct stk_tune_pairs p = {.first = &with};
    struct stk_tune_set none = {.count = 0};
    const struct stk_tune_match match = {&none, set, STK_TUNE_PAIRS, STK_TUNE_SECOND, false};
    snprintf(t->what, sizeof t->what, "the strong baseline");
    enum stoker_status status = stk_tune_pair_up(t, &match, &p, err);
    if (p.count && !p.has_failed) {
        tune->strong_s = stk_tune_middle(p.b_s, p.count);
        tune->strong_runs = p.count;
    }
    if (status == STOKER_OK && p.count && !p.has_failed) {
        status = judge(t, set, &p, &with, err);
    } else if (status != STOKER_OK && p.count) {
        struct stoker_err other; // the first error counts
        char why[STK_TUNE_WHY];
        snprintf(why, sizeof why, "%+.1f%% time together with the others, in %d pair%s",
                 100 * (p.result.estimate - 1), p.count, p.count > 1 ? "s" : "");
        (void)!decide_all(t, set, STK_TUNE_SKIPPED, why, NULL, &other);
    }
    if (p.has_first) {
        stk_bounded_free(&with);
    }
    return status;
}
