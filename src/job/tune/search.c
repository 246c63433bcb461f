// SPDX-License-Identifier: Apache-2.0
// The search; see tune.h.
#include "base/assert.h"
#include "job/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "job/tune/baseline.h"
#include "job/tune/candidates.h"
#include "job/tune/last_proof.h"
#include "job/tune/pairs.h"
#include "job/tune/tree_memory.h"

static struct stk_tune_tried *add_tried(struct stk_tuning *t, const struct stk_candidate *c,
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

static void decide(struct stk_tuning *t, struct stk_tune_tried *tried, enum stk_tune_state state,
                   const char *why)
{
    tried->state = state;
    if (why) {
        snprintf(tried->why, sizeof tried->why, "%s", why);
    }
    stk_tune_tell(t, "", tried);
}

// Why a fix is not tried at all; false: it is.
static bool is_out(struct stk_tuning *t, const struct stk_candidate *c, char *why)
{
    const struct stk_tune *tune = t->tune;
    enum stk_framework of_job = tune->facts.framework;
    enum stk_framework of_fix = c->fix->framework;
    bool is_theirs = of_fix == STK_FW_ANY || of_fix == of_job ||
                     (of_fix == STK_FW_TENSORFLOW && of_job == STK_FW_JAX &&
                      stk_facts_get(&tune->facts, "tfdata.last")) ||
                     (of_fix == STK_FW_PYTORCH && of_job == STK_FW_JAX &&
                      stk_facts_get(&tune->facts, "torch.dataloader.num_workers") &&
                      strncmp(c->fix->id, "torch.dataloader", 16) == 0);
    if (!is_theirs || !stk_tune_is_asked(t->plan->only, c->fix)) {
        why[0] = 0; // another framework's, or not asked for: not worth a line
        return true;
    }
    if (c->fix->changes == STK_CHANGES_NUMERICS && !t->plan->allows_numerics) {
        snprintf(why, STK_TUNE_WHY, "it changes what is computed; --allow numerics tries it");
        return true;
    }
    if (c->saving >= 0 && c->saving < STK_TUNE_GAIN && !c->fix->is_of_start) {
        snprintf(why, STK_TUNE_WHY, "it could save %.1f%% of a step at most", 100 * c->saving);
        return true;
    }
    return false;
}

// Whether a step may have nothing to gain though nobody can tell of this fix: nothing in the
// profile points at it, or it shortens the start alone.
static bool is_aside(const struct stk_rep_fix *fix)
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

// Whether the job learns the same; says so, and why not.
static bool learns_the_same(struct stk_tuning *t, struct stk_tune_tried *tried,
                            const struct stk_bounded *with, enum stk_tune_changes changes)
{
    struct stk_tune *tune = t->tune;
    tried->losses =
        stk_losses_compare(&tune->original[0].facts.losses, &tune->original[1].facts.losses,
                           &with->facts.losses, changes);
    tried->has_losses = true;
    if (tried->losses.numerics == STK_NUMERICS_DIFFER) {
        snprintf(tried->why, sizeof tried->why,
                 "refused: from step %lld on losses are off by %.2g%%, outside of two runs without",
                 (long long)tried->losses.step, 100 * tried->losses.off);
        return false;
    }
    return true;
}

static void keep(struct stk_tuning *t, struct stk_tune_tried *tried, const struct stk_tune_pairs *p,
                 const struct stk_bounded *with, const struct stk_tune_set *set)
{
    STK_ASSERT(set->count > 0);
    struct stk_tune *tune = t->tune;
    decide(t, tried, STK_TUNE_KEPT, NULL);
    if (!tried->choice.fix->is_of_start) {
        tune->kept = *set;
        tune->kept_s = stk_tune_middle(p->b_s, p->count);
    }
    stk_facts_set(&tune->facts, tried->choice.fix->id, tried->choice.value);
    stk_candidates_after(t->found, tried->choice.fix, p->result.estimate, with->wait_share);
}

// Whether it may gain, and pairs could not tell that from noise.
static bool is_lost_in_noise(const struct stk_tune_tried *tried)
{
    return tried->pairs >= STK_PAIRED_MIN && !is_aside(tried->choice.fix) &&
           tried->ratio.verdict == STK_PAIRED_CANNOT_TELL &&
           tried->ratio.estimate < 1 - STK_TUNE_GAIN;
}

static void judge_pairs(struct stk_tuning *t, struct stk_tune_tried *tried,
                        const struct stk_tune_pairs *p, const struct stk_bounded *with,
                        const struct stk_tune_set *set, enum stk_tune_patience patience)
{
    STK_ASSERT(p->count > 0);
    bool is_faster = p->count >= STK_PAIRED_MIN && p->result.verdict == STK_PAIRED_FASTER &&
                     p->result.estimate <= 1 - STK_TUNE_GAIN;
    tried->pairs = p->count;
    tried->ratio = p->result;
    explain(p, tried->why);
    if (is_faster && !learns_the_same(t, tried, with, stk_tune_changes_of(set))) {
        decide(t, tried, STK_TUNE_FAILED, NULL);
    } else if (is_faster) {
        keep(t, tried, p, with, set);
    } else if (is_lost_in_noise(tried) && patience == STK_TUNE_FIRST) {
        tried->is_put_off = true; // what is left of the budget behind the others is its own
    } else {
        bool is_worse = p->result.estimate > 1 + STK_TUNE_GAIN &&
                        (p->count < STK_PAIRED_MIN || p->result.low > 1);
        t->tune->is_unclear = t->tune->is_unclear || is_lost_in_noise(tried);
        decide(t, tried, is_worse ? STK_TUNE_WORSE : STK_TUNE_NO_EFFECT, NULL);
    }
}

// What shortens the start keeps something from one run for the next: this is the one before.
static enum stoker_status fill_cache(struct stk_tuning *t, const struct stk_tune_set *set,
                                     struct stoker_err *err)
{
    struct stk_bounded m;
    stk_tune_tell(t, ", a first run", NULL);
    enum stoker_status status = stk_tune_try(t, set, 1, &m, err);
    stk_bounded_free(&m);
    return status;
}

static enum stoker_status try_one(struct stk_tuning *t, struct stk_tune_tried *tried, int most,
                                  enum stk_tune_patience patience, struct stoker_err *err)
{
    struct stk_bounded with;
    struct stk_tune_pairs p = {.first = &with};
    struct stk_tune_set set = stk_tune_with(&t->tune->kept, &tried->choice);
    bool is_of_start = tried->choice.fix->is_of_start;
    enum stoker_status status = is_of_start ? fill_cache(t, &set, err) : STOKER_OK;
    if (status != STOKER_OK) {
        return status;
    }
    status = stk_tune_pair_up(t, &t->tune->kept, &set, most, patience, is_of_start, &p, err);
    tried->is_put_off = p.is_put_off;
    if (status == STOKER_OK && p.has_failed) {
        bool is_skipped = strncmp(p.why, "not applied", 11) == 0;
        decide(t, tried, is_skipped ? STK_TUNE_SKIPPED : STK_TUNE_FAILED, p.why);
    } else if (status == STOKER_OK && p.is_put_off) {
        tried->ratio = p.result;
        tried->pairs = p.count;
        explain(&p, tried->why);
    } else if (status == STOKER_OK) {
        judge_pairs(t, tried, &p, &with, &set, patience);
    }
    if (p.has_first) {
        stk_bounded_free(&with);
    }
    return status;
}

// Of several values the best in one run each; the others are decided.
static enum stoker_status screen(struct stk_tuning *t, struct stk_tune_tried **values, int count,
                                 struct stk_tune_tried **best, struct stoker_err *err)
{
    STK_ASSERT(count > 1);
    double best_s = 0, times[STK_TUNE_VALUES] = {0};
    *best = NULL;
    for (int i = 0; i < count; i++) {
        struct stk_bounded m;
        struct stk_tune_set set = stk_tune_with(&t->tune->kept, &values[i]->choice);
        stk_tune_label(&values[i]->choice, t->what);
        stk_tune_tell(t, ", a first run", NULL);
        enum stoker_status status = stk_tune_try(t, &set, stk_tune_together(&set), &m, err);
        char why[STK_TUNE_WHY];
        if (status == STOKER_OK && m.has_failed) {
            decide(t, values[i], STK_TUNE_FAILED, m.why);
        } else if (status == STOKER_OK && !stk_tune_took_hold(&set, &m, why)) {
            decide(t, values[i], STK_TUNE_SKIPPED, why);
        } else if (status == STOKER_OK) {
            times[i] = m.step_s;
            if (!*best || m.step_s < best_s) {
                *best = values[i];
                best_s = m.step_s;
            }
        }
        stk_bounded_free(&m);
        if (status != STOKER_OK) {
            return status;
        }
    }
    for (int i = 0; i < count; i++) {
        if (times[i] > 0 && values[i] != *best) {
            char why[STK_TUNE_WHY];
            snprintf(why, sizeof why, "%.0f%% more time than with %.200s, in one run each",
                     100 * (times[i] / best_s - 1), (*best)->choice.value);
            decide(t, values[i], STK_TUNE_NO_EFFECT, why);
        }
    }
    return STOKER_OK;
}

static enum stoker_status try_values(struct stk_tuning *t, const struct stk_candidate *c,
                                     const struct stk_tune_values *v, struct stoker_err *err)
{
    struct stk_tune_tried *values[STK_TUNE_VALUES] = {NULL}, *best = NULL;
    enum stoker_status status = STOKER_OK;
    for (int i = 0; i < v->count; i++) {
        values[i] = add_tried(t, c, v->at[i]);
        if (!values[i]) {
            return stk_err_nomem(err);
        }
    }
    best = v->count ? values[0] : NULL;
    if (v->count > 1) {
        status = screen(t, values, v->count, &best, err);
    }
    if (status == STOKER_OK && best) {
        stk_tune_label(&best->choice, t->what);
        status = try_one(t, best, STK_TUNE_PAIRS, STK_TUNE_FIRST, err);
    }
    return status;
}

// What the last proof needs of the budget, once there is something to prove; the proof of what is
// kept at the very end comes on top.
static double proof_s(const struct stk_tune *tune)
{
    return tune->kept.count ? 2 * STK_PAIRED_MIN * tune->run_s : 0;
}

// The same, and two runs of the strong baseline before it.
static double reserve_s(const struct stk_tune *tune)
{
    return tune->kept.count ? proof_s(tune) + 2 * tune->run_s : 0;
}

static enum stoker_status try_candidate(struct stk_tuning *t, const struct stk_candidate *c,
                                        struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    struct stk_tune_values v = {.count = 0};
    char why[STK_TUNE_WHY] = "";
    bool skips = is_out(t, c, why);
    if (skips && !why[0]) {
        return STOKER_OK;
    }
    if (!skips || c->fix->changes == STK_CHANGES_NUMERICS) {
        stk_tune_values(c->fix, &tune->facts,
                        &v); // a reason of the job's own goes before the general one
        if (!v.count) {
            snprintf(why, sizeof why, "%s", v.why);
            skips = true;
        }
    }
    double left_s = (double)stk_tune_left(t) * 1e-9 - reserve_s(tune);
    double needs_s = 2 * 2 * tune->run_s; // two pairs
    while (v.count > 1 && left_s < needs_s + v.count * tune->run_s) {
        v.count--; // the likeliest stand first
    }
    if (!skips && left_s < needs_s) {
        snprintf(why, sizeof why, "the budget was spent before its turn (--budget)");
        tune->is_over_budget = tune->is_over_budget || !is_aside(c->fix);
        skips = true;
    }
    if (!skips) {
        return try_values(t, c, &v, err);
    }
    struct stk_tune_tried *tried = add_tried(t, c, "");
    if (!tried) {
        return stk_err_nomem(err);
    }
    decide(t, tried, STK_TUNE_SKIPPED, why);
    return STOKER_OK;
}

// Of what was put off the one that promised most; NULL: nothing was.
static struct stk_tune_tried *next_put_off(const struct stk_tune *tune)
{
    struct stk_tune_tried *all = tune->tried.items, *best = NULL;
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (all[i].is_put_off && (!best || all[i].ratio.estimate < best->ratio.estimate)) {
            best = &all[i];
        }
    }
    return best;
}

