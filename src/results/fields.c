// SPDX-License-Identifier: Apache-2.0
// The contract of `stoker why --json`, field by field: the JSON writer, the JSON Schema and
// docs/report.md are all made from these rows. Rows are only ever added.
#include "results/field_rows.h"
#include "results/report.h"

#define PARTS_DOC "part id -> ns, parts of 0 left out"

static const struct stk_field input_fields[] = {
    ROW("path", TEXT, stk_rep_input, path, NULL, NULL, "as given, or as found in a directory"),
    ROW_MAYBE("format", stk_rep_input, format, NULL,
              "recognised by content: a name that `stoker formats` lists, or kineto, which is a "
              "Chrome trace as PyTorch writes it"),
    ROW_MAYBE("producer", stk_rep_input, producer, NULL, "what wrote it"),
    ROW_IF("bytes", BYTES, stk_rep_input, bytes, has_bytes, NULL, "size as stored"),
    ROW("ranks", NUMBERS, stk_rep_input, ranks, NULL, NULL, "ranks it holds"),
    END};
INFO(input, sizeof(struct stk_rep_input));

static const struct stk_field events_fields[] = {
    SUB("read", COUNT, stk_rep_profile, events, read, NULL,
        "every record of the inputs, derived lines and metadata too"),
    SUB("dropped", COUNT, stk_rep_profile, events, dropped, NULL,
        "events that could not be used; see `issues`"),
    SUB("by_kind", COUNT_MAP, stk_rep_profile, events, by_kind, NULL,
        "kind -> count; each record has one kind, a collective is not counted as a kernel too"),
    END};
INFO(events, SIZE_OF(stk_rep_profile, events));

static const struct stk_field issue_fields[] = {
    ROW("id", TEXT, stk_rep_issue, id, NULL, NULL, "stable name"),
    ROW("severity", WORD, stk_rep_issue, severity, NULL, STK_CHOICES(STK_ISSUE_SEVERITIES),
        "what it costs"),
    ROW("count", COUNT, stk_rep_issue, count, NULL, NULL, "how often"),
    ROW("meaning", TEXT, stk_rep_issue, meaning, NULL, NULL, "what was found"),
    ROW("remedy", TEXT, stk_rep_issue, remedy, NULL, NULL, "what to do"),
    ROW_MAYBE("example", stk_rep_issue, example, NULL,
              "the first one, or the profiler's own words"),
    END};
INFO(issue, sizeof(struct stk_rep_issue));

static const struct stk_field health_fields[] = {
    SUB("status", TEXT, stk_rep_profile, health, status, "good|limited|unusable",
        "whether the capture supports a verdict"),
    SUB("why", TEXTS, stk_rep_profile, health, why, NULL, "what limits it; empty when good"), END};
INFO(health, SIZE_OF(stk_rep_profile, health));

static const struct stk_field profile_fields[] = {
    ROW("inputs", LIST, stk_rep_profile, inputs, &input, NULL, "the files read"),
    ROW("base_ns", NS, stk_rep_profile, base_ns, NULL, NULL,
        "the file's own clock at time 0 of this report: add it to get file time"),
    ROW("events", OBJECT, stk_rep_profile, events, &events, NULL, "what was read"),
    ROW("issues", LIST, stk_rep_profile, issues, &issue, NULL, "bad or missing data, counted"),
    ROW("health", OBJECT, stk_rep_profile, health, &health, NULL, "comes before any verdict"),
    ROW("selection", TEXTS, stk_rep_profile, selection, NULL, NULL,
        "what was selected, such as \"steps 2:5\"; empty: everything"),
    ROW_IF("cut_steps", COUNT, stk_rep_profile, cut_steps, is_cut, NULL,
           "where an input ends early: rows of `steps.list` that are not used, since events of "
           "theirs may be missing"),
    ROW_IF("whole_until_ns", NS, stk_rep_profile, whole_until_ns, has_whole_until, NULL,
           "where an input ends early: from here on events may be missing; absent where no time is "
           "known, or no event that counts is missing"),
    END};
const struct stk_struct_info stk_profile_info = {"profile", sizeof(struct stk_rep_profile),
                                                 profile_fields};

