// SPDX-License-Identifier: Apache-2.0
// Pairs of runs; see pairs.h. The order within pairs alternates, so that drifts affect both sides.
#include "job/tune/pairs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

// Time after over time before, after this many pairs. One run in fifteen takes up to twice as long
// by chance (bench/CAPTURE.md), so one pair says little, and one bad pair doesn't outweigh a
// promising one.
#define GIVE_UP_AT_ONE 1.5
#define GIVE_UP_AT_TWO 0.985
#define PROMISES 0.9
#define PUT_OFF_AT_TWO 0.95
#define NOISE_MOST 0.2
enum { SPARE_S = 60 }; // allowed for a trial beyond three times the unchanged job's time

int64_t stk_tune_left(const struct stk_tuning *t)
{
    return t->plan->budget_ns - (int64_t)(stk_clock_ns() - t->begun_ns);
}

double stk_tune_reserve_s(const struct stk_tune *tune)
{
    bool needs = tune->chain.pairs && tune->chain.ratio.verdict != STK_PAIRED_FASTER;
    return needs ? 2 * STK_PAIRED_MIN * tune->run_s : 0;
}

void stk_tune_tell(struct stk_tuning *t, const char *detail, const struct stk_tune_tried *done)
{
    struct stk_tune_progress p = {.what = t->what,
                                  .detail = detail,
                                  .tried = t->tried,
                                  .all = t->all,
                                  .spent_ns = stk_clock_ns() - t->begun_ns,
                                  .done = done};
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
    // If steps are merged into one, the first ones include compilation.
    plan.warmup = plan.warmup > 2 * together ? plan.warmup
                  : together > 1             ? 2 * together
                                             : plan.warmup;
    snprintf(name, sizeof name, "run-%d", ++t->runs);
    return stk_bounded_run(&plan, set, name, out, err);
}

double stk_tune_middle(const double *values, int count)
{
    STK_ASSERT(count > 0 && count <= STK_TUNE_PAIRS_MOST);
    double sorted[STK_TUNE_PAIRS_MOST];
    memcpy(sorted, values, (size_t)count * sizeof sorted[0]);
    return stk_paired_median(sorted, (size_t)count);
}

bool stk_tune_take_original(struct stk_tune *tune, const struct stk_bounded *m)
{
    if (tune->originals == 2) {
        return false;
    }
    tune->original[tune->originals++] = *m;
    if (tune->originals == 2) {
        double a = tune->original[0].step_s, b = tune->original[1].step_s;
        tune->baseline_s = (a + b) / 2;
        tune->noise = a + b > 0 ? fabs(a - b) / (a + b) : 0;
        tune->run_s = (double)(tune->original[0].wall_ns + tune->original[1].wall_ns) * 1e-9 / 2;
    }
    return true;
}

