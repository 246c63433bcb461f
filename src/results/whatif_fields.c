// SPDX-License-Identifier: Apache-2.0
// The contract of `stoker whatif --json`, field by field: the JSON writer, the JSON Schema and
// docs/whatif.md are all made from these rows. Rows are only ever added.
#include "results/field_rows.h"
#include "results/whatif.h"

static const struct stk_field gate_fields[] = {
    ROW("ok", BOOL, stk_whatif_gate, ok, NULL, NULL,
        "the profile supports predictions; where not, `scenarios` is empty"),
    ROW_IF("replay_error_share", SHARE, stk_whatif_gate, replay_error_share, has_figures, NULL,
           "median over the used steps: replayed against recorded time"),
    ROW_IF("worst_error_share", SHARE, stk_whatif_gate, worst_error_share, has_figures, NULL,
           "the same of the worst step"),
    ROW_IF("unexplained_share", SHARE, stk_whatif_gate, unexplained_share, has_figures, NULL,
           "waiting that no edge of the graph explains, of the steps' time"),
    ROW_IF("contended_share", RATIO, stk_whatif_gate, contended_share, has_figures, NULL,
           "the same beside other streams that run: summed over streams, it may pass 1"),
    ROW_IF("start_error_share", RATIO, stk_whatif_gate, start_error_share, has_figures, NULL,
           "median distance of replayed from recorded starts, of a step"),
    ROW_IF("inferred_share", SHARE, stk_whatif_gate, inferred_share, has_figures, NULL,
           "of the edges between streams, those that no call of the profile shows"),
    ROW_IF("spread_share", RATIO, stk_whatif_gate, spread_share, has_figures, NULL,
           "deviation of the steps' times, of their mean"),
    ROW_IF("profiler_share", SHARE, stk_whatif_gate, profiler_share, has_figures, NULL,
           "of the measured step, what recording is taken to add to it: off before predicting"),
    ROW_IF("transplant_error_share", RATIO, stk_whatif_gate, transplant_error_share, has_transplant,
           NULL, "median error of a step predicted from the next one's graph and its own times"),
    ROW("why", TEXTS, stk_whatif_gate, why, NULL, NULL,
        "what speaks against predictions, or what to know of them"),
    END};
INFO(gate, sizeof(struct stk_whatif_gate));

static const struct stk_field part_fields[] = {
    ROW("kind", TEXT, stk_whatif_part, kind, NULL,
        "compute|input|host|sync|transfer|communication|unknown", "what the time goes to"),
    ROW("share", SHARE, stk_whatif_part, share, NULL, NULL, "of the critical path"), END};
INFO(part, sizeof(struct stk_whatif_part));

static const struct stk_field base_fields[] = {
    ROW("measured_ns", NS, stk_whatif_base, measured_ns, NULL, NULL,
        "mean of the used steps as recorded"),
    ROW("replayed_ns", NS, stk_whatif_base, replayed_ns, NULL, NULL,
        "the same of the replay without any change"),
    ROW("median_ns", NS, stk_whatif_base, median_ns, NULL, NULL, "lower median as recorded"),
    ROW("unprofiled_ns", NS, stk_whatif_base, unprofiled_ns, NULL, NULL,
        "`measured_ns` less what recording is taken to add: what predictions start from"),
    ROW("unprofiled_low_ns", NS, stk_whatif_base, unprofiled_low_ns, NULL, NULL,
        "the same, where recording adds as much as it may"),
    ROW("unprofiled_high_ns", NS, stk_whatif_base, unprofiled_high_ns, NULL, NULL,
        "the same, where it adds as little as it may"),
    ROW("path", LIST, stk_whatif_base, path, &part, NULL,
        "what the critical path of the first rank's replayed steps goes to"),
    END};
INFO(base, sizeof(struct stk_whatif_base));

static const struct stk_field saving_fields[] = {
    ROW("low_share", RATIO, stk_whatif_saving, low_share, NULL, NULL,
        "the least, of `unprofiled_ns`"),
    ROW("expected_share", RATIO, stk_whatif_saving, expected_share, NULL, NULL, "what is expected"),
    ROW("high_share", RATIO, stk_whatif_saving, high_share, NULL, NULL, "the most"), END};
