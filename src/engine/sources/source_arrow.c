// SPDX-License-Identifier: Apache-2.0
// arrow: rows of Arrow record batches, from Parquet files, Arrow files and streams, and other
// libraries' tables. A unit is read at once: a row group, a record batch, or a whole stream
// (arrow_units.h).
// Mapped files (is_mapped) are read on the consumer's thread: only views are made. For others,
// workers read whole units in parallel and pass them on in order; units too large for that are read
// in parts, one after another. If all units' row counts are known, skipping costs at most one
// unit's rows.
//
// A row with a null that has no fill value is a failed element, and so is a unit that can't be
// read; reading continues after it.
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/run/async.h"
#include "engine/run/pull.h"
#include "engine/sources/arrow_units.h"
#include "engine/sources/files.h"

#define WHOLE_BYTES_MAX (INT64_C(128) << 20) // largest unit read whole
#define BUDGET_PARTS 4                       // reads ahead at most 1/4 of the budget
#define CACHE_PARTS 8                        // keeps units for random access in at most 1/8
#define PARTS_AHEAD 8                        // of units read in parts
#define UNIT_OVERHEAD ((uint64_t)1024)       // bytes of a cached unit besides its values
#define COLUMN_OVERHEAD ((uint64_t)512)

struct kept {
    struct stk_arrow_rows *rows; // NULL: not kept
    bool is_recent;
};

struct arrow {
    struct stk_arrow_units units;
    int64_t unit, row; // of the next row; with threads, guarded by the input lock
    bool is_mapped, has_begun;
    struct stk_async *async; // NULL: mapped
    size_t claimed;
    // For units in parts.
    struct stk_arrow_stream stream;
    bool is_open;
    enum stk_arrow_how how;
    // Cached units.
    struct kept *kept;
    uint64_t kept_bytes, kept_max;
    int64_t hand;
};

struct own { // of a worker
    int64_t unit, row;
};

static enum stoker_status own_begin(struct stk_async *a, void **own, struct stoker_err *err)
{
    (void)a;
    *own = stk_alloc_zero(1, sizeof(struct own));
    return *own ? STOKER_OK : stk_err_nomem(err);
}

static void own_end(void *own)
{
    stk_free(own);
}

// Puts the rows from `from` on into a piece: the runs between failed rows, and an error for each.
static void fill_piece(const struct arrow *s, int64_t unit, int64_t before,
                       struct stk_arrow_rows *r, int64_t from, struct stk_piece *p)
{
    struct stoker_err err;
    if (from == 0 && r->n_failed == 0) {
        stk_block_move(&p->block, &r->block);
        return;
    }
    for (int64_t at = from; at <= r->block.n; at++) {
        int64_t end = at;
        while (end < r->block.n && (!r->n_failed || !r->failed[end])) {
            end++;
        }
        if (end > at && !stk_block_slice(&p->block, &r->block, at, end - at)) {
            (void)stk_piece_fail(p, STOKER_ENOMEM, NULL);
            return;
        }
        if (end == r->block.n) {
            return;
        }
        enum stoker_status status = stk_arrow_unit_null(&s->units, unit, r, end, before, &err);
        if (!stk_piece_fail(p, status, &err)) {
            return;
        }
        p = stk_piece_last(p);
        at = end;
    }
}

// Whole units: a worker takes the next one and reads it in parallel with others.
static int64_t pull_unit(struct stk_async *a, void *own, int64_t n, struct stk_piece *p)
{
    struct arrow *s = a->arg;
    struct own *o = own;
    (void)n;
    (void)p;
    if (s->unit >= s->units.n) {
        return 0;
    }
    *o = (struct own){s->unit++, s->row};
    s->row = 0;
    int64_t rows = s->units.first[o->unit + 1] - s->units.first[o->unit] - o->row;
    return rows > 0 ? rows : 1;
}

static void read_unit(struct stk_async *a, void *own, struct stk_piece *p)
{
    const struct arrow *s = a->arg;
    const struct own *o = own;
    struct stk_arrow_rows rows;
    struct stoker_err err;
    enum stoker_status status = stk_arrow_unit_read(&s->units, o->unit, &rows, &err);
    if (status != STOKER_OK) {
        (void)stk_piece_fail(p, status, &err);
        return;
    }
    fill_piece(s, o->unit, 0, &rows, o->row, p);
    stk_arrow_rows_free(&rows);
}

static const struct stk_async_kind whole_kind = {own_begin, own_end, pull_unit, read_unit};

