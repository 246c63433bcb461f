// SPDX-License-Identifier: Apache-2.0
// The search; see tune.h.
#include "base/assert.h"
#include "job/tune/tune.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "job/tune/attempt.h"
#include "job/tune/baseline.h"
#include "job/tune/last_proof.h"
#include "job/tune/tree_memory.h"

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
        why[0] = 0; // another framework's, or not requested: not worth a line
        return true;
    }
    if (c->fix->changes == STK_CHANGES_NUMERICS && !t->plan->allows_numerics) {
        snprintf(why, STK_TUNE_WHY, STK_TUNE_NUMERICS);
        return true;
    }
    if (c->saving >= 0 && c->saving < STK_TUNE_GAIN && !c->fix->is_of_start) {
        snprintf(why, STK_TUNE_WHY, "it could save %.1f%% of a step at most", 100 * c->saving);
        return true;
    }
    return false;
}

static enum stoker_status skip(struct stk_tuning *t, const struct stk_candidate *c, const char *why,
                               struct stoker_err *err)
{
    struct stk_tune_tried *tried = stk_attempt_row(t, c, "");
    if (!tried) {
        return stk_err_nomem(err);
    }
    stk_attempt_decide(t, tried, STK_TUNE_SKIPPED, why);
    return STOKER_OK;
}

// Whether the fix can be tried on the job, with which values; if not, why ("" if that isn't worth a
// line).
static bool can_try(struct stk_tuning *t, const struct stk_candidate *c, struct stk_tune_values *v,
                    char *why)
{
    why[0] = 0;
    bool is_off = is_out(t, c, why);
    if (is_off && (!why[0] || c->fix->changes != STK_CHANGES_NUMERICS)) {
        return false;
    }
    stk_tune_values(c->fix, &t->tune->facts, v); // the job's own reason comes before a general one
    if (!v->count) {
        snprintf(why, STK_TUNE_WHY, "%s", v->why);
    }
    return v->count && !is_off;
}

static enum stoker_status try_candidate(struct stk_tuning *t, const struct stk_candidate *c,
                                        struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    struct stk_tune_values v = {.count = 0};
    char why[STK_TUNE_WHY];
    if (!can_try(t, c, &v, why)) {
        return why[0] ? skip(t, c, why, err) : STOKER_OK;
    }
    double left_s = (double)stk_tune_left(t) * 1e-9 - stk_tune_reserve_s(tune);
    double needs_s = 2 * 2 * tune->run_s; // two pairs
    while (v.count > 1 && left_s < needs_s + v.count * tune->run_s) {
        v.count--; // the likeliest come first
    }
    if (left_s < needs_s) {
        tune->is_over_budget = tune->is_over_budget || !stk_attempt_is_aside(c->fix);
        return skip(t, c, STK_TUNE_NO_TURN, err);
    }
    return stk_attempt_values(t, c, &v, err);
}

// The fixes of the strong baseline that can be tried on the job.
static struct stk_tune_set strong_to_try(struct stk_tuning *t)
{
    const struct stk_tune_set *strong = &t->tune->strong;
    STK_ASSERT(strong->count >= 0 && strong->count <= STK_TUNE_TOGETHER);
    struct stk_tune_set set = {.count = 0};
    for (int i = 0; i < strong->count; i++) {
        struct stk_candidate *c = stk_candidates_of(t->found, strong->items[i].fix);
        struct stk_tune_values v = {.count = 0};
        char why[STK_TUNE_WHY];
        if (c && can_try(t, c, &v, why)) {
            set = stk_tune_with(&set, &strong->items[i]);
        }
    }
    return set;
}

// The turn of a candidate. If it is one of several of the strong baseline, they are first tried
// together.
static enum stoker_status take_turn(struct stk_tuning *t, struct stk_candidate *next,
                                    struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    struct stk_tune_set set = {.count = 0};
    if (next->fix->is_strong && !t->has_tried_strong && !t->tune->kept.count) {
        set = strong_to_try(t);
        t->has_tried_strong = true;
    }
    if (set.count > 1 && stk_tune_left(t) > (int64_t)(4e9 * t->tune->run_s)) {
        next->is_taken = false; // if they decide nothing, its own turn comes next
        return stk_attempt_strong(t, &set, err);
    }
    status = try_candidate(t, next, err);
    t->tried++;
    return status;
}

