// SPDX-License-Identifier: Apache-2.0
// stoker query: SQL over the events of profiles, or events by name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/find.h"
#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/table_print.h"
#include "cli/word_order.h"
#include "stoker/query.h"

#define SQL_MAX_BYTES (1 << 20)

// The statement in a file, "-" for standard input; the caller frees. NULL: an error, already
// printed.
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

// ".tables" and ".schema", as in SQLite's shell.
static bool asks_for_tables(const struct stk_args *args)
{
    const char *last = args->word_count ? args->words[args->word_count - 1] : "";
    return args->values[STK_OPT_ID_TABLES].set || strcmp(last, ".tables") == 0 ||
           strcmp(last, ".schema") == 0;
}

// Moves the SQL to the end, where it is read.
static void arrange(struct stk_args *args)
{
    if (args->values[STK_OPT_ID_FILE].set || args->values[STK_OPT_ID_FIND].set) {
        return;
    }
    stk_words_lead(args, stk_words_is_sql);
    if (args->word_count > 1 && stk_words_is_sql(args->words[0])) {
        const char *sql = args->words[0];
        size_t others = (size_t)args->word_count - 1;
        memmove(args->words, args->words + 1, others * sizeof *args->words);
        args->words[others] = sql;
    }
}

// A given option that works only with --find, since SQL has its own words for it; NULL: none.
static const char *option_of_find(const struct stk_args *args)
{
    static const enum stk_opt_id ids[] = {
        STK_OPT_ID_KIND,    STK_OPT_ID_ON_CRITICAL, STK_OPT_ID_TRACK, STK_OPT_ID_MIN_DUR,
        STK_OPT_ID_MAX_DUR, STK_OPT_ID_BY_TIME,     STK_OPT_ID_STEPS, STK_OPT_ID_DEVICE,
        STK_OPT_ID_FROM,    STK_OPT_ID_TO};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (args->values[ids[i]].set) {
            return stk_opts[ids[i]].name;
        }
    }
    return NULL;
}

static int find(const struct stk_args *args)
{
    if (args->values[STK_OPT_ID_FILE].set) {
        return stk_usage(&stk_cmd_query, "--find and --file can't be combined");
    }
    if (args->values[STK_OPT_ID_TIMEOUT].set) {
        return stk_usage(&stk_cmd_query, "--timeout is for SQL: leave it out with --find");
    }
    if (args->word_count == 0) {
        return stk_usage(&stk_cmd_query, "PROFILE is missing");
    }
    return stk_find_events(&stk_cmd_query, args, args->values[STK_OPT_ID_FIND].text, args->words,
                           (size_t)args->word_count);
}

static int query_run(const struct stk_args *args)
{
    const char *file = args->values[STK_OPT_ID_FILE].text, *format = stk_table_format(args);
    int code, profiles = file ? args->word_count : args->word_count - 1;
    if (asks_for_tables(args)) {
        return stk_printing_describe(args, stoker_describe_tables);
    }
    if (args->values[STK_OPT_ID_FIND].set) {
        return find(args);
    }
    if (option_of_find(args)) {
        return stk_usage(&stk_cmd_query, "--%s needs --find; in SQL, use WHERE",
                         option_of_find(args));
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
    .summary = "query events with SQL, or find them by name",
    .group = STK_CMD_DIG,
    .words = "[PROFILE... SQL]",
    .description =
        "Runs one SELECT over the events of profiles, in SQLite's dialect: kernels, copies, "
        "launches, CPU operations with their arguments, steps and their time breakdown. --tables, "
        "or .tables instead of SQL, lists the tables and columns.\n\n"
        "PROFILE is as in stoker why. The events of all ranks stay in memory: for large runs, "
        "choose one with --rank. A query is stopped after a minute, or after --timeout. Invalid "
        "SQL gives exit code 2. SQL and PROFILE may come in either order.\n\n"
        "--find lists the events whose name contains PATTERN, longest first, ignoring case. "
        "Between slashes, /PATTERN/ is a PCRE2 regular expression. It is case-sensitive unless it "
        "begins with (?i). An empty PATTERN matches every event. Times count from the run's first "
        "event. A step's events are those that start in it, on the device or on the CPU.\n\n"
        "With --find, --critical keeps only events on the critical path of the steps: device work, "
        "and the innermost event of each thread. The path is that of stoker whatif --critical, for "
        "steps within the first 200,000 events. Durations are of whole events.",
    .examples = "stoker query --tables\tlist the tables\n"
                "stoker query run.sqlite 'select * from gaps where dur_ns > 1e6'\tlong gaps\n"
                "stoker query t.json.gz 'select name, count(*) from kernels group by 1'\tkernels\n"
                "stoker query t.json.gz 'select * from args where event = 17'\targuments\n"
                "stoker query ranks/ -f question.sql --csv\tSQL from a file\n"
                "stoker query t.json.gz --find aten::item\twhere values are read back\n"
                "stoker query t.json.gz --find '/gemm|conv/' --min-dur 1ms\tlong kernels\n"
                "stoker query t.json.gz --find '' --critical --steps 4\tthe critical path\n",
    .min_words = 0,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_TABLES,      STK_OPT_ID_FILE,   STK_OPT_ID_FIND,    STK_OPT_ID_KIND,
                STK_OPT_ID_ON_CRITICAL, STK_OPT_ID_TRACK,  STK_OPT_ID_MIN_DUR, STK_OPT_ID_MAX_DUR,
                STK_OPT_ID_BY_TIME,     STK_OPT_ID_JSON,   STK_OPT_ID_CSV,     STK_OPT_ID_CSV_RAW,
                STK_OPT_ID_OUTPUT,      STK_OPT_ID_LIMIT,  STK_OPT_ID_STEPS,   STK_OPT_ID_DEVICE,
                STK_OPT_ID_FROM,        STK_OPT_ID_TO,     STK_OPT_ID_TIMEOUT, STK_OPT_ID_RANK,
                STK_OPT_ID_AS_RANKS,    STK_OPT_ID_REDACT, STK_OPT_ID_THREADS, STK_OPT_ID_MARKDOWN,
                STK_OPT_ID_NO_COLOR,    STK_OPT_ID_QUIET,  STK_OPT_ID_NONE},
    .completes = "files",
    .arrange = arrange,
    .run = query_run,
};