// Units in parts: the next record batch of the open stream, or of the next one.
static int64_t pull_part(struct stk_async *a, void *own, int64_t n, struct stk_piece *p)
{
    struct arrow *s = a->arg;
    struct stk_arrow_rows rows = {0};
    struct stoker_err err;
    enum stoker_status status = STOKER_OK;
    int64_t given = 0;
    (void)own;
    (void)n;
    while (status == STOKER_OK && given == 0 && s->unit < s->units.n) {
        bool is_end = false;
        if (!s->is_open) {
            status = stk_arrow_stream_open(&s->stream, &s->units, s->unit, s->how, &err);
            s->is_open = status == STOKER_OK;
        }
        int64_t before = s->stream.rows;
        if (status == STOKER_OK) {
            status = stk_arrow_stream_next(&s->stream, &s->units, &rows, &is_end, &err);
        }
        if (status == STOKER_OK && !is_end && s->row < s->stream.rows) {
            int64_t from = s->row > before ? s->row - before : 0;
            given = rows.block.n - from;
            fill_piece(s, s->unit, before, &rows, from, p);
        }
        if (status != STOKER_OK || is_end) {
            stk_arrow_stream_close(&s->stream);
            s->is_open = false;
            s->unit++;
            s->row = 0;
        }
        stk_arrow_rows_free(&rows);
    }
    if (status != STOKER_OK) {
        (void)stk_piece_fail(p, status, &err);
    }
    return given;
}

static const struct stk_async_kind parts_kind = {.pull = pull_part};

// How many units may be read in parallel. Needs memory for at least two, and claims it; else 0.
static int whole_workers(struct stk_iter *it, int most)
{
    struct arrow *s = it->state;
    int64_t each = stk_attrs_int(it->ds->attrs, "unit_bytes", 0);
    int64_t part = (int64_t)(stk_pool_stats_of(it->run->pool).cap_bytes / BUDGET_PARTS);
    int64_t fit = each > 0 ? part / each : INT64_MAX; // units in memory: being read, and ready
    int64_t workers = fit / 2 < most ? fit / 2 : most;
    if (each > WHOLE_BYTES_MAX || workers < 1 || s->units.first[s->units.n] < 0) {
        return 0;
    }
    size_t bytes = (size_t)each * (size_t)(2 * workers);
    if (!stk_pool_claim(it->run->pool, bytes)) {
        return 0;
    }
    s->claimed = bytes;
    return (int)workers;
}

static enum stoker_status open_threads(struct stk_iter *it, struct stoker_err *err)
{
    struct arrow *s = it->state;
    int64_t calls = stk_attrs_int(it->ds->attrs, "num_parallel_calls", -1);
    int threads = it->run->options.threads;
    int limit = calls < 0 ? threads : calls > STK_WORKERS_MAX ? STK_WORKERS_MAX : (int)calls;
    int workers = whole_workers(it, limit < 1 ? 1 : limit);
    bool is_whole = workers > 0;
    s->how = it->run->has_cap || threads < 2 ? STK_ARROW_PARTS : STK_ARROW_PARTS_THREADED;
    s->async = stk_async_open(it, is_whole ? &whole_kind : &parts_kind, s,
                              is_whole && calls < 0 ? stk_tuner_initial(it, workers)
                              : is_whole            ? workers
                                                    : 1,
                              is_whole ? workers : 1, false, 0);
    if (!s->async) {
        return stk_err_nomem(err);
    }
    s->async->tuned.set_inline = NULL; // a unit is long work outside the engine
    stk_async_set_capacity(s->async, is_whole ? workers + 1 : PARTS_AHEAD);
    return stk_tuner_add(&s->async->tuned, is_whole && calls < 0) ? STOKER_OK : stk_err_nomem(err);
}

static enum stoker_status arrow_open(struct stk_iter *it, struct stoker_err *err)
{
    struct arrow *s = it->state;
    enum stoker_status status = stk_arrow_units_open(&s->units, it, err);
    if (status != STOKER_OK) {
        return status;
    }
    s->is_mapped = stk_attrs_int(it->ds->attrs, "is_mapped", 0) != 0;
    s->kept_max = stk_pool_stats_of(it->run->pool).cap_bytes / CACHE_PARTS;
    s->kept = stk_alloc_zero((size_t)s->units.n + 1, sizeof s->kept[0]);
    if (!s->kept) {
        return stk_err_nomem(err);
    }
    return s->is_mapped ? STOKER_OK : open_threads(it, err);
}

static uint64_t bytes_of(const struct stk_arrow_rows *r)
{
    return r->bytes + UNIT_OVERHEAD + (uint64_t)r->block.count * COLUMN_OVERHEAD;
}

// Drops the least recently used units, but not `unit`.
static void trim(struct arrow *s, int64_t unit)
{
    for (int64_t looks = 2 * s->units.n; s->kept_bytes > s->kept_max && looks > 0; looks--) {
        struct kept *k = &s->kept[s->hand];
        if (k->rows && s->hand != unit && !k->is_recent) {
            s->kept_bytes -= bytes_of(k->rows);
            stk_arrow_rows_free(k->rows);
            stk_free(k->rows);
            k->rows = NULL;
        }
        k->is_recent = false;
        s->hand = (s->hand + 1) % s->units.n;
    }
}

