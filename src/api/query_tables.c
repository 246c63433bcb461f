// SPDX-License-Identifier: Apache-2.0
// The tables of stoker query for people: --tables and a page of the docs.
#include <string.h>

#include "api/api.h"
#include "answers/query/query.h"
#include "stoker/query.h"

static const char head[] =
    "# Tables of `stoker query`\n"
    "\n"
    "SQL over the events of profiles, in SQLite's dialect. Times are integer nanoseconds since "
    "the\n"
    "run's first event. An unknown value is null. In tables of events, `ts` and `dur` are other\n"
    "names of `start_ns` and `dur_ns`. `text REGEXP pattern` searches with a PCRE2 regular\n"
    "expression, as in `stoker find /pattern/`. A search fails if it takes more than a million "
    "steps\n"
    "from one place in a text, or ten seconds in one text.\n"
    "\n"
    "Conditions on numbers, `kind`, `device` and `name` (=, LIKE, GLOB) use the columns directly.\n"
    "Lookups by id are fast, also in joins. A SELECT over one table of events that aggregates, is\n"
    "DISTINCT, or takes the first rows of an order runs on columns and on all CPU cores. Its sums "
    "of\n"
    "real numbers can differ from SQLite's in the last digits.\n"
    "\n"
    "Examples:\n"
    "\n"
    "```sql\n"
    "-- where the time goes, by kernel\n"
    "select name, count(*), sum(dur_ns) as total_ns, avg(dur_ns) as mean_ns\n"
    "from kernels group by name order by total_ns desc limit 20;\n"
    "-- how long kernels are: a histogram in steps of 10 us\n"
    "select dur_ns / 10000 * 10 as us, count(*) from kernels group by 1;\n"
    "-- device time of each step, by precision\n"
    "select step, sum(dur_ns) filter (where precision = 'fp16') * 1.0 / sum(dur_ns) as fp16\n"
    "from kernels where step is not null group by step;\n"
    "-- rate of copies by direction and memory\n"
    "select direction, pinned, count(*), sum(bytes) * 1.0 / sum(dur_ns) as bytes_per_ns\n"
    "from transfers group by direction, pinned;\n"
    "-- kernels that waited longest after their launch, with the call\n"
    "select name, call, delay_ns from launches order by delay_ns desc limit 10;\n"
    "-- the operator around each launch: a join by id\n"
    "select o.name, count(*), sum(k.dur_ns) from kernels k join events c on c.id = k.launch\n"
    "join events o on o.id = c.parent group by o.name order by 3 desc;\n"
    "-- what fills the longest gaps\n"
    "select g.dur_ns, g.part, e.name from gaps g left join events e on e.id = g.event\n"
    "order by g.dur_ns desc limit 10;\n"
    "-- arguments of the longest kernels\n"
    "select k.name, a.key, a.value from (select id, name from kernels order by dur_ns desc limit "
    "3) k\n"
    "join args a on a.event = k.id;\n"
    "```\n";

static void write_table(struct stk_sink *sink, size_t t, bool markdown)
{
    struct stk_query_column column;
    stk_sink_text(sink, markdown ? "\n## " : t ? "\n" : "");
    stk_sink_text(sink, stk_query_table_name(t));
    stk_sink_text(sink, markdown ? "\n\n" : ": ");
    stk_sink_text(sink, stk_query_table_doc(t));
    stk_sink_text(sink, markdown ? "\n\n| column | type | meaning |\n|---|---|---|\n" : "\n");
    for (size_t c = 0; stk_query_table_column(t, c, &column); c++) {
        stk_sink_printf(sink, markdown ? "| `%s` | %s | %s |\n" : "  %-14s %-7s %s\n", column.name,
                        stk_type_info(column.type)->key, column.doc);
    }
}

enum stoker_status stoker_describe_tables(const char *format, stoker_write_fn write, void *arg,
                                          struct stoker_err *err)
{
    struct stk_sink sink;
    if (!format || !write) {
        return stk_err_misuse(err, "stoker_describe_tables needs a format and a callback");
    }
    bool markdown = strcmp(format, "markdown") == 0;
    err = stk_err_begin(err, &(struct stoker_err){0});
    if (!markdown && strcmp(format, "text") != 0) {
        stk_err_set(err, STOKER_EUSAGE, "no format '%.40s'; choose from: text, markdown", format);
        return stk_err_fail(err);
    }
    stk_sink_init(&sink, write, arg);
    if (markdown) {
        stk_sink_text(&sink, head);
    }
    for (size_t t = 0; t < stk_query_table_count(); t++) {
        write_table(&sink, t, markdown);
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}
