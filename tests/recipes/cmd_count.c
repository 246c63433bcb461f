// SPDX-License-Identifier: Apache-2.0
// stoker count: how many events a profile holds.
//
// Recipe of a command: src/cli/cmd_count.c and X(count) in src/cli/cmds.def. Parsing, help more,
// the man page, completion and docs/commands.md come from the descriptor at the end. Commands see
// include/stoker and base alone: what they lack belongs into the library.
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/table_print.h"
#include "stoker/query.h"

static int count_run(const struct stk_args *args)
{
    struct stoker_why_options reading;
    struct stoker_profiles *profiles = NULL;
    struct stoker_tables *tables = NULL;
    struct stoker_err err;
    struct stk_progress_line line;
    const char *format = stk_table_format(args);
    if (!format) {
        return stk_usage(&stk_cmd_count, "--json and --csv can't be combined");
    }
    stk_reading_options(args, false, &reading);
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    reading.progress = stk_progress_update;
    reading.progress_arg = &line;
    enum stoker_status status =
        stoker_open(args->words, (size_t)args->word_count, &reading, &profiles, &err);
    stk_progress_end(&line);
    if (status == STOKER_OK) {
        status =
            stoker_query(profiles, "select count(*) as events from events", NULL, &tables, &err);
    }
    int code = status == STOKER_OK ? stk_table_print(args, tables, format) : stk_fail(&err);
    stoker_tables_free(tables); // before the profiles that they were made from
    stoker_close(profiles);
    return code;
}

const struct stk_cmd stk_cmd_count = {
    .name = "count",
    .summary = "how many events a profile holds",
    .words = "PROFILE...",
    .description = "Prints how many events the profiles hold. PROFILE is as in stoker why.",
    .examples = "stoker count trace.json.gz\tits events\n",
    .min_words = 1,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_JSON, STK_OPT_ID_CSV, STK_OPT_ID_OUTPUT, STK_OPT_ID_RANK,
                STK_OPT_ID_THREADS, STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .completes = "files",
    .run = count_run,
};