static const struct stk_field transfer_fields[] = {
    SUB("h2d", NS, stk_rep_device, transfer_ns, h2d, NULL, "host to device"),
    SUB("d2h", NS, stk_rep_device, transfer_ns, d2h, NULL, "device to host"),
    SUB("d2d", NS, stk_rep_device, transfer_ns, d2d, NULL,
        "inside the device, or of unknown direction"),
    SUB("p2p", NS, stk_rep_device, transfer_ns, p2p, NULL, "between devices"), END};
INFO(transfer, SIZE_OF(stk_rep_device, transfer_ns));

static const struct stk_field device_fields[] = {
    ROW("id", TEXT, stk_rep_device, id, NULL, NULL,
        "\"rank/ordinal\", used wherever a device is named"),
    ROW_MAYBE("source_id", stk_rep_device, source_id, NULL,
              "as the file names it: pid, process/deviceId, plane"),
    ROW_MAYBE("name", stk_rep_device, name, NULL, "model, such as \"H100 80GB HBM3\""),
    ROW("rank", NUMBER, stk_rep_device, rank, NULL, NULL, "rank of its process"),
    ROW_MAYBE("host", stk_rep_device, host, NULL, "host name"),
    ROW_IF("first_ns", NS, stk_rep_device, first_ns, has_span, NULL,
           "start of its first operation"),
    ROW_IF("span_ns", NS, stk_rep_device, span_ns, has_span, NULL, "first start to last end"),
    ROW("busy_ns", NS, stk_rep_device, busy_ns, NULL, NULL,
        "union of kernels, copies and memsets over all streams"),
    ROW_IF("idle_ns", NS, stk_rep_device, idle_ns, has_span, NULL, "span minus busy"),
    ROW("kernel_ns", NS, stk_rep_device, kernel_ns, NULL, NULL,
        "union of all kernels, collectives too"),
    ROW("compute_ns", NS, stk_rep_device, compute_ns, NULL, NULL,
        "union of kernels that are not collectives"),
    ROW("communication_ns", NS, stk_rep_device, communication_ns, NULL, NULL,
        "union of collectives"),
    ROW("communication_exposed_ns", NS, stk_rep_device, communication_exposed_ns, NULL, NULL,
        "of these, not hidden behind compute"),
    ROW("transfer_ns", OBJECT, stk_rep_device, transfer_ns, &transfer, NULL,
        "union of copies by direction"),
    ROW("transfer_exposed_ns", NS, stk_rep_device, transfer_exposed_ns, NULL, NULL,
        "copies not hidden behind kernels"),
    ROW("kernels", COUNT, stk_rep_device, kernels, NULL, NULL, "kernels, collectives included"),
    ROW("short_kernels", COUNT, stk_rep_device, short_kernels, NULL, NULL, "of these, under 10 us"),
    END};
INFO(device, sizeof(struct stk_rep_device));

static const struct stk_field excluded_fields[] = {
    ROW("step", NUMBER, stk_rep_excluded, step, NULL, NULL, "its number"),
    ROW("why", TEXT, stk_rep_excluded, why, NULL, NULL, "why it is not used"), END};
INFO(excluded, sizeof(struct stk_rep_excluded));

static const struct stk_field step_fields[] = {
    ROW("number", NUMBER, stk_rep_step, number, NULL, NULL,
        "as marked in the profile, else counted from 0"),
    ROW_MAYBE("device", stk_rep_step, device, NULL, "absent: a step of the host, no device ran"),
    ROW("start_ns", NS, stk_rep_step, start_ns, NULL, NULL, "start of its window on the device"),
    ROW("dur_ns", NS, stk_rep_step, dur_ns, NULL, NULL,
        "length of the window: the sum of its parts"),
    ROW_IF("host_start_ns", NS, stk_rep_step, host_start_ns, has_host, NULL, "start on the host"),
    ROW_IF("host_dur_ns", NS, stk_rep_step, host_dur_ns, has_host, NULL, "length on the host"),
    ROW("parts", NS_MAP, stk_rep_step, parts, NULL, NULL, PARTS_DOC),
    END};
INFO(step, sizeof(struct stk_rep_step));

