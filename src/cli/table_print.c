// SPDX-License-Identifier: Apache-2.0
// Printing tables to the terminal or to a file.
#include "cli/table_print.h"

#include <string.h>

#include "base/assert.h"
#include "cli/printing.h"

#define TEXT_ROWS 20
#define JSON_ROWS 10000

const char *stk_table_format(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    bool is_csv = v[STK_OPT_ID_CSV].set || v[STK_OPT_ID_CSV_RAW].set;
    if (v[STK_OPT_ID_JSON].set && is_csv) {
        return NULL;
    }
    return v[STK_OPT_ID_JSON].set ? "json" : is_csv ? "csv" : "text";
}

uint64_t stk_table_limit(const struct stk_args *args, const char *format)
{
    if (args->values[STK_OPT_ID_LIMIT].set) {
        return (uint64_t)args->values[STK_OPT_ID_LIMIT].number;
    }
    // A CSV file can't say that rows were omitted.
    return strcmp(format, "csv") == 0 ? 0 : strcmp(format, "json") == 0 ? JSON_ROWS : TEXT_ROWS;
}

int stk_table_print(const struct stk_args *args, const struct stoker_tables *tables,
                    const char *format)
{
    STK_ASSERT(tables && format);
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, format);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status =
        stoker_tables_write(tables, format, args->values[STK_OPT_ID_TABLE].text, &p.how,
                            stk_output_write, &p.output, &p.err);
    return stk_printing_end(
        &p, status, stoker_tables_inconclusive(tables) ? STK_EXIT_CANNOT_TELL : STK_EXIT_DONE);
}
