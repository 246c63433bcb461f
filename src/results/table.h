// SPDX-License-Identifier: Apache-2.0
// The result of `stoker stats ANALYSIS`: tables of typed cells, a few figures that answer the
// question, and what the profile lacks. Analyses fill it, outputs print it; neither knows the
// other. Everything but the cells is in the document's arena.
//
// An unknown cell is null in JSON, empty in CSV and "-" in text. An unknown figure of the summary
// is left out.
//
// A table's columns are one list, each with its description for the pages. A row is a struct with a
// cell for each:
//
//   #define QUEUE_COLUMNS(C, R)
//       C(R, device, TEXT, "device")
//       C(R, mean_depth, REAL, "mean over time of ...", .is_detail = true)
//   STK_TABLE(queue, "Work launched and not yet begun", QUEUE_COLUMNS)
//   ...
//   struct queue_row row = {.device = stk_cell_text(id), .mean_depth = stk_cell_ratio(mean)};
//   stk_table_put(table, &row);
//
// A cell that wasn't set, or has another type than its column, fails an assertion. The figures of a
// summary are also such a struct.
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/type.h"
#include "base/vec.h"
#include "results/report.h"

#define STK_TABLE_SCHEMA "stoker.table/1"

struct stk_cell {
    bool known;
    uint8_t holds; // enum stk_holds, for checks
    union {
        const char *text;
        int64_t number; // count, ns, bytes, number
        double ratio;   // share, rate, real
        bool truth;
    };
};
static inline struct stk_cell stk_cell_text(const char *text) // NULL: not known
{
    return (struct stk_cell){.known = text != NULL, .holds = STK_HOLDS_TEXT, .text = text};
}
static inline struct stk_cell stk_cell_number(int64_t number)
{
    return (struct stk_cell){.known = true, .holds = STK_HOLDS_NUMBER, .number = number};
}
static inline struct stk_cell stk_cell_ratio(double ratio)
{
    return (struct stk_cell){.known = true, .holds = STK_HOLDS_RATIO, .ratio = ratio};
}
static inline struct stk_cell stk_cell_truth(bool truth)
{
    return (struct stk_cell){.known = true, .holds = STK_HOLDS_TRUTH, .truth = truth};
}
static inline struct stk_cell stk_cell_unknown(void)
{
    return (struct stk_cell){.known = false, .holds = STK_HOLDS_NOTHING, .number = 0};
}
// The number; below 0: unknown.
static inline struct stk_cell stk_cell_from_zero(int64_t number)
{
    return number >= 0 ? stk_cell_number(number) : stk_cell_unknown();
}
// a / b if b is above 0, else unknown.
static inline struct stk_cell stk_cell_share_of(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns > 0 ? stk_cell_ratio((double)part_ns / (double)whole_ns) : stk_cell_unknown();
}

struct stk_column {
    const char *id;
    enum stk_type type;
    size_t at;         // its place in a row, counted in cells
    const char *doc;   // its meaning, and how it is computed if that matters
    const char *label; // its name in text output; NULL: the id's words
    bool is_name;      // text from the profile, which --redact replaces and narrow output shortens
    bool is_path;      // a name with the most useful part at its end: shortened at its beginning
    bool is_detail;    // text output leaves it out if the line is too short for all columns
    bool is_given;     // the user named it: its heading in text is the unchanged id
};

