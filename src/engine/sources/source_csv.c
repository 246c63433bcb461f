// SPDX-License-Identifier: Apache-2.0
// csv: rows of CSV files as scalars of the requested columns. Strings are views into the file
// buffer. A bad row or header is one error in its place, and the rows after it follow. Plain, gzip
// and zlib.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/formats/csv_columns.h"
#include "engine/run/iter.h"
#include "engine/sources/files.h"

#define READ_BYTES ((size_t)512 << 10)
#define ROW_MAX_BYTES ((size_t)1 << 30)
#define AT_ONCE 4096 // rows of a block

struct csv {
    struct stk_csv_columns columns;
    struct stk_csv_field *fields;
    size_t capacity;
    struct stk_col_capacity
        *capacities; // of the block being built: memory of each column's own strings
    struct stk_file_bytes in;
    uint64_t row;             // number of the file's next row, from 1
    struct stk_csv_scan scan; // over the bytes not returned yet
};

static enum stoker_status csv_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    enum stk_record_codec codec;
    struct stk_csv_columns *c = stk_alloc_zero(1, sizeof *c);
    if (!c) {
        return stk_err_nomem(err);
    }
    enum stoker_status s = stk_files_infer(ds, err);
    s = s == STOKER_OK ? stk_files_codec(ds, &codec, err) : s;
    s = s == STOKER_OK ? stk_csv_columns_read(c, "csv", ds->attrs, err) : s;
    if (s == STOKER_OK) {
        ds->specs = stk_specs_new(c->count);
        s = ds->specs ? STOKER_OK : stk_err_nomem(err);
    }
    for (int k = 0; s == STOKER_OK && k < c->count; k++) {
        ds->specs->items[k].dtype = c->items[k].dtype;
    }
    stk_free(c);
    return s;
}

static enum stoker_status csv_open(struct stk_iter *it, struct stoker_err *err)
{
    struct csv *t = it->state;
    enum stoker_status s = stk_csv_columns_read(&t->columns, "csv", it->ds->attrs, err);
    if (s != STOKER_OK) {
        return s;
    }
    t->scan = (struct stk_csv_scan){.delim = t->columns.delim, .has_quotes = t->columns.has_quotes};
    t->capacity = stk_csv_columns_capacity(&t->columns);
    t->fields = stk_alloc_zero(t->capacity, sizeof t->fields[0]);
    t->capacities = stk_alloc_zero((size_t)t->columns.count, sizeof t->capacities[0]);
    return t->fields && t->capacities ? STOKER_OK : stk_err_nomem(err);
}

static void end_file(struct csv *t)
{
    stk_files_end(&t->in);
    stk_csv_start(&t->scan, NULL, NULL);
}

static enum stoker_status read_more(struct stk_iter *it, struct stoker_err *err)
{
    struct csv *t = it->state;
    size_t left = (size_t)(t->scan.end - t->scan.at), piece = stk_files_share(it, READ_BYTES),
           capacity = left + (left > piece ? left : piece);
    if (left >= ROW_MAX_BYTES) {
        return stk_err_set(err, STOKER_ELIMIT, "%.300s: row %llu has 1 GiB or more", t->in.path,
                           (unsigned long long)t->row);
    }
    capacity = capacity < ROW_MAX_BYTES ? capacity : ROW_MAX_BYTES;
    t->in.pos = t->in.end - left;
    enum stoker_status s = stk_files_fill(it, &t->in, capacity, STK_CSV_PAD, left + 1, err);
    if (s != STOKER_OK) {
        return s;
    }
    memset(t->in.buf->data + t->in.end, 0, STK_CSV_PAD);
    stk_csv_start(&t->scan, t->in.buf->data, t->in.buf->data + t->in.end);
    return stk_files_whole(&t->in, s, err);
}

// Splits the next row into at most as many fields as t->fields has room for. *count 0: the file
// ended.
static enum stoker_status split_row(struct stk_iter *it, size_t *count, const char **why,
                                    struct stoker_err *err)
{
    struct csv *t = it->state;
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK &&
           !stk_csv_row(&t->scan, t->in.at_end, t->fields, t->capacity, count, why)) {
        if (t->in.at_end) {
            *count = 0;
            return STOKER_OK;
        }
        s = read_more(it, err);
    }
    t->row++;
    return s;
}

