// SPDX-License-Identifier: Apache-2.0
// Describes the analyses of stoker stats: --tables and docs/stats.md, from the rows of their
// descriptors (answers/passes/stats/stats.h).
#include <string.h>

#include "api/api.h"
#include "answers/passes/stats/stats.h"
#include "stoker/stats.h"

static const char head[] =
    "# Analyses of `stoker stats`\n"
    "\n"
    "Each analysis answers one question with tables and a short summary:\n"
    "`stoker stats ANALYSIS PROFILE...`. `--json` prints it as [" STK_TABLE_SCHEMA
    "](table.md), and\n"
    "`--csv` prints one table. `stoker stats ANALYSIS --tables` prints what is below.\n"
    "\n"
    "Times are nanoseconds since the run's first event. Shares go from 0 to 1. Rates are per "
    "second.\n"
    "An event counts where it starts: in the selected time, or in a step. A *union* of times "
    "counts\n"
    "each nanosecond once. A *sum* counts it once per stream, thread or device. *Exposed* means "
    "not\n"
    "overlapped with other work of the same device. An unknown value is null in JSON, empty in "
    "CSV\n"
    "and `-` in text. Unknown figures are left out.\n"
    "\n";

static void write_columns(struct stk_sink *sink, const struct stk_column *columns, size_t count,
                          const char *what, bool markdown)
{
    if (markdown) {
        stk_sink_printf(sink, "\n| %s | type | meaning |\n|---|---|---|\n", what);
    }
    for (size_t c = 0; c < count; c++) {
        stk_sink_printf(sink, markdown ? "| `%s` | %s | %s |\n" : "  %-26s %-6s %s\n",
                        columns[c].id, stk_type_info(columns[c].type)->key, columns[c].doc);
    }
}

static void write_missing(struct stk_sink *sink, const struct stk_stats *s, bool markdown)
{
    if (!s->missing[0]) {
        return;
    }
    stk_sink_text(sink, markdown
                            ? "\nWhat a profile may lack:\n\n| missing | why | how to record it "
                              "|\n|---|---|---|\n"
                            : "\nWhat a profile may lack:\n");
    for (size_t i = 0; s->missing[i]; i++) {
        const struct stk_missing *m = s->missing[i];
        stk_sink_printf(sink, markdown ? "| %s | %s | %s |\n" : "  %s: %s; %s\n", m->what, m->why,
                        m->remedy);
    }
}

static void write_body(struct stk_sink *sink, const struct stk_stats *s, bool markdown)
{
    stk_sink_printf(sink, markdown ? "\n\n%s Needs %s.\n" : ": %s Needs %s.\n", s->question,
                    s->needs);
    for (size_t t = 0; s->tables[t]; t++) {
        const struct stk_table_info *table = s->tables[t];
        stk_sink_printf(sink, markdown ? "\n### %s: `%s`\n" : "\n%s (%s)\n", table->title,
                        table->id);
        write_columns(sink, table->columns, table->column_count, "column", markdown);
    }
    stk_sink_text(sink, markdown ? "\nThe summary:\n" : "\nSummary\n");
    write_columns(sink, s->summary->figures, s->summary->figure_count, "figure", markdown);
    write_missing(sink, s, markdown);
}

static void write_analysis(struct stk_sink *sink, const struct stk_stats *s, bool markdown)
{
    stk_sink_printf(sink, markdown ? "## %s" : "%s", s->name);
    write_body(sink, s, markdown);
    for (size_t i = 0; s->by && s->by[i]; i++) {
        stk_sink_printf(sink, markdown ? "\n## %s --by %s" : "\n%s --by %s", s->name,
                        s->by[i]->name);
        write_body(sink, s->by[i], markdown);
    }
}

enum stoker_status stoker_describe_stats(const char *analysis, const char *format,
                                         stoker_write_fn write, void *arg, struct stoker_err *err)
{
    struct stk_sink sink;
    if (!format || !write) {
        return stk_err_misuse(err, "stoker_describe_stats needs a format and a callback");
    }
    const struct stk_stats *only = analysis ? stk_stats_find(analysis) : NULL;
    bool markdown = strcmp(format, "markdown") == 0;
    err = stk_err_begin(err, &(struct stoker_err){0});
    if (!markdown && strcmp(format, "text") != 0) {
        stk_err_set(err, STOKER_EUSAGE, "no format '%.40s'; choose from: text, markdown", format);
        return stk_err_fail(err);
    }
    if (analysis && !only) {
        stk_stats_unknown(analysis, err);
        return stk_err_fail(err);
    }
    stk_sink_init(&sink, write, arg);
    if (markdown && !only) {
        stk_sink_text(&sink, head);
    }
    for (int i = 0; i < stk_stats_count; i++) {
        if (!only || only == stk_stats_all[i]) {
            stk_sink_text(&sink, i && !only ? "\n" : "");
            write_analysis(&sink, stk_stats_all[i], markdown);
        }
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}
