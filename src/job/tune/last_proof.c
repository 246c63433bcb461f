// SPDX-License-Identifier: Apache-2.0
// The last proof; see last_proof.h.
#include "job/tune/last_proof.h"

#include "base/assert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NOISE_MOST 0.2 // beyond which two runs that are apart are no reason to give a set up

double stk_tune_middle(const double *values, int count)
{
    STK_ASSERT(count > 0 && count <= STK_TUNE_PAIRS_MOST);
    double sorted[STK_TUNE_PAIRS_MOST];
    memcpy(sorted, values, (size_t)count * sizeof sorted[0]);
    return stk_paired_median(sorted, (size_t)count);
}

static struct stk_tune_tried *row_of(struct stk_tune *tune, const struct stk_tune_choice *choice)
{
    struct stk_tune_tried *all = tune->tried.items, *any = NULL;
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (all[i].choice.fix == choice->fix) {
            if (strcmp(all[i].choice.value, choice->value) == 0) {
                return &all[i];
            }
            any = all[i].choice.value[0] ? any : &all[i]; // had no turn, so no value either
        }
    }
    return any;
}

// Whether what the strong baseline has beside what was kept had no turn of its own, or is several
// that may pay together; and nothing of it is known to make the job worse, or was not asked for.
static bool is_untried(struct stk_tune *tune)
{
    int missing = 0, untried = 0;
    for (int i = 0; i < tune->strong.count; i++) {
        const struct stk_tune_tried *row = row_of(tune, &tune->strong.items[i]);
        if (!row || row->state == STK_TUNE_FAILED ||
            (row->state == STK_TUNE_WORSE && row->pairs >= STK_PAIRED_MIN)) {
            return false;
        }
        missing += row->state != STK_TUNE_KEPT;
        untried += row->state == STK_TUNE_SKIPPED;
    }
    return untried > 0 || missing > 1;
}

// Whether two runs of the strong baseline promise more than what was kept.
static bool strong_promises(struct stk_tuning *t)
{
    struct stk_tune *tune = t->tune;
    const struct stk_tune_set *strong = &tune->strong;
    double before_s = tune->kept.count ? tune->kept_s : tune->baseline_s;
    bool is_allowed =
        stk_tune_changes_of(strong) != STK_CHANGES_NUMERICS || t->plan->allows_numerics;
    if (!is_allowed || tune->strong_s <= 0 || !stk_tune_covers(strong, &tune->kept) ||
        !is_untried(tune) ||
        tune->strong_s > before_s * (1 - fmax(STK_TUNE_GAIN, fmin(tune->noise, NOISE_MOST)))) {
        return false;
    }
    double left_s = (double)stk_tune_left(t) * 1e-9;
    bool has_time = tune->kept.count || left_s > 2 * STK_PAIRED_MIN * tune->run_s;
    tune->is_over_budget = tune->is_over_budget || !has_time;
    return has_time; // what was kept is proved beyond the budget, too
}

static void take_over(struct stk_tune *tune, const struct stk_tune_pairs *p)
{
    tune->has_proof = true;
    tune->proof = p->result;
    tune->pairs = p->count;
    tune->before_s = stk_tune_middle(p->a_s, p->count);
    tune->after_s = stk_tune_middle(p->b_s, p->count);
    tune->start_more_s =
        stk_tune_middle(p->b_start_s, p->count) - stk_tune_middle(p->a_start_s, p->count);
}

// What the strong baseline has beside what was kept is kept from now on.
static void keep_strong(struct stk_tuning *t, const struct stk_tune_losses *losses)
{
    struct stk_tune *tune = t->tune;
    for (int i = 0; i < tune->strong.count; i++) {
        struct stk_tune_tried *row = row_of(tune, &tune->strong.items[i]);
        if (row && row->state != STK_TUNE_KEPT) {
            row->choice = tune->strong.items[i];
            row->state = STK_TUNE_KEPT;
            row->losses = *losses;
            row->has_losses = true;
            row->pairs = 0;
            snprintf(row->why, sizeof row->why, "proved together with the others, not alone");
            stk_tune_tell(t, "", row);
        }
    }
    tune->kept = tune->strong;
}

static enum stoker_status prove_strong(struct stk_tuning *t, struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    struct stk_tune_set none = {.count = 0};
    struct stk_bounded with;
    struct stk_tune_pairs p = {.first = &with};
    snprintf(t->what, sizeof t->what, "the last proof, of the strong baseline");
    enum stoker_status status =
        stk_tune_pair_up(t, &none, &tune->strong, STK_TUNE_PAIRS, STK_TUNE_LAST, false, &p, err);
    if (status == STOKER_OK && !p.has_failed && p.result.verdict == STK_PAIRED_FASTER) {
        struct stk_tune_losses losses =
            stk_losses_compare(&tune->original[0].facts.losses, &tune->original[1].facts.losses,
                               &with.facts.losses, stk_tune_changes_of(&tune->strong));
        if (losses.numerics != STK_NUMERICS_DIFFER) {
            take_over(tune, &p);
            keep_strong(t, &losses);
        }
    }
    if (p.has_first) {
        stk_bounded_free(&with);
    }
    return status;
}

static enum stoker_status prove_kept(struct stk_tuning *t, struct stoker_err *err)
{
    struct stk_tune_set none = {.count = 0};
    struct stk_tune_pairs p = {.first = NULL};
    snprintf(t->what, sizeof t->what, "the last proof");
    enum stoker_status status =
        stk_tune_pair_up(t, &none, &t->tune->kept, STK_TUNE_PAIRS, STK_TUNE_LAST, false, &p, err);
    if (status == STOKER_OK && p.has_failed) {
        return stk_err_set(err, STOKER_EINPUT,
                           "the job with what was kept ran before, and failed "
                           "now: %s",
                           p.why);
    }
    if (status == STOKER_OK) {
        take_over(t->tune, &p);
    }
    return status;
}

enum stoker_status stk_tune_last_proof(struct stk_tuning *t, struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    enum stoker_status status = strong_promises(t) ? prove_strong(t, err) : STOKER_OK;
    if (status == STOKER_OK && !tune->has_proof && tune->kept.count) {
        status = prove_kept(t, err);
    }
    if (tune->has_proof && stk_tune_is_same(&tune->strong, &tune->kept)) {
        tune->strong_s = tune->after_s;
    }
    return status;
}