static enum stoker_status open_file(struct stk_iter *it, struct stoker_err *err)
{
    struct csv *t = it->state;
    size_t count = 1;
    const char *why = NULL;
    t->row = 1;
    enum stoker_status s = stk_files_open(it, t->in.file++, t->in.path, &t->in.open, err);
    if (s == STOKER_OK && stk_attrs_int(it->ds->attrs, "header", 0)) {
        s = split_row(it, &count, &why, err);
    }
    if (s == STOKER_OK && count == 0) {
        s = stk_err_set(err, STOKER_EINVAL, "%.300s: the header is missing", t->in.path);
    }
    if (s != STOKER_OK) {
        end_file(t);
        return s;
    }
    return why ? stk_err_set(err, STOKER_EINVAL, "%.300s: the header: %s", t->in.path, why)
               : STOKER_OK;
}

// The error of the row that was split last.
static enum stoker_status bad_row(const struct csv *t, const uint8_t *first, const char *what,
                                  struct stoker_err *err)
{
    uint64_t offset = t->in.base + (uint64_t)(first - t->in.buf->data);
    return stk_err_set(err, STOKER_EINVAL, "%.300s: row %llu, at byte %llu: %s", t->in.path,
                       (unsigned long long)(t->row - 1), (unsigned long long)offset, what);
}

static bool put_string(struct stk_iter *it, int k, const struct stk_csv_field *f,
                       struct stk_col *col, int64_t i)
{
    struct csv *t = it->state;
    struct stk_col_capacity *capacity = &t->capacities[k];
    struct stk_bytes *out = (struct stk_bytes *)(void *)col->data + i;
    *out = (struct stk_bytes){f->data, f->size};
    if (!f->is_escaped && !stk_csv_is_missing(&t->columns, f->data, f->size)) {
        return true;
    }
    uint8_t *to = stk_col_capacity_for(col, it->run->pool, capacity, f->size);
    if (!to) {
        return false;
    }
    *out = (struct stk_bytes){to, stk_csv_unescape(f, to)};
    const struct stk_bytes *fallback = t->columns.items[k].fallback;
    if (stk_csv_is_missing(&t->columns, out->data, out->size) && fallback) {
        to = stk_col_capacity_for(col, it->run->pool, capacity, fallback->size);
        if (to && fallback->size) {
            memcpy(to, fallback->data, fallback->size);
        }
        *out = (struct stk_bytes){to, fallback->size};
    }
    return to != NULL;
}

// The error of field k.
static enum stoker_status bad_field(const struct csv *t, const uint8_t *first, int k, size_t column,
                                    struct stoker_err *err)
{
    char text[160];
    const struct stk_csv_field *f = &t->fields[k];
    if (stk_csv_is_missing(&t->columns, f->data, f->size)) {
        snprintf(text, sizeof text, "field %zu is required, but missing", column);
    } else {
        bool may_be_header = t->row - 1 == 1;
        snprintf(text, sizeof text, "field %zu: '%.*s' is not a valid %s%s", column,
                 (int)(f->size < 60 ? f->size : 60), (const char *)f->data,
                 stk_dtype_name(t->columns.items[k].dtype),
                 may_be_header ? "; header=True skips a header" : "");
    }
    return bad_row(t, first, text, err);
}

// Stores a row's fields as element i. STOKER_EINVAL: they are invalid.
static enum stoker_status put_row(struct stk_iter *it, struct stk_block *out, int64_t i,
                                  const uint8_t *first, size_t count, const char *why,
                                  struct stoker_err *err)
{
    struct csv *t = it->state;
    const struct stk_csv_columns *c = &t->columns;
    size_t have = stk_csv_columns_choose(c, t->fields, count);
    char text[120];
    if (why || have != (size_t)c->count) {
        snprintf(text, sizeof text, "%zu fields%s, expected %zu", count,
                 c->chosen || c->excluded ? " in all" : "", stk_csv_columns_capacity(c));
        return bad_row(t, first, why ? why : text, err);
    }
    for (int k = 0; k < c->count; k++) {
        const struct stk_csv_field *f = &t->fields[k];
        size_t size = f->size;
        if (c->items[k].dtype == STK_DT_STRING) {
            bool is_missing = stk_csv_is_missing(c, f->data, size) && !c->items[k].fallback;
            if (is_missing) {
                return bad_field(t, first, k, (size_t)k, err);
            }
            if (!put_string(it, k, f, &out->cols[k], i)) {
                return stk_err_set(err, STOKER_ELIMIT, "csv: no memory for a field of %zu bytes",
                                   size);
            }
        } else if (!stk_csv_number(c, k, f->data, size, STK_CSV_PAD, out->cols[k].data, i)) {
            return bad_field(t, first, k, (size_t)k, err);
        }
    }
    return STOKER_OK;
}

