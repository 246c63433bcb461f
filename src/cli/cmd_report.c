// SPDX-License-Identifier: Apache-2.0
// stoker report: the pages of stoker view as one file, to send or to keep; or the diagnosis as
// Markdown, for a pull request; or a bundle, for a maintainer of stoker.
#include <inttypes.h>
#include <stdio.h>

#include "cli/page.h"
#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/second_look.h"
#include "serve/single_file.h"
#include "stoker/diff.h"
#include "stoker/export.h"

static int write_file(const struct stk_args *args, struct stk_view_plan *plan)
{
    struct stk_output output;
    struct stoker_err err;
    struct stk_progress_line line;
    int code = stk_output_open(&output, args->values[STK_OPT_ID_HTML].text, false);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    plan->reading.progress = stk_progress_update;
    plan->reading.progress_arg = &line;
    enum stoker_status status = stk_single_file_write(plan, stk_output_write, &output, &err);
    stk_progress_end(&line);
    return stk_output_end(&output, status, &err);
}

static enum stoker_status diagnose(const struct stk_args *args, const struct stk_view_plan *plan,
                                   struct stk_output *output, struct stoker_err *err)
{
    struct stoker_result *result = NULL;
    enum stoker_status status =
        stk_second_look(args, plan->paths[0], plan->path_count[0], &plan->reading, &result, err);
    if (status == STOKER_OK) {
        status = stoker_result_write(result, "markdown", NULL, stk_output_write, output, err);
        stoker_result_free(result);
    }
    return status;
}

static enum stoker_status compare(const struct stk_view_plan *plan, struct stk_output *output,
                                  struct stoker_err *err)
{
    struct stoker_diff *diff = NULL;
    struct stoker_diff_options options;
    stoker_diff_options_default(&options);
    options.reading = plan->reading;
    enum stoker_status status = stoker_diff(plan->paths[0], plan->path_count[0], plan->paths[1],
                                            plan->path_count[1], &options, &diff, err);
    if (status == STOKER_OK) {
        status = stoker_diff_write(diff, "markdown", NULL, stk_output_write, output, err);
        stoker_diff_free(diff);
    }
    return status;
}

// The report, then the comparison if there is a second side.
static int write_markdown(const struct stk_args *args, struct stk_view_plan *plan)
{
    struct stk_output output;
    struct stoker_err err;
    struct stk_progress_line line;
    int code = stk_output_open(&output, args->values[STK_OPT_ID_MARKDOWN_FILE].text, false);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    plan->reading.progress = stk_progress_update;
    plan->reading.progress_arg = &line;
    enum stoker_status status = diagnose(args, plan, &output, &err);
    if (status == STOKER_OK && plan->path_count[1] > 0) {
        status = compare(plan, &output, &err);
    }
    stk_progress_end(&line);
    return stk_output_end(&output, status, &err);
}

static void say_bundle(const char *path, const struct stoker_bundle *b)
{
    stk_screen_put(stderr, path, STK_SCREEN_ALL);
    fprintf(stderr, ": %" PRIu64 " bytes, %" PRIu64 " of %" PRIu64 " events", b->bytes, b->events,
            b->of_events);
    if (b->steps) {
        fprintf(stderr, ", %" PRIu64 " of %" PRIu64 " steps", b->steps, b->of_steps);
    }
    if (b->ranks < b->of_ranks) {
        fprintf(stderr, ", %" PRIu64 " of %" PRIu64 " ranks", b->ranks, b->of_ranks);
    }
    fputs("\n  check what you send: zcat ", stderr);
    stk_screen_put(stderr, path, STK_SCREEN_ALL);
    fputs(" | less\n", stderr);
}

