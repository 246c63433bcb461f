// SPDX-License-Identifier: Apache-2.0
// Trials; see attempt.h.
#include "job/tune/attempt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

struct stk_tune_tried *stk_attempt_row(struct stk_tuning *t, const struct stk_candidate *c,
                                       const char *value)
{
    STK_ASSERT(strlen(value) < STK_TUNE_VALUE);
    struct stk_tune_tried *tried = stk_vec_push(&t->tune->tried);
    if (tried) {
        tried->choice.fix = c->fix;
        tried->saving = c->saving;
        tried->is_priced = c->is_priced;
        tried->state = STK_TUNE_SKIPPED;
        snprintf(tried->choice.value, sizeof tried->choice.value, "%s", value);
    }
    return tried;
}

void stk_attempt_decide(struct stk_tuning *t, struct stk_tune_tried *tried,
                        enum stk_tune_state state, const char *why)
{
    tried->state = state;
    tried->is_decided = true;
    if (why) {
        snprintf(tried->why, sizeof tried->why, "%s", why);
    }
    stk_tune_tell(t, "", tried);
}

bool stk_attempt_is_aside(const struct stk_rep_fix *fix)
{
    return fix->is_general || fix->is_of_start;
}

static void explain(const struct stk_tune_pairs *p, char *why)
{
    double change = 100 * (p->result.estimate - 1);
    const char *word = change < 0 ? "less" : "more";
    if (p->count < STK_PAIRED_MIN) {
        snprintf(why, STK_TUNE_WHY, "%.1f%% %s time in %d pair%s", fabs(change), word, p->count,
                 p->count > 1 ? "s" : "");
    } else if (p->result.verdict == STK_PAIRED_CANNOT_TELL) {
        snprintf(why, STK_TUNE_WHY, "cannot tell after %d pairs: %+.1f to %+.1f%% of the time",
                 p->count, 100 * (p->result.low - 1), 100 * (p->result.high - 1));
    } else {
        double low = 100 * (p->result.low - 1), high = 100 * (p->result.high - 1);
        snprintf(why, STK_TUNE_WHY, "%.1f%% %s time [%.0f, %.0f], %d pairs", fabs(change), word,
                 change < 0 ? -high : low, change < 0 ? -low : high, p->count);
    }
}

// Whether the job learns the same; if not, sets why.
static bool learns_the_same(struct stk_tuning *t, struct stk_tune_tried *tried,
                            const struct stk_bounded *with, enum stk_tune_changes changes)
{
    struct stk_tune *tune = t->tune;
    tried->losses =
        stk_losses_compare(&tune->original[0].facts.losses, &tune->original[1].facts.losses,
                           &with->facts.losses, changes);
    tried->has_losses = true;
    if (tried->losses.numerics == STK_NUMERICS_DIFFER) {
        snprintf(
            tried->why, sizeof tried->why,
            "rejected: from step %lld on, losses differ by %.2g%%, more than two runs without it",
            (long long)tried->losses.step, 100 * tried->losses.off);
        return false;
    }
    return true;
}

// Extends the chain from the unchanged job to the job with all kept fixes.
static void lengthen(struct stk_tune_chain *chain, const struct stk_tune_pairs *p)
{
    STK_ASSERT(p->looked == p->count);
    struct stk_paired *all = &chain->ratio;
    if (!chain->pairs) {
        *all = (struct stk_paired){.low = 1, .estimate = 1, .high = 1};
        chain->before_s = stk_tune_middle(p->a_s, p->count);
    }
    all->low *= p->strict.low;
    all->estimate *= p->strict.estimate;
    all->high *= p->strict.high;
    all->verdict = all->high < 1 && all->estimate <= 1 - STK_TUNE_GAIN ? STK_PAIRED_FASTER
                                                                       : STK_PAIRED_CANNOT_TELL;
    chain->pairs += p->count;
    chain->start_more_s +=
        stk_tune_middle(p->b_start_s, p->count) - stk_tune_middle(p->a_start_s, p->count);
}

