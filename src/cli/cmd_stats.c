// SPDX-License-Identifier: Apache-2.0
// stoker stats: tables about one question each.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/table_print.h"
#include "cli/word_order.h"

#define ROWS_OF_ALL 5 // per table in text

static int list(void)
{
    for (size_t i = 0; stoker_analysis_name(i); i++) {
        printf("%-10s %s\n", stoker_analysis_name(i), stoker_analysis_question(i));
    }
    printf("%-10s %s\n", "all", "All analyses, in one pass over the profile.");
    return STK_EXIT_DONE;
}

static int describe(const struct stk_args *args)
{
    const char *format = args->values[STK_OPT_ID_MARKDOWN].set ? "markdown" : "text";
    struct stk_printing p;
    if (args->word_count > 1) {
        return stk_usage(&stk_cmd_stats, "--tables describes an analysis: leave out the PROFILE");
    }
    int code = stk_printing_begin(&p, args, format);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status = stoker_describe_stats(args->word_count ? args->words[0] : NULL,
                                                      format, stk_output_write, &p.output, &p.err);
    return stk_printing_end(&p, status, STK_EXIT_DONE);
}

static bool is_analysis(const char *word)
{
    for (size_t i = 0; stoker_analysis_name(i); i++) {
        if (strcmp(word, stoker_analysis_name(i)) == 0) {
            return true;
        }
    }
    return strcmp(word, "all") == 0;
}

static void arrange(struct stk_args *args)
{
    stk_words_lead(args, is_analysis);
}

static int stats_run(const struct stk_args *args)
{
    struct stoker_why_options options;
    struct stoker_tables *tables = NULL;
    struct stoker_err err;
    struct stk_progress_line line;
    const char *format = stk_table_format(args);
    if (!format) {
        return stk_usage(&stk_cmd_stats, "--json and --csv can't be combined");
    }
    if (args->values[STK_OPT_ID_TABLES].set || args->values[STK_OPT_ID_MARKDOWN].set) {
        return describe(args);
    }
    if (args->word_count == 0) {
        return list();
    }
    if (args->word_count == 1) {
        return stk_usage(&stk_cmd_stats, "PROFILE is missing");
    }
    stk_reading_options(args, false, &options);
    options.limit = stk_table_limit(args, format);
    options.by = args->values[STK_OPT_ID_BY].set ? args->values[STK_OPT_ID_BY].text : NULL;
    if (strcmp(args->words[0], "all") == 0) {
        if (strcmp(format, "csv") == 0 || args->values[STK_OPT_ID_TABLE].set) {
            return stk_usage(&stk_cmd_stats,
                             "all can't be combined with --csv or --table: name one analysis");
        }
        if (!args->values[STK_OPT_ID_LIMIT].set && !args->values[STK_OPT_ID_JSON].set) {
            options.limit = ROWS_OF_ALL;
        }
    }
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    options.progress = stk_progress_update;
    options.progress_arg = &line;
    enum stoker_status status = stoker_stats(args->words[0], args->words + 1,
                                             (size_t)args->word_count - 1, &options, &tables, &err);
    stk_progress_end(&line);
    if (status != STOKER_OK) {
        return stk_fail(&err);
    }
    int code = stk_table_print(args, tables, format);
    stoker_tables_free(tables);
    return code;
}

const struct stk_cmd stk_cmd_stats = {
    .name = "stats",
    .summary = "print tables: kernels, copies, launches, gaps, operations",
    .group = STK_CMD_DIG,
    .words = "[ANALYSIS PROFILE...]",
    .description =
        "Answers one question about profiles with tables, as text, JSON or CSV. Without words it "
        "lists the analyses and their questions. ANALYSIS all runs all of them in one pass. It "
        "prints the first table of each, or with --json an array of all their documents. --tables "
        "describes the tables and columns of ANALYSIS and needs no PROFILE.\n\n"
        "PROFILE is as in stoker why. If a profile lacks what an analysis needs, the output says "
        "what is missing and how to record it. The exit code is then 4.",
    .examples = "stoker stats\tlist the analyses\n"
                "stoker stats kernels --tables\twhat each column means\n"
                "stoker stats kernels trace.json.gz\tkernels by total time\n"
                "stoker stats transfers run.sqlite --csv\tcopies, for a spreadsheet\n"
                "stoker stats ops run.xplane.pb --by phase\tforward, loss, backward, optimizer\n"
                "stoker stats all trace.json.gz\tevery analysis\n"
                "stoker stats comm ranks/ --json\twhich rank waits for which, as JSON\n",
    .min_words = 0,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_TABLES,  STK_OPT_ID_FILES_FROM, STK_OPT_ID_JSON,     STK_OPT_ID_CSV,
                STK_OPT_ID_CSV_RAW, STK_OPT_ID_BY,         STK_OPT_ID_TABLE,    STK_OPT_ID_OUTPUT,
                STK_OPT_ID_LIMIT,   STK_OPT_ID_STEPS,      STK_OPT_ID_RANK,     STK_OPT_ID_DEVICE,
                STK_OPT_ID_FROM,    STK_OPT_ID_TO,         STK_OPT_ID_AS_RANKS, STK_OPT_ID_REDACT,
                STK_OPT_ID_THREADS, STK_OPT_ID_MARKDOWN,   STK_OPT_ID_NO_COLOR, STK_OPT_ID_QUIET,
                STK_OPT_ID_NONE},
    .completes = "analyses",
    .arrange = arrange,
    .run = stats_run,
};