INFO(saving, sizeof(struct stk_whatif_saving));

static const struct stk_field scenario_fields[] = {
    ROW("fix", TEXTS, stk_whatif_scenario, fix, NULL, NULL, "what is changed, all of it at once"),
    ROW("low_ns", NS, stk_whatif_scenario, low_ns, NULL, NULL,
        "predicted mean step: the optimistic end, with what `unprofiled_ns` may be off by"),
    ROW("expected_ns", NS, stk_whatif_scenario, expected_ns, NULL, NULL, "predicted mean step"),
    ROW("high_ns", NS, stk_whatif_scenario, high_ns, NULL, NULL, "the pessimistic end"),
    ROW("work", RATIO, stk_whatif_scenario, work, NULL, NULL,
        "what such a step does, over what one does now: 2 for a batch of twice the size"),
    ROW("saving", OBJECT, stk_whatif_scenario, saving, &saving, NULL,
        "shares saved of the time for the same work; below 0: it takes longer"),
    ROW_MAYBE("next_bottleneck", stk_whatif_scenario, next_bottleneck,
              "compute|input|host|sync|transfer|communication|unknown",
              "what holds most of the critical path afterwards"),
    ROW("assumes", TEXTS, stk_whatif_scenario, assumes, NULL, NULL,
        "what must hold for the prediction"),
    ROW("path", LIST, stk_whatif_scenario, path, &part, NULL,
        "what the critical path of the predicted steps goes to, as in `base`"),
    END};
INFO(scenario, sizeof(struct stk_whatif_scenario));

static const struct stk_field fix_fields[] = {
    ROW("fix", TEXT, stk_whatif_fix, id, NULL, NULL, "as --fix takes it; F, N: a number"),
    ROW("what", TEXT, stk_whatif_fix, what, NULL, NULL, "what it changes"),
    ROW("applies", BOOL, stk_whatif_fix, applies, NULL, NULL, "there is something to change"),
    ROW_MAYBE("why", stk_whatif_fix, why, NULL, "why it does not apply"), END};
INFO(fix, sizeof(struct stk_whatif_fix));

static const struct stk_field target_fields[] = {
    ROW("target_ns", NS, stk_whatif_target, target_ns, NULL, NULL, "what was asked for"),
    ROW("reached", BOOL, stk_whatif_target, reached, NULL, NULL,
        "the fixes are expected to get there"),
    ROW("expected_ns", NS, stk_whatif_target, expected_ns, NULL, NULL,
        "where they are expected to get"),
    ROW("fix", TEXTS, stk_whatif_target, fix, NULL, NULL, "the shortest list found, best first"),
    END};
INFO(target, sizeof(struct stk_whatif_target));

static const struct stk_field kind_fields[] = {
    ROW("kind", TEXT, stk_whatif_path_row, kind, NULL,
        "compute|input|host|sync|transfer|communication|unknown", "what the time goes to"),
    ROW("ns", NS, stk_whatif_path_row, ns, NULL, NULL, "of the mean step"),
    ROW("share", SHARE, stk_whatif_path_row, share, NULL, NULL, "of the path"), END};
INFO(kind, sizeof(struct stk_whatif_path_row));

static const struct stk_field name_fields[] = {
    ROW("kind", TEXT, stk_whatif_path_row, kind, NULL,
        "compute|input|host|sync|transfer|communication|unknown", "what the time goes to"),
    ROW("name", TEXT, stk_whatif_path_row, name, NULL, NULL,
        "of the event; empty: none records what is done"),
    ROW("ns", NS, stk_whatif_path_row, ns, NULL, NULL, "of the mean step"),
    ROW("share", SHARE, stk_whatif_path_row, share, NULL, NULL, "of the path"),
    ROW("count", RATIO, stk_whatif_path_row, count, NULL, NULL, "in the mean step"),
    END};
INFO(name, sizeof(struct stk_whatif_path_row));