bool stk_tune_took_hold(const struct stk_tune_set *set, const struct stk_bounded *m, char *why)
{
    for (int i = 0; i < set->count; i++) {
        const char *id = set->items[i].fix->id;
        if (set->items[i].fix->is_hooked && !stk_facts_applied(&m->facts, id)) {
            const char *refused = stk_facts_refused(&m->facts, id);
            snprintf(why, STK_TUNE_WHY, "not applied: %s",
                     refused ? refused : "the job never made the call that it changes");
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
        status = stk_err_set(err, STOKER_EINPUT, "the job ran before, but failed now: %s", m.why);
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
    } else if (is_b || status != STOKER_OK || set->count || !stk_tune_take_original(t->tune, &m)) {
        stk_bounded_free(&m);
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

static void tell_pair(struct stk_tuning *t, const struct stk_tune_pairs *p)
{
    char detail[64];
    int n = snprintf(detail, sizeof detail, ", pair %d", p->count + 1);
    if (p->count) {
        double change = 100 * (estimate(p) - 1);
        snprintf(detail + n, sizeof detail - (size_t)n, ", %.0f%% %s time so far", fabs(change),
                 change < 0 ? "less" : "more");
    }
    stk_tune_tell(t, detail, NULL);
}

static enum stoker_status run_pair(struct stk_tuning *t, const struct stk_tune_match *match,
                                   struct stk_tune_pairs *out, struct stoker_err *err)
{
    STK_ASSERT(out->count >= 0 && out->count < STK_TUNE_PAIRS_MOST);
    uint64_t together = stk_tune_together(match->a), other = stk_tune_together(match->b);
    together = together > other ? together : other;
    int n = out->count;
    enum stoker_status status = STOKER_OK;
    tell_pair(t, out);
    for (int i = 0; i < 2 && status == STOKER_OK && !out->has_failed; i++) {
        bool is_b =
            (i + n) % 2 == 0; // b first in the first pair: if it fails, that costs only one run
        status = run_side(t, is_b ? match->b : match->a, together, is_b, out, err);
    }
    if (status == STOKER_OK && !out->has_failed) {
        double before = match->is_of_start ? out->a_start_s[n] : out->a_s[n];
        double after = match->is_of_start ? out->b_start_s[n] : out->b_s[n];
        out->logs[n] = before > 0 && after > 0 ? log(after / before) : 0;
        out->count++;
    }
    return status;
}

// noise: between two runs of the unchanged job; if it is large, two pairs say little.
static bool has_no_promise(const struct stk_tune_pairs *p, double noise)
{
    noise = noise < NOISE_MOST ? noise : NOISE_MOST;
    return (p->count == 1 && estimate(p) >= GIVE_UP_AT_ONE + 2 * noise) ||
           (p->count == 2 && estimate(p) >= GIVE_UP_AT_TWO + noise / 2 &&
            fmin(p->logs[0], p->logs[1]) > log(PROMISES)) ||
           (p->count >= STK_PAIRED_MIN && estimate(p) > 1 - STK_TUNE_GAIN);
}

// Whether the pairs end here, and why; `out->result` covers the present pairs.
static bool ends(struct stk_tuning *t, const struct stk_tune_match *match,
                 struct stk_tune_pairs *out)
{
    if (match->patience == STK_TUNE_LAST || out->count == match->most) {
        return false;
    }
    out->is_given_up = has_no_promise(out, t->tune->noise);
    out->is_put_off = !out->is_given_up && match->patience == STK_TUNE_FIRST && out->count == 2 &&
                      estimate(out) > PUT_OFF_AT_TWO;
    return out->is_given_up || out->is_put_off;
}

// Makes pairs up to a look. True: they ended before it; see `*status` and `out`.
static bool end_before(struct stk_tuning *t, const struct stk_tune_match *match, int pairs,
                       struct stk_tune_pairs *out, enum stoker_status *status,
                       struct stoker_err *err)
{
    bool is_last = match->patience == STK_TUNE_LAST;
    double needs_s = 2 * t->tune->run_s + (is_last ? 0 : stk_tune_reserve_s(t->tune));
    while (out->count < pairs) {
        out->is_spent =
            out->count && (!is_last || out->looked) && stk_tune_left(t) < (int64_t)(1e9 * needs_s);
        if (out->is_spent) {
            return true;
        }
        *status = run_pair(t, match, out, err);
        if (*status != STOKER_OK || out->has_failed ||
            (out->count < pairs && ends(t, match, out))) {
            return true;
        }
    }
    return false;
}

// The share of STK_PAIRED_ERROR, the error of the search's verdict, for this comparison.
static double share_of(struct stk_tuning *t, enum stk_tune_patience patience)
{
    double all = STK_TUNE_SEARCH_ERROR / STK_PAIRED_ERROR;
    if (patience == STK_TUNE_LAST) {
        return 1 - all;
    }
    double k = ++t->comparisons;
    return all / (k * (k + 1));
}

// Pairs after the last look have no interval, and are not reported.
static void end_at_look(struct stk_tune_pairs *out)
{
    STK_ASSERT(out->looked <= out->count);
    if (out->looked) {
        out->count = out->looked;
    } else if (out->count) {
        out->result =
            (struct stk_paired){.estimate = estimate(out), .verdict = STK_PAIRED_CANNOT_TELL};
    }
}

enum stoker_status stk_tune_pair_up(struct stk_tuning *t, const struct stk_tune_match *match,
                                    struct stk_tune_pairs *out, struct stoker_err *err)
{
    STK_ASSERT(match->most > 0 && match->most <= STK_TUNE_PAIRS_MOST);
    struct stk_paired_plan looks = stk_paired_plan(match->most);
    bool is_last = match->patience == STK_TUNE_LAST;
    enum stoker_status status = STOKER_OK;
    double share = share_of(t, match->patience);
    for (int i = 0; i < looks.count; i++) {
        if (end_before(t, match, looks.pairs[i], out, &status, err)) {
            break;
        }
        out->looked = out->count;
        out->result = stk_paired_look(out->logs, out->count, looks.error[i]);
        out->strict = stk_paired_look(out->logs, out->count, looks.error[i] * share);
        const struct stk_paired *decides = is_last ? &out->strict : &out->result;
        if (decides->verdict != STK_PAIRED_CANNOT_TELL || ends(t, match, out)) {
            break;
        }
    }
    end_at_look(out);
    return status;
}
