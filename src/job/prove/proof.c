// SPDX-License-Identifier: Apache-2.0
// Paired runs; see proof.h.
#include "job/prove/proof.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/prove/metric.h"
#include "job/prove/neighbours.h"

struct proving {
    const struct stk_proof_plan *plan;
    struct stk_proof *proof;
    struct stk_metric metric;
};

static enum stoker_status take(void *arg, const char *bytes, size_t n, struct stoker_err *err)
{
    struct proving *p = arg;
    return stk_metric_feed(&p->metric, bytes, n, err);
}

static bool stop(void *arg)
{
    struct proving *p = arg;
    return p->plan->stop && p->plan->stop(p->plan->arg);
}

// The message includes the end of the output in one line, which usually has the reason.
static enum stoker_status failed(struct proving *p, int side, const struct stk_trial_result *r,
                                 struct stoker_err *err)
{
    STK_ASSERT(side >= 0 && side < STK_PROOF_SIDES);
    char how[64];
    size_t most = 260, n = p->metric.tail_n < most ? p->metric.tail_n : most;
    while (n && p->metric.tail[p->metric.tail_n - 1] == '\n') {
        p->metric.tail_n--;
        n--;
    }
    char *end = p->metric.tail + p->metric.tail_n;
    for (char *c = end - n; c < end; c++) {
        *c = (char)(*c == '\n' ? ' ' : *c);
    }
    if (r->is_late) {
        snprintf(how, sizeof how, "took longer than --timeout allows");
    } else if (r->signal) {
        snprintf(how, sizeof how, "was killed by signal %d", r->signal);
    } else {
        snprintf(how, sizeof how, "failed with exit status %d", r->status);
    }
    return stk_err_set(err, r->is_late ? STOKER_ELIMIT : STOKER_EINPUT, "%s (%s) %s%s%.*s",
                       side == STK_PROOF_A ? "A" : "B", p->plan->sides[side].argv[0], how,
                       n ? "; its output ends: " : "", (int)n, end - n);
}

uint64_t stk_proof_warmup(const struct stk_proof_plan *plan)
{
    return plan->warmup < 0 ? STK_MEASURE_WARMUP : (uint64_t)plan->warmup;
}

static enum stoker_status no_steps(struct proving *p, int side, const struct stk_measured *m,
                                   struct stoker_err *err)
{
    return stk_err_set(
        err, STOKER_EINPUT,
        "%s (%s) ran %llu steps that the hooks see. A warm-up of %llu needs at least %d more. "
        "Use --whole to compare the time of the whole command",
        side == STK_PROOF_A ? "A" : "B", p->plan->sides[side].argv[0], (unsigned long long)m->steps,
        (unsigned long long)stk_proof_warmup(p->plan), STK_MEASURE_LEAST);
}

// A run with the hooks; the first runs also decide what to measure.
static enum stoker_status run_steps(struct proving *p, int side, struct stk_measured *m,
                                    struct stoker_err *err)
{
    const struct stk_proof_plan *plan = p->plan;
    struct stk_measure run = {.argv = plan->sides[side].argv,
                              .env = plan->sides[side].env,
                              .warmup = stk_proof_warmup(plan),
                              .steps = plan->steps,
                              .timeout_ns = plan->timeout_ns,
                              .take = take,
                              .stop = stop,
                              .arg = p};
    enum stoker_status status = stk_measure_run(&run, m, err);
    if (status != STOKER_OK || stk_measure_failed(m) || m->judged >= STK_MEASURE_LEAST) {
        return status;
    }
    if (p->proof->of == STK_PROOF_STEPS_OR_WHOLE) {
        p->proof->of = STK_PROOF_WHOLE;
        return STOKER_OK;
    }
    return no_steps(p, side, m, err);
}

