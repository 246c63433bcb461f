// SPDX-License-Identifier: Apache-2.0
// The contract of `stoker diff --json`, field by field: the JSON writer, the JSON Schema and
// docs/diff.md are all made from these rows. Rows are only ever added.
#include "results/diff.h"
#include "results/field_rows.h"

#define KINDS "faster|slower|equivalent|inconclusive"
#define STATES "both|new|gone"

static const struct stk_field verdict_fields[] = {
    ROW("kind", TEXT, stk_diff_verdict, kind, NULL, KINDS, "what B's steps are, next to A's"),
    ROW_MAYBE("basis", stk_diff_verdict, basis, "median|mean",
              "the measure in `step` that decided; absent where nothing was compared"),
    ROW_MAYBE_WORD("severity", stk_diff_verdict, severity, STK_LEVELS,
                   "of a slowdown, by what it costs"),
    ROW("confidence", WORD, stk_diff_verdict, confidence, NULL, STK_CHOICES(STK_LEVELS),
        "how far the two profiles support it"),
    ROW("sentence", TEXT, stk_diff_verdict, sentence, NULL, NULL,
        "the same for people; its wording may change"),
    ROW("margin_share", SHARE, stk_diff_verdict, margin_share, NULL, NULL,
        "a change is called faster or slower from this size on, if its interval leaves out 0"),
    ROW("equivalent_share", SHARE, stk_diff_verdict, equivalent_share, NULL, NULL,
        "sides are called equivalent where the whole interval is within this size"),
    END};
INFO(verdict, sizeof(struct stk_diff_verdict));

static const struct stk_field reason_fields[] = {
    ROW("id", TEXT, stk_diff_reason, id, NULL, NULL, "stable name"),
    ROW("refuses", BOOL, stk_diff_reason, refuses, NULL, NULL,
        "no verdict is given, unless --force"),
    ROW("text", TEXT, stk_diff_reason, text, NULL, NULL, "what is unlike"),
    ROW_MAYBE("a", stk_diff_reason, a, NULL, "what A says"),
    ROW_MAYBE("b", stk_diff_reason, b, NULL, "what B says"),
    END};
INFO(reason, sizeof(struct stk_diff_reason));

static const struct stk_field comparable_fields[] = {
    ROW("status", TEXT, stk_diff_comparable, status, NULL, "yes|limited|no",
        "whether the two measure the same thing"),
    ROW("forced", BOOL, stk_diff_comparable, forced, NULL, NULL,
        "compared because --force said so"),
    ROW("reasons", LIST, stk_diff_comparable, reasons, &reason, NULL, "what is unlike"), END};
INFO(comparable, sizeof(struct stk_diff_comparable));

static const struct stk_field measure_fields[] = {
    ROW("a_ns", NS, stk_diff_measure, a_ns, NULL, NULL, "of A"),
    ROW("b_ns", NS, stk_diff_measure, b_ns, NULL, NULL, "of B"),
    ROW("change_ns", NS, stk_diff_measure, change_ns, NULL, NULL, "B - A"),
    ROW("change_share", RATIO, stk_diff_measure, change_share, NULL, NULL, "B / A - 1"),
    ROW_IF("low_share", RATIO, stk_diff_measure, low_share, has_interval, NULL,
           "lower end of the 95% interval of change_share"),
    ROW_IF("high_share", RATIO, stk_diff_measure, high_share, has_interval, NULL, "its upper end"),
    ROW_IF("noise_share", RATIO, stk_diff_measure, noise_share, has_interval, NULL,
           "smaller changes than this drown in the spread of the steps"),
    END};
INFO(measure, sizeof(struct stk_diff_measure));

static const struct stk_field step_fields[] = {
    ROW("median", OBJECT, stk_diff_step, median, &measure, NULL, "the typical step"),
    ROW("mean", OBJECT, stk_diff_step, mean, &measure, NULL,
        "what the throughput follows: long steps that recur count"),
    ROW("method", TEXT, stk_diff_step, method, NULL, NULL, "how the interval is made"), END};