#define STK_COLUMN(row, column, kind, ...)                                                         \
    STK_COLUMN_AT(#column, offsetof(struct row, column), kind, __VA_ARGS__)
// The same for a member that is itself a struct of cells, shared by several tables.
#define STK_COLUMN_OF(row, member, column, kind, ...)                                              \
    STK_COLUMN_AT(#column, offsetof(struct row, member.column), kind, __VA_ARGS__)
#define STK_COLUMN_AT(name, place, kind, ...)                                                      \
    {.id = name,                                                                                   \
     .type = STK_TYPE_##kind,                                                                      \
     .at = (place) / sizeof(struct stk_cell),                                                      \
     .doc = __VA_ARGS__}

// The declaration of a table by its analysis, or of the figures of its summary.
struct stk_table_info {
    const char *id, *title;
    const struct stk_column *columns;
    size_t column_count;
};
struct stk_summary_info {
    const struct stk_column *figures;
    size_t figure_count;
};
// The number of columns. Doesn't compile if the struct has a different number of cells.
#define STK_COLUMN_COUNT(row, columns)                                                             \
    (sizeof(columns) / sizeof(columns)[0] +                                                        \
     0 * sizeof(char[sizeof(struct row) / sizeof(struct stk_cell) ==                               \
                             sizeof(columns) / sizeof(columns)[0]                                  \
                         ? 1                                                                       \
                         : -1]))
#define STK_TABLE_INFO(name, heading, row, list)                                                   \
    {.id = name, .title = heading, .columns = list, .column_count = STK_COLUMN_COUNT(row, list)}
#define STK_SUMMARY_INFO(row, list) {.figures = list, .figure_count = STK_COLUMN_COUNT(row, list)}

// A list COLUMNS(C, R) of C(R, column, kind, doc, more...) generates struct NAME_row, the list
// NAME_columns, and NAME_table; or of figures struct NAME_summary, NAME_figures and
// NAME_summary_info.
#define STK_CELL_MEMBER(row, column, ...) struct stk_cell column;
#define STK_COLUMN_ITEM(row, ...) STK_COLUMN(row, __VA_ARGS__),
#define STK_TABLE_COLUMNS(name, COLUMNS)                                                           \
    struct name##_row {                                                                            \
        COLUMNS(STK_CELL_MEMBER, )                                                                 \
    };                                                                                             \
    static const struct stk_column name##_columns[] = {COLUMNS(STK_COLUMN_ITEM, name##_row)};
#define STK_TABLE(name, heading, COLUMNS)                                                          \
    STK_TABLE_COLUMNS(name, COLUMNS)                                                               \
    static const struct stk_table_info name##_table =                                              \
        STK_TABLE_INFO(#name, heading, name##_row, name##_columns);
#define STK_SUMMARY(name, FIGURES)                                                                 \
    struct name##_summary {                                                                        \
        FIGURES(STK_CELL_MEMBER, )                                                                 \
    };                                                                                             \
    static const struct stk_column name##_figures[] = {FIGURES(STK_COLUMN_ITEM, name##_summary)};  \
    static const struct stk_summary_info name##_summary_info =                                     \
        STK_SUMMARY_INFO(name##_summary, name##_figures);

struct stk_table {
    const char *id, *title;
    const struct stk_column *columns;
    size_t column_count;
    struct stk_vec cells; // struct stk_cell, row by row
    size_t row_count;
    uint64_t rows_left_out; // cut by --limit
    size_t keep, keep_key;  // by stk_table_keep; 0: every row
    bool ran_out;           // no memory for a row or a sort: the table is incomplete
};

struct stk_figure_row {
    const char *key, *label; // label: for people; NULL: the key's words
    enum stk_type type;
    bool is_name; // text from the profile, which --redact replaces
    struct stk_cell value;
};

// A document in the form of its JSON, made when it is printed.
#include "results/rows_struct.h"
#include "results/table.def"
#include "results/rows_end.h"

#define STK_TABLE_MAX 6
#define STK_TABLE_FIGURES 16
#define STK_TABLE_MISSING 8

struct stk_table_doc {
    struct stk_arena *arena;
    const char *analysis;
    struct stk_rep_profile profile;
    const char *profile_json; // instead of it, if it is only known as JSON; else NULL
    struct stk_figure_row summary[STK_TABLE_FIGURES];
    size_t summary_count;
    struct stk_table tables[STK_TABLE_MAX];
    size_t table_count;
    struct stk_missing missing[STK_TABLE_MISSING];
    size_t missing_count;
    bool inconclusive; // data that the question needs is missing
    bool ran_out;      // no memory for the tables' data
};

void stk_table_doc_init(struct stk_table_doc *doc, struct stk_arena *arena, const char *analysis);
void stk_table_doc_deinit(struct stk_table_doc *doc);

// Whether memory ran out for it or one of its tables. So callers needn't check every row.
bool stk_table_doc_ran_out(const struct stk_table_doc *doc);

// Never fails for up to STK_TABLE_MAX tables. `info` must outlive the table.
struct stk_table *stk_table_add(struct stk_table_doc *doc, const struct stk_table_info *info);
// Append a row: the struct of the table's columns. False: no memory, which the table remembers.
#define stk_table_put(table, row)                                                                  \
    stk_table_put_cells(table, (const struct stk_cell *)(row),                                     \
                        sizeof *(row) / sizeof(struct stk_cell))
// If the table has fewer columns than `count`, the last cells are left out.
bool stk_table_put_cells(struct stk_table *table, const struct stk_cell *cells, size_t count);
// Append a row of column_count unknown cells, for columns made at run time (a query's). NULL: no
// memory.
struct stk_cell *stk_table_row(struct stk_table *table);
// Only the first `limit` rows, sorted by the column, are needed. Others may be dropped (and
// counted) as rows are added, so that memory doesn't grow with them. 0: no limit. Call it before
// the first row.
void stk_table_keep(struct stk_table *table, const char *column, uint64_t limit);
// Sort by a column, largest number or first text first; equal rows by the columns before it, then
// in the order in which they were added. False: no memory, which the table remembers.
bool stk_table_sort(struct stk_table *table, const char *column);
// Keep the first `limit` rows; 0: all.
void stk_table_cut(struct stk_table *table, uint64_t limit);
// The table of this id; the first one where id is NULL; NULL: none.
const struct stk_table *stk_table_find(const struct stk_table_doc *doc, const char *id);

// The summary: the struct of the figures of `info`.
#define stk_table_summarize(doc, info, row)                                                        \
    stk_table_put_figures(doc, info, (const struct stk_cell *)(row),                               \
                          sizeof *(row) / sizeof(struct stk_cell))
void stk_table_put_figures(struct stk_table_doc *doc, const struct stk_summary_info *info,
                           const struct stk_cell *cells, size_t count);
void stk_table_lacks(struct stk_table_doc *doc, const struct stk_missing *missing);

// Whether the cell was set, to its column's type.
bool stk_cell_fits(const struct stk_column *column, const struct stk_cell *cell);
// The first column with a cell that doesn't fit, or NULL. An invariant for any profile.
const struct stk_column *stk_table_check(const struct stk_table_doc *doc);
