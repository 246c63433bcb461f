// SPDX-License-Identifier: Apache-2.0
// Units of an Arrow source; see arrow_units.h. Attributes: "opener", a function's number; "leaves",
// for each leaf: the length of its path, the path, how many list levels, their dimensions; "units":
// file, number in the file and rows (-1: unknown) of each.
#include "engine/sources/arrow_units.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/guard.h"
#include "engine/graph/permute.h"
#include "engine/sources/files.h"

#define UNIT_NUMBERS 3
enum { UNIT_FILE, UNIT_NUMBER, UNIT_ROWS };

static const struct stk_attr *list_of(const struct stk_dataset *ds, const char *name,
                                      enum stk_attr_kind kind)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, name);
    return t && t->kind == kind ? t : NULL;
}

// Reads the next leaf of the attribute from *at on. False: no complete one is left.
static bool next_leaf(const struct stk_attr *t, int64_t *at, struct stk_arrow_leaf *leaf)
{
    int64_t left = t->count - *at, n;
    *leaf = (struct stk_arrow_leaf){0};
    if (left < 1 || (n = t->ints[*at]) < 1 || n > STK_ARROW_PATH_MAX || n + 2 > left) {
        return false;
    }
    leaf->n_path = (int)n;
    memcpy(leaf->path, &t->ints[*at + 1], (size_t)n * sizeof leaf->path[0]);
    *at += n + 1;
    left -= n + 1;
    n = t->ints[*at];
    if (n < 0 || n > STK_RANK_MAX || n + 1 > left) {
        return false;
    }
    leaf->n_levels = (int)n;
    memcpy(leaf->dim, &t->ints[*at + 1], (size_t)n * sizeof leaf->dim[0]);
    *at += n + 1;
    for (int k = 0; k < leaf->n_path; k++) {
        if (leaf->path[k] < 0) {
            return false;
        }
    }
    return true;
}

// Do the leaf's lists, if their lengths are known, have as many values as an element of that shape?
static bool fits(const struct stk_arrow_leaf *leaf)
{
    int64_t values = 1;
    bool ok = stk_arrow_leaf_ragged(leaf) >= 0 || stk_shape_count(&leaf->shape) >= 0;
    for (int k = 0; ok && k < leaf->n_levels; k++) {
        ok = leaf->dim[k] < 0 ||
             (leaf->dim[k] <= STK_VALUES_MAX &&
              !__builtin_mul_overflow(values, leaf->dim[k], &values) && values <= STK_VALUES_MAX);
    }
    return ok && (stk_arrow_leaf_ragged(leaf) >= 0 || stk_shape_count(&leaf->shape) == values);
}

// Reads leaves with their types and fill values. -1: the attributes contradict each other.
static int read_leaves(const struct stk_dataset *ds, struct stk_arrow_leaf *leaves)
{
    const struct stk_attr *t = list_of(ds, "leaves", STK_ATTR_INTS);
    const struct stk_attr *names = list_of(ds, "names", STK_ATTR_TEXTS);
    const struct stk_attr *specs = list_of(ds, "specs", STK_ATTR_SPECS);
    const struct stk_attr *fills = list_of(ds, "fills", STK_ATTR_COLS);
    const struct stk_attr *filled = list_of(ds, "filled", STK_ATTR_INTS);
    int64_t at = 0;
    int n = 0, column = 0;
    while (t && names && specs && at < t->count) {
        struct stk_arrow_leaf *leaf = &leaves[n];
        if (n == STK_ARROW_LEAVES_MAX || n >= names->count || !next_leaf(t, &at, leaf) ||
            column + stk_arrow_leaf_columns(leaf) > specs->specs->count) {
            return -1;
        }
        leaf->name = (const char *)names->texts[n].data;
        leaf->dtype = specs->specs->items[column].dtype;
        leaf->shape = specs->specs->items[column].shape;
        if (!fits(leaf)) {
            return -1;
        }
        column += stk_arrow_leaf_columns(leaf);
        n++;
    }
    if (!specs || n < 1 || column != specs->specs->count) {
        return -1;
    }
    for (int64_t k = 0; filled && k < filled->count; k++) {
        int64_t which = filled->ints[k];
        if (!fills || fills->count != filled->count || which < 0 || which >= n ||
            fills->cols[k].dtype != leaves[which].dtype || fills->cols[k].shape.rank != 0) {
            return -1;
        }
        leaves[which].fill = &fills->cols[k];
    }
    return n;
}

