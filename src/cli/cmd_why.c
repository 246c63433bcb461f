// SPDX-License-Identifier: Apache-2.0
// stoker why: diagnose profiles.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/terms.h"
#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"

static const char *format_of(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    return v[STK_OPT_ID_FORMAT].set ? v[STK_OPT_ID_FORMAT].text
           : v[STK_OPT_ID_JSON].set ? "json"
                                    : stoker_formats()[0];
}

static int verdict_code(const struct stk_args *args, const struct stoker_result *result)
{
    const struct stk_opt_value *fail_on = &args->values[STK_OPT_ID_FAIL_ON];
    if (strcmp(stoker_result_verdict(result), stk_verdict_key(STK_VERDICT_CANNOT_TELL)) == 0) {
        return STK_EXIT_CANNOT_TELL;
    }
    if (fail_on->set && (int64_t)stoker_result_level(result) >= fail_on->number) {
        return STK_EXIT_FOUND;
    }
    return STK_EXIT_DONE;
}

static int print(const struct stk_args *args, const struct stoker_result *result,
                 const char *format)
{
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, format);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status =
        stoker_result_write(result, format, &p.how, stk_output_write, &p.output, &p.err);
    return stk_printing_end(&p, status, verdict_code(args, result));
}

static int why_run(const struct stk_args *args)
{
    struct stoker_why_options options;
    struct stoker_result *result = NULL;
    struct stoker_err err;
    struct stk_progress_line line;
    const char *format = format_of(args);
    if (args->values[STK_OPT_ID_JSON].set && strcmp(format, "json") != 0) {
        return stk_usage(&stk_cmd_why, "--json and --format %s can't be combined", format);
    }
    if (args->values[STK_OPT_ID_QUIET].set && args->values[STK_OPT_ID_VERBOSE].set) {
        return stk_usage(&stk_cmd_why, "--quiet and --verbose can't be combined");
    }
    stk_reading_options(args, strcmp(format, "text") == 0, &options);
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    options.progress = stk_progress_update;
    options.progress_arg = &line;
    enum stoker_status status =
        stoker_why(args->words, (size_t)args->word_count, &options, &result, &err);
    stk_progress_end(&line);
    if (status != STOKER_OK) {
        return stk_fail(&err);
    }
    int code = print(args, result, format);
    stoker_result_free(result);
    return code;
}

const struct stk_cmd stk_cmd_why = {
    .name = "why",
    .summary = "show where each step's time goes, and what to change",
    .words = "PROFILE...",
    .description =
        "Reads profiles of a training job and shows where the time of each step goes. It gives a "
        "verdict with its evidence, and the changes that would help. It reads TensorFlow and JAX "
        "XPlane files, PyTorch and Chrome traces, and Nsight Systems SQLite exports, also "
        "compressed with gzip or zstd.\n\n"
        "A PROFILE is a file, a directory (a TensorBoard log directory, or a folder with one trace "
        "per rank), or - for standard input. Several profiles are taken as the ranks of one run. "
        "If they are from different jobs, stoker prints one line per job instead of a report.",
    .examples = "stoker why trace.json.gz\tdiagnose one profile\n"
                "stoker why logs/ --steps 3:8\tsome steps of a folder's newest run\n"
                "stoker why rank*.json.gz --json\tall ranks of a run, as JSON\n"
                "stoker why run.sqlite --fail-on high\tin CI: exit code 1 on a severe finding\n",
    .min_words = 1,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_JSON, STK_OPT_ID_FORMAT, STK_OPT_ID_OUTPUT, STK_OPT_ID_LIMIT,
                STK_OPT_ID_STEPS, STK_OPT_ID_RANK, STK_OPT_ID_DEVICE, STK_OPT_ID_FROM,
                STK_OPT_ID_TO, STK_OPT_ID_FAIL_ON, STK_OPT_ID_AS_RANKS, STK_OPT_ID_REDACT,
                STK_OPT_ID_THREADS, STK_OPT_ID_NO_COLOR, STK_OPT_ID_VERBOSE, STK_OPT_ID_QUIET,
                STK_OPT_ID_NONE},
    .completes = "files",
    .run = why_run,
};