// The most promising fix that was put off; NULL: none.
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

// For a fix with two pairs and no time for more: less than a gain counts as no gain, as it would
// after all pairs. A fix with all pairs keeps its result.
static void leave_put_off(struct stk_tuning *t, struct stk_tune_tried *tried)
{
    char why[STK_TUNE_WHY];
    t->tune->is_unclear = t->tune->is_unclear || stk_attempt_is_lost_in_noise(tried);
    if (tried->ratio.estimate > 1 - STK_TUNE_GAIN || stk_attempt_is_lost_in_noise(tried)) {
        stk_attempt_decide(t, tried, STK_TUNE_NO_EFFECT, NULL);
        return;
    }
    snprintf(why, sizeof why, "%.200s, but the budget ran out before it could be proved",
             tried->why);
    t->tune->is_over_budget = t->tune->is_over_budget || !stk_attempt_is_aside(tried->choice.fix);
    tried->is_unfinished = true;
    stk_attempt_decide(t, tried, STK_TUNE_SKIPPED, why);
}

// Pairs of a second turn: if the first turn had all of its pairs, as many as fit in the budget.
static int most_pairs(const struct stk_tune *tune, const struct stk_tune_tried *tried,
                      double left_s)
{
    double fit = tried->pairs >= STK_PAIRED_MIN ? left_s / (2 * tune->run_s) : 0;
    return fit < STK_TUNE_PAIRS        ? STK_TUNE_PAIRS
           : fit > STK_TUNE_PAIRS_MOST ? STK_TUNE_PAIRS_MOST
                                       : (int)fit;
}

// Tries one again, in addition to what is now kept.
static enum stoker_status try_put_off(struct stk_tuning *t, struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    struct stk_tune_tried *next;
    enum stoker_status status = STOKER_OK;
    while (status == STOKER_OK && (next = next_put_off(tune))) {
        double left_s = (double)stk_tune_left(t) * 1e-9 - stk_tune_reserve_s(tune);
        next->is_put_off = false;
        if (left_s < 2 * STK_PAIRED_MIN * tune->run_s) {
            leave_put_off(t, next);
            continue;
        }
        status = stk_attempt_one(t, next, most_pairs(tune, next, left_s), STK_TUNE_SECOND, err);
    }
    return status;
}

static void conclude(struct stk_tune *tune)
{
    const struct stk_tune_chain *chain = &tune->chain;
    if (!tune->has_proof && chain->pairs && chain->ratio.verdict == STK_PAIRED_FASTER) {
        tune->has_proof = true;
        tune->proof = chain->ratio;
        tune->pairs = chain->pairs;
        tune->before_s = chain->before_s;
        tune->after_s = chain->before_s * chain->ratio.estimate;
        tune->start_more_s = chain->start_more_s;
    }
    if (tune->has_proof && tune->proof.verdict == STK_PAIRED_FASTER) {
        tune->verdict = STK_TUNE_FASTER;
    } else if (tune->end == STK_TUNE_DONE && !tune->is_unclear && !tune->is_over_budget &&
               !tune->kept.count) {
        tune->verdict = STK_TUNE_NOTHING;
    } else {
        tune->verdict = STK_TUNE_CANNOT_TELL;
    }
}