static int write_bundle(const struct stk_args *args, struct stk_view_plan *plan)
{
    struct stk_output output;
    struct stoker_err err;
    struct stoker_bundle bundle;
    struct stk_progress_line line;
    bool is_quiet = args->values[STK_OPT_ID_QUIET].set;
    int code = stk_output_open(&output, args->values[STK_OPT_ID_BUNDLE].text, false);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    stk_progress_start(&line, is_quiet);
    plan->reading.progress = stk_progress_update;
    plan->reading.progress_arg = &line;
    enum stoker_status status =
        stoker_bundle_write(plan->paths[0], plan->path_count[0], &plan->reading, 0,
                            stk_output_write, &output, &bundle, &err);
    stk_progress_end(&line);
    code = stk_output_end(&output, status, &err);
    if (code == STK_EXIT_DONE && output.path && !is_quiet) {
        say_bundle(output.path, &bundle);
    }
    return code;
}

int stk_report_page(const struct stk_cmd *cmd, const struct stk_args *args)
{
    int a = args->separator > 0 ? args->separator : args->word_count;
    struct stk_view_plan plan = {.paths = {args->words, args->words + a},
                                 .path_count = {(size_t)a, (size_t)(args->word_count - a)}};
    if (a == 0) {
        return stk_usage(cmd, "PROFILE is missing");
    }
    stk_reading_options(args, false, &plan.reading);
    if (args->values[STK_OPT_ID_BUNDLE].set) {
        return plan.path_count[1]
                   ? stk_usage(cmd,
                               "--bundle holds one side: leave out -- and the profiles after it")
                   : write_bundle(args, &plan);
    }
    return args->values[STK_OPT_ID_HTML].set ? write_file(args, &plan)
                                             : write_markdown(args, &plan);
}

static int report_run(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    int forms = v[STK_OPT_ID_HTML].set + v[STK_OPT_ID_MARKDOWN_FILE].set + v[STK_OPT_ID_BUNDLE].set;
    if (args->word_count && forms != 1) {
        return stk_usage(&stk_cmd_report, "one of --html FILE, --markdown FILE and --bundle FILE "
                                          "is needed: name the file to write");
    }
    return stk_report_page(&stk_cmd_report, args);
}

const struct stk_cmd stk_cmd_report = {
    .name = "report",
    .summary = "write the diagnosis to one file: HTML, Markdown, or a bundle for a bug report",
    .words = "PROFILE... [-- PROFILE_B...]",
    .description =
        "Writes the pages of stoker view to one file: why the step takes its time, the analyses, "
        "what each fix saves, and a comparison with the profiles after --. It opens in any browser "
        "and loads nothing from the network. Tables hold their first 500 rows.\n\n"
        "--markdown writes a summary for a pull request or a CI job: the verdict, the step now and "
        "with the first fix, the findings, and the comparison with the profiles after --.\n\n"
        "--bundle writes what a maintainer needs to see a wrong answer, in at most 1 MB: the "
        "profile "
        "with host names, paths and user-chosen names replaced, and the report. A larger profile "
        "is cut to the steps that fit. It is compressed JSON, which you can read before you "
        "send it, and which stoker reads like any profile.\n\n"
        "PROFILE is as in stoker why. Use --redact before you send a page to someone.",
    .examples = "stoker report trace.json.gz --html why.html\tone profile\n"
                "stoker report before/ --html both.html -- after/\ttwo, compared\n"
                "stoker report trace.json.gz --markdown why.md\tfor a pull request\n"
                "stoker report trace.json.gz --bundle bug.json.gz\tfor a bug report\n",
    .min_words = 0,
    .max_words = INT32_MAX,
    .has_sides = true,
    .options = {STK_OPT_ID_HTML, STK_OPT_ID_MARKDOWN_FILE, STK_OPT_ID_BUNDLE, STK_OPT_ID_FILES_FROM,
                STK_OPT_ID_STEPS, STK_OPT_ID_RANK, STK_OPT_ID_DEVICE, STK_OPT_ID_FROM,
                STK_OPT_ID_TO, STK_OPT_ID_AS_RANKS, STK_OPT_ID_REDACT, STK_OPT_ID_THREADS,
                STK_OPT_ID_NO_CACHE, STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .completes = "files",
    .run = report_run,
};
