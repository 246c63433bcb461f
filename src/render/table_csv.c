// SPDX-License-Identifier: Apache-2.0
// One table as CSV (RFC 4180): a line of column ids, then the rows; lines end in CR LF. Fields with
// a comma, a quote or a line break are quoted. Numbers are plain, shares have six decimals, truth
// is true or false, a value that is not known is empty. Limit: bytes of a profile's names are
// written as they are, valid UTF-8 or not; a NUL cannot occur.
#include <inttypes.h>
#include <string.h>

#include "render/table_out.h"
#include "report/json.h"

static void write_text(struct stk_sink *sink, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        stk_sink_text(sink, text);
        return;
    }
    stk_sink_text(sink, "\"");
    while (*text) {
        size_t n = strcspn(text, "\"");
        stk_sink_put(sink, text, n);
        text += n;
        if (*text == '"') {
            stk_sink_text(sink, "\"\"");
            text++;
        }
    }
    stk_sink_text(sink, "\"");
}

static void write_ratio(struct stk_sink *sink, enum stk_cell_type type, double ratio)
{
    struct stk_json j; // for its locale-free digits
    stk_json_init(&j, sink);
    if (type == STK_CELL_REAL) {
        stk_json_real(&j, ratio);
    } else {
        stk_json_share(&j, ratio);
    }
}

static void write_cell(struct stk_sink *sink, enum stk_cell_type type, const struct stk_cell *cell)
{
    if (!cell->known) {
        return;
    }
    switch (type) {
    case STK_CELL_TEXT:
        write_text(sink, cell->text);
        break;
    case STK_CELL_SHARE:
    case STK_CELL_RATE:
    case STK_CELL_REAL:
        write_ratio(sink, type, cell->ratio);
        break;
    case STK_CELL_BOOL:
        stk_sink_text(sink, cell->truth ? "true" : "false");
        break;
    default:
        stk_sink_printf(sink, "%" PRId64, cell->number);
    }
}

static void write_csv(const struct stk_table_doc *doc, const char *id,
                      const struct stk_out_options *options, struct stk_sink *sink)
{
    (void)options;
    const struct stk_table *table = stk_table_find(doc, id);
    if (!table) {
        return;
    }
    const struct stk_cell *cells = table->cells.items;
    for (size_t c = 0; c < table->column_count; c++) {
        stk_sink_text(sink, c ? "," : "");
        write_text(sink, table->columns[c].id);
    }
    stk_sink_text(sink, "\r\n");
    for (size_t r = 0; r < table->row_count; r++) {
        for (size_t c = 0; c < table->column_count; c++) {
            stk_sink_text(sink, c ? "," : "");
            write_cell(sink, table->columns[c].type, &cells[r * table->column_count + c]);
        }
        stk_sink_text(sink, "\r\n");
    }
}

const struct stk_table_out stk_table_out_csv = {
    .name = "csv",
    .summary = "one table as comma-separated values (RFC 4180)",
    .one_table = true,
    .write = write_csv,
};