static const struct stk_field steps_fields[] = {
    ROW("source", TEXT, stk_rep_steps, source, NULL, "annotated|framework|inferred|none",
        "how steps were found"),
    ROW_IF("confidence", SHARE, stk_rep_steps, confidence, has_confidence, NULL,
           "of the source, 0 to 1; absent without steps"),
    ROW("count", COUNT, stk_rep_steps, count, NULL, NULL, "steps of a rank"),
    ROW("used", COUNT, stk_rep_steps, used, NULL, NULL, "of these, in the breakdown"),
    ROW_IF("batches", COUNT, stk_rep_steps, batches, has_batches, NULL,
           "batches that each step fetches; absent where it is one, or differs from step to step"),
    ROW("excluded", LIST, stk_rep_steps, excluded, &excluded, NULL,
        "steps that stand out, and why"),
    ROW_IF("median_ns", NS, stk_rep_steps, median_ns, has_times, NULL,
           "lower median of the used steps"),
    ROW_IF("mean_ns", NS, stk_rep_steps, mean_ns, has_times, NULL, "mean of the used steps"),
    ROW_IF("p95_ns", NS, stk_rep_steps, p95_ns, has_times, NULL, "95th percentile, nearest rank"),
    ROW("list", LIST, stk_rep_steps, list, &step, NULL,
        "a row per step and device, excluded steps too"),
    ROW("rows_left_out", LEFT_OUT, stk_rep_steps, list, NULL, NULL,
        "rows of `list` beyond --limit"),
    END};
INFO(steps, sizeof(struct stk_rep_steps));

static const struct stk_field part_fields[] = {
    ROW("id", TEXT, stk_rep_part, id, NULL, NULL, "part of a step"),
    ROW("ns", NS, stk_rep_part, ns, NULL, NULL, "time"),
    ROW("share", SHARE, stk_rep_part, share, NULL, NULL, "of the whole"), END};
INFO(part, sizeof(struct stk_rep_part));

static const struct stk_field median_step_fields[] = {
    SUB("number", NUMBER, stk_rep_breakdown, median_step, number, NULL, "its number"),
    {"device", STK_ROW_TEXT, INNER(stk_rep_breakdown, median_step, device), STK_FIELD_IF_SET, NULL,
     NULL, "absent for a step of the host", false},
    {"parts", STK_ROW_LIST, INNER(stk_rep_breakdown, median_step, parts), STK_FIELD_ALWAYS, &part,
     NULL, "all parts, in order", false},
    END};
INFO(median_step, SIZE_OF(stk_rep_breakdown, median_step));

static const struct stk_field left_out_fields[] = {
    ROW("id", TEXT, stk_rep_left_out, id, NULL, NULL, "device"),
    ROW("why", TEXT, stk_rep_left_out, why, NULL, NULL, "why it is not in the breakdown"), END};
INFO(left_out, sizeof(struct stk_rep_left_out));

static const struct stk_field breakdown_fields[] = {
    ROW_MAYBE("scope", stk_rep_breakdown, scope, "steps|span|host",
              "used steps; each device's span where there are none; host steps without a device; "
              "absent where there is nothing to break down"),
    ROW("parts", LIST, stk_rep_breakdown, parts, &part, NULL,
        "all parts, in order, summed over the used steps of all devices that ran kernels; they sum "
        "to "
        "the wall time exactly"),
    ROW_IF("median_step", OBJECT, stk_rep_breakdown, median_step, has_median_step, &median_step,
           "the lower-median step of the device with the most busy time"),
    ROW("devices_left_out", LIST, stk_rep_breakdown, devices_left_out, &left_out, NULL,
        "devices that are not in it"),
    END};
INFO(breakdown, sizeof(struct stk_rep_breakdown));

static const struct stk_field verdict_fields[] = {
    ROW("kind", WORD, stk_rep_verdict, kind, NULL, STK_CHOICES(STK_VERDICTS),
        "what bounds the job"),
    ROW("sentence", TEXT, stk_rep_verdict, sentence, NULL, NULL,
        "the same for people; its wording may change"),
    ROW("confidence", WORD, stk_rep_verdict, confidence, NULL, STK_CHOICES(STK_LEVELS),
        "how far the profile supports it"),
    END};
const struct stk_struct_info stk_verdict_info = {"verdict", sizeof(struct stk_rep_verdict),
                                                 verdict_fields};

