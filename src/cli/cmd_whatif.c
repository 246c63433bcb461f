// SPDX-License-Identifier: Apache-2.0
// stoker whatif: what each fix is worth.
#include <stdio.h>

#include "base/text.h"
#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "stoker/whatif.h"

static int print(const struct stk_args *args, const struct stoker_whatif *whatif)
{
    const char *format = args->values[STK_OPT_ID_JSON].set ? "json" : stoker_whatif_formats()[0];
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, format);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status =
        stoker_whatif_write(whatif, format, &p.how, stk_output_write, &p.output, &p.err);
    return stk_printing_end(&p, status,
                            stoker_whatif_ok(whatif) ? STK_EXIT_DONE : STK_EXIT_CANNOT_TELL);
}

// "2=larger.json"
static bool read_other(const char *text, struct stoker_whatif_options *options)
{
    char *end;
    options->other_times = stk_text_to_real(text, &end);
    options->other_batch = end + 1;
    return end != text && *end == '=' && end[1] && options->other_times > 0 &&
           options->other_times != 1;
}

static int whatif_run(const struct stk_args *args)
{
    struct stoker_whatif_options options;
    struct stoker_whatif *whatif = NULL;
    struct stoker_err err;
    struct stk_progress_line line;
    const struct stk_opt_value *v = args->values;
    if (v[STK_OPT_ID_LIST].set && (v[STK_OPT_ID_FIX].set || v[STK_OPT_ID_TARGET].set)) {
        return stk_usage(&stk_cmd_whatif, "--list estimates nothing: leave out --fix and --target");
    }
    if (v[STK_OPT_ID_CRITICAL].set &&
        (v[STK_OPT_ID_LIST].set || v[STK_OPT_ID_FIX].set || v[STK_OPT_ID_TARGET].set)) {
        return stk_usage(&stk_cmd_whatif,
                         "--critical estimates nothing: leave out --fix, --target and --list");
    }
    stoker_whatif_options_default(&options);
    stk_reading_options(args, false, &options.reading);
    options.fixes = v[STK_OPT_ID_FIX].set ? v[STK_OPT_ID_FIX].text : NULL;
    options.target_ns = v[STK_OPT_ID_TARGET].set ? v[STK_OPT_ID_TARGET].number : 0;
    options.list = v[STK_OPT_ID_LIST].set;
    options.critical = v[STK_OPT_ID_CRITICAL].set;
    options.pairs = v[STK_OPT_ID_FIX_PAIRS].set;
    if (v[STK_OPT_ID_WITH_BATCH].set && !read_other(v[STK_OPT_ID_WITH_BATCH].text, &options)) {
        return stk_usage(&stk_cmd_whatif,
                         "--with-batch takes F=FILE, where F is the factor of the batch size: "
                         "2=larger.pt.trace.json");
    }
    stk_progress_start(&line, v[STK_OPT_ID_QUIET].set);
    options.reading.progress = stk_progress_update;
    options.reading.progress_arg = &line;
    enum stoker_status status =
        stoker_whatif(args->words, (size_t)args->word_count, &options, &whatif, &err);
    stk_progress_end(&line);
    if (status != STOKER_OK) {
        return stk_fail(&err);
    }
    int code = print(args, whatif);
    stoker_whatif_free(whatif);
    return code;
}

const struct stk_cmd stk_cmd_whatif = {
    .name = "whatif",
    .summary = "estimate what each fix saves before you make it",
    .group = STK_CMD_DIAGNOSE,
    .words = "PROFILE...",
    .description =
        "Rebuilds the dependencies in the profile's steps, replays them with a fix applied, and "
        "estimates the new step time, as an interval. Without --fix, it estimates each applicable "
        "fix alone. --fix a,b estimates them together. --target finds the fixes that get a step "
        "down to a given time. --pairs also estimates the best fixes two at a time.\n\n"
        "--with-batch names a second profile of the same job with F times the batch size. --fix "
        "batch=N then uses how each class of work grew. --critical shows the critical path of the "
        "steps, by kind and by name, and the slack of what runs in parallel.\n\n"
        "If the replay can't be trusted, there are no estimates: the output says why, and the exit "
        "code is 4. PROFILE is as in stoker why.",
    .examples = "stoker whatif trace.json.gz\tevery fix that applies\n"
                "stoker whatif trace.json.gz --pairs\tand the best two together\n"
                "stoker whatif trace.json.gz --list\tlist the what-ifs\n"
                "stoker whatif trace.json.gz --fix input-free\tone fix\n"
                "stoker whatif b32.json --fix batch=4 --with-batch 2=b64.json\ttwo batch sizes\n"
                "stoker whatif trace.json.gz --critical\tthe critical path\n"
                "stoker whatif logs/ --target 50ms\twhich fixes get a step to 50 ms\n",
    .min_words = 1,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_FIX,       STK_OPT_ID_WITH_BATCH, STK_OPT_ID_LIST,   STK_OPT_ID_TARGET,
                STK_OPT_ID_FIX_PAIRS, STK_OPT_ID_CRITICAL,   STK_OPT_ID_JSON,   STK_OPT_ID_OUTPUT,
                STK_OPT_ID_STEPS,     STK_OPT_ID_RANK,       STK_OPT_ID_DEVICE, STK_OPT_ID_FROM,
                STK_OPT_ID_TO,        STK_OPT_ID_AS_RANKS,   STK_OPT_ID_REDACT, STK_OPT_ID_THREADS,
                STK_OPT_ID_NO_COLOR,  STK_OPT_ID_VERBOSE,    STK_OPT_ID_QUIET,  STK_OPT_ID_NONE},
    .completes = "files",
    .run = whatif_run,
};
