// SPDX-License-Identifier: Apache-2.0
// A table document for people: the figures, the rows in aligned columns with human units, what was
// left out and what is missing. With several documents, only the first table of each. If a line is
// too short, columns of detail are dropped first, then names are shortened in the middle. At 80
// columns and above, no line is longer than the width.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "results/print/figure.h"
#include "base/text.h"
#include "results/print/cpp_name.h"
#include "results/print/out.h"
#include "results/table.h"
#include "results/print/term.h"
#include "base/utf8.h"

#define MAX_COLUMNS 64
#define MIN_NAME 28
#define GAP 2
#define SUMMARY_COLUMN 36 // where the figures of a summary begin

struct layout {
    const struct stk_table *table;
    int width[MAX_COLUMNS];
    bool hidden[MAX_COLUMNS];
    bool unknown[MAX_COLUMNS]; // in every shown row: hidden too
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static const char *rate_text(const char *id, double per_s, char buffer[STK_HUMAN_MAX + 8])
{
    if (ends_with(id, "bytes_per_s")) {
        stk_human_bytes((uint64_t)per_s, buffer);
    } else if (per_s < 100) {
        stk_text_printf(buffer, STK_HUMAN_MAX, "%.3g", per_s);
    } else if (per_s >= 1e9) {
        stk_text_printf(buffer, STK_HUMAN_MAX, "%.3g %c", per_s / (per_s < 1e12 ? 1e9 : 1e12),
                        per_s < 1e12 ? 'G' : 'T');
    } else {
        stk_human_count((uint64_t)(per_s + 0.5), buffer);
    }
    return strcat(buffer, "/s");
}

static const char *cell_text(const char *id, enum stk_type type, const struct stk_cell *cell,
                             char buffer[STK_HUMAN_MAX + 8])
{
    if (!cell->known) {
        return "-";
    }
    switch (type) {
    case STK_TYPE_TEXT:
        return cell->text;
    case STK_TYPE_NS:
        return stk_human_ns(cell->number, buffer);
    case STK_TYPE_BYTES:
        return stk_human_bytes(cell->number < 0 ? 0 : (uint64_t)cell->number, buffer);
    case STK_TYPE_SHARE:
        return stk_human_share(cell->ratio, buffer);
    case STK_TYPE_RATE:
        return rate_text(id, cell->ratio < 0 || cell->ratio > 1e18 ? 0 : cell->ratio, buffer);
    case STK_TYPE_NUMBER:
        snprintf(buffer, STK_HUMAN_MAX, "%" PRId64, cell->number);
        return buffer;
    case STK_TYPE_REAL:
        stk_text_printf(buffer, STK_HUMAN_MAX, "%.10g", cell->ratio);
        return buffer;
    case STK_TYPE_BOOL:
        return cell->truth ? "yes" : "no";
    default:
        if (cell->number < 0) {
            return "-";
        }
        return stk_human_count((uint64_t)cell->number, buffer);
    }
}

// The end of a path is the most useful part.
static void put_path(struct stk_term *t, const char *path, int width)
{
    int skip = stk_term_width(path) - width + 3;
    size_t length;
    for (int i = 0; i < skip && *path; i++, path += length) {
        stk_utf8_next(path, &length);
    }
    stk_term_text(t, "...");
    stk_term_text(t, path);
}

static void put_name(struct stk_term *t, const char *name, int width)
{
    char buffer[STK_CPP_NAME_MAX];
    stk_term_text(t, stk_cpp_name_fit(name, width, buffer));
}

// "after_call_median_ns" is "after call median", "capacity_per_s" "capacity".
static const char *heading(const char *id, char buffer[64])
{
    static const char *const units[] = {"_ns", "_bytes", "_per_s"};
    size_t n = strlen(id) < 58 ? strlen(id) : 58;
    bool is_rate = n > 12 && ends_with(id, "_bytes_per_s"); // bytes: shown by the unit
    n -= is_rate ? strlen("_bytes_per_s") : 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (n > strlen(units[i]) && strcmp(id + n - strlen(units[i]), units[i]) == 0) {
            n -= strlen(units[i]);
        }
    }
    if (strcmp(id, "bytes_per_s") == 0) {
        return "rate";
    }
    for (size_t i = 0; i < n; i++) {
        buffer[i] = id[i] == '_' ? ' ' : id[i];
    }
    strcpy(buffer + n, is_rate ? " rate" : "");
    return buffer;
}

static const char *column_heading(const struct stk_column *column, char buffer[64])
{
    return column->is_given ? column->id
           : column->label  ? column->label
                            : heading(column->id, buffer);
}

static int line_width(const struct layout *l)
{
    int width = 0;
    for (size_t c = 0; c < l->table->column_count; c++) {
        width += l->hidden[c] ? 0 : l->width[c] + GAP;
    }
    return width - GAP;
}