static const struct stk_field saving_fields[] = {
    SUB_IF("low_share", SHARE, stk_rep_finding, saving, low_share, has_low,
           "of the step, at least"),
    SUB_IF("expected_share", SHARE, stk_rep_finding, saving, expected_share, has_expected,
           "of the step, expected"),
    SUB_IF("high_share", SHARE, stk_rep_finding, saving, high_share, has_high,
           "of the step, at most"),
    SUB("basis", TEXT, stk_rep_finding, saving, basis, "replay|bound|none", "how it was obtained"),
    END};
INFO(saving, SIZE_OF(stk_rep_finding, saving));

static const struct stk_field evidence_fields[] = {
    ROW_MAYBE("id", stk_rep_evidence, id, NULL, "which observation this is"),
    ROW("text", TEXT, stk_rep_evidence, text, NULL, NULL, "one observation, with its figures"),
    {"values", STK_ROW_VALUES, offsetof(struct stk_rep_evidence, values), STK_FIELD_IF_SET, NULL,
     NULL,
     "its figures by name, those that are known: a name ends in its unit, `_ns`, `_bytes`, "
     "`_bytes_per_s` or `_share` (of 1); others are counts, numbers, texts, and `true` for what "
     "holds",
     false},
    ROW_MAYBE("track", stk_rep_evidence, track, NULL, "thread or stream where it can be seen"),
    ROW_IF("start_ns", NS, stk_rep_evidence, start_ns, has_time, NULL, "where to look"),
    ROW_IF("dur_ns", NS, stk_rep_evidence, dur_ns, has_time, NULL, "how long it lasts"),
    END};
INFO(evidence, sizeof(struct stk_rep_evidence));

static const struct stk_field fix_fields[] = {
    ROW_MAYBE("id", stk_rep_fix, id, NULL, "id of the fix, which stoker explain takes"),
    ROW("framework", WORD, stk_rep_fix, framework, NULL, STK_CHOICES(STK_FIX_FRAMEWORKS),
        "whom it is for"),
    ROW("text", TEXT, stk_rep_fix, text, NULL, NULL, "what to change"),
    ROW_MAYBE("snippet", stk_rep_fix, snippet, NULL, "code to paste"),
    ROW_MAYBE("price", stk_rep_fix, price, NULL, "what-if that does what the fix says"),
    ROW_MAYBE("tries", stk_rep_fix, tries, NULL, "fix of stoker tune that makes this change"),
    END};
INFO(fix, sizeof(struct stk_rep_fix));

static const struct stk_field level_fields[] = {
    ROW("effort", WORD, stk_rep_level, effort, NULL, STK_CHOICES(STK_EFFORTS),
        "how far the fix is taken"),
    ROW("text", TEXT, stk_rep_level, text, NULL, NULL, "the same for people"),
    ROW("price", TEXT, stk_rep_level, price, NULL, NULL, "what-if that gives the figures"),
    ROW_IF("count", COUNT, stk_rep_level, count, has_count, NULL, "workers, or requests at once"),
    ROW("low_share", SHARE, stk_rep_level, low_share, NULL, NULL, "saved of the step, at least"),
    ROW("expected_share", SHARE, stk_rep_level, expected_share, NULL, NULL, "expected"),
    ROW("high_share", SHARE, stk_rep_level, high_share, NULL, NULL, "at most"),
    ROW_IF("step_ns", NS, stk_rep_level, step_ns, has_step, NULL, "the step then, expected"),
    ROW_IF("low_ns", NS, stk_rep_level, low_ns, has_step, NULL, "at the shortest"),
    ROW_IF("high_ns", NS, stk_rep_level, high_ns, has_step, NULL, "at the longest"),
    END};
INFO(level, sizeof(struct stk_rep_level));

static const struct stk_field source_fields[] = {
    SUB("file", TEXT, stk_rep_finding, source, file, NULL, "file"),
    SUB("line", NUMBER, stk_rep_finding, source, line, NULL, "line, from 1"), END};
INFO(source, SIZE_OF(stk_rep_finding, source));

