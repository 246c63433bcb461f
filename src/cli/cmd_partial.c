// SPDX-License-Identifier: Apache-2.0
// stoker partial: the part of profiles that a diagnosis needs, in a small file that can be merged
// with others.
#include "cli/cli.h"
#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "stoker/partial.h"

static int partial_run(const struct stk_args *args)
{
    struct stoker_why_options options;
    struct stk_progress_line line;
    struct stk_printing p;
    if (!args->values[STK_OPT_ID_OUTPUT].set) {
        return stk_usage(&stk_cmd_partial, "name the file to write with -o FILE.part");
    }
    stk_reading_options(args, false, &options);
    int code = stk_printing_begin(&p, args, "partial");
    if (code != STK_EXIT_DONE) {
        return code;
    }
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    options.progress = stk_progress_update;
    options.progress_arg = &line;
    enum stoker_status status = stoker_partial(args->words, (size_t)args->word_count, &options,
                                               stk_output_write, &p.output, &p.err);
    stk_progress_end(&line);
    return stk_printing_end(&p, status, STK_EXIT_DONE);
}

const struct stk_cmd stk_cmd_partial = {
    .name = "partial",
    .group = STK_CMD_DIG,
    .summary = "keep the results of profiles, without events, to merge them",
    .words = "PROFILE...",
    .description =
        "Reads profiles where they are stored and writes a partial: what why and diff need "
        "of them, without events. A partial of a rank takes kilobytes. Given partials, it merges "
        "them. The report of a job doesn't depend on how its partials were merged, or in which "
        "order.\n\n"
        "why and diff take partials instead of profiles, and both together. Commands that "
        "show events (report, view, stats, query, export, whatif) need the profiles. All partials "
        "of a job must be "
        "of the same version of stoker.",
    .examples = "stoker partial rank17.pt.trace.json.gz -o rank17.part\ton each node\n"
                "stoker partial *.part -o job.part\tmerge\n"
                "stoker why job.part\tthe report of the whole job\n"
                "ls ranks/*.json.gz | xargs -P 8 -I{} stoker partial {} -o {}.part\tin parallel\n",
    .min_words = 1,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_OUTPUT, STK_OPT_ID_FILES_FROM, STK_OPT_ID_STDIN_NAME, STK_OPT_ID_THREADS,
                STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .run = partial_run,
};
