// SPDX-License-Identifier: Apache-2.0
// A proof for programs (results/proof.h). `ratio` is B's time over A's: of mean steps if `measured`
// is "steps". Otherwise `median_step_ns` and similar fields are absent; `median` is a run's value,
// in `unit`.
#include <math.h>

#include "base/alloc.h"
#include "job/prove/proof_out.h"
#include "results/print/document.h"
#include "results/proof.h"

static struct stk_interval ratio_of(const struct stk_paired *r)
{
    return (struct stk_interval){.has_bounds = isfinite(r->low), // otherwise too few pairs
                                 .low = r->low,
                                 .estimate = r->estimate,
                                 .high = r->high};
}

static struct stk_proof_doc_side side_of(const struct stk_proof_plan *plan,
                                         const struct stk_proof *proof, int side, double *values)
{
    uint64_t least = UINT64_MAX;
    double median = stk_proof_spread(proof, side).median;
    for (int i = 0; i < proof->pairs; i++) {
        const struct stk_proof_run *run = &proof->runs[side][i];
        least = run->judged < least ? run->judged : least;
        values[i] = run->value;
    }
    struct stk_proof_doc_side s = {.label = plan->sides[side].label,
                                   .has_steps = proof->of == STK_PROOF_STEPS,
                                   .steps_of_a_run = least,
                                   .versions = proof->versions[side],
                                   .median = median,
                                   .unit = proof->of == STK_PROOF_METRIC ? "metric" : "s",
                                   .runs = (uint64_t)proof->pairs,
                                   .values = {.items = values, .count = (size_t)proof->pairs}};
    if (s.has_steps) {
        s.median_step_ns = (int64_t)(stk_proof_median_step(proof, side) * 1e9);
        s.mean_step_ns = (int64_t)(median * 1e9);
    }
    return s;
}

static void fill_mechanism(struct stk_proof_doc *doc, const struct stk_proof_plan *plan,
                           const struct stk_mechanism *m)
{
    doc->has_mechanism = m->is_checked;
    if (m->is_checked) {
        doc->mechanism.part = m->part;
        doc->mechanism.expected_ns = m->expected_ns;
        doc->mechanism.gone_ns = m->gone_ns;
        doc->mechanism.explains = stk_mechanism_explains(m);
    }
    doc->has_predicted = m->predicted.is_known;
    doc->predicted.low = m->predicted.low;
    doc->predicted.expected = m->predicted.estimate;
    doc->predicted.high = m->predicted.high;
    doc->predicted.fix = plan->predict;
}

void stk_proof_json(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                    struct stk_sink *to)
{
    char texts[STK_PROOF_WARNINGS][STK_PROOF_SENTENCE];
    const char *warnings[STK_PROOF_WARNINGS];
    size_t count = (size_t)stk_proof_warnings(plan, proof, texts);
    double *values = stk_alloc_array(2 * (size_t)proof->pairs + 1, sizeof *values);
    if (!values) {
        to->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        warnings[i] = texts[i];
    }
    struct stk_proof_doc doc = {.schema = STK_PROOF_SCHEMA,
                                .a = side_of(plan, proof, STK_PROOF_A, values),
                                .b = side_of(plan, proof, STK_PROOF_B, values + proof->pairs),
                                .pairs = (uint64_t)proof->pairs,
                                .pairs_stalled = (uint64_t)proof->stalls,
                                .ratio = ratio_of(&proof->result),
                                .has_without = proof->has_without,
                                .ratio_without_stalled = ratio_of(&proof->without),
                                .verdict = stk_proof_verdict(proof->result.verdict),
                                .has_noise = isfinite(proof->result.low),
                                .noise_share = stk_proof_noise(&proof->result),
                                .measured = proof->of - STK_PROOF_STEPS,
                                .metric = plan->metric,
                                .is_rate = plan->is_rate,
                                .warnings = {.items = warnings, .count = count}};
    fill_mechanism(&doc, plan, &proof->mechanism);
    stk_json_document(&stk_proof_doc_info, &doc, false, to);
    stk_free(values);
}