static const struct stk_field beside_fields[] = {
    ROW("kind", TEXT, stk_whatif_path_row, kind, NULL,
        "compute|input|host|sync|transfer|communication|unknown", "what the time goes to"),
    ROW("name", TEXT, stk_whatif_path_row, name, NULL, NULL,
        "of the event; empty: none records what is done"),
    ROW("ns", NS, stk_whatif_path_row, ns, NULL, NULL, "of the mean step"),
    ROW("count", RATIO, stk_whatif_path_row, count, NULL, NULL, "in the mean step"),
    ROW("slack_ns", NS, stk_whatif_path_row, slack_ns, NULL, NULL,
        "the least by which one of them may end later and hold up no step"),
    END};
INFO(beside, sizeof(struct stk_whatif_path_row));

static const struct stk_field event_fields[] = {
    ROW("t_ns", NS, stk_whatif_path_event, t_ns, NULL, NULL, "begin, in the replay"),
    ROW("dur_ns", NS, stk_whatif_path_event, dur_ns, NULL, NULL, "of what is on the path"),
    ROW("kind", TEXT, stk_whatif_path_event, kind, NULL,
        "compute|input|host|sync|transfer|communication|unknown", "what the time goes to"),
    ROW("name", TEXT, stk_whatif_path_event, name, NULL, NULL,
        "of the event; empty: none records what is done"),
    ROW("where", TEXT, stk_whatif_path_event, where, NULL, NULL, "thread or stream"),
    END};
INFO(event, sizeof(struct stk_whatif_path_event));

static const struct stk_field critical_fields[] = {
    ROW("step_ns", NS, stk_whatif_critical, step_ns, NULL, NULL, "mean of the replayed steps"),
    ROW("kinds", LIST, stk_whatif_critical, kinds, &kind, NULL, "the path by kind, longest first"),
    ROW("names", LIST, stk_whatif_critical, names, &name, NULL,
        "the path by name: the 20 that hold most of it"),
    ROW("beside", LIST, stk_whatif_critical, beside, &beside, NULL,
        "what has slack, as it runs beside the path: the 20 names that take longest"),
    ROW("step", NUMBER, stk_whatif_critical, step, NULL, NULL,
        "the step whose events follow, of those that were replayed: one as long as the mean"),
    ROW("events", LIST, stk_whatif_critical, events, &event, NULL, "its path, in order of time"),
    ROW("left_out", COUNT, stk_whatif_critical, left_out, NULL, NULL,
        "of these events, those beyond the first 2000"),
    END};
INFO(critical, sizeof(struct stk_whatif_critical));

static const struct stk_field stoker_fields[] = {
    SUB("version", TEXT, stk_whatif, stoker, version, NULL, "version that wrote this"), END};
INFO(stoker, SIZE_OF(stk_whatif, stoker));

static const struct stk_field whatif_fields[] = {
    ROW("schema", TEXT, stk_whatif, schema, NULL, STK_WHATIF_SCHEMA,
        "name and version of this contract"),
    ROW("stoker", OBJECT, stk_whatif, stoker, &stoker, NULL, "who wrote it"),
    ROW("profile", OBJECT, stk_whatif, profile, &stk_profile_info, NULL,
        "what was read, and how good it is"),
    ROW("gate", OBJECT, stk_whatif, gate, &gate, NULL, "comes before any prediction"),
    ROW_IF("base", OBJECT, stk_whatif, base, has_base, &base, "the step as it is"),
    ROW("scenarios", LIST, stk_whatif, scenarios, &scenario, NULL,
        "the largest expected saving first"),
    ROW("fixes", LIST, stk_whatif, fixes, &fix, NULL, "all what-ifs there are"),
    ROW_IF("critical", OBJECT, stk_whatif, critical, has_critical, &critical,
           "with --critical: the critical path of the first rank's steps"),
    ROW_IF("target", OBJECT, stk_whatif, target, has_target, &target, "with --target"),
    END};
const struct stk_struct_info stk_whatif_info = {"whatif", sizeof(struct stk_whatif), whatif_fields};
