// SPDX-License-Identifier: Apache-2.0
// The tables of stoker query for people: --tables and a page of the docs.
#include <string.h>

#include "api/api.h"
#include "query/query.h"
#include "stoker/query.h"

static const char head[] =
    "# Tables of `stoker query`\n"
    "\n"
    "SQL in SQLite's dialect over the events of profiles. Times are integer nanoseconds since the\n"
    "run's first event; a value that is not known is null. `ts` and `dur` are other names of\n"
    "`start_ns` and `dur_ns` in tables of events. `text REGEXP pattern` matches POSIX extended\n"
    "regular expressions.\n"
    "\n"
    "Conditions on numbers, `kind`, `device` and `name` (=, LIKE, GLOB) are tested in the columns\n"
    "themselves, ids are found at once, and a SELECT that only counts, sums, averages or takes\n"
    "extremes of one table's columns by name, kind, step, device and the like is answered in one\n"
    "pass over the events.\n";

static void write_table(struct stk_sink *sink, size_t t, bool markdown)
{
    struct stk_query_column column;
    stk_sink_text(sink, markdown ? "\n## " : t ? "\n" : "");
    stk_sink_text(sink, stk_query_table_name(t));
    stk_sink_text(sink, markdown ? "\n\n" : ": ");
    stk_sink_text(sink, stk_query_table_doc(t));
    stk_sink_text(sink, markdown ? "\n\n| column | type | meaning |\n|---|---|---|\n" : "\n");
    for (size_t c = 0; stk_query_table_column(t, c, &column); c++)
        stk_sink_printf(sink, markdown ? "| `%s` | %s | %s |\n" : "  %-14s %-7s %s\n", column.name,
                        stk_query_type_key(column.type), column.doc);
}

enum stoker_status stoker_describe_tables(const char *format, stoker_write_fn write, void *arg,
                                          struct stoker_err *err)
{
    struct stk_err e;
    struct stk_sink sink;
    if (!format || !write)
        return stk_api_invalid(err, "stoker_describe_tables needs a format and a callback");
    bool markdown = strcmp(format, "markdown") == 0;
    stk_err_init(&e);
    if (!markdown && strcmp(format, "text") != 0) {
        stk_err_set(&e, STK_EUSAGE, "no format '%.40s'; there are: text, markdown", format);
        return stk_api_fail(err, &e);
    }
    stk_sink_init(&sink, write, arg);
    if (markdown)
        stk_sink_text(&sink, head);
    for (size_t t = 0; t < stk_query_table_count(); t++)
        write_table(&sink, t, markdown);
    return stk_sink_finish(&sink, &e) == STK_OK ? STOKER_OK : stk_api_fail(err, &e);
}