static bool are_units(const struct stk_attr *units, int64_t files)
{
    bool ok = units && units->count % UNIT_NUMBERS == 0;
    int64_t rows = 0;
    for (int64_t k = 0; ok && k < units->count; k += UNIT_NUMBERS) {
        int64_t file = units->ints[k + UNIT_FILE], n = units->ints[k + UNIT_ROWS];
        ok = file >= 0 && file < files && n >= -1 && n <= STK_VALUES_MAX &&
             !__builtin_add_overflow(rows, n > 0 ? n : 0, &rows);
    }
    return ok;
}

static enum stoker_status guard_maps(const struct stk_dataset *ds, int64_t files,
                                     struct stoker_err *err)
{
    const struct stk_attr *maps = list_of(ds, "maps", STK_ATTR_COLS);
    for (int64_t k = 0; maps && k < maps->count; k++) {
        struct stk_buf *b = maps->cols[k].data_buf;
        if (maps->count != files) {
            return stk_err_set(err, STOKER_EINVAL, "arrow: maps are one of each file");
        }
        if (b && b->is_foreign && b->size && !stk_buf_guard(b)) {
            return stk_err_set(err, STOKER_ELIMIT, "arrow: more than %d mapped files at once",
                               STK_GUARDS_MAX);
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_arrow_units_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    struct stk_arrow_leaf *leaves = stk_alloc_zero(STK_ARROW_LEAVES_MAX, sizeof leaves[0]);
    const struct stk_attr *files = list_of(ds, "filenames", STK_ATTR_TEXTS);
    if (!leaves) {
        return stk_err_nomem(err);
    }
    int n = files ? read_leaves(ds, leaves) : -1;
    stk_free(leaves);
    if (n < 0 || !are_units(list_of(ds, "units", STK_ATTR_INTS), files->count)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "arrow: leaves, names, fills, specs, filenames and units contradict "
                           "each other");
    }
    ds->specs = stk_specs_hold(list_of(ds, "specs", STK_ATTR_SPECS)->specs);
    return guard_maps(ds, files->count, err);
}

int64_t stk_arrow_units_rows(const struct stk_dataset *ds)
{
    const struct stk_attr *units = list_of(ds, "units", STK_ATTR_INTS);
    int64_t rows = 0;
    for (int64_t k = 0; k < units->count; k += UNIT_NUMBERS) {
        if (units->ints[k + UNIT_ROWS] < 0) {
            return -1;
        }
        rows += units->ints[k + UNIT_ROWS];
    }
    return rows;
}

static void order_units(struct stk_arrow_units *u)
{
    bool is_shuffled = u->n > 1 && stk_attrs_int(u->it->ds->attrs, "shuffle", 0) != 0;
    struct stk_permutation p;
    if (is_shuffled) {
        stk_permutation_open(&p, (uint64_t)u->n, u->it->seed);
    }
    for (int64_t k = 0; k < u->n; k++) {
        u->order[k] = is_shuffled ? (int64_t)stk_permutation_at(&p, (uint64_t)k) : k;
        int64_t rows = u->table[u->order[k] * UNIT_NUMBERS + UNIT_ROWS];
        u->first[k + 1] = u->first[k] < 0 || rows < 0 ? -1 : u->first[k] + rows;
    }
}

enum stoker_status stk_arrow_units_open(struct stk_arrow_units *u, struct stk_iter *it,
                                        struct stoker_err *err)
{
    const struct stk_attr *units = list_of(it->ds, "units", STK_ATTR_INTS);
    int64_t n = units->count / UNIT_NUMBERS;
    *u = (struct stk_arrow_units){.it = it, .n = n, .table = units->ints};
    u->order = stk_alloc_zero((size_t)n + 1, sizeof u->order[0]);
    u->first = stk_alloc_zero((size_t)n + 1, sizeof u->first[0]);
    u->leaves = stk_alloc_zero(STK_ARROW_LEAVES_MAX, sizeof u->leaves[0]);
    if (!u->order || !u->first || !u->leaves) {
        return stk_err_nomem(err);
    }
    u->n_leaves = read_leaves(it->ds, u->leaves);
    STK_ASSERT(u->n_leaves > 0);
    order_units(u);
    return STOKER_OK;
}

void stk_arrow_units_close(struct stk_arrow_units *u)
{
    stk_free(u->order);
    stk_free(u->first);
    stk_free(u->leaves);
    *u = (struct stk_arrow_units){0};
}

int64_t stk_arrow_units_of_row(const struct stk_arrow_units *u, int64_t row)
{
    int64_t low = 0, high = u->n - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        bool is_before = u->first[middle] >= 0 && u->first[middle] <= row;
        low = is_before ? middle : low;
        high = is_before ? high : middle - 1;
    }
    return low;
}