// However a search ends, each fix that it would have tried has a row: for begun ones it says how
// far they came, for others that they weren't tried.
static void end(struct stk_tuning *t, enum stoker_status status, const struct stoker_err *err)
{
    STK_ASSERT(t->found);
    struct stk_tune *tune = t->tune;
    struct stk_tune_tried *all = tune->tried.items;
    struct stk_candidate *next;
    struct stoker_err other;
    tune->end = status == STOKER_EINTR ? STK_TUNE_INTERRUPTED
                : status != STOKER_OK  ? STK_TUNE_BROKEN
                : tune->is_over_budget ? STK_TUNE_SPENT
                                       : STK_TUNE_DONE;
    snprintf(tune->end_why, sizeof tune->end_why, "%.255s",
             tune->end == STK_TUNE_BROKEN ? err->message : "");
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (!all[i].is_decided && !all[i].is_unfinished) {
            all[i].is_unfinished = all[i].pairs > 0;
            size_t n = strlen(all[i].why);
            snprintf(all[i].why + n, sizeof all[i].why - n, "%s%s", n ? "; " : "",
                     STK_TUNE_ENDED_BEFORE);
        }
    }
    while (status != STOKER_OK && tune->baseline_s > 0 && (next = stk_candidates_next(t->found))) {
        struct stk_tune_values v = {.count = 0};
        char why[STK_TUNE_WHY];
        bool could = can_try(t, next, &v, why);
        if ((could || why[0]) &&
            skip(t, next, could ? STK_TUNE_ENDED_BEFORE : why, &other) != STOKER_OK) {
            break; // no memory for more rows
        }
    }
    conclude(tune);
    tune->spent_ns = stk_clock_ns() - t->begun_ns;
    tune->verdict_ns =
        tune->verdict_ns && tune->verdict == STK_TUNE_FASTER ? tune->verdict_ns : tune->spent_ns;
}

static enum stoker_status search(struct stk_tuning *t, struct stoker_err *err)
{
    struct stk_tune *tune = t->tune;
    struct stk_candidate *next;
    enum stoker_status status = stk_baseline_measure(t, t->found, err);
    t->all = t->found->count;
    if (status == STOKER_OK) {
        tune->strong = stk_baseline_strong(&tune->original[0].facts);
    }
    while (status == STOKER_OK && (next = stk_candidates_next(t->found))) {
        // Fixes that the profile points to get a second turn before all other fixes get a first.
        status = stk_attempt_is_aside(next->fix) ? try_put_off(t, err) : STOKER_OK;
        status = status == STOKER_OK ? take_turn(t, next, err) : status;
    }
    if (status == STOKER_OK) {
        status = try_put_off(t, err);
    }
    if (status == STOKER_OK) {
        status = stk_tune_last_proof(t, err);
    }
    if (status == STOKER_OK) {
        status = stk_baseline_measure_strong(t, err);
    }
    return status == STOKER_OK ? stk_baseline_measure_again(t, err) : status;
}

enum stoker_status stk_tune_run(const struct stk_tune_plan *plan, struct stk_tune *tune,
                                struct stoker_err *err)
{
    STK_ASSERT(plan->argv && plan->argv[0]);
    STK_ASSERT(plan->folder);
    struct stk_candidates found = {.count = 0};
    struct stk_tuning t = {.plan = plan, .tune = tune, .found = &found, .begun_ns = stk_clock_ns()};
    *tune = (struct stk_tune){.warmup = plan->warmup ? plan->warmup : STK_TUNE_WARMUP};
    stk_vec_init(&tune->tried, sizeof(struct stk_tune_tried), STK_TUNE_TRIED);
    stk_vec_init(&tune->advice, sizeof(struct stk_tune_advice), STK_TUNE_ADVICE);
    stk_facts_init(&tune->facts);
    tune->memory_most = stk_free_memory() / 10 * 9;
    // Pointers to tried fixes stay valid: the list never moves.
    enum stoker_status status =
        stk_vec_reserve(&tune->tried, STK_TUNE_TRIED) == 0 ? search(&t, err) : stk_err_nomem(err);
    end(&t, status, err);
    return status;
}

void stk_tune_close(struct stk_tune *tune)
{
    for (int i = 0; i < tune->originals; i++) {
        stk_bounded_free(&tune->original[i]);
    }
    stk_facts_deinit(&tune->facts);
    stk_vec_deinit(&tune->tried);
    stk_vec_deinit(&tune->advice);
}
