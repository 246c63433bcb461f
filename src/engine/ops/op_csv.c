// SPDX-License-Identifier: Apache-2.0
// decode_csv: columns of strings with one CSV record each, split as tf.io.decode_csv does. That is
// stricter than CSV files (formats/csv.h). A line end is allowed only in quotes, or at the start of
// a field, where it is skipped. Quotes must end before a delimiter or the record's end.
#include "base/alloc.h"
#include "engine/formats/csv_columns.h"
#include "engine/ops/op_util.h"

#include <string.h>

static const struct stk_arg_row csv_args[] = {STK_CSV_ROWS, {0}};

struct decode_csv {
    struct stk_csv_columns columns;
    size_t capacity;
};

static enum stoker_status decode_csv_prepare(const struct stk_op_infer *c, void **out,
                                             struct stoker_err *err)
{
    struct decode_csv *d = stk_alloc_zero(1, sizeof *d);
    *out = NULL;
    if (!d) {
        return stk_err_nomem(err);
    }
    enum stoker_status s = stk_csv_columns_read(&d->columns, "decode_csv", c->attrs, err);
    if (s != STOKER_OK) {
        stk_free(d);
        return s;
    }
    d->capacity = stk_csv_columns_capacity(&d->columns);
    *out = d;
    return STOKER_OK;
}

static enum stoker_status csv_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    void *prepared;
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    if (s == STOKER_OK && c->in[0].dtype != STK_DT_STRING) {
        s = stk_err_set(err, STOKER_EINVAL, "decode_csv: takes strings, not %s",
                        stk_dtype_name(c->in[0].dtype));
    }
    s = s == STOKER_OK ? decode_csv_prepare(c, &prepared, err) : s;
    if (s != STOKER_OK) {
        return s;
    }
    const struct decode_csv *d = prepared;
    if (d->columns.count > STK_OP_OUTPUTS_MAX) {
        s = stk_err_set(err, STOKER_EINVAL, "decode_csv: more than %d columns", STK_OP_OUTPUTS_MAX);
    } else {
        c->n_out = d->columns.count;
        for (int k = 0; k < c->n_out; k++) {
            c->out[k] =
                (struct stk_spec){.dtype = d->columns.items[k].dtype, .shape = c->in[0].shape};
        }
    }
    stk_free(prepared);
    return s;
}

// A field without quotes from *at on; then *at is after its delimiter.
static const char *plain_field(const struct stk_csv_columns *c, struct stk_bytes s, size_t *at,
                               struct stk_csv_field *f)
{
    size_t i = *at;
    for (; i < s.size && s.data[i] != c->delim; i++) {
        if (s.data[i] == '\n' || s.data[i] == '\r' || (c->has_quotes && s.data[i] == '"')) {
            return "a quote or a line end inside of a field without quotes";
        }
    }
    *f = (struct stk_csv_field){s.data + *at, i - *at, false};
    *at = i + 1;
    return NULL;
}

static const char *quoted_field(const struct stk_csv_columns *c, struct stk_bytes s, size_t *at,
                                struct stk_csv_field *f)
{
    size_t i = ++*at;
    bool is_escaped = false;
    while (i + 1 < s.size && (s.data[i] != '"' || s.data[i + 1] != c->delim)) {
        if (s.data[i] == '"') {
            if (s.data[i + 1] != '"') {
                return "a quote inside quotes that isn't doubled";
            }
            is_escaped = true;
            i++;
        }
        i++;
    }
    if (i >= s.size || s.data[i] != '"' || (i + 1 < s.size && s.data[i + 1] != c->delim)) {
        return "quotes that do not end before a delimiter or the end";
    }
    *f = (struct stk_csv_field){s.data + *at, i - *at, is_escaped};
    *at = i + 2;
    return NULL;
}

// NULL, or what is wrong with the record.
static const char *split(const struct decode_csv *d, struct stk_bytes s,
                         struct stk_csv_field *fields, size_t *count)
{
    const struct stk_csv_columns *c = &d->columns;
    size_t at = 0, n = 0;
    struct stk_csv_field spare;
    *count = 0;
    while (at < s.size) {
        if (s.data[at] == '\n' || s.data[at] == '\r') {
            at++;
            continue;
        }
        struct stk_csv_field *f = n < d->capacity ? &fields[n] : &spare;
        bool is_quoted = c->has_quotes && s.data[at] == '"';
        const char *why = (is_quoted ? quoted_field : plain_field)(c, s, &at, f);
        if (why) {
            return why;
        }
        n++;
        if (c->chosen && n == d->capacity) { // the rest isn't looked at
            *count = n;
            return NULL;
        }
    }
    if (s.size && s.data[s.size - 1] == c->delim) {
        struct stk_csv_field *f = n < d->capacity ? &fields[n] : &spare;
        *f = (struct stk_csv_field){s.data + s.size, 0, false};
        n++;
    }
    *count = n;
    return NULL;
}