static bool shortens(const struct layout *l, size_t c)
{
    return l->table->columns[c].is_name && !l->hidden[c] && l->width[c] > MIN_NAME;
}

// Shortens the widest name first, then the next one.
static void shorten(struct layout *l, int columns)
{
    for (int over = line_width(l) - columns; over > 0; over--) {
        size_t widest = l->table->column_count;
        for (size_t c = 0; c < l->table->column_count; c++) {
            if (shortens(l, c) &&
                (widest == l->table->column_count || l->width[c] > l->width[widest])) {
                widest = c;
            }
        }
        if (widest == l->table->column_count) {
            return;
        }
        l->width[widest]--;
    }
}

// Whether no shown row has a value. A query's columns were requested, so they stay.
static bool nothing_known(const struct stk_table *table, size_t c)
{
    const struct stk_cell *cells = table->cells.items;
    for (size_t r = 0; r < table->row_count; r++) {
        if (cells[r * table->column_count + c].known) {
            return false;
        }
    }
    return !table->columns[c].is_given;
}

static void table_measure(struct layout *l, const struct stk_table *table, int columns)
{
    const struct stk_cell *cells = table->cells.items;
    char buffer[STK_HUMAN_MAX + 64];
    *l = (struct layout){.table = table};
    for (size_t c = 0; c < table->column_count; c++) {
        l->width[c] = stk_term_width(column_heading(&table->columns[c], buffer));
        for (size_t r = 0; r < table->row_count; r++) {
            const struct stk_cell *cell = &cells[r * table->column_count + c];
            int width = stk_term_width(
                cell_text(table->columns[c].id, table->columns[c].type, cell, buffer));
            l->width[c] = width > l->width[c] ? width : l->width[c];
        }
        l->hidden[c] = l->unknown[c] = nothing_known(table, c);
    }
    int spare = 0;
    for (size_t c = 0; c < table->column_count; c++) {
        spare += shortens(l, c) ? l->width[c] - MIN_NAME : 0;
    }
    for (size_t c = table->column_count; c-- > 0 && line_width(l) - spare > columns;) {
        l->hidden[c] = l->hidden[c] || table->columns[c].is_detail;
    }
    shorten(l, columns);
}

static bool is_text(enum stk_type type)
{
    return type == STK_TYPE_TEXT || type == STK_TYPE_BOOL;
}

static void put_field(struct stk_term *t, const struct layout *l, size_t c, int start,
                      enum stk_style style, const char *text)
{
    int width = stk_term_width(text), shown = width < l->width[c] ? width : l->width[c];
    if (!is_text(l->table->columns[c].type)) {
        start += l->width[c] - shown;
    }
    if (start > 0) {
        stk_term_to_column(t, start);
    }
    if (width > l->width[c] && l->table->columns[c].is_path) {
        put_path(t, text, l->width[c]);
    } else if (width > l->width[c] && l->table->columns[c].is_name) {
        put_name(t, text, l->width[c]);
    } else if (width > l->width[c]) {
        stk_term_cut(t, text, l->width[c]);
    } else {
        stk_term_styled(t, style, text);
    }
}

static void put_line(struct stk_term *t, const struct layout *l, const struct stk_cell *row)
{
    char buffer[STK_HUMAN_MAX + 64];
    int start = 0;
    for (size_t c = 0; c < l->table->column_count; c++) {
        if (l->hidden[c]) {
            continue;
        }
        const struct stk_column *column = &l->table->columns[c];
        if (row) {
            put_field(t, l, c, start, STK_STYLE_PLAIN,
                      cell_text(column->id, column->type, &row[c], buffer));
        } else {
            put_field(t, l, c, start, STK_STYLE_BOLD, column_heading(column, buffer));
        }
        start += l->width[c] + GAP;
    }
    stk_term_line_end(t);
}

static void put_hidden(struct stk_term *t, const struct layout *l, bool unknown, const char *why)
{
    char buffer[64], text[MAX_COLUMNS * 66] = "";
    for (size_t c = 0; c < l->table->column_count; c++) {
        if (!l->hidden[c] || l->unknown[c] != unknown) {
            continue;
        }
        strcat(text, *text ? ", " : why);
        strcat(text, heading(l->table->columns[c].id, buffer));
    }
    if (*text) {
        stk_term_wrap(t, 1, strcat(text, ")"));
        stk_term_line_end(t);
    }
}

