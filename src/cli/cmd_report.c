// SPDX-License-Identifier: Apache-2.0
// stoker report: the pages of stoker view as one file, to send to somebody or to keep.
#include <stdio.h>

#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "serve/single_file.h"

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
    code = stk_output_close(&output, status == STOKER_OK);
    return status == STOKER_OK || status == STOKER_EOUTPUT ? code : stk_fail(&err);
}

static int report_run(const struct stk_args *args)
{
    int a = args->separator > 0 ? args->separator : args->word_count;
    struct stk_view_plan plan = {.paths = {args->words, args->words + a},
                                 .path_count = {(size_t)a, (size_t)(args->word_count - a)}};
    if (a == 0) {
        return stk_usage(&stk_cmd_report, "PROFILE is missing");
    }
    if (!args->values[STK_OPT_ID_HTML].set) {
        return stk_usage(&stk_cmd_report, "--html FILE is missing: name the page to write");
    }
    stk_reading_options(args, false, &plan.reading);
    return write_file(args, &plan);
}

const struct stk_cmd stk_cmd_report = {
    .name = "report",
    .summary = "write the diagnosis to one HTML file",
    .words = "PROFILE... [-- PROFILE_B...]",
    .description =
        "Writes the pages of stoker view to one file: why the step takes its time, the analyses, "
        "what each fix saves, and a comparison with the profiles after --. It opens in any browser "
        "and loads nothing from the network. Tables hold their first 500 rows.\n\n"
        "PROFILE is as in stoker why. Use --redact before you send it to someone.",
    .examples = "stoker report trace.json.gz --html why.html\tone profile\n"
                "stoker report before/ --html both.html -- after/\ttwo, compared\n",
    .min_words = 0,
    .max_words = INT32_MAX,
    .has_sides = true,
    .options = {STK_OPT_ID_HTML, STK_OPT_ID_STEPS, STK_OPT_ID_RANK, STK_OPT_ID_DEVICE,
                STK_OPT_ID_FROM, STK_OPT_ID_TO, STK_OPT_ID_AS_RANKS, STK_OPT_ID_REDACT,
                STK_OPT_ID_THREADS, STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .completes = "files",
    .run = report_run,
};
