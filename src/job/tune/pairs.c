// SPDX-License-Identifier: Apache-2.0
// Pairs of runs; see pairs.h. Within a pair the order alternates, so that what drifts meets both.
#include "job/tune/pairs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

// Of the time before, after so many pairs. One run in fifteen takes up to twice as long by chance
// (bench/CAPTURE.md), so one pair says little, and a pair that promises is not outweighed by one.
#define GIVE_UP_AT_ONE 1.5
#define GIVE_UP_AT_TWO 0.985
#define PROMISES 0.9
#define PUT_OFF_AT_TWO 0.95
#define NOISE_MOST 0.2
enum { SPARE_S = 60 }; // that a trial may take beyond three times what the job as it is takes

int64_t stk_tune_left(const struct stk_tuning *t)
{
    return t->plan->budget_ns - (int64_t)(stk_clock_ns() - t->begun_ns);
}

void stk_tune_tell(struct stk_tuning *t, const char *detail, const struct stk_tune_tried *done)
{
    char what[STK_TUNE_LABEL + 40];
    snprintf(what, sizeof what, "%s%s", t->what, detail);
    struct stk_tune_progress p = {what, t->tried, t->all, stk_clock_ns() - t->begun_ns, done};
    if (t->plan->tell) {
        t->plan->tell(t->plan->arg, &p);
    }
}

enum stoker_status stk_tune_try(struct stk_tuning *t, const struct stk_tune_set *set,
                                uint64_t together, struct stk_bounded *out, struct stoker_err *err)
{
    char name[32];
    const struct stk_tune *tune = t->tune;
    double limit_s = tune->run_s > 0 ? 3 * tune->run_s + SPARE_S : 0;
    struct stk_bounded_plan plan = {.argv = t->plan->argv,
                                    .folder = t->plan->folder,
                                    .loss = t->plan->loss,
                                    .warmup = tune->warmup,
                                    .steps = tune->steps,
                                    .timeout_ns = t->plan->timeout_ns ? t->plan->timeout_ns
                                                                      : (int64_t)(limit_s * 1e9),
                                    .memory_most = tune->memory_most,
                                    .stop = t->plan->stop,
                                    .arg = t->plan->arg};
    // Steps that come as one hold the compilation in their first ones.
    plan.warmup = plan.warmup > 2 * together ? plan.warmup
                  : together > 1             ? 2 * together
                                             : plan.warmup;
    snprintf(name, sizeof name, "run-%d", ++t->runs);
    return stk_bounded_run(&plan, set, name, out, err);
}

bool stk_tune_took_hold(const struct stk_tune_set *set, const struct stk_bounded *m, char *why)
{
    for (int i = 0; i < set->count; i++) {
        const char *id = set->items[i].fix->id;
        if (set->items[i].fix->is_hooked && !stk_facts_applied(&m->facts, id)) {
            const char *refused = stk_facts_refused(&m->facts, id);
            snprintf(why, STK_TUNE_WHY, "not applied: %s",
                     refused ? refused : "the job made no call that it changes");
            return false;
        }
    }
    return true;
}

static enum stoker_status run_side(struct stk_tuning *t, const struct stk_tune_set *set,
                                   uint64_t together, bool is_b, struct stk_tune_pairs *out,
                                   struct stoker_err *err)
{
    struct stk_bounded m;
    int n = out->count;
    enum stoker_status status = stk_tune_try(t, set, together, &m, err);
    if (status == STOKER_OK && m.has_failed && !is_b) {
        status = stk_err_set(err, STOKER_EINPUT, "the job ran before, and failed now: %s", m.why);
    } else if (status == STOKER_OK &&
               (m.has_failed || (is_b && !stk_tune_took_hold(set, &m, out->why)))) {
        out->has_failed = true;
        if (m.has_failed) {
            snprintf(out->why, sizeof out->why, "%s", m.why);
        }
    } else if (status == STOKER_OK) {
        (is_b ? out->b_s : out->a_s)[n] = m.step_s;
        (is_b ? out->b_start_s : out->a_start_s)[n] = m.start_s;
    }
    if (is_b && status == STOKER_OK && !out->has_failed && out->first && !out->has_first) {
        *out->first = m;
        out->has_first = true;
    } else {
        stk_bounded_free(&m);
    }
    return status;
}