void stk_attempt_keep_set(struct stk_tuning *t, const struct stk_tune_pairs *p,
                          const struct stk_tune_set *set)
{
    STK_ASSERT(set->count > 0);
    STK_ASSERT(p->looked >= STK_PAIRED_MIN);
    struct stk_tune *tune = t->tune;
    double gone_s = stk_tune_middle(p->a_s, p->count) - stk_tune_middle(p->b_s, p->count);
    tune->kept = *set;
    tune->kept_s = stk_tune_middle(p->b_s, p->count);
    // From here on all runs have the fix and are faster, so more of them fit in the budget.
    tune->run_s =
        fmax(tune->run_s / 10, tune->run_s - gone_s * (double)(tune->warmup + tune->steps));
    tune->verdict_ns = stk_clock_ns() - t->begun_ns;
    lengthen(&tune->chain, p);
    stk_advice_answer(&tune->advice, set);
}

static void keep(struct stk_tuning *t, struct stk_tune_tried *tried, const struct stk_tune_pairs *p,
                 const struct stk_bounded *with, const struct stk_tune_set *set)
{
    struct stk_tune *tune = t->tune;
    if (!tried->choice.fix->is_of_start) {
        stk_attempt_keep_set(t, p, set);
    }
    stk_attempt_decide(t, tried, STK_TUNE_KEPT, NULL);
    stk_facts_set(&tune->facts, tried->choice.fix->id, tried->choice.value);
    stk_candidates_after(t->found, tried->choice.fix, p->result.estimate, with->wait_share);
}

bool stk_attempt_is_lost_in_noise(const struct stk_tune_tried *tried)
{
    return tried->pairs >= STK_PAIRED_MIN && !stk_attempt_is_aside(tried->choice.fix) &&
           tried->ratio.verdict == STK_PAIRED_CANNOT_TELL &&
           tried->ratio.estimate < 1 - STK_TUNE_GAIN;
}

// The search ended during the pairs: by the budget, or from outside.
static void leave_unfinished(struct stk_tuning *t, struct stk_tune_tried *tried, const char *how)
{
    size_t n = strlen(tried->why);
    tried->is_unfinished = true;
    snprintf(tried->why + n, sizeof tried->why - n, "%s%s before it could be proved",
             n ? ", and " : "", how);
    stk_attempt_decide(t, tried, STK_TUNE_SKIPPED, NULL);
}

static void judge_pairs(struct stk_tuning *t, struct stk_tune_tried *tried,
                        const struct stk_tune_pairs *p, const struct stk_bounded *with,
                        const struct stk_tune_set *set, enum stk_tune_patience patience)
{
    STK_ASSERT(p->count > 0);
    bool is_faster = p->count >= STK_PAIRED_MIN && p->result.verdict == STK_PAIRED_FASTER &&
                     p->result.estimate <= 1 - STK_TUNE_GAIN;
    if (is_faster && !learns_the_same(t, tried, with, stk_tune_changes_of(set))) {
        stk_attempt_decide(t, tried, STK_TUNE_FAILED, NULL);
    } else if (is_faster) {
        keep(t, tried, p, with, set);
    } else if (p->is_spent && p->count < STK_PAIRED_MIN) {
        t->tune->is_over_budget =
            t->tune->is_over_budget || !stk_attempt_is_aside(tried->choice.fix);
        leave_unfinished(t, tried, "the budget ran out");
    } else if (stk_attempt_is_lost_in_noise(tried) && patience == STK_TUNE_FIRST) {
        tried->is_put_off = true; // it gets the budget that the others leave
    } else {
        bool is_worse = p->result.estimate > 1 + STK_TUNE_GAIN &&
                        (p->count < STK_PAIRED_MIN || p->result.low > 1);
        t->tune->is_unclear = t->tune->is_unclear || stk_attempt_is_lost_in_noise(tried);
        stk_attempt_decide(t, tried, is_worse ? STK_TUNE_WORSE : STK_TUNE_NO_EFFECT, NULL);
    }
}

// Fixes that shorten the start keep something for the next run: this is the run before.
static enum stoker_status fill_cache(struct stk_tuning *t, const struct stk_tune_set *set,
                                     struct stoker_err *err)
{
    struct stk_bounded m;
    stk_tune_tell(t, ", a first run", NULL);
    enum stoker_status status = stk_tune_try(t, set, 1, &m, err);
    stk_bounded_free(&m);
    return status;
}

