// SPDX-License-Identifier: Apache-2.0
// A proof for programs: "stoker.proof/1". `ratio` is B's time over A's: of mean steps where
// `measured` says "steps". Where it does not, `median_step_ns` and its like are absent: `median`
// says what a run gave, in `unit`.
#include <math.h>

#include "base/json.h"
#include "job/prove/proof_out.h"

static void put_ratio(struct stk_json *j, const char *name, const struct stk_paired *r)
{
    stk_json_key(j, name);
    stk_json_open(j, '{', true);
    stk_json_key(j, "estimate");
    stk_json_real(j, r->estimate);
    if (isfinite(r->low)) { // else too few pairs
        stk_json_key(j, "low");
        stk_json_real(j, r->low);
        stk_json_key(j, "high");
        stk_json_real(j, r->high);
    }
    stk_json_close(j, '}');
}

static void put_steps(struct stk_json *j, const struct stk_proof *proof, int side)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < proof->pairs; i++) {
        uint64_t n = proof->runs[side][i].judged;
        least = n < least ? n : least;
    }
    stk_json_key(j, "median_step_ns");
    stk_json_i64(j, (int64_t)(stk_proof_median_step(proof, side) * 1e9));
    stk_json_key(j, "mean_step_ns");
    stk_json_i64(j, (int64_t)(stk_proof_spread(proof, side).median * 1e9));
    stk_json_key(j, "steps_of_a_run");
    stk_json_u64(j, least);
    stk_json_key(j, "versions");
    stk_json_text(j, proof->versions[side]);
}

static void put_side(struct stk_json *j, const struct stk_proof_plan *plan,
                     const struct stk_proof *proof, int side)
{
    stk_json_key(j, side == STK_PROOF_A ? "a" : "b");
    stk_json_open(j, '{', true);
    stk_json_key(j, "label");
    stk_json_text(j, plan->sides[side].label);
    if (proof->of == STK_PROOF_STEPS) {
        put_steps(j, proof, side);
    }
    stk_json_key(j, "median");
    stk_json_real(j, stk_proof_spread(proof, side).median);
    stk_json_key(j, "unit");
    stk_json_text(j, proof->of == STK_PROOF_METRIC ? "metric" : "s");
    stk_json_key(j, "runs");
    stk_json_i64(j, proof->pairs);
    stk_json_key(j, "values");
    stk_json_open(j, '[', true);
    for (int i = 0; i < proof->pairs; i++) {
        stk_json_real(j, proof->runs[side][i].value);
    }
    stk_json_close(j, ']');
    stk_json_close(j, '}');
}

static void put_metric(struct stk_json *j, const struct stk_proof_plan *plan,
                       const struct stk_proof *proof)
{
    static const char *const names[] = {
        [STK_PROOF_STEPS] = "steps", [STK_PROOF_WHOLE] = "whole", [STK_PROOF_METRIC] = "metric"};
    stk_json_key(j, "measured");
    stk_json_text(j, names[proof->of]);
    stk_json_key(j, "metric");
    if (plan->metric) {
        stk_json_text(j, plan->metric);
    } else {
        stk_json_null(j);
    }
    stk_json_key(j, "is_rate");
    stk_json_bool(j, plan->is_rate);
}

static void put_mechanism(struct stk_json *j, const struct stk_proof_plan *plan,
                          const struct stk_mechanism *m)
{
    if (m->is_checked) {
        stk_json_key(j, "mechanism");
        stk_json_open(j, '{', true);
        stk_json_key(j, "part");
        stk_json_text(j, m->part);
        stk_json_key(j, "expected_ns");
        stk_json_i64(j, m->expected_ns);
        stk_json_key(j, "gone_ns");
        stk_json_i64(j, m->gone_ns);
        stk_json_key(j, "explains");
        stk_json_bool(j, stk_mechanism_explains(m));
        stk_json_close(j, '}');
    }
    if (m->predicted.is_known) {
        stk_json_key(j, "predicted");
        stk_json_open(j, '{', true);
        stk_json_key(j, "low");
        stk_json_real(j, m->predicted.low);
        stk_json_key(j, "expected");
        stk_json_real(j, m->predicted.estimate);
        stk_json_key(j, "high");
        stk_json_real(j, m->predicted.high);
        stk_json_key(j, "fix");
        stk_json_text(j, plan->predict);
        stk_json_close(j, '}');
    }
}

void stk_proof_json(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                    struct stk_sink *to)
{
    char warnings[STK_PROOF_WARNINGS][STK_PROOF_SENTENCE];
    struct stk_json j;
    stk_json_init(&j, to);
    stk_json_open(&j, '{', false);
    stk_json_key(&j, "schema");
    stk_json_text(&j, "stoker.proof/1");
    put_side(&j, plan, proof, STK_PROOF_A);
    put_side(&j, plan, proof, STK_PROOF_B);
    stk_json_key(&j, "pairs");
    stk_json_i64(&j, proof->pairs);
    stk_json_key(&j, "pairs_stalled");
    stk_json_i64(&j, proof->stalls);
    put_ratio(&j, "ratio", &proof->result);
    if (proof->has_without) {
        put_ratio(&j, "ratio_without_stalled", &proof->without);
    }
    stk_json_key(&j, "verdict");
    stk_json_text(&j, stk_proof_verdict(proof->result.verdict));
    if (isfinite(proof->result.low)) {
        stk_json_key(&j, "noise_share");
        stk_json_real(&j, stk_proof_noise(&proof->result));
    }
    put_mechanism(&j, plan, &proof->mechanism);
    put_metric(&j, plan, proof);
    stk_json_key(&j, "warnings");
    stk_json_open(&j, '[', true);
    int count = stk_proof_warnings(plan, proof, warnings);
    for (int i = 0; i < count; i++) {
        stk_json_text(&j, warnings[i]);
    }
    stk_json_close(&j, ']');
    stk_json_close(&j, '}');
    stk_sink_text(to, "\n");
}