static const int64_t *row_of_table(const struct stk_arrow_units *u, int64_t unit)
{
    STK_ASSERT(unit >= 0 && unit < u->n);
    return &u->table[u->order[unit] * UNIT_NUMBERS];
}

static const char *file_of(const struct stk_arrow_units *u, int64_t unit)
{
    const struct stk_attr *files = list_of(u->it->ds, "filenames", STK_ATTR_TEXTS);
    return (const char *)files->texts[row_of_table(u, unit)[UNIT_FILE]].data;
}

// Adds the unit to the error. Damage in a file is reported by the file's name first.
static enum stoker_status of_unit(const struct stk_arrow_units *u, int64_t unit,
                                  enum stoker_status s, struct stoker_err *err)
{
    if (s != STOKER_OK && s != STOKER_EINTR) {
        stk_err_while(err, "reading %.300s, %s %lld", file_of(u, unit),
                      stk_attrs_text(u->it->ds->attrs, "unit_name", "record batch"),
                      (long long)row_of_table(u, unit)[UNIT_NUMBER]);
    }
    return s;
}

static struct stk_buf *map_of(const struct stk_arrow_units *u, int64_t unit)
{
    const struct stk_attr *maps = list_of(u->it->ds, "maps", STK_ATTR_COLS);
    return maps ? maps->cols[row_of_table(u, unit)[UNIT_FILE]].data_buf : NULL;
}

bool stk_arrow_unit_is_torn(const struct stk_arrow_units *u, int64_t unit)
{
    return stk_buf_is_torn(map_of(u, unit));
}

enum stoker_status stk_arrow_unit_torn(const struct stk_arrow_units *u, int64_t unit,
                                       struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EDAMAGE,
                       "%.300s: the file was cut short while it was read; the last values given "
                       "may be zeros",
                       file_of(u, unit));
}

static enum stoker_status call_opener(const struct stk_arrow_units *u, int64_t unit,
                                      enum stk_arrow_how how, struct ArrowArrayStream *stream,
                                      struct stoker_err *err)
{
    struct stk_host *host = u->it->run->options.host;
    struct stk_shape shape = {.rank = 1, .dim = {3}};
    struct stk_col request;
    const struct stk_col *in[1] = {&request};
    struct stoker_err why;
    int64_t failed = 1;
    if (!host || !host->call) {
        return stk_err_set(err, STOKER_EINVAL, "arrow: the program provides no functions to call");
    }
    if (!stk_col_uniform(&request, u->it->run->pool, STK_DT_I64, &shape, 1)) {
        return stk_err_set(err, STOKER_ELIMIT, "arrow: no memory to open a stream");
    }
    int64_t *to = (int64_t *)request.data;
    to[0] = u->order[unit];
    to[1] = (int64_t)(intptr_t)stream;
    to[2] = how;
    enum stoker_status s = host->call(host->arg, stk_attrs_int(u->it->ds->attrs, "opener", 0), 1,
                                      in, 1, u->it->run->pool, NULL, 0, &failed, &why, err);
    stk_col_clear(&request);
    if (s == STOKER_OK && failed < 1) {
        *err = why;
        s = why.code;
    }
    if (s == STOKER_OK && (!stream->release || !stream->get_schema || !stream->get_next)) {
        s = stk_err_set(err, STOKER_EINVAL, "arrow: the opened object isn't a stream");
    }
    return s;
}