enum stoker_status stk_attempt_one(struct stk_tuning *t, struct stk_tune_tried *tried, int most,
                                   enum stk_tune_patience patience, struct stoker_err *err)
{
    struct stk_bounded with;
    struct stk_tune_pairs p = {.first = &with};
    struct stk_tune_set set = stk_tune_with(&t->tune->kept, &tried->choice);
    bool is_of_start = tried->choice.fix->is_of_start;
    const struct stk_tune_match match = {&t->tune->kept, &set, most, patience, is_of_start};
    stk_tune_label(&tried->choice, t->what);
    enum stoker_status status = is_of_start ? fill_cache(t, &set, err) : STOKER_OK;
    if (status == STOKER_OK) {
        status = stk_tune_pair_up(t, &match, &p, err);
    }
    if (p.count && !p.has_failed) {
        tried->ratio = p.result;
        tried->pairs = p.count;
        explain(&p, tried->why);
    }
    if (status != STOKER_OK) {
        leave_unfinished(t, tried, "the search ended");
    } else if (p.has_failed) {
        bool is_skipped = strncmp(p.why, "not applied", 11) == 0;
        stk_attempt_decide(t, tried, is_skipped ? STK_TUNE_SKIPPED : STK_TUNE_FAILED, p.why);
    } else if (p.is_put_off) {
        tried->is_put_off = true;
    } else {
        judge_pairs(t, tried, &p, &with, &set, patience);
    }
    if (p.has_first) {
        stk_bounded_free(&with);
    }
    return status;
}

// One run with a value; its time if the fix was applied.
static enum stoker_status screen_one(struct stk_tuning *t, struct stk_tune_tried *value,
                                     double *step_s, struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    struct stk_bounded m;
    struct stk_tune_set set = stk_tune_with(&tune->kept, &value->choice);
    char why[STK_TUNE_WHY];
    stk_tune_label(&value->choice, t->what);
    stk_tune_tell(t, ", a first run", NULL);
    enum stoker_status status = stk_tune_try(t, &set, stk_tune_together(&set), &m, err);
    *step_s = 0;
    if (status == STOKER_OK && m.has_failed) {
        stk_attempt_decide(t, value, STK_TUNE_FAILED, m.why);
    } else if (status == STOKER_OK && !stk_tune_took_hold(&set, &m, why)) {
        stk_attempt_decide(t, value, STK_TUNE_SKIPPED, why);
    } else if (status == STOKER_OK) {
        *step_s = m.step_s;
        if (stk_tune_is_same(&set, &tune->strong)) {
            tune->strong_s = m.step_s;
            tune->strong_runs = 1;
        }
    }
    stk_bounded_free(&m);
    return status;
}

static enum stoker_status screen(struct stk_tuning *t, struct stk_tune_tried **values, int count,
                                 struct stk_tune_tried **best, struct stoker_err *err)
{
    STK_ASSERT(count > 1 && count <= STK_TUNE_VALUES);
    double best_s = 0, times[STK_TUNE_VALUES] = {0};
    *best = NULL;
    for (int i = 0; i < count; i++) {
        enum stoker_status status = screen_one(t, values[i], &times[i], err);
        if (status != STOKER_OK) {
            return status;
        }
        if (times[i] > 0 && (!*best || times[i] < best_s)) {
            *best = values[i];
            best_s = times[i];
        }
    }
    for (int i = 0; i < count; i++) {
        if (times[i] > 0 && values[i] != *best) {
            char why[STK_TUNE_WHY];
            snprintf(why, sizeof why, "takes %.0f%% longer than %.200s, in one run each",
                     100 * (times[i] / best_s - 1), (*best)->choice.value);
            stk_attempt_decide(t, values[i], STK_TUNE_NO_EFFECT, why);
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_attempt_values(struct stk_tuning *t, const struct stk_candidate *c,
                                      const struct stk_tune_values *v, struct stoker_err *err)
{
    struct stk_tune_tried *values[STK_TUNE_VALUES] = {NULL}, *best = NULL;
    enum stoker_status status = STOKER_OK;
    for (int i = 0; i < v->count; i++) {
        values[i] = stk_attempt_row(t, c, v->at[i]);
        if (!values[i]) {
            return stk_err_nomem(err);
        }
    }
    best = v->count ? values[0] : NULL;
    if (v->count > 1) {
        status = screen(t, values, v->count, &best, err);
    }
    return status == STOKER_OK && best
               ? stk_attempt_one(t, best, STK_TUNE_PAIRS, STK_TUNE_FIRST, err)
               : status;
}
