// SPDX-License-Identifier: Apache-2.0
// The contract of `stoker run --json`, field by field. Rows are only ever added.
#include "results/field_rows.h"
#include "results/run.h"

static const struct stk_field steps_fields[] = {
    ROW("count", COUNT, stk_run_doc_steps, count, NULL, NULL, "that the hooks saw"),
    ROW("median_ns", NS, stk_run_doc_steps, median_ns, NULL, NULL,
        "outside of the warm-up and the window; 0: none of them is"),
    ROW("source", TEXT, stk_run_doc_steps, source, NULL, "hooks|none", "who saw them"), END};
INFO(steps, sizeof(struct stk_run_doc_steps));

static const struct stk_field input_fields[] = {
    ROW("wait_ns", NS, stk_run_doc_input, wait_ns, NULL, NULL, "of all steps"),
    ROW("wait_share", RATIO, stk_run_doc_input, wait_share, NULL, NULL,
        "of the steps that `median_ns` is of"),
    END};
INFO(input, sizeof(struct stk_run_doc_input));

static const struct stk_field window_fields[] = {
    ROW("first_step", COUNT, stk_run_doc_window, first_step, NULL, NULL, "its number"),
    ROW("steps", COUNT, stk_run_doc_window, steps, NULL, NULL, "that were recorded"),
    ROW("profile", TEXT, stk_run_doc_window, profile, NULL, NULL, "where it lies"),
    ROW_IF("slowdown_share", RATIO, stk_run_doc_window, slowdown_share, has_slowdown, NULL,
           "by which its median step is longer than that outside of it"),
    END};
INFO(window, sizeof(struct stk_run_doc_window));

static const struct stk_field gpu_fields[] = {
    ROW("processes", COUNT, stk_run_doc_gpu, processes, NULL, NULL, "with CUDA"),
    ROW("windows", COUNT, stk_run_doc_gpu, windows, NULL, NULL, "that were recorded"),
    ROW("window_ns", NS, stk_run_doc_gpu, window_ns, NULL, NULL, "all of them together"),
    ROW("records", COUNT, stk_run_doc_gpu, records, NULL, NULL, "written"),
    ROW("dropped", COUNT, stk_run_doc_gpu, dropped, NULL, NULL, "records that were lost"),
    ROW("left_out", COUNT, stk_run_doc_gpu, left_out, NULL, NULL,
        "records beyond what a window may hold"),
    ROW("bytes", BYTES, stk_run_doc_gpu, bytes, NULL, NULL, "written"),
    ROW_IF("cupti_version", COUNT, stk_run_doc_gpu, cupti_version, has_cupti, NULL,
           "as CUPTI says"),
    ROW_IF("overhead_share_in_windows", RATIO, stk_run_doc_gpu, overhead_share_in_windows,
           has_inside, NULL, "stoker's own part of the windows' time"),
    ROW_IF("cupti_share_in_windows", RATIO, stk_run_doc_gpu, cupti_share_in_windows, has_inside,
           NULL, "CUPTI's part of it"),
    ROW_IF("overhead_share_outside", RATIO, stk_run_doc_gpu, overhead_share_outside, has_outside,
           NULL, "stoker's own part of the time outside of windows"),
    END};
INFO(gpu, sizeof(struct stk_run_doc_gpu));

static const struct stk_field predicted_fields[] = {
    ROW("low_share", RATIO, stk_run_doc_predicted, low_share, NULL, NULL, "the least"),
    ROW("expected_share", RATIO, stk_run_doc_predicted, expected_share, NULL, NULL,
        "what is expected"),
    ROW("high_share", RATIO, stk_run_doc_predicted, high_share, NULL, NULL, "the most"), END};
INFO(predicted, sizeof(struct stk_run_doc_predicted));

static const struct stk_field compared_fields[] = {
    ROW("dir", TEXT, stk_run_doc_compared, dir, NULL, NULL, "folder of the run as it is"),
    ROW("step_ns", NS, stk_run_doc_compared, step_ns, NULL, NULL, "its mean step"),
    ROW("free_step_ns", NS, stk_run_doc_compared, free_step_ns, NULL, NULL,
        "mean step with the input free"),
    ROW("input_cost_share", REAL, stk_run_doc_compared, input_cost_share, NULL, NULL,
        "of the step, that the input costs"),
    ROW_IF("why_input_wait_share", RATIO, stk_run_doc_compared, why_input_wait_share, has_said,
           NULL, "`input_wait` in the window of the run as it is"),
    ROW_IF("predicted", OBJECT, stk_run_doc_compared, predicted, has_predicted, &predicted,
           "what the what-if `input-free` promised of that window, shares of the step"),
    END};
INFO(compared, sizeof(struct stk_run_doc_compared));

static const struct stk_field run_fields[] = {
    ROW("schema", TEXT, stk_run_doc, schema, NULL, STK_RUN_SCHEMA,
        "name and version of this contract"),
    ROW("command", WORDS, stk_run_doc, command, NULL, NULL, "its words"),
    ROW("exit_status", NUMBER, stk_run_doc, exit_status, NULL, NULL, "of the job"),
    ROW("signal", NUMBER, stk_run_doc, signal, NULL, NULL, "that ended it; 0: none"),
    ROW("dir", TEXT, stk_run_doc, dir, NULL, NULL, "of the run, absolute"),
    ROW("framework", TEXT, stk_run_doc, framework, NULL, NULL,
        "that steps: pytorch, tensorflow, jax; none"),
    ROW("hooks", WORDS, stk_run_doc, hooks, NULL, NULL, "that were placed"),
    ROW("input_mode", TEXT, stk_run_doc, input_mode, NULL, NULL, "as-is, cached, synthetic"),
    ROW("steps", OBJECT, stk_run_doc, steps, &steps, NULL,
        "of the process whose figures stand for the run"),
    ROW_IF("input", OBJECT, stk_run_doc, input, has_input, &input, "its waits for input"),
    ROW_IF("window", OBJECT, stk_run_doc, window, has_window, &window,
           "of the framework's own profiler"),
    ROW_IF("gpu", OBJECT, stk_run_doc, gpu, has_gpu, &gpu, "with --level 1"),
    ROW_IF("overhead_share", RATIO, stk_run_doc, overhead_share, has_overhead, NULL,
           "of the job's time, that the hooks and the sampler took"),
    ROW_IF("compared", OBJECT, stk_run_doc, compared, has_compared, &compared,
           "with --input: beside a run of the same job as it is"),
    ROW("ranks", COUNT, stk_run_doc, ranks, NULL, NULL, "processes that step"),
    ROW("wall_ns", NS, stk_run_doc, wall_ns, NULL, NULL, "of the job"),
    ROW("warnings", WORDS, stk_run_doc, warnings, NULL, NULL,
        "what the reader of the figures must know: sentences"),
    END};
const struct stk_struct_info stk_run_info = {"run", sizeof(struct stk_run_doc), run_fields};