// One that had two pairs, and no time for more: what promises less than a gain is none, as after
// all of its pairs. What had all of its pairs stays as they left it.
static void leave_put_off(struct stk_tuning *t, struct stk_tune_tried *tried)
{
    char why[STK_TUNE_WHY];
    t->tune->is_unclear = t->tune->is_unclear || is_lost_in_noise(tried);
    if (tried->ratio.estimate > 1 - STK_TUNE_GAIN || is_lost_in_noise(tried)) {
        decide(t, tried, STK_TUNE_NO_EFFECT, NULL);
        return;
    }
    snprintf(why, sizeof why, "%.200s, and the budget was spent before it could be proved",
             tried->why);
    t->tune->is_over_budget = t->tune->is_over_budget || !is_aside(tried->choice.fix);
    decide(t, tried, STK_TUNE_SKIPPED, why);
}

// Of a second turn: more than of the first where that one had all of its pairs, as many as fit.
static int most_pairs(const struct stk_tune *tune, const struct stk_tune_tried *tried,
                      double left_s)
{
    double fit = tried->pairs >= STK_PAIRED_MIN ? left_s / (2 * tune->run_s) : 0;
    return fit < STK_TUNE_PAIRS        ? STK_TUNE_PAIRS
           : fit > STK_TUNE_PAIRS_MOST ? STK_TUNE_PAIRS_MOST
                                       : (int)fit;
}

