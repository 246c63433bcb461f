// SPDX-License-Identifier: Apache-2.0
// stoker query: SQL over the events of profiles.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/table_print.h"
#include "stoker/query.h"

#define SQL_MAX_BYTES (1 << 20)

// The statement in a file, "-" for standard input; the caller frees. NULL: said what is wrong.
static char *read_sql(const char *path, int *code)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    char *text = malloc(SQL_MAX_BYTES + 1);
    size_t n = f && text ? fread(text, 1, SQL_MAX_BYTES + 1, f) : 0;
    *code = STK_EXIT_DONE;
    if (!f || (f && ferror(f))) {
        *code = stk_usage(&stk_cmd_query, "%s: can't be read", path);
    } else if (!text || n > SQL_MAX_BYTES) {
        *code = stk_usage(&stk_cmd_query, "%s: larger than 1 MB, so not an SQL statement", path);
    } else if (memchr(text, 0, n)) {
        *code = stk_usage(&stk_cmd_query, "%s: not SQL text", path);
    }
    if (f && !standard) {
        fclose(f);
    }
    if (*code != STK_EXIT_DONE) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    return text;
}

static int ask(const struct stk_args *args, const char *const *paths, size_t count, const char *sql,
               const char *format)
{
    struct stoker_why_options reading;
    struct stoker_query_options options;
    struct stoker_profiles *profiles = NULL;
    struct stoker_tables *tables = NULL;
    struct stoker_err err;
    struct stk_progress_line line;
    stk_reading_options(args, false, &reading);
    stoker_query_options_default(&options);
    options.limit = stk_table_limit(args, format);
    if (args->values[STK_OPT_ID_TIMEOUT].set) {
        options.timeout_ns = args->values[STK_OPT_ID_TIMEOUT].number;
    }
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    reading.progress = stk_progress_update;
    reading.progress_arg = &line;
    enum stoker_status status = stoker_open(paths, count, &reading, &profiles, &err);
    stk_progress_end(&line);
    if (status == STOKER_OK) {
        status = stoker_query(profiles, sql, &options, &tables, &err);
    }
    int code = status == STOKER_OK ? stk_table_print(args, tables, format) : stk_fail(&err);
    stoker_tables_free(tables);
    stoker_close(profiles);
    return code;
}

// As SQLite's shell has it.
static bool asks_for_tables(const struct stk_args *args)
{
    const char *last = args->word_count ? args->words[args->word_count - 1] : "";
    return args->values[STK_OPT_ID_TABLES].set || strcmp(last, ".tables") == 0 ||
           strcmp(last, ".schema") == 0;
}

static int query_run(const struct stk_args *args)
{
    const char *file = args->values[STK_OPT_ID_FILE].text, *format = stk_table_format(args);
    int code, profiles = file ? args->word_count : args->word_count - 1;
    if (asks_for_tables(args)) {
        return stk_printing_describe(args, stoker_describe_tables);
    }
    if (!format) {
        return stk_usage(&stk_cmd_query, "--json and --csv can't be combined");
    }
    if (args->word_count == 0) {
        return stk_usage(&stk_cmd_query, "PROFILE is missing");
    }
    if (profiles == 0) {
        return stk_usage(&stk_cmd_query, "two words are needed: a profile and the SQL");
    }
    for (int i = 0; file && strcmp(file, "-") == 0 && i < profiles; i++) {
        if (strcmp(args->words[i], "-") == 0) {
            return stk_usage(&stk_cmd_query,
                             "standard input can't be both the SQL and the profile");
        }
    }
    if (!file) {
        return ask(args, args->words, (size_t)profiles, args->words[profiles], format);
    }
    char *sql = read_sql(file, &code);
    if (!sql) {
        return code;
    }
    code = ask(args, args->words, (size_t)profiles, sql, format);
    free(sql);
    return code;
}

const struct stk_cmd stk_cmd_query = {
    .name = "query",
    .summary = "query events with SQL",
    .words = "[PROFILE... SQL]",
    .description =
        "Runs one SELECT over the events of profiles, in SQLite's dialect: kernels, copies, "
        "launches, CPU operations with their arguments, steps and their time breakdown. --tables, "
        "or .tables instead of SQL, lists the tables and columns.\n\n"
        "PROFILE is as in stoker why. The events of all ranks stay in memory: for large runs, "
        "choose one with --rank. A query is stopped after a minute, or after --timeout. Invalid "
        "SQL gives exit code 2.",
    .examples = "stoker query --tables\tlist the tables\n"
                "stoker query run.sqlite 'select * from gaps where dur_ns > 1e6'\tlong gaps\n"
                "stoker query t.json.gz 'select name, count(*) from kernels group by 1'\tkernels\n"
                "stoker query t.json.gz 'select * from args where event = 17'\targuments\n"
                "stoker query ranks/ -f question.sql --csv\tSQL from a file\n",
    .min_words = 0,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_TABLES, STK_OPT_ID_FILE, STK_OPT_ID_JSON, STK_OPT_ID_CSV,
                STK_OPT_ID_CSV_RAW, STK_OPT_ID_OUTPUT, STK_OPT_ID_LIMIT, STK_OPT_ID_TIMEOUT,
                STK_OPT_ID_RANK, STK_OPT_ID_AS_RANKS, STK_OPT_ID_REDACT, STK_OPT_ID_THREADS,
                STK_OPT_ID_MARKDOWN, STK_OPT_ID_NO_COLOR, STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .completes = "files",
    .run = query_run,
};