static const struct stk_field finding_fields[] = {
    ROW("id", TEXT, stk_rep_finding, id, NULL, NULL, "id of the rule"),
    ROW("title", TEXT, stk_rep_finding, title, NULL, NULL, "what is wrong"),
    ROW("kind", WORD, stk_rep_finding, kind, NULL, STK_CHOICES(STK_TOPICS),
        "what it is about: the job, or how it was recorded"),
    ROW("severity", WORD, stk_rep_finding, severity, NULL, STK_CHOICES(STK_SEVERITIES),
        "by what it costs"),
    ROW("confidence", WORD, stk_rep_finding, confidence, NULL, STK_CHOICES(STK_LEVELS),
        "how sure the evidence is"),
    ROW("saving", OBJECT, stk_rep_finding, saving, &saving, NULL,
        "share of the step that a fix can save"),
    ROW("levels", LIST, stk_rep_finding, levels, &level, NULL,
        "what a fix that comes in sizes saves, the least effort first"),
    ROW("steps_affected", COUNT, stk_rep_finding, steps_affected, NULL, NULL,
        "used steps that show it"),
    ROW("evidence", LIST, stk_rep_finding, evidence, &evidence, NULL, "how stoker knows"),
    ROW("fix", LIST, stk_rep_finding, fix, &fix, NULL,
        "what to change, the framework in use first"),
    ROW_IF("source", OBJECT, stk_rep_finding, source, has_source, &source,
           "line of the user's code"),
    ROW("explain", TEXT, stk_rep_finding, explain, NULL, NULL, "command that explains it"),
    END};
INFO(finding, sizeof(struct stk_rep_finding));

static const struct stk_field outlook_fields[] = {
    ROW("finding", TEXT, stk_rep_outlook, finding, NULL, NULL, "the finding whose fix this is"),
    ROW("basis", TEXT, stk_rep_outlook, basis, NULL, "replay|bound", "how it was obtained"),
    ROW("share", SHARE, stk_rep_outlook, share, NULL, NULL,
        "what stays of the step, expected; where only a bound is known, at the least"),
    ROW("low_share", SHARE, stk_rep_outlook, low_share, NULL, NULL, "at the least"),
    ROW("high_share", SHARE, stk_rep_outlook, high_share, NULL, NULL, "at the most"),
    ROW_IF("now_ns", NS, stk_rep_outlook, now_ns, has_step, NULL,
           "the mean step now, without what the profiler adds to it"),
    ROW_IF("step_ns", NS, stk_rep_outlook, step_ns, has_step, NULL, "the step with the fix"),
    ROW_IF("low_ns", NS, stk_rep_outlook, low_ns, has_step, NULL, "at the shortest"),
    ROW_IF("high_ns", NS, stk_rep_outlook, high_ns, has_step, NULL, "at the longest"),
    END};
INFO(outlook, sizeof(struct stk_rep_outlook));

static const struct stk_field rule_fields[] = {
    ROW("id", TEXT, stk_rep_rule, id, NULL, NULL, "rule"),
    ROW("state", TEXT, stk_rep_rule, state, NULL, "fired|passed|not_applicable|skipped",
        "what it said"),
    ROW_MAYBE("why", stk_rep_rule, why, NULL, "why"), END};
INFO(rule, sizeof(struct stk_rep_rule));

static const struct stk_field stoker_fields[] = {
    SUB("version", TEXT, stk_report, stoker, version, NULL, "version that wrote the report"), END};
INFO(stoker, SIZE_OF(stk_report, stoker));

static const struct stk_field report_fields[] = {
    ROW("schema", TEXT, stk_report, schema, NULL, STK_REPORT_SCHEMA,
        "name and version of this contract"),
    ROW("stoker", OBJECT, stk_report, stoker, &stoker, NULL, "who wrote it"),
    ROW("profile", OBJECT, stk_report, profile, &stk_profile_info, NULL,
        "what was read, and how good it is"),
    ROW("devices", LIST, stk_report, devices, &device, NULL, "one per physical device per process"),
    ROW("steps", OBJECT, stk_report, steps, &steps, NULL, "the steps of the run"),
    ROW("breakdown", OBJECT, stk_report, breakdown, &breakdown, NULL,
        "where the time of a step goes"),
    ROW("verdict", OBJECT, stk_report, verdict, &stk_verdict_info, NULL, "the answer"),
    ROW_IF("outlook", OBJECT, stk_report, outlook, has_outlook, &outlook,
           "the step with the first fix; absent where no fix has a known gain"),
    ROW("findings", LIST, stk_report, findings, &finding, NULL,
        "what to change, most valuable first"),
    ROW("rules", LIST, stk_report, rules, &rule, NULL, "every rule, and what it said"),
    END};
const struct stk_struct_info stk_report_info = {"report", sizeof(struct stk_report), report_fields};