// A unit's rows, which are kept until another unit is requested.
static enum stoker_status keep_unit(struct arrow *s, int64_t unit, struct stk_arrow_rows **out,
                                    struct stoker_err *err)
{
    struct kept *k = &s->kept[unit];
    if (stk_arrow_unit_is_torn(&s->units, unit)) {
        return stk_arrow_unit_torn(&s->units, unit, err);
    }
    if (!k->rows) {
        struct stk_arrow_rows *rows = stk_alloc_zero(1, sizeof *rows);
        if (!rows) {
            return stk_err_nomem(err);
        }
        enum stoker_status status = stk_arrow_unit_read(&s->units, unit, rows, err);
        if (status != STOKER_OK) {
            stk_free(rows);
            return status;
        }
        k->rows = rows;
        s->kept_bytes += bytes_of(rows);
        trim(s, unit);
    }
    k->is_recent = true;
    *out = k->rows;
    return STOKER_OK;
}

static void next_unit(struct arrow *s)
{
    s->unit++;
    s->row = 0;
}

// Rows of mapped files: up to the end of the unit, or to a failed one.
static enum stoker_status next_mapped(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct arrow *s = it->state;
    while (s->unit < s->units.n) {
        struct stk_arrow_rows *r;
        enum stoker_status status = keep_unit(s, s->unit, &r, err);
        if (status != STOKER_OK) {
            next_unit(s);
            return status;
        }
        int64_t end = s->row, left = r->block.n - s->row;
        int64_t last = s->row + (want < left ? want : left);
        while (end < last && (!r->n_failed || !r->failed[end])) {
            end++;
        }
        int64_t from = s->row;
        if (end > from) {
            s->row = end;
            return stk_block_slice(out, &r->block, from, end - from) ? STOKER_OK
                                                                     : stk_err_nomem(err);
        }
        if (end < r->block.n) {
            s->row++;
            return stk_arrow_unit_null(&s->units, s->unit, r, end, 0, err);
        }
        next_unit(s);
    }
    return STOKER_OK;
}

static enum stoker_status arrow_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct arrow *s = it->state;
    s->has_begun = true;
    return s->async ? stk_async_next(s->async, want, 0, out, err) : next_mapped(it, want, out, err);
}

// Skips rows of streams of unknown length by reading them.
static enum stoker_status pass_over(struct stk_iter *it, int64_t n, int64_t *done,
                                    struct stoker_err *err)
{
    struct stk_block block = {0};
    enum stoker_status status = STOKER_OK;
    do {
        status = arrow_next(it, n - *done, &block, err);
        *done += block.n;
    } while (status == STOKER_OK && block.n > 0 && *done < n && stk_block_reset(&block, 0));
    stk_block_free(&block);
    return status;
}

static enum stoker_status arrow_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                     struct stoker_err *err)
{
    struct arrow *s = it->state;
    int64_t total = s->units.first[s->units.n];
    if (s->async && s->has_begun) {
        return stk_async_skip(s->async, n, done, err);
    }
    if (total < 0) {
        return pass_over(it, n, done, err);
    }
    int64_t at = s->unit < s->units.n ? s->units.first[s->unit] + s->row : total;
    *done = n < total - at ? n : total - at;
    at += *done;
    if (*done > 0 && at < total) {
        s->unit = stk_arrow_units_of_row(&s->units, at);
        s->row = at - s->units.first[s->unit];
    } else if (*done > 0) { // past the rows, units with an error and no rows may follow
        while (s->unit < s->units.n && (s->units.first[s->unit] < total)) {
            next_unit(s);
        }
    }
    return STOKER_OK;
}

// Consecutive positions in a unit, shared as one part.
static enum stoker_status share_run(struct stk_iter *it, const int64_t *index, int64_t n,
                                    struct stk_block *out, int64_t *run, struct stoker_err *err)
{
    struct arrow *s = it->state;
    struct stk_arrow_rows *r;
    if (index[0] < 0 || index[0] >= s->units.first[s->units.n]) {
        return stk_err_set(err, STOKER_ERANGE, "arrow: no row %lld", (long long)index[0]);
    }
    int64_t unit = stk_arrow_units_of_row(&s->units, index[0]);
    int64_t first = s->units.first[unit], row = index[0] - first, count = 1;
    enum stoker_status status = keep_unit(s, unit, &r, err);
    if (status != STOKER_OK) {
        return status;
    }
    while (count < n && index[count] == index[0] + count && row + count < r->block.n) {
        count++;
    }
    for (int64_t k = row; r->n_failed && k < row + count; k++) {
        if (r->failed[k]) {
            return stk_arrow_unit_null(&s->units, unit, r, k, 0, err);
        }
    }
    *run = count;
    return stk_block_slice(out, &r->block, row, count) ? STOKER_OK : stk_err_nomem(err);
}