// Anew, on top of what is kept by now.
static enum stoker_status try_put_off(struct stk_tuning *t, struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    struct stk_tune_tried *next;
    enum stoker_status status = STOKER_OK;
    while (status == STOKER_OK && (next = next_put_off(tune))) {
        double left_s = (double)stk_tune_left(t) * 1e-9 - reserve_s(tune);
        next->is_put_off = false;
        if (left_s < 2 * STK_PAIRED_MIN * tune->run_s) {
            leave_put_off(t, next);
            continue;
        }
        stk_tune_label(&next->choice, t->what);
        status = try_one(t, next, most_pairs(tune, next, left_s), STK_TUNE_SECOND, err);
    }
    return status;
}

static void conclude(struct stk_tune *tune)
{
    if (tune->has_proof && tune->proof.verdict == STK_PAIRED_FASTER) {
        tune->verdict = STK_TUNE_FASTER;
    } else if (tune->has_proof && tune->proof.verdict == STK_PAIRED_NO_DIFFERENCE) {
        tune->verdict = STK_TUNE_NOTHING;
    } else if (!tune->has_proof && !tune->is_unclear && !tune->is_over_budget) {
        tune->verdict = STK_TUNE_NOTHING;
    } else {
        tune->verdict = STK_TUNE_CANNOT_TELL;
    }
}