static enum stoker_status make_columns(struct stk_iter *it, int64_t n, struct stk_block *out,
                                       struct stoker_err *err)
{
    struct csv *t = it->state;
    struct stk_shape scalar = {0};
    bool ok = stk_block_reset(out, t->columns.count);
    for (int k = 0; ok && k < t->columns.count; k++) {
        enum stk_dtype dtype = t->columns.items[k].dtype;
        ok = stk_col_uniform(&out->cols[k], it->run->pool, dtype, &scalar, n) &&
             (dtype != STK_DT_STRING || stk_keep_add(&out->cols[k].keep, t->in.buf));
    }
    return ok ? STOKER_OK
              : stk_err_set(err, STOKER_ELIMIT, "csv: no memory for %lld rows", (long long)n);
}

// Returns buffered rows, without reading, up to a bad one, which comes next.
static enum stoker_status give_rows(struct stk_iter *it, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    struct csv *t = it->state;
    size_t count;
    const char *why;
    int64_t n = want;
    enum stoker_status s = make_columns(it, n, out, err);
    const uint8_t *first = t->scan.at;
    memset(t->capacities, 0, (size_t)t->columns.count * sizeof t->capacities[0]);
    while (s == STOKER_OK && out->n < n &&
           stk_csv_row(&t->scan, t->in.at_end, t->fields, t->capacity, &count, &why)) {
        t->row++;
        s = put_row(it, out, out->n, first, count, why, err);
        out->n += s == STOKER_OK;
        first = t->scan.at;
    }
    for (int k = 0; k < out->count; k++) {
        out->cols[k].n = out->n;
    }
    return s;
}

static enum stoker_status csv_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                   struct stoker_err *err)
{
    struct csv *t = it->state;
    want = want < AT_ONCE ? want : AT_ONCE;
    for (;;) {
        enum stoker_status s = STOKER_OK;
        if (!t->in.open.stream) {
            if (t->in.file >= stk_files_count(it->ds)) {
                return STOKER_OK;
            }
            s = open_file(it, err);
            if (s != STOKER_OK) {
                return s;
            }
        }
        if (t->scan.at < t->scan.end) {
            s = give_rows(it, want, out, err);
            if (s != STOKER_OK || out->n > 0) {
                return s;
            }
        }
        if (!t->in.at_end) {
            s = read_more(it, err);
        } else {
            end_file(t);
        }
        if (s != STOKER_OK) {
            end_file(t);
            return s;
        }
    }
}

// Skips rows without parsing their fields.
static enum stoker_status csv_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                   struct stoker_err *err)
{
    struct csv *t = it->state;
    *done = 0;
    while (*done < n) {
        size_t count = 0;
        const char *why;
        enum stoker_status s = STOKER_OK;
        if (!t->in.open.stream) {
            if (t->in.file >= stk_files_count(it->ds)) {
                return STOKER_OK;
            }
            s = open_file(it, err);
            if (s != STOKER_OK) {
                return s;
            }
        }
        s = split_row(it, &count, &why, err);
        if (s != STOKER_OK || count == 0) {
            end_file(t);
        }
        if (s != STOKER_OK) {
            return s;
        }
        *done += count > 0;
    }
    return STOKER_OK;
}

static void csv_close(struct stk_iter *it)
{
    struct csv *t = it->state;
    end_file(t);
    stk_free(t->fields);
    stk_free(t->capacities);
}

static const struct stk_arg_row csv_args[] = {
    STK_FILES_NAMES_ROW,
    STK_CSV_ROWS,
    STK_ARG("exclude_cols", INTS, "indices of columns to exclude, ascending; not with select_cols",
            .is_open = true),
    STK_FILES_COMPRESSION_ROW,
    STK_ARG("header", BOOL, "skip the first row of each file"),
    STK_ARG("buffer_size", INT, "accepted", .max = INT64_MAX),
    {0}};

const struct stk_dataset_kind stk_dataset_csv = {.name = "csv",
                                                 .summary = "Rows of CSV files",
                                                 .role = STK_DS_FILES,
                                                 .args = csv_args,
                                                 .infer = csv_infer,
                                                 .state_bytes = sizeof(struct csv),
                                                 .open = csv_open,
                                                 .next = csv_next,
                                                 .skip = csv_skip,
                                                 .close = csv_close};