static enum stoker_status join(struct stk_iter *it, const struct stk_block *parts, int count,
                               struct stk_block *out, struct stoker_err *err)
{
    const struct stk_block **list = stk_alloc_array((size_t)count + 1, sizeof list[0]);
    for (int k = 0; list && k < count; k++) {
        list[k] = &parts[k];
    }
    bool ok = list && stk_block_concat(out, it->run->pool, list, count);
    stk_free(list);
    return ok ? STOKER_OK
              : stk_err_set(err, STOKER_ELIMIT, "arrow: no memory for rows at %d positions", count);
}

static enum stoker_status arrow_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                   struct stk_block *out, struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    struct stk_block *parts = stk_alloc_zero((size_t)n + 1, sizeof parts[0]);
    int count = 0;
    if (!parts) {
        return stk_err_nomem(err);
    }
    for (int64_t at = 0, run = 0; status == STOKER_OK && at < n; at += run, count++) {
        status = share_run(it, index + at, n - at, &parts[count], &run, err);
    }
    if (status == STOKER_OK && n > 0) {
        status = join(it, parts, count, out, err);
    }
    for (int64_t k = 0; k < n; k++) {
        stk_block_free(&parts[k]);
    }
    stk_free(parts);
    return status;
}

static bool arrow_has_at(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "has_random_access", 0) != 0 && stk_arrow_units_rows(ds) >= 0;
}

static int64_t arrow_cardinality(const struct stk_dataset *ds)
{
    int64_t rows = stk_arrow_units_rows(ds);
    return rows < 0 ? STK_CARDINALITY_UNKNOWN : rows;
}

static void arrow_close(struct stk_iter *it)
{
    struct arrow *s = it->state;
    if (s->async) {
        stk_tuner_remove(&s->async->tuned);
        stk_async_close(s->async);
    }
    if (s->is_open) {
        stk_arrow_stream_close(&s->stream);
    }
    for (int64_t k = 0; s->kept && k < s->units.n; k++) {
        if (s->kept[k].rows) {
            stk_arrow_rows_free(s->kept[k].rows);
            stk_free(s->kept[k].rows);
        }
    }
    stk_free(s->kept);
    if (s->claimed) {
        stk_pool_unclaim(it->run->pool, s->claimed);
    }
    stk_arrow_units_close(&s->units);
}

static const struct stk_arg_row arrow_args[] = {
    STK_FILES_NAMES_ROW,
    STK_ARG("opener", INT, "number of the function that opens a unit", .is_required = true),
    STK_ARG("specs", OTHER, "specs of the components", .is_required = true),
    STK_ARG("leaves", INTS, "of each leaf: its path, and the dimensions of its lists",
            .is_required = true),
    STK_ARG("names", OTHER, "names of the leaves", .is_required = true),
    STK_ARG("units", INTS, "of each unit: file, number in it, rows", .is_required = true),
    STK_ARG("unit_name", TEXT, "name of a unit, for messages", .fallback_text = "record batch"),
    STK_ARG("unit_bytes", INT, "bytes of the largest unit; 0: unknown", .min = 0, .max = INT64_MAX),
    STK_ARG("filled", INTS, "leaves whose nulls have a value"),
    STK_ARG("fills", OTHER, "those values"),
    STK_ARG("is_private", BOOL, "the values that are read are not shared"),
    STK_ARG("is_mapped", BOOL, "values are in mapped files"),
    STK_ARG("maps", OTHER, "the bytes of each mapped file"),
    STK_ARG("has_random_access", BOOL, "a unit can be read at any time"),
    STK_ARG("shuffle", BOOL, "units in random order, another one in each pass"),
    STK_ARG("seed", INT, "of the order", .fallback = -1),
    STK_ARG("num_parallel_calls", INT, "units read at once; -1: AUTOTUNE", .is_tunable = true,
            .fallback = -1, .min = -1, .max = INT32_MAX),
    {0}};

const struct stk_dataset_kind stk_dataset_arrow = {.name = "arrow",
                                                   .summary = "Rows of Arrow record batches",
                                                   .role = STK_DS_FILES,
                                                   .args = arrow_args,
                                                   .infer = stk_arrow_units_infer,
                                                   .cardinality = arrow_cardinality,
                                                   .state_bytes = sizeof(struct arrow),
                                                   .open = arrow_open,
                                                   .next = arrow_next,
                                                   .skip = arrow_skip,
                                                   .has_at = arrow_has_at,
                                                   .at = arrow_at,
                                                   .close = arrow_close};