// The first line of the exporter's error, which is about the file's contents.
static enum stoker_status failed_stream(struct stk_arrow_stream *s, int code,
                                        struct stoker_err *err)
{
    const char *why = s->stream.get_last_error ? s->stream.get_last_error(&s->stream) : NULL;
    size_t n = why ? strcspn(why, "\n") : 0;
    bool is_memory = code == ENOMEM;
    return stk_err_set(err, is_memory ? STOKER_ELIMIT : STOKER_EDAMAGE, "%.*s",
                       (int)(n < 300 ? n : 300), n ? why : strerror(code));
}

enum stoker_status stk_arrow_stream_open(struct stk_arrow_stream *s,
                                         const struct stk_arrow_units *u, int64_t unit,
                                         enum stk_arrow_how how, struct stoker_err *err)
{
    *s = (struct stk_arrow_stream){.unit = unit};
    enum stoker_status status = call_opener(u, unit, how, &s->stream, err);
    if (status == STOKER_OK) {
        int code = s->stream.get_schema(&s->stream, &s->schema);
        status = code ? failed_stream(s, code, err) : STOKER_OK;
    }
    if (status == STOKER_OK) {
        status = stk_arrow_check(&s->schema, u->leaves, u->n_leaves, err);
    }
    if (status != STOKER_OK) {
        stk_arrow_stream_close(s);
    }
    return of_unit(u, unit, status, err);
}

void stk_arrow_stream_close(struct stk_arrow_stream *s)
{
    if (s->schema.release) {
        s->schema.release(&s->schema);
    }
    if (s->stream.release) {
        s->stream.release(&s->stream);
    }
    *s = (struct stk_arrow_stream){0};
}

// Rows were counted when the dataset was made; with another count, it is another file.
static enum stoker_status check_rows(const struct stk_arrow_stream *s,
                                     const struct stk_arrow_units *u, bool is_end,
                                     struct stoker_err *err)
{
    int64_t rows = row_of_table(u, s->unit)[UNIT_ROWS];
    if (rows < 0 || s->rows == rows || (s->rows < rows && !is_end)) {
        return STOKER_OK;
    }
    return stk_err_set(
        err, STOKER_EDAMAGE, "it has %s%lld rows, not %lld as when the dataset was made",
        is_end ? "" : "more than ", (long long)(is_end ? s->rows : rows), (long long)rows);
}

enum stoker_status stk_arrow_stream_next(struct stk_arrow_stream *s,
                                         const struct stk_arrow_units *u,
                                         struct stk_arrow_rows *out, bool *is_end,
                                         struct stoker_err *err)
{
    struct ArrowArray array = {0};
    bool is_mapped = stk_attrs_int(u->it->ds->attrs, "is_mapped", 0) != 0;
    struct stk_arrow_import from = {.schema = &s->schema,
                                    .leaves = u->leaves,
                                    .n_leaves = u->n_leaves,
                                    .pool = u->it->run->pool,
                                    .mapped = is_mapped ? map_of(u, s->unit) : NULL,
                                    .is_private =
                                        stk_attrs_int(u->it->ds->attrs, "is_private", 0) != 0};
    int code = s->stream.get_next(&s->stream, &array);
    enum stoker_status status = code ? failed_stream(s, code, err) : STOKER_OK;
    *is_end = status == STOKER_OK && !array.release;
    if (status == STOKER_OK && !*is_end) {
        status = stk_arrow_take(&from, &array, out, err);
        s->rows += status == STOKER_OK ? out->block.n : 0;
    }
    if (stk_arrow_unit_is_torn(u, s->unit)) { // what was read may be zeros, even lengths
        stk_arrow_rows_free(out);
        return stk_arrow_unit_torn(u, s->unit, err);
    }
    status = status == STOKER_OK ? check_rows(s, u, *is_end, err) : status;
    return of_unit(u, s->unit, status, err);
}

