// SPDX-License-Identifier: Apache-2.0
// The contract of tables as a page: what stoker stats, query and find print with --json, the types
// of cells, and which analyses there are.
#include "api/api.h"
#include "answers/passes/stats/stats.h"
#include "stoker/stats.h"

static const char head[] =
    "# Tables: `stoker stats --json`, `stoker query --json`, `stoker find --json`\n"
    "\n"
    "The schema is [table.schema.json](table.schema.json) (`stoker schema table`). It changes "
    "only\n"
    "by adding: a program should ignore keys, tables and columns that it does not know, and find\n"
    "columns by their `id`, not by their place. Several analyses at once are an array of "
    "documents.\n"
    "\n"
    "## The document\n"
    "\n"
    "| key | type | meaning |\n"
    "|---|---|---|\n"
    "| `schema` | text | name and version of this contract: `stoker.table/1` |\n"
    "| `analysis` | text | as below; `query`, `find` |\n"
    "| `profile` | object | as in [the report](report.md) |\n"
    "| `summary` | object | the few figures that answer the question; one that is not known is "
    "absent |\n"
    "| `tables` | list | the tables of the analysis |\n"
    "| `missing` | list | what the profile does not hold: `what`, `why`, and the `remedy` |\n"
    "\n"
    "## tables[]\n"
    "\n"
    "| key | type | meaning |\n"
    "|---|---|---|\n"
    "| `id` | text | stable name |\n"
    "| `title` | text | for people; its wording may change |\n"
    "| `columns` | list | `id` and `type` of each cell of a row, in order |\n"
    "| `rows` | list | lists of cells, sorted by the most telling column |\n"
    "| `rows_left_out` | count | rows that --limit cut; the summary covers them |\n"
    "\n"
    "## Types of cells\n"
    "\n"
    "A value that is not known is null in JSON, empty in CSV and `-` in text, never 0.\n"
    "\n"
    "| type | in JSON | meaning |\n"
    "|---|---|---|\n";

enum stoker_status stoker_describe_table(stoker_write_fn write, void *arg, struct stoker_err *err)
{
    struct stoker_err own;
    struct stk_sink sink;
    if (!write) {
        return stk_err_misuse(err, "stoker_describe_table needs a callback");
    }
    err = stk_err_begin(err, &own);
    stk_sink_init(&sink, write, arg);
    stk_sink_text(&sink, head);
    for (int t = 0; t < STK_TYPE_COUNT_; t++) {
        const struct stk_type_info *type = stk_type_info((enum stk_type)t);
        if (type->meaning) {
            stk_sink_printf(&sink, "| `%s` | %s | %s |\n", type->key,
                            t == STK_TYPE_BOOL ? "true or false" : type->json, type->meaning);
        }
    }
    stk_sink_text(
        &sink, "\n## Analyses\n\nTheir tables, columns and figures: [stats.md](stats.md). Those of "
               "`stoker query` are the statement's, over\n[these](query.md).\n\n"
               "| analysis | question | what a profile must hold |\n|---|---|---|\n");
    for (int i = 0; i < stk_stats_count; i++) {
        stk_sink_printf(&sink, "| `%s` | %s | %s |\n", stk_stats_all[i]->name,
                        stk_stats_all[i]->question, stk_stats_all[i]->needs);
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}