static enum stoker_status run_whole(struct proving *p, int side, struct stk_measured *m,
                                    struct stoker_err *err)
{
    const struct stk_proof_plan *plan = p->plan;
    struct stk_trial trial = {.argv = plan->sides[side].argv,
                              .env = plan->sides[side].env,
                              .timeout_ns = plan->timeout_ns,
                              .take = take,
                              .stop = stop,
                              .arg = p};
    *m = (struct stk_measured){0};
    return stk_trial_run(&trial, &m->trial, err);
}

void stk_proof_know(struct stk_proof *proof, int side, int pair, const struct stk_measured *m)
{
    STK_ASSERT(side >= 0 && side < STK_PROOF_SIDES && pair >= 0);
    struct stk_proof_run *run = &proof->runs[side][pair];
    run->value = (double)m->mean_ns * 1e-9;
    run->median = (double)m->median_ns * 1e-9;
    run->judged = m->judged;
    memcpy(proof->framework[side], m->framework, sizeof m->framework);
    memcpy(proof->versions[side], m->versions, sizeof m->versions);
    proof->ranks = m->ranks > proof->ranks ? m->ranks : proof->ranks;
}

// pair below 0: the run doesn't count.
static enum stoker_status run_once(struct proving *p, int pair, int side, struct stoker_err *err)
{
    const struct stk_proof_plan *plan = p->plan;
    struct stk_proof *proof = p->proof;
    struct stk_measured m;
    struct stk_neighbours before, after;
    if (plan->begins) {
        plan->begins(plan->arg, pair, side);
    }
    stk_metric_begin(&p->metric);
    stk_neighbours_look(&before);
    bool has_hooks = proof->of == STK_PROOF_STEPS || proof->of == STK_PROOF_STEPS_OR_WHOLE;
    enum stoker_status status =
        has_hooks ? run_steps(p, side, &m, err) : run_whole(p, side, &m, err);
    stk_neighbours_look(&after);
    if (status != STOKER_OK) {
        return status;
    }
    if (stk_measure_failed(&m)) {
        return failed(p, side, &m.trial, err);
    }
    if (plan->needs_applied && side == STK_PROOF_B && has_hooks && !m.is_applied) {
        return stk_err_set(err, STOKER_EINPUT,
                           "--fix %s had no effect: this job doesn't use what it changes, or has "
                           "it already. Run stoker tune to see which fixes apply",
                           plan->fix);
    }
    struct stk_neighbour_shares shares = stk_neighbours_between(&before, &after, m.trial.cpu_ns);
    if (pair < 0) {
        double value; // whether there is one
        return proof->of == STK_PROOF_METRIC ? stk_metric_end(&p->metric, plan->warmup, &value, err)
                                             : STOKER_OK;
    }
    struct stk_proof_run *run = &proof->runs[side][pair];
    *run = (struct stk_proof_run){
        .value = (double)m.trial.wall_ns * 1e-9, .others = shares.others, .stolen = shares.stolen};
    if (proof->of == STK_PROOF_METRIC) {
        return stk_metric_end(&p->metric, plan->warmup, &run->value, err);
    }
    if (proof->of == STK_PROOF_STEPS) {
        stk_proof_know(proof, side, pair, &m);
    }
    return STOKER_OK;
}

static enum stoker_status run_pair(struct proving *p, int pair, struct stoker_err *err)
{
    struct stk_proof_run *const *runs = p->proof->runs;
    for (int i = 0; i < STK_PROOF_SIDES; i++) {
        int side = pair % 2 ? STK_PROOF_B - i : i;
        enum stoker_status status = run_once(p, pair, side, err);
        if (status != STOKER_OK) {
            return status;
        }
    }
    double ratio = log(runs[STK_PROOF_B][pair].value / runs[STK_PROOF_A][pair].value);
    p->proof->logs[pair] = p->plan->is_rate ? -ratio : ratio;
    p->proof->pairs = pair + 1;
    return STOKER_OK;
}

