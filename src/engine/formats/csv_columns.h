// SPDX-License-Identifier: Apache-2.0
// The columns that are wanted of CSV, from attributes: "dtypes" INTS (float32, float64, int32,
// int64, string), "defaults" COLS (of each, no value or one), "field_delim", "use_quote_delim",
// "na_value", "select_cols" or "exclude_cols" INTS; and fields as values of them.
#pragma once

#include "engine/graph/attr.h"
#include "engine/formats/csv.h"

#define STK_CSV_FIELDS_MAX 100000 // in a row with chosen columns

// The argument rows (engine/graph/arg.h) shared by all CSV readers.
#define STK_CSV_ROWS                                                                               \
    STK_ARG("dtypes", INTS, "types of the columns", .is_required = true),                          \
        STK_ARG("defaults", OTHER,                                                                 \
                "a tensor for each column: the value of an empty field, or no value",              \
                .is_required = true),                                                              \
        STK_ARG("field_delim", TEXT, "one byte that separates fields", .fallback_text = ","),      \
        STK_ARG("use_quote_delim", BOOL, "fields may be quoted", .fallback = 1),                   \
        STK_ARG("na_value", TEXT, "value of an empty field"),                                      \
        STK_ARG("select_cols", INTS, "indices of columns to read, ascending; default: all",        \
                .is_open = true)

struct stk_csv_column {
    enum stk_dtype dtype;
    const void *fallback; // one value; NULL: the field is required. Borrowed from the attributes
};

struct stk_csv_columns {
    int count;
    struct stk_csv_column items[STK_COMPONENTS_MAX];
    const int64_t *chosen, *excluded; // ascending; NULL: all
    int64_t chosen_count, excluded_count;
    const uint8_t *na;
    size_t na_size;
    uint8_t delim;
    bool has_quotes;
};

// STOKER_EINVAL: names the invalid attribute. `c` borrows from the attributes.
STK_MUST_CHECK enum stoker_status stk_csv_columns_read(struct stk_csv_columns *c, const char *of,
                                                       const struct stk_attrs *attrs,
                                                       struct stoker_err *err);
// How many fields a row must be split into to get the wanted ones.
size_t stk_csv_columns_capacity(const struct stk_csv_columns *c);
// Picks the wanted fields of a row, in place; returns how many there are.
size_t stk_csv_columns_choose(const struct stk_csv_columns *c, struct stk_csv_field *fields,
                              size_t count);
// Is the field empty or one that means "no value"?
static inline bool stk_csv_is_missing(const struct stk_csv_columns *c, const uint8_t *p, size_t n)
{
    return n == 0 || (n == c->na_size && __builtin_memcmp(p, c->na, n) == 0);
}
// Writes the number, or the default, to out[i]. False: not a number, or empty without a default.
// `spare` bytes after the field are readable. Not for strings.
bool stk_csv_number(const struct stk_csv_columns *c, int column, const uint8_t *p, size_t n,
                    size_t spare, void *out, int64_t i);