INFO(step, sizeof(struct stk_diff_step));

static const struct stk_field part_fields[] = {
    ROW("id", TEXT, stk_diff_part, id, NULL, NULL, "part of a step, as in the report"),
    ROW("a_ns", NS, stk_diff_part, a_ns, NULL, NULL, "in a step of A"),
    ROW("b_ns", NS, stk_diff_part, b_ns, NULL, NULL, "in a step of B"),
    ROW("change_ns", NS, stk_diff_part, change_ns, NULL, NULL, "B - A"),
    ROW("change_share", RATIO, stk_diff_part, change_share, NULL, NULL, "of A's step"),
    ROW_IF("noise_ns", NS, stk_diff_part, noise_ns, has_noise, NULL,
           "half of the 95% interval of the change of its mean (Welch)"),
    ROW("beyond_noise", BOOL, stk_diff_part, is_beyond_noise, NULL, NULL,
        "the change is larger than noise_ns"),
    END};
INFO(part, sizeof(struct stk_diff_part));

static const struct stk_field finding_fields[] = {
    ROW("id", TEXT, stk_diff_finding, id, NULL, NULL, "id of the rule"),
    ROW("title", TEXT, stk_diff_finding, title, NULL, NULL, "what is wrong"),
    ROW("state", TEXT, stk_diff_finding, state, NULL, STATES, "where it was found; new: in B"),
    ROW_MAYBE_WORD("a_severity", stk_diff_finding, a_severity, STK_SEVERITIES, "in A"),
    ROW_MAYBE_WORD("b_severity", stk_diff_finding, b_severity, STK_SEVERITIES, "in B"),
    END};
INFO(finding, sizeof(struct stk_diff_finding));

static const struct stk_field name_fields[] = {
    ROW("name", TEXT, stk_diff_name, name, NULL, NULL, "of the kernel or the operation"),
    ROW_MAYBE("placement", stk_diff_name, placement, "host|device", "of an operation"),
    ROW("state", TEXT, stk_diff_name, state, NULL, STATES, "where it ran; new: in B alone"),
    ROW_IF("a_ns", NS, stk_diff_name, a_ns, in_a, NULL, "in a step of A; self time of operations"),
    ROW_IF("b_ns", NS, stk_diff_name, b_ns, in_b, NULL, "in a step of B"),
    ROW("change_ns", NS, stk_diff_name, change_ns, NULL, NULL, "B - A"),
    ROW("change_share", RATIO, stk_diff_name, change_share, NULL, NULL, "of A's step"),
    ROW_IF("a_count", RATIO, stk_diff_name, a_count, in_a, NULL, "how often in a step of A"),
    ROW_IF("b_count", RATIO, stk_diff_name, b_count, in_b, NULL, "how often in a step of B"),
    END};
INFO(name, sizeof(struct stk_diff_name));

static const struct stk_field pair_fields[] = {
    ROW_IF("a_number", NUMBER, stk_diff_pair, a_number, in_a, NULL, "number of A's step"),
    ROW_IF("a_ns", NS, stk_diff_pair, a_ns, in_a, NULL, "its time, the mean over the devices"),
    ROW_IF("b_number", NUMBER, stk_diff_pair, b_number, in_b, NULL, "number of B's step"),
    ROW_IF("b_ns", NS, stk_diff_pair, b_ns, in_b, NULL, "its time"), END};
INFO(pair, sizeof(struct stk_diff_pair));