// Copies a string field's bytes; *room: memory of the result. False: no memory.
static bool take_string(struct stk_op_run *r, const struct stk_csv_columns *c, int k,
                        const struct stk_csv_field *f, struct stk_col_capacity *capacity,
                        struct stk_bytes *out)
{
    *out = (struct stk_bytes){f->data, f->size};
    if (f->is_escaped) {
        uint8_t *to = stk_col_capacity_for(&r->out[k], r->pool, capacity, f->size);
        if (!to) {
            return false;
        }
        *out = (struct stk_bytes){to, stk_csv_unescape(f, to)};
    }
    if (!stk_csv_is_missing(c, out->data, out->size)) {
        return true;
    }
    const struct stk_bytes *fallback = c->items[k].fallback;
    uint8_t *to = stk_col_capacity_for(&r->out[k], r->pool, capacity, fallback->size);
    if (to && fallback->size) {
        memcpy(to, fallback->data, fallback->size);
    }
    *out = (struct stk_bytes){to, fallback->size};
    return to != NULL;
}

// Stores the fields of a record that ends at `end` as value k of element i.
static enum stoker_status put_fields(struct stk_op_run *r, const struct decode_csv *d,
                                     const struct stk_csv_field *fields, const uint8_t *end,
                                     int64_t i, int64_t k, struct stk_col_capacity *capacities,
                                     struct stoker_err *err)
{
    const struct stk_csv_columns *c = &d->columns;
    for (int o = 0; o < c->count; o++) {
        const struct stk_csv_field *f = &fields[o];
        bool is_missing = stk_csv_is_missing(c, f->data, f->size);
        if (is_missing && !c->items[o].fallback) {
            return stk_op_fail(r, i, STOKER_EINVAL, "field %d is required, but missing", o);
        }
        if (c->items[o].dtype == STK_DT_STRING) {
            if (!take_string(r, c, o, f, &capacities[o],
                             (struct stk_bytes *)(void *)r->out[o].data + k)) {
                return stk_op_no_memory(r, err);
            }
        } else if (!stk_csv_number(c, o, f->data, f->size, (size_t)(end - f->data) - f->size,
                                   r->out[o].data, k)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "field %d: '%.*s' is not a valid %s", o,
                               (int)(f->size < 60 ? f->size : 60), (const char *)f->data,
                               stk_dtype_name(c->items[o].dtype));
        }
    }
    return STOKER_OK;
}

struct csv_scratch {
    struct stk_csv_field *fields;
    struct stk_col_capacity *capacities;
};

static void decode_csv_scratch_end(void *scratch)
{
    struct csv_scratch *s = scratch;
    stk_free(s->fields);
    stk_free(s->capacities);
}

static enum stoker_status csv_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct decode_csv *d = r->prepared;
    struct csv_scratch *s = r->scratch;
    const struct stk_col *in = r->in[0];
    int64_t each = stk_shape_count(&in->shape);
    s->fields = s->fields ? s->fields : stk_alloc_zero(d->capacity, sizeof s->fields[0]);
    s->capacities =
        s->capacities ? s->capacities : stk_alloc_zero((size_t)r->n_out, sizeof s->capacities[0]);
    if (!s->fields || !s->capacities) {
        return stk_err_nomem(err);
    }
    memset(s->capacities, 0, (size_t)r->n_out * sizeof s->capacities[0]);
    for (int o = 0; o < r->n_out; o++) {
        if (!stk_op_out(r, o, r->spec[o].dtype, &in->shape, err) ||
            (r->spec[o].dtype == STK_DT_STRING && !stk_keep_join(&r->out[o].keep, in->keep))) {
            return stk_op_no_memory(r, err);
        }
    }
    for (int64_t k = 0; k < r->n * each && k / each < r->failed; k++) {
        struct stk_bytes record = ((const struct stk_bytes *)stk_col_at(in, k / each))[k % each];
        size_t count;
        const char *why = split(d, record, s->fields, &count);
        size_t have = why ? 0 : stk_csv_columns_choose(&d->columns, s->fields, count);
        enum stoker_status status = STOKER_OK;
        if (why) {
            status = stk_op_fail(r, k / each, STOKER_EINVAL, "%s", why);
        } else if (have != (size_t)d->columns.count) {
            status = stk_op_fail(r, k / each, STOKER_EINVAL, "%zu fields, expected %zu", count,
                                 d->capacity);
        } else {
            status = put_fields(r, d, s->fields, record.data + record.size, k / each, k,
                                s->capacities, err);
        }
        if (status != STOKER_OK) {
            return status;
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_decode_csv = {.name = "decode_csv",
                                         .summary = "Parses CSV records into columns",
                                         .cost_ns = 100,
                                         .infer = csv_infer,
                                         .prepare = decode_csv_prepare,
                                         .unprepare = stk_free,
                                         .scratch_bytes = sizeof(struct csv_scratch),
                                         .scratch_end = decode_csv_scratch_end,
                                         .run = csv_run,
                                         .args = csv_args};