static void put_table(struct stk_term *t, const struct stk_table *table)
{
    struct layout l;
    stk_term_styled(t, STK_STYLE_BOLD, table->title);
    stk_term_line_end(t);
    if (table->row_count == 0) {
        stk_term_text(t, "no rows");
        stk_term_line_end(t);
        return;
    }
    table_measure(&l, table, t->options->columns);
    const struct stk_cell *cells = table->cells.items;
    put_line(t, &l, NULL);
    for (size_t r = 0; r < table->row_count; r++) {
        put_line(t, &l, &cells[r * table->column_count]);
    }
    if (table->rows_left_out) {
        char count[STK_HUMAN_MAX];
        stk_term_printf(t, "%s more %s: --limit 0 shows all",
                        stk_human_count(table->rows_left_out, count),
                        table->rows_left_out == 1 ? "row" : "rows");
        stk_term_line_end(t);
    }
    put_hidden(t, &l, false, "(no room for: ");
    put_hidden(t, &l, true, "(not known here: ");
}

static void put_summary(struct stk_term *t, const struct stk_table_doc *doc)
{
    char name[64], value[STK_HUMAN_MAX + 8];
    for (size_t i = 0; i < doc->summary_count; i++) {
        const struct stk_figure_row *f = &doc->summary[i];
        if (!f->value.known) {
            continue;
        }
        stk_term_text(t, f->label ? f->label : heading(f->key, name));
        stk_term_to_column(t, SUMMARY_COLUMN);
        stk_term_wrap(t, SUMMARY_COLUMN, cell_text(f->key, f->type, &f->value, value));
        stk_term_line_end(t);
    }
}

static void put_profile(struct stk_term *t, const struct stk_table_doc *doc)
{
    const struct stk_rep_input *in = doc->profile.inputs.items;
    const char *const *selection = doc->profile.selection.items;
    if (doc->profile.inputs.count) {
        stk_term_cut(t, in[0].path, t->options->columns - 20);
        if (doc->profile.inputs.count > 1) {
            stk_term_printf(t, " and %zu more", doc->profile.inputs.count - 1);
        }
        stk_term_line_end(t);
    }
    for (size_t i = 0; i < doc->profile.selection.count; i++) {
        stk_term_text(t, i ? "  " : "selected: ");
        stk_term_wrap(t, 2, selection[i]);
        stk_term_line_end(t);
    }
}

static void put_missing(struct stk_term *t, const struct stk_missing *m)
{
    stk_term_styled(t, STK_STYLE_YELLOW, "missing: ");
    stk_term_wrap(t, 2, m->what);
    stk_term_line_end(t);
    stk_term_to_column(t, 2);
    stk_term_wrap(t, 2, m->why);
    stk_term_line_end(t);
    stk_term_to_column(t, 2);
    stk_term_wrap(t, 2, m->remedy);
    stk_term_line_end(t);
}

static void write_text(const void *object, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    const struct stk_table_doc *doc = object;
    struct stk_term t = {.sink = sink, .options = options};
    const struct stk_table *chosen = stk_table_find(doc, options->table);
    put_profile(&t, doc);
    put_summary(&t, doc);
    for (size_t i = 0; i < doc->table_count; i++) {
        if (options->table && &doc->tables[i] != chosen) {
            continue;
        }
        bool is_first = i == 0 && !doc->inconclusive; // other empty tables are left out
        if (doc->tables[i].row_count == 0 && !is_first && !options->table) {
            continue;
        }
        stk_term_line_end(&t);
        put_table(&t, &doc->tables[i]);
    }
    for (size_t i = 0; i < doc->missing_count; i++) {
        stk_term_line_end(&t);
        put_missing(&t, &doc->missing[i]);
    }
}

// Whether an earlier document has the same one.
static bool was_said(const struct stk_table_doc *docs, size_t at, const struct stk_missing *m)
{
    for (size_t d = 0; d < at; d++) {
        for (size_t i = 0; i < docs[d].missing_count; i++) {
            if (strcmp(docs[d].missing[i].what, m->what) == 0 &&
                strcmp(docs[d].missing[i].why, m->why) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void write_list(const void *objects, size_t count, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    const struct stk_table_doc *docs = objects;
    struct stk_term t = {.sink = sink, .options = options};
    if (count) {
        put_profile(&t, &docs[0]);
    }
    for (size_t d = 0; d < count; d++) {
        const struct stk_table_doc *doc = &docs[d];
        stk_term_line_end(&t);
        stk_term_styled(&t, STK_STYLE_BOLD, doc->analysis);
        stk_term_text(&t, ":");
        stk_term_line_end(&t);
        put_summary(&t, doc);
        if (doc->table_count && doc->tables[0].row_count) {
            put_table(&t, &doc->tables[0]);
        }
        for (size_t i = 0; i < doc->missing_count; i++) {
            if (!was_said(docs, d, &doc->missing[i])) {
                put_missing(&t, &doc->missing[i]);
                continue;
            }
            stk_term_styled(&t, STK_STYLE_YELLOW, "missing: ");
            stk_term_wrap(&t, 2, doc->missing[i].what);
            stk_term_text(&t, ", as above");
            stk_term_line_end(&t);
        }
    }
}

const struct stk_out stk_out_table_text = {.write = write_text, .write_list = write_list};