static const struct stk_field side_fields[] = {
    ROW("profile", OBJECT, stk_diff_side, profile, &stk_profile_info, NULL,
        "what was read, and how good it is"),
    ROW_MAYBE("device", stk_diff_side, device, NULL, "models of the devices that ran the steps"),
    ROW("devices", COUNT, stk_diff_side, devices, NULL, NULL, "how many of them"),
    ROW("ranks", COUNT, stk_diff_side, ranks, NULL, NULL, "ranks in the profile"),
    ROW_MAYBE("framework", stk_diff_side, framework, NULL, "as the profile tells"),
    ROW_MAYBE("precision", stk_diff_side, precision, NULL,
              "of the operands, where kernels' names tell it: that of the most kernel time"),
    ROW("source", TEXT, stk_diff_side, source, NULL, "annotated|framework|inferred|none",
        "how steps were found"),
    ROW_MAYBE("scope", stk_diff_side, scope, "steps|span|host", "as in the report"),
    ROW("steps", COUNT, stk_diff_side, steps, NULL, NULL, "steps of a rank"),
    ROW("used", COUNT, stk_diff_side, used, NULL, NULL, "of these, those that are compared"),
    ROW_IF("effective", RATIO, stk_diff_side, effective, has_times, NULL,
           "independent steps: fewer than used where neighbours are alike"),
    ROW_IF("median_ns", NS, stk_diff_side, median_ns, has_times, NULL, "lower median of a step"),
    ROW_IF("mean_ns", NS, stk_diff_side, mean_ns, has_times, NULL, "mean of a step"),
    ROW_IF("p95_ns", NS, stk_diff_side, p95_ns, has_times, NULL, "95th percentile, nearest rank"),
    ROW_IF("min_ns", NS, stk_diff_side, min_ns, has_times, NULL, "shortest step"),
    ROW_IF("max_ns", NS, stk_diff_side, max_ns, has_times, NULL, "longest step that is used"),
    ROW_IF("busy_share", SHARE, stk_diff_side, busy_share, has_busy, NULL,
           "of the used steps' time, what a device was busy"),
    ROW("verdict", OBJECT, stk_diff_side, verdict, &stk_verdict_info, NULL,
        "what stoker why says of this side"),
    END};
INFO(side, sizeof(struct stk_diff_side));

static const struct stk_field stoker_fields[] = {
    SUB("version", TEXT, stk_diff, stoker, version, NULL, "version that wrote this"), END};
INFO(stoker, SIZE_OF(stk_diff, stoker));

static const struct stk_field diff_fields[] = {
    ROW("schema", TEXT, stk_diff, schema, NULL, STK_DIFF_SCHEMA,
        "name and version of this contract"),
    ROW("stoker", OBJECT, stk_diff, stoker, &stoker, NULL, "who wrote it"),
    ROW("verdict", OBJECT, stk_diff, verdict, &verdict, NULL, "the answer"),
    ROW("comparable", OBJECT, stk_diff, comparable, &comparable, NULL, "comes before any verdict"),
    ROW_IF("step", OBJECT, stk_diff, step, is_compared, &step, "the step's time"),
    ROW_IF("parts", LIST, stk_diff, parts, is_compared, &part,
           "all parts in order; their changes sum to that of the step, by the verdict's basis, "
           "exactly"),
    ROW_IF("findings", LIST, stk_diff, findings, is_compared, &finding, "findings of either side"),
    ROW_IF("kernels", LIST, stk_diff, kernels, is_compared, &name,
           "kernels by name, collectives included, largest change first"),
    ROW_IF("kernels_left_out", LEFT_OUT, stk_diff, kernels, is_compared, NULL,
           "rows of `kernels` beyond --limit"),
    ROW_IF("ops", LIST, stk_diff, ops, is_compared, &name,
           "operations by name and placement, largest change first"),
    ROW_IF("ops_left_out", LEFT_OUT, stk_diff, ops, is_compared, NULL,
           "rows of `ops` beyond --limit"),
    ROW_IF("steps", LIST, stk_diff, steps, is_compared, &pair,
           "the k-th used step of A beside that of B"),
    ROW_IF("steps_left_out", LEFT_OUT, stk_diff, steps, is_compared, NULL,
           "rows of `steps` beyond --limit"),
    ROW("a", OBJECT, stk_diff, a, &side, NULL, "the first side"),
    ROW("b", OBJECT, stk_diff, b, &side, NULL, "the second side"),
    END};
const struct stk_struct_info stk_diff_info = {"diff", sizeof(struct stk_diff), diff_fields};
