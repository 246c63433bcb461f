// SPDX-License-Identifier: Apache-2.0
// The result of `stoker stats ANALYSIS`: tables of typed cells, a few figures that answer the
// question, and what the profile does not hold. Analyses fill it, outputs print it; neither knows
// the other. Everything lives in the arena that the document was made with, cells apart.
//
// A cell whose value is not known is null in JSON, empty in CSV and "-" in text; a figure of the
// summary that is not known is left out.
#ifndef STK_REPORT_TABLE_H
#define STK_REPORT_TABLE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "report/report.h"

#define STK_TABLE_SCHEMA "stoker.table/1"

enum stk_cell_type {
    STK_CELL_TEXT,
    STK_CELL_COUNT, // whole number, from 0
    STK_CELL_NS,
    STK_CELL_BYTES,
    STK_CELL_SHARE, // 0..1
    STK_CELL_RATE,  // per second
    STK_CELL_BOOL,
    STK_CELL_NUMBER, // whole, of any sign, without a unit: an id, a result of a query
    STK_CELL_REAL    // any number without a unit
};
const char *stk_cell_type_key(enum stk_cell_type type); // "text", "count", ...

struct stk_cell {
    bool known;
    union {
        const char *text;
        int64_t number; // count, ns, bytes, number
        double ratio;   // share, rate, real
        bool truth;
    };
};
static inline struct stk_cell stk_cell_text(const char *text) // NULL: not known
{
    return (struct stk_cell){.known = text != NULL, .text = text};
}
static inline struct stk_cell stk_cell_number(int64_t number)
{
    return (struct stk_cell){.known = true, .number = number};
}
static inline struct stk_cell stk_cell_ratio(double ratio)
{
    return (struct stk_cell){.known = true, .ratio = ratio};
}
static inline struct stk_cell stk_cell_unknown(void)
{
    return (struct stk_cell){.known = false, .number = 0};
}
// a / b where b is above 0, else not known.
static inline struct stk_cell stk_cell_share_of(int64_t part_ns, int64_t whole_ns)
{
    return whole_ns > 0 ? stk_cell_ratio((double)part_ns / (double)whole_ns) : stk_cell_unknown();
}

struct stk_column {
    const char *id;
    enum stk_cell_type type;
    bool is_name;   // text from the profile, which --redact replaces and narrow output shortens
    bool is_path;   // a name whose end tells most: shortened at its beginning
    bool is_detail; // text output leaves it out where the line is too short for all columns
    bool is_given;  // the user named it: its heading in text is the id as it is
};

struct stk_table {
    const char *id, *title;
    const struct stk_column *columns;
    size_t column_count;
    struct stk_vec cells; // struct stk_cell, row by row
    size_t row_count;
    uint64_t rows_left_out; // cut by --limit
    size_t keep, keep_key;  // by stk_table_keep; 0: every row
};

struct stk_figure_row {
    const char *key;
    enum stk_cell_type type;
    bool is_name; // text from the profile, which --redact replaces
    struct stk_cell value;
};

struct stk_missing {
    const char *what, *why, *remedy;
};

#define STK_TABLE_MAX 6
#define STK_TABLE_FIGURES 16
#define STK_TABLE_MISSING 8

struct stk_table_doc {
    struct stk_arena *arena;
    const char *analysis;
    struct stk_rep_profile profile;
    struct stk_figure_row summary[STK_TABLE_FIGURES];
    size_t summary_count;
    struct stk_table tables[STK_TABLE_MAX];
    size_t table_count;
    struct stk_missing missing[STK_TABLE_MISSING];
    size_t missing_count;
    bool inconclusive; // what is missing is what the question needs
};

void stk_table_doc_init(struct stk_table_doc *doc, struct stk_arena *arena, const char *analysis);
void stk_table_doc_deinit(struct stk_table_doc *doc);

// Never fails for up to STK_TABLE_MAX tables.
struct stk_table *stk_table_add(struct stk_table_doc *doc, const char *id, const char *title,
                                const struct stk_column *columns, size_t column_count);
// Append a row of column_count cells, to be filled. NULL: no memory.
struct stk_cell *stk_table_row(struct stk_table *table);
// Of very many rows only the first `limit` of the table as sorted by the column are wanted: the
// rest may be dropped (and counted) as rows are added, so that memory does not grow with them. 0:
// no limit. Call it before the first row.
void stk_table_keep(struct stk_table *table, const char *column, uint64_t limit);
// Sort by a column, largest number or first text first; equal rows by the columns before it, then
// as they were added. False: no memory.
bool stk_table_sort(struct stk_table *table, const char *column);
// Keep the first `limit` rows; 0: all.
void stk_table_cut(struct stk_table *table, uint64_t limit);
// The table of this id; the first one where id is NULL; NULL: none.
const struct stk_table *stk_table_find(const struct stk_table_doc *doc, const char *id);

void stk_table_figure(struct stk_table_doc *doc, const char *key, enum stk_cell_type type,
                      struct stk_cell value);
// The same for a text from the profile; NULL: not known.
void stk_table_figure_name(struct stk_table_doc *doc, const char *key, const char *name);
void stk_table_lacks(struct stk_table_doc *doc, const char *what, const char *why,
                     const char *remedy);

#endif
