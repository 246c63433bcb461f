// SPDX-License-Identifier: Apache-2.0
// CSV columns: their attributes, and fields as numbers.
#include "engine/formats/csv_columns.h"

#include <string.h>

#include "base/assert.h"
#include "engine/formats/text_number.h"

static enum stoker_status bad(const char *of, const char *what, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINVAL, "%s: %s", of, what);
}

static enum stoker_status read_types(struct stk_csv_columns *c, const char *of,
                                     const struct stk_attrs *attrs, struct stoker_err *err)
{
    const struct stk_attr *types = stk_attrs_get(attrs, "dtypes");
    const struct stk_attr *defaults = stk_attrs_get(attrs, "defaults");
    if (!types || types->kind != STK_ATTR_INTS || types->count < 1 ||
        types->count > STK_COMPONENTS_MAX || !defaults || defaults->kind != STK_ATTR_COLS ||
        defaults->count != types->count) {
        return bad(of, "needs between 1 and 1024 record_defaults", err);
    }
    c->count = (int)types->count;
    for (int k = 0; k < c->count; k++) {
        const struct stk_col *d = &defaults->cols[k];
        struct stk_shape shape = stk_col_shape(d, 0);
        int64_t values = stk_shape_count(&shape);
        enum stk_dtype t = (enum stk_dtype)types->ints[k];
        if (t != STK_DT_F32 && t != STK_DT_F64 && t != STK_DT_I32 && t != STK_DT_I64 &&
            t != STK_DT_STRING) {
            return stk_err_set(err, STOKER_EINVAL,
                               "%s: column %d can't be %s. CSV has float32, float64, int32, "
                               "int64 and strings",
                               of, k, stk_dtype_name(t));
        }
        if (values > 1 || (values == 1 && d->dtype != t)) {
            return bad(of, "each of record_defaults must hold at most one value of its dtype", err);
        }
        c->items[k] =
            (struct stk_csv_column){t, values == 1 ? (const void *)stk_col_at(d, 0) : NULL};
    }
    return STOKER_OK;
}

static enum stoker_status read_list(const struct stk_attrs *attrs, const char *of, const char *name,
                                    const int64_t **list, int64_t *count, struct stoker_err *err)
{
    const struct stk_attr *t = stk_attrs_get(attrs, name);
    *list = NULL;
    *count = 0;
    if (!t) {
        return STOKER_OK;
    }
    for (int64_t i = 0; t->kind == STK_ATTR_INTS && i < t->count; i++) {
        if (t->ints[i] < 0 || t->ints[i] >= STK_CSV_FIELDS_MAX ||
            (i && t->ints[i] <= t->ints[i - 1])) {
            return stk_err_set(err, STOKER_EINVAL, "%s: %s must ascend, from 0 to %d", of, name,
                               STK_CSV_FIELDS_MAX - 1);
        }
    }
    if (t->kind == STK_ATTR_INTS && t->count) {
        *list = t->ints;
        *count = t->count;
    }
    return STOKER_OK;
}

enum stoker_status stk_csv_columns_read(struct stk_csv_columns *c, const char *of,
                                        const struct stk_attrs *attrs, struct stoker_err *err)
{
    const struct stk_attr *delim = stk_attrs_get(attrs, "field_delim");
    const struct stk_attr *na = stk_attrs_get(attrs, "na_value");
    memset(c, 0, sizeof *c);
    enum stoker_status s = read_types(c, of, attrs, err);
    s = s == STOKER_OK ? read_list(attrs, of, "select_cols", &c->chosen, &c->chosen_count, err) : s;
    s = s == STOKER_OK ? read_list(attrs, of, "exclude_cols", &c->excluded, &c->excluded_count, err)
                       : s;
    if (s != STOKER_OK) {
        return s;
    }
    if ((c->chosen && c->excluded) || (c->chosen && c->chosen_count != c->count)) {
        return bad(of,
                   c->excluded ? "takes select_cols or exclude_cols, not both"
                               : "select_cols and record_defaults differ in length",
                   err);
    }
    c->has_quotes = stk_attrs_int(attrs, "use_quote_delim", 1) != 0;
    c->delim = ',';
    if (delim && (delim->kind != STK_ATTR_TEXT || delim->count != 1)) {
        return bad(of, "field_delim must be one byte", err);
    }
    c->delim = delim ? (uint8_t)delim->text[0] : c->delim;
    if (c->delim == '\n' || c->delim == '\r' || (c->delim == '"' && c->has_quotes)) {
        return bad(of, "field_delim can't be a character that ends lines or quotes", err);
    }
    if (na && na->kind == STK_ATTR_TEXT) {
        c->na = (const uint8_t *)na->text;
        c->na_size = (size_t)na->count;
    }
    return STOKER_OK;
}

size_t stk_csv_columns_capacity(const struct stk_csv_columns *c)
{
    STK_ASSERT(c->count > 0);
    return c->chosen ? (size_t)c->chosen[c->chosen_count - 1] + 1
                     : (size_t)(c->count + c->excluded_count);
}

size_t stk_csv_columns_choose(const struct stk_csv_columns *c, struct stk_csv_field *fields,
                              size_t count)
{
    size_t n = 0;
    if (c->chosen) {
        for (int64_t i = 0; i < c->chosen_count && (size_t)c->chosen[i] < count; i++) {
            fields[n++] = fields[c->chosen[i]];
        }
        return n;
    }
    if (!c->excluded) {
        return count;
    }
    int64_t next = 0;
    size_t capacity = stk_csv_columns_capacity(c);
    for (size_t i = 0; i < count; i++) {
        if (next < c->excluded_count && (size_t)c->excluded[next] == i) {
            next++;
        } else {
            if (i < capacity) {
                fields[n] = fields[i];
            }
            n++;
        }
    }
    return n;
}

bool stk_csv_number(const struct stk_csv_columns *c, int column, const uint8_t *p, size_t n,
                    size_t spare, void *out, int64_t i)
{
    STK_ASSERT(column >= 0 && column < c->count && i >= 0);
    const struct stk_csv_column *of = &c->items[column];
    if (stk_csv_is_missing(c, p, n)) {
        size_t size = stk_dtype_bytes(of->dtype);
        if (of->fallback) {
            memcpy((uint8_t *)out + (size_t)i * size, of->fallback, size);
        }
        return of->fallback != NULL;
    }
    switch (of->dtype) {
    case STK_DT_F32:
        return stk_text_f32(p, n, spare, (float *)out + i);
    case STK_DT_F64:
        return stk_text_f64(p, n, spare, (double *)out + i);
    case STK_DT_I32:
        return stk_text_i32(p, n, spare, (int32_t *)out + i);
    default:
        return stk_text_i64(p, n, spare, (int64_t *)out + i);
    }
}