static enum stoker_status run_pair(struct stk_tuning *t, const struct stk_tune_set *a,
                                   const struct stk_tune_set *b, bool is_of_start,
                                   struct stk_tune_pairs *out, struct stoker_err *err)
{
    STK_ASSERT(out->count >= 0 && out->count < STK_TUNE_PAIRS_MOST);
    char detail[32];
    uint64_t together = stk_tune_together(a), other = stk_tune_together(b);
    together = together > other ? together : other;
    int n = out->count;
    enum stoker_status status = STOKER_OK;
    snprintf(detail, sizeof detail, ", pair %d", n + 1);
    stk_tune_tell(t, detail, NULL);
    for (int i = 0; i < 2 && status == STOKER_OK && !out->has_failed; i++) {
        bool is_b = (i + n) % 2 == 0; // b first in the first pair: what fails costs one run
        status = run_side(t, is_b ? b : a, together, is_b, out, err);
    }
    if (status == STOKER_OK && !out->has_failed) {
        double before = is_of_start ? out->a_start_s[n] : out->a_s[n];
        double after = is_of_start ? out->b_start_s[n] : out->b_s[n];
        out->logs[n] = before > 0 && after > 0 ? log(after / before) : 0;
        out->count++;
    }
    return status;
}

static double estimate(const struct stk_tune_pairs *p)
{
    STK_ASSERT(p->count > 0);
    double sum = 0;
    for (int i = 0; i < p->count; i++) {
        sum += p->logs[i];
    }
    return exp(sum / p->count);
}

// noise: between two runs of the job as it is; where it is large, two pairs say little.
static bool has_no_promise(const struct stk_tune_pairs *p, double noise)
{
    noise = noise < NOISE_MOST ? noise : NOISE_MOST;
    return (p->count == 1 && estimate(p) >= GIVE_UP_AT_ONE + 2 * noise) ||
           (p->count == 2 && estimate(p) >= GIVE_UP_AT_TWO + noise / 2 &&
            fmin(p->logs[0], p->logs[1]) > log(PROMISES)) ||
           (p->count >= STK_PAIRED_MIN && estimate(p) > 1 - STK_TUNE_GAIN);
}

// Whether the pairs end here, and why; `out->result` holds for as many as there are.
static bool ends(struct stk_tuning *t, struct stk_tune_pairs *out, int most,
                 enum stk_tune_patience patience)
{
    if (patience == STK_TUNE_LAST || out->count == most) {
        return false;
    }
    out->is_given_up = has_no_promise(out, t->tune->noise);
    out->is_put_off = !out->is_given_up && patience == STK_TUNE_FIRST && out->count == 2 &&
                      estimate(out) > PUT_OFF_AT_TWO;
    return out->is_given_up || out->is_put_off;
}

enum stoker_status stk_tune_pair_up(struct stk_tuning *t, const struct stk_tune_set *a,
                                    const struct stk_tune_set *b, int most,
                                    enum stk_tune_patience patience, bool is_of_start,
                                    struct stk_tune_pairs *out, struct stoker_err *err)
{
    STK_ASSERT(most > 0 && most <= STK_TUNE_PAIRS_MOST);
    struct stk_paired_plan looks = stk_paired_plan(most);
    STK_ASSERT(looks.count == 0 || looks.pairs[looks.count - 1] <= STK_TUNE_PAIRS_MOST);
    enum stoker_status status = STOKER_OK;
    for (int look = 0; look < looks.count; look++) {
        while (out->count < looks.pairs[look]) {
            status = run_pair(t, a, b, is_of_start, out, err);
            if (status != STOKER_OK || out->has_failed) {
                return status;
            }
            out->result.estimate = estimate(out);
            if (out->count < looks.pairs[look] && ends(t, out, most, patience)) {
                return STOKER_OK;
            }
        }
        out->result = stk_paired_look(out->logs, out->count, looks.error[look]);
        // A last proof goes on beyond the budget: what was found is not left untold for want of
        // runs.
        bool is_spent =
            patience != STK_TUNE_LAST && stk_tune_left(t) < (int64_t)(2e9 * t->tune->run_s);
        if (out->result.verdict != STK_PAIRED_CANNOT_TELL || is_spent ||
            ends(t, out, most, patience)) {
            return STOKER_OK;
        }
    }
    return STOKER_OK;
}