enum stoker_status stk_tune_run(const struct stk_tune_plan *plan, struct stk_tune *tune,
                                struct stoker_err *err)
{
    STK_ASSERT(plan->argv && plan->argv[0]);
    STK_ASSERT(plan->folder);
    struct stk_candidates found = {.count = 0};
    struct stk_tuning t = {.plan = plan, .tune = tune, .begun_ns = stk_clock_ns()};
    *tune = (struct stk_tune){.warmup = plan->warmup ? plan->warmup : STK_TUNE_WARMUP};
    stk_vec_init(&tune->tried, sizeof(struct stk_tune_tried), STK_TUNE_TRIED);
    stk_facts_init(&tune->facts);
    tune->memory_most = stk_free_memory() / 10 * 9;
    // Pointers to what was tried stay good: the list never moves.
    enum stoker_status status = stk_vec_reserve(&tune->tried, STK_TUNE_TRIED) == 0
                                    ? stk_baseline_measure(&t, &found, err)
                                    : stk_err_nomem(err);
    t.all = found.count;
    t.found = &found;
    struct stk_candidate *next;
    for (; status == STOKER_OK && (next = stk_candidates_next(&found)); t.tried++) {
        // What the profile points at has its second turn before what nothing points at has a first.
        status = is_aside(next->fix) ? try_put_off(&t, err) : STOKER_OK;
        status = status == STOKER_OK ? try_candidate(&t, next, err) : status;
    }
    if (status == STOKER_OK) {
        status = try_put_off(&t, err);
    }
    if (status == STOKER_OK) {
        status = stk_baseline_measure_strong(&t, proof_s(tune), err);
    }
    if (status == STOKER_OK) {
        status = stk_tune_last_proof(&t, err);
    }
    if (status == STOKER_OK) {
        status = stk_baseline_measure_strong(&t, 0, err);
    }
    conclude(tune);
    tune->spent_ns = stk_clock_ns() - t.begun_ns;
    return status;
}

void stk_tune_close(struct stk_tune *tune)
{
    for (int i = 0; i < tune->originals; i++) {
        stk_bounded_free(&tune->original[i]);
    }
    stk_facts_deinit(&tune->facts);
    stk_vec_deinit(&tune->tried);
}
