// SPDX-License-Identifier: Apache-2.0
// The contract of `stoker prove --json`, field by field. Rows are only ever added.
#include "results/field_rows.h"
#include "results/proof.h"

static const struct stk_field side_fields[] = {
    ROW("label", TEXT, stk_proof_doc_side, label, NULL, NULL, "the command, as typed"),
    ROW_IF("median_step_ns", NS, stk_proof_doc_side, median_step_ns, has_steps, NULL,
           "of steps: median over the runs of a run's median step"),
    ROW_IF("mean_step_ns", NS, stk_proof_doc_side, mean_step_ns, has_steps, NULL,
           "of steps: median over the runs of a run's mean step"),
    ROW_IF("steps_of_a_run", COUNT, stk_proof_doc_side, steps_of_a_run, has_steps, NULL,
           "of steps: judged in the shortest run"),
    ROW_IF("versions", TEXT, stk_proof_doc_side, versions, has_steps, NULL,
           "of steps: of the frameworks"),
    ROW("median", REAL, stk_proof_doc_side, median, NULL, NULL, "of the runs' values"),
    ROW("unit", TEXT, stk_proof_doc_side, unit, NULL, "s|metric", "of the values"),
    ROW("runs", COUNT, stk_proof_doc_side, runs, NULL, NULL, "runs that count"),
    ROW("values", REALS, stk_proof_doc_side, values, NULL, NULL, "of each run, in their order"),
    END};
INFO(side, sizeof(struct stk_proof_doc_side));

static const struct stk_field mechanism_fields[] = {
    SUB("part", TEXT, stk_proof_doc, mechanism, part, NULL, "of a step's time"),
    SUB("expected_ns", NS, stk_proof_doc, mechanism, expected_ns, NULL, "gained a step"),
    SUB("gone_ns", NS, stk_proof_doc, mechanism, gone_ns, NULL, "by which the part shrank"),
    SUB("explains", BOOL, stk_proof_doc, mechanism, explains, NULL,
        "it is half of the gain, or more"),
    END};
INFO(mechanism, SIZE_OF(stk_proof_doc, mechanism));

static const struct stk_field predicted_fields[] = {
    SUB("low", REAL, stk_proof_doc, predicted, low, NULL, "the least"),
    SUB("expected", REAL, stk_proof_doc, predicted, expected, NULL, "what is expected"),
    SUB("high", REAL, stk_proof_doc, predicted, high, NULL, "the most"),
    SUB("fix", TEXT, stk_proof_doc, predicted, fix, NULL, "the what-if"), END};
INFO(predicted, SIZE_OF(stk_proof_doc, predicted));

static const struct stk_field proof_fields[] = {
    ROW("schema", TEXT, stk_proof_doc, schema, NULL, STK_PROOF_SCHEMA,
        "name and version of this contract"),
    ROW("a", OBJECT, stk_proof_doc, a, &side, NULL, "one side"),
    ROW("b", OBJECT, stk_proof_doc, b, &side, NULL, "the other side"),
    ROW("pairs", COUNT, stk_proof_doc, pairs, NULL, NULL, "pairs of runs"),
    ROW("pairs_stalled", COUNT, stk_proof_doc, pairs_stalled, NULL, NULL,
        "of them far from the others; they count"),
    ROW("ratio", OBJECT, stk_proof_doc, ratio, &stk_ratio_info, NULL,
        "B's time over A's; of a rate its inverse, so that below 1 is better"),
    ROW_IF("ratio_without_stalled", OBJECT, stk_proof_doc, ratio_without_stalled, has_without,
           &stk_ratio_info, "without the stalled pairs, where enough are left"),
    ROW("verdict", TEXT, stk_proof_doc, verdict, NULL, "faster|slower|no-difference|cannot-tell",
        "of the last look"),
    ROW_IF("noise_share", REAL, stk_proof_doc, noise_share, has_noise, NULL,
           "half of the interval; from four pairs on"),
    ROW_IF("mechanism", OBJECT, stk_proof_doc, mechanism, has_mechanism, &mechanism,
           "whether what A lost most to shrank by what was gained; absent where nobody looked"),
    ROW_IF("predicted", OBJECT, stk_proof_doc, predicted, has_predicted, &predicted,
           "price of the what-if from A's profile, B's time over A's"),
    ROW("measured", WORD, stk_proof_doc, measured, NULL, "steps|whole|metric",
        "what a run's value is"),
    ROW_OR_NULL("metric", TEXT, stk_proof_doc, metric, STK_FIELD_IF_SET, "the pattern"),
    ROW("is_rate", BOOL, stk_proof_doc, is_rate, NULL, NULL, "more is better"),
    ROW("warnings", WORDS, stk_proof_doc, warnings, NULL, NULL, "sentences"),
    END};
const struct stk_struct_info stk_proof_info = {"proof", sizeof(struct stk_proof_doc), proof_fields};