// Reads more record batches of a unit after the first. (Most units are one batch.)
static enum stoker_status read_more(struct stk_arrow_stream *s, const struct stk_arrow_units *u,
                                    struct stk_arrow_rows *out, struct stoker_err *err)
{
    struct stk_arrow_rows more = {0};
    struct stk_block joined = {0};
    bool is_end = false;
    enum stoker_status status = STOKER_OK;
    while (status == STOKER_OK && !is_end) {
        status = stk_arrow_stream_next(s, u, &more, &is_end, err);
        if (status != STOKER_OK || is_end || more.block.n == 0) {
            stk_arrow_rows_free(&more);
            continue;
        }
        int64_t before = out->block.n, n = more.block.n;
        const struct stk_block *both[2] = {&out->block, &more.block};
        uint16_t *failed =
            stk_realloc_array(out->failed, (size_t)(before + n) + 1, sizeof failed[0]);
        if (!failed || !stk_block_concat(&joined, u->it->run->pool, both, 2)) {
            out->failed = failed ? failed : out->failed;
            status = stk_err_set(err, STOKER_ELIMIT, "arrow: no memory for %lld rows",
                                 (long long)(before + n));
        } else {
            if (!out->n_failed) {
                memset(failed, 0, (size_t)before * sizeof failed[0]);
            }
            memset(failed + before, 0, (size_t)n * sizeof failed[0]);
            if (more.n_failed) {
                memcpy(failed + before, more.failed, (size_t)n * sizeof failed[0]);
            }
            out->failed = failed;
            out->n_failed += more.n_failed;
            out->bytes += more.bytes;
            stk_block_move(&out->block, &joined);
        }
        stk_arrow_rows_free(&more);
    }
    stk_block_free(&joined);
    return status;
}

enum stoker_status stk_arrow_unit_read(const struct stk_arrow_units *u, int64_t unit,
                                       struct stk_arrow_rows *out, struct stoker_err *err)
{
    struct stk_arrow_stream s;
    bool is_end = false;
    *out = (struct stk_arrow_rows){0};
    enum stoker_status status = stk_arrow_stream_open(&s, u, unit, STK_ARROW_WHOLE, err);
    if (status != STOKER_OK && stk_arrow_unit_is_torn(u, unit)) {
        status = stk_arrow_unit_torn(u, unit, err);
    }
    status = status == STOKER_OK ? stk_arrow_stream_next(&s, u, out, &is_end, err) : status;
    if (status == STOKER_OK && !is_end) {
        status = read_more(&s, u, out, err);
    }
    stk_arrow_stream_close(&s);
    if (status != STOKER_OK) {
        stk_arrow_rows_free(out);
    }
    return status;
}

enum stoker_status stk_arrow_unit_null(const struct stk_arrow_units *u, int64_t unit,
                                       const struct stk_arrow_rows *r, int64_t row, int64_t before,
                                       struct stoker_err *err)
{
    int leaf = r->failed[row] - 1;
    STK_ASSERT(leaf >= 0 && leaf < u->n_leaves);
    return of_unit(u, unit,
                   stk_err_set(err, STOKER_EINVAL,
                               "column '%.200s' is null in row %lld; nulls= says what stands for "
                               "a null, ignore_errors() leaves such rows out",
                               u->leaves[leaf].name, (long long)(before + row)),
                   err);
}
