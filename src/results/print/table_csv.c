// SPDX-License-Identifier: Apache-2.0
// One table as CSV (RFC 4180): a line of column ids, then the rows; lines end in CR LF. Fields with
// a comma, a quote or a line break are quoted. Texts that a spreadsheet would run as formulas get a
// ' first. Numbers are plain, shares have six decimals, booleans are true or false, unknown values
// are empty. Limit: bytes of a profile's names are written as they are, valid UTF-8 or not; a NUL
// cannot occur.
#include <math.h>

#include "results/print/out.h"
#include "results/table.h"

#include "base/text.h"

static void write_cell(struct stk_sink *sink, enum stk_type type, const struct stk_cell *cell,
                       bool is_guarded)
{
    if (!cell->known) {
        return;
    }
    switch (type) {
    case STK_TYPE_TEXT:
        stk_sink_csv(sink, cell->text, is_guarded);
        break;
    case STK_TYPE_SHARE:
    case STK_TYPE_RATE:
        stk_sink_share(sink, cell->ratio);
        break;
    case STK_TYPE_REAL:
        if (isfinite(cell->ratio)) {
            stk_sink_real(sink, cell->ratio);
        }
        break;
    case STK_TYPE_BOOL:
        stk_sink_text(sink, cell->truth ? "true" : "false");
        break;
    default:
        stk_sink_i64(sink, cell->number);
    }
}

static void write_csv(const void *object, const struct stk_out_options *options,
                      struct stk_sink *sink)
{
    const struct stk_table_doc *doc = object;
    const struct stk_table *table = stk_table_find(doc, options->table);
    if (!table) {
        return;
    }
    const struct stk_cell *cells = table->cells.items;
    for (size_t c = 0; c < table->column_count; c++) {
        stk_sink_text(sink, c ? "," : "");
        stk_sink_csv(sink, table->columns[c].id, !options->csv_raw);
    }
    stk_sink_text(sink, STK_TEXT_CSV_END);
    for (size_t r = 0; r < table->row_count; r++) {
        for (size_t c = 0; c < table->column_count; c++) {
            stk_sink_text(sink, c ? "," : "");
            write_cell(sink, table->columns[c].type, &cells[r * table->column_count + c],
                       !options->csv_raw);
        }
        stk_sink_text(sink, STK_TEXT_CSV_END);
    }
}

const struct stk_out stk_out_table_csv = {.write = write_csv};
