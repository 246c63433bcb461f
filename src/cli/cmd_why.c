// SPDX-License-Identifier: Apache-2.0
// stoker why: diagnose profiles.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/terms.h"
#include "cli/policy.h"
#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/second_look.h"
#include "cli/why_team.h"

static const char *format_of(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    return v[STK_OPT_ID_FORMAT].set ? v[STK_OPT_ID_FORMAT].text
           : v[STK_OPT_ID_JSON].set ? "json"
                                    : stoker_formats()[0];
}

static int verdict_code(const struct stk_policy *policy, const struct stoker_result *result)
{
    int code = stk_policy_judge(policy, result);
    if (strcmp(stoker_result_verdict(result), stk_verdict_key(STK_VERDICT_CANNOT_TELL)) == 0 &&
        (code == STK_EXIT_DONE || code == STK_EXIT_FOUND)) {
        return STK_EXIT_CANNOT_TELL;
    }
    return code;
}

static int print(const struct stk_args *args, const struct stk_policy *policy,
                 const struct stoker_result *result, const char *format)
{
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, format);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status =
        stoker_result_write(result, format, &p.how, stk_output_write, &p.output, &p.err);
    return stk_printing_end(&p, status, verdict_code(policy, result));
}

static int why_run(const struct stk_args *args)
{
    struct stoker_why_options options;
    struct stoker_result *result = NULL;
    struct stoker_err err;
    struct stk_progress_line line;
    struct stk_policy policy;
    const char *format = format_of(args);
    if (args->values[STK_OPT_ID_JSON].set && strcmp(format, "json") != 0) {
        return stk_usage(&stk_cmd_why, "--json and --format %s can't be combined", format);
    }
    if (args->values[STK_OPT_ID_QUIET].set && args->values[STK_OPT_ID_VERBOSE].set) {
        return stk_usage(&stk_cmd_why, "--quiet and --verbose can't be combined");
    }
    int code = stk_policy_read(&policy, args);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    stk_reading_options(args, strcmp(format, "text") == 0, &options);
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    options.progress = stk_progress_update;
    options.progress_arg = &line;
    struct stk_why_team team;
    enum stoker_status status = stk_why_team_start(&team, &options, &err);
    if (status == STOKER_OK) {
        status = team.mpi ? stk_why_team(&team, args, &options, &result, &err)
                          : stk_second_look(args, args->words, (size_t)args->word_count, &options,
                                            &result, &err);
    }
    stk_progress_end(&line);
    code = STK_EXIT_DONE; // helper ranks
    if (status != STOKER_OK) {
        code = stk_fail(&err);
    } else if (result) {
        code = print(args, &policy, result, format);
        stoker_result_free(result);
    }
    stk_policy_free(&policy);
    stk_why_team_end(&team);
    return code;
}

const struct stk_cmd stk_cmd_why = {
    .name = "why",
    .summary = "show where each step's time goes, and what to change",
    .group = STK_CMD_DIAGNOSE,
    .words = "PROFILE...",
    .description =
        "Reads profiles of a training job and shows where the time of each step goes. It gives a "
        "verdict with its evidence, and the changes that would help. It reads TensorFlow and JAX "
        "XPlane files, PyTorch and Chrome traces, and Nsight Systems SQLite exports, also "
        "compressed with gzip or zstd.\n\n"
        "A PROFILE is a file, a directory (a TensorBoard log directory, or a folder with one trace "
        "per rank), or - for standard input. Several profiles are the ranks of one run. "
        "If they are from different jobs, stoker prints one line per job instead of a report.\n\n"
        "Profiles above 64 MB leave a summary in $XDG_CACHE_HOME/stoker/view, so the next look at "
        "them takes milliseconds. --no-cache turns that off.\n\n"
        "In CI, --fail-on sets the exit code; --ignore and --baseline leave out what a project has "
        "accepted. stoker.toml in the working folder can hold all three: docs/ci.md.",
    .examples = "stoker why trace.json.gz\tdiagnose one profile\n"
                "stoker why logs/ --steps 3:8\tsome steps of a folder's newest run\n"
                "stoker why rank*.json.gz --json\tall ranks of a run, as JSON\n"
                "stoker why run.sqlite --fail-on high\tin CI: exit code 1 on a severe finding\n",
    .min_words = 1,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_JSON,     STK_OPT_ID_FILES_FROM, STK_OPT_ID_STDIN_NAME,
                STK_OPT_ID_FORMAT,   STK_OPT_ID_OUTPUT,     STK_OPT_ID_LIMIT,
                STK_OPT_ID_STEPS,    STK_OPT_ID_RANK,       STK_OPT_ID_DEVICE,
                STK_OPT_ID_FROM,     STK_OPT_ID_TO,         STK_OPT_ID_FAIL_ON,
                STK_OPT_ID_IGNORE,   STK_OPT_ID_BASELINE,   STK_OPT_ID_WRITE_BASELINE,
                STK_OPT_ID_AS_RANKS, STK_OPT_ID_REDACT,     STK_OPT_ID_THREADS,
                STK_OPT_ID_NO_CACHE, STK_OPT_ID_NO_COLOR,   STK_OPT_ID_VERBOSE,
                STK_OPT_ID_QUIET,    STK_OPT_ID_NONE},
    .completes = "files",
    .run = why_run,
};
