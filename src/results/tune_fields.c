// SPDX-License-Identifier: Apache-2.0
// The contract of `stoker tune --json`, field by field. Rows are only ever added.
#include "results/field_rows.h"
#include "results/tune.h"

static const struct stk_field tried_fields[] = {
    ROW("fix", TEXT, stk_tune_doc_tried, fix, NULL, NULL, "id, and value"),
    ROW("state", TEXT, stk_tune_doc_tried, state, NULL, "kept|no-effect|worse|failed|skipped",
        "what came of it"),
    ROW("why", TEXT, stk_tune_doc_tried, why, NULL, NULL, "a sentence"),
    ROW("changes", WORD, stk_tune_doc_tried, changes, NULL, "nothing|order|callbacks|numerics",
        "what it may change"),
    ROW_IF("expected_share", RATIO, stk_tune_doc_tried, expected_share, is_expected, NULL,
           "of a step that it could save"),
    ROW_MAYBE("basis", stk_tune_doc_tried, basis, "replay|bound",
              "of `expected_share`: the price of a what-if, or a bound"),
    ROW_IF("ratio", OBJECT, stk_tune_doc_tried, ratio, has_pairs, &stk_ratio_info,
           "time after over time before, on top of what was kept"),
    ROW_IF("pairs", COUNT, stk_tune_doc_tried, pairs, has_pairs, NULL, "of runs"),
    ROW("numerics", WORD, stk_tune_doc_tried, numerics, NULL, "unknown|same|differ",
        "losses beside two runs without"),
    END};
INFO(tried, sizeof(struct stk_tune_doc_tried));

static const struct stk_field code_fields[] = {
    ROW_MAYBE("file", stk_tune_doc_place, file, NULL, "of the call"),
    ROW_IF("line", NUMBER, stk_tune_doc_place, line, has_line, NULL, "of the call"),
    ROW("text", TEXT, stk_tune_doc_place, text, NULL, NULL, "what to write there"), END};
INFO(code, sizeof(struct stk_tune_doc_place));

static const struct stk_field apply_fields[] = {
    SUB("env", TEXT_MAP, stk_tune_doc, apply, env, NULL, "variables"),
    SUB("wrap", WORDS, stk_tune_doc, apply, wrap, NULL, "commands in front"),
    SUB_LIST("code", stk_tune_doc, apply, code, &code, "lines of the program"), END};
INFO(apply, SIZE_OF(stk_tune_doc, apply));

static const struct stk_field strong_fields[] = {
    SUB("fixes", WORDS, stk_tune_doc, strong, fixes, NULL, "ids and values"),
    SUB_IF("step_ns", NS, stk_tune_doc, strong, step_ns, has_step,
           "with them; absent: not measured"),
    END};
INFO(strong, SIZE_OF(stk_tune_doc, strong));

static const struct stk_field tune_fields[] = {
    ROW("schema", TEXT, stk_tune_doc, schema, NULL, STK_TUNE_SCHEMA,
        "name and version of this contract"),
    ROW("command", WORDS, stk_tune_doc, command, NULL, NULL, "its words"),
    ROW("framework", TEXT, stk_tune_doc, framework, NULL, "pytorch|tensorflow|jax|none",
        "that steps"),
    ROW("baseline_step_ns", NS, stk_tune_doc, baseline_step_ns, NULL, NULL,
        "of the last proof's runs; without one of the job as it is"),
    ROW("best_step_ns", NS, stk_tune_doc, best_step_ns, NULL, NULL, "with all that was kept"),
    ROW_IF("ratio", OBJECT, stk_tune_doc, ratio, has_proof, &stk_ratio_info,
           "of the last proof, time after over time before"),
    ROW_IF("pairs", COUNT, stk_tune_doc, pairs, has_proof, NULL, "of the last proof"),
    ROW("verdict", WORD, stk_tune_doc, verdict, NULL, "faster|nothing-to-gain|cannot-tell",
        "of the search"),
    ROW("sentence", TEXT, stk_tune_doc, sentence, NULL, NULL, "the same for people"),
    ROW("noise_share", RATIO, stk_tune_doc, noise_share, NULL, NULL,
        "between two runs of the job as it is"),
    ROW("spent_ns", NS, stk_tune_doc, spent_ns, NULL, NULL, "time of the search"),
    ROW("tried", LIST, stk_tune_doc, tried, &tried, NULL, "fixes, as they were decided"),
    ROW("apply", OBJECT, stk_tune_doc, apply, &apply, NULL, "what to write"),
    ROW_IF("strong_baseline", OBJECT, stk_tune_doc, strong, has_strong, &strong,
           "what somebody who knows the framework sets anyway"),
    END};
const struct stk_struct_info stk_tune_info = {"tune", sizeof(struct stk_tune_doc), tune_fields};