// The same look without stalled pairs, if enough are left.
static void look_without_stalls(struct stk_proof *proof, double error)
{
    double logs[STK_PAIRED_MAX];
    int count = 0;
    proof->stalls = stk_paired_stalls(proof->logs, proof->pairs, proof->is_stalled);
    for (int i = 0; i < proof->pairs; i++) {
        if (!proof->is_stalled[i]) {
            logs[count++] = proof->logs[i];
        }
    }
    proof->has_without = proof->stalls && count >= STK_PAIRED_MIN;
    if (proof->has_without) {
        proof->without = stk_paired_look(logs, count, error);
    }
}

void stk_proof_look(struct stk_proof *proof, double error)
{
    STK_ASSERT(proof->pairs >= STK_PAIRED_MIN);
    proof->result = stk_paired_look(proof->logs, proof->pairs, error);
    look_without_stalls(proof, error);
}

// A verdict; for a change, also an interval of at most half its size to each side.
static bool is_enough(const struct stk_paired *r)
{
    double change = fabs(r->estimate - 1), width = r->high - r->low;
    return r->verdict == STK_PAIRED_NO_DIFFERENCE ||
           (r->verdict != STK_PAIRED_CANNOT_TELL && width <= change);
}

static enum stoker_status run_pairs(struct proving *p, struct stoker_err *err)
{
    struct stk_proof *proof = p->proof;
    enum stoker_status status = STOKER_OK;
    for (int side = 0; side < STK_PROOF_SIDES && status == STOKER_OK; side++) {
        status = run_once(p, -1, side, err);
    }
    if (proof->of == STK_PROOF_STEPS_OR_WHOLE) { // both sides made some
        proof->of = STK_PROOF_STEPS;
    }
    for (; proof->look < proof->looks.count && status == STOKER_OK; proof->look++) {
        while (proof->pairs < proof->looks.pairs[proof->look] && status == STOKER_OK) {
            status = run_pair(p, proof->pairs, err);
        }
        if (status == STOKER_OK) {
            stk_proof_look(proof, proof->looks.error[proof->look]);
            if (is_enough(&proof->result)) {
                return STOKER_OK;
            }
        }
    }
    proof->look -= proof->look == proof->looks.count; // if all were used, the last one decided
    return status;
}

enum stoker_status stk_proof_make(const struct stk_proof_plan *plan, int pairs,
                                  struct stk_proof *proof, struct stoker_err *err)
{
    size_t n = (size_t)pairs;
    *proof = (struct stk_proof){.of = plan->of};
    proof->logs = stk_alloc_zero(n, sizeof proof->logs[0]);
    proof->is_stalled = stk_alloc_zero(n, sizeof proof->is_stalled[0]);
    bool has_room = proof->logs && proof->is_stalled;
    for (int side = 0; side < STK_PROOF_SIDES; side++) {
        proof->runs[side] = stk_alloc_zero(n, sizeof proof->runs[0][0]);
        has_room = has_room && proof->runs[side];
    }
    return has_room ? STOKER_OK : stk_err_nomem(err);
}

enum stoker_status stk_proof_run(const struct stk_proof_plan *plan, struct stk_proof *proof,
                                 struct stoker_err *err)
{
    STK_ASSERT(plan->pairs >= STK_PAIRED_MIN && plan->pairs <= STK_PAIRED_MAX);
    struct proving p = {.plan = plan, .proof = proof};
    enum stoker_status status = stk_proof_make(plan, plan->pairs, proof, err);
    proof->looks = stk_paired_plan(plan->pairs);
    if (status == STOKER_OK) {
        status = stk_metric_open(&p.metric, plan->metric, err);
    }
    if (status == STOKER_OK) {
        status = run_pairs(&p, err);
    }
    stk_metric_close(&p.metric);
    return status;
}

void stk_proof_close(struct stk_proof *proof)
{
    for (int side = 0; side < STK_PROOF_SIDES; side++) {
        stk_free(proof->runs[side]);
    }
    stk_free(proof->logs);
    stk_free(proof->is_stalled);
    *proof = (struct stk_proof){0};
}
