// SPDX-License-Identifier: Apache-2.0
// pack: packs sequences of any length into rows of a fixed length, with segment ids and positions.
//
// First fit, best fit: rows are filled in groups of `bins`. A sequence goes into the first row that
// has space for it in all components, or into the fullest such row. If none has, the group's rows
// are output, and the sequence starts another group.
// Chop: sequences follow one another without gaps, and a row ends when a component is full. The
// rest of the sequence starts the next row, as a segment of its own.
//
// An input component becomes three: see pack_rows.h. If an input element fails, or can't be packed,
// rows stay unchanged, and packing continues with the next element.
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/run/feed.h"
#include "engine/transformations/pack_rows.h"

// Rows per group with chop; doesn't affect results.
#define CHOP_ROWS 64
#define CHOP_BYTES ((int64_t)1 << 20)
#define ASK_MAX 256                   // input elements to request at once,
#define ASK_BYTES ((uint64_t)1 << 16) // limited to about this many bytes

enum { FIRST_FIT, BEST_FIT, CHOP };

struct pack {
    struct stk_feed in, ready; // sequences; complete rows
    struct stk_pack_rows rows;
    struct stk_pack_piece *pieces; // of the current sequence
    const int64_t *outputs;
    int64_t ask; // input elements to request
    int64_t bins, segments_max, method;
    bool is_cut; // chop: the first pieces[k].from values of the sequence are already in rows
};

static const struct stk_attr *list(const struct stk_dataset *ds, const char *name, int64_t count)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, name);
    return t && t->kind == STK_ATTR_INTS && t->count == count ? t : NULL;
}

// Is every part of every component output exactly once?
static bool is_order(const struct stk_attr *t)
{
    for (int64_t i = 0; i < t->count; i++) {
        bool has = false;
        for (int64_t j = 0; j < t->count && !has; j++) {
            has = t->ints[j] == i;
        }
        if (!has) {
            return false;
        }
    }
    return true;
}

static enum stoker_status check(const struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    const struct stk_attr *lengths = list(ds, "lengths", in->count);
    const struct stk_attr *outputs = list(ds, "outputs", (int64_t)STK_PACK_PARTS * in->count);
    const struct stk_attr *pads = stk_attrs_get(ds->attrs, "padding_values");
    if (in->count < 1 || STK_PACK_PARTS * in->count > STK_COMPONENTS_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "pack: takes 1 to %d components, not %d",
                           STK_COMPONENTS_MAX / STK_PACK_PARTS, in->count);
    }
    if (!lengths || !outputs || !is_order(outputs) ||
        (pads && (pads->kind != STK_ATTR_COLS || pads->count != in->count))) {
        return stk_err_set(err, STOKER_EINVAL,
                           "pack: lengths, outputs or padding_values do not fit %d components",
                           in->count);
    }
    for (int k = 0; k < in->count; k++) {
        if (in->items[k].dtype == STK_DT_DATASET || in->items[k].shape.rank > STK_RANK_MAX ||
            lengths->ints[k] < 1 || lengths->ints[k] > INT32_MAX) {
            return stk_err_set(err, STOKER_EINVAL,
                               "pack: component %d is a dataset, or its length is not 1 to %d", k,
                               INT32_MAX);
        }
        if (pads && pads->cols[k].dtype != in->items[k].dtype) {
            return stk_err_set(err, STOKER_EINVAL, "pack: component %d is %s, its padding value %s",
                               k, stk_dtype_name(in->items[k].dtype),
                               stk_dtype_name(pads->cols[k].dtype));
        }
    }
    return STOKER_OK;
}

static enum stoker_status pack_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    enum stoker_status s = check(ds, err);
    ds->specs = s == STOKER_OK ? stk_specs_new(STK_PACK_PARTS * in->count) : NULL;
    if (!ds->specs) {
        return s == STOKER_OK ? stk_err_nomem(err) : s;
    }
    const int64_t *lengths = stk_attrs_get(ds->attrs, "lengths")->ints;
    const int64_t *outputs = stk_attrs_get(ds->attrs, "outputs")->ints;
    for (int j = 0; j < ds->specs->count; j++) {
        struct stk_spec *to = &ds->specs->items[j];
        int64_t k = outputs[j] / STK_PACK_PARTS;
        *to = (struct stk_spec){.dtype = STK_DT_I32, .shape = {1, {lengths[k]}}};
        if (outputs[j] % STK_PACK_PARTS == 0) {
            to->dtype = in->items[k].dtype;
            to->shape = in->items[k].shape;
            to->shape.rank = to->shape.rank == 0 ? 1 : to->shape.rank;
            to->shape.dim[0] = lengths[k];
        }
    }
    return STOKER_OK;
}

static int64_t pack_cardinality(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]);
    return n == 0 || n == STK_INFINITE ? n : STK_CARDINALITY_UNKNOWN;
}

// Rows of a group with chop: few if rows are long.
static int64_t chop_rows(const struct stk_dataset *ds)
{
    const struct stk_specs *in = ds->in[0]->specs;
    int64_t bytes = 0;
    for (int k = 0; k < in->count; k++) {
        int64_t each = (int64_t)(stk_dtype_bytes(in->items[k].dtype) + 2 * sizeof(int32_t));
        bytes += stk_attrs_get(ds->attrs, "lengths")->ints[k] * each;
    }
    int64_t rows = CHOP_BYTES / bytes;
    return rows < 1 ? 1 : rows < CHOP_ROWS ? rows : CHOP_ROWS;
}

static enum stoker_status pack_open(struct stk_iter *it, struct stoker_err *err)
{
    struct pack *p = it->state;
    const struct stk_attrs *a = it->ds->attrs;
    int n = it->ds->in[0]->specs->count;
    p->outputs = stk_attrs_get(a, "outputs")->ints;
    p->method = stk_attrs_int(a, "method", FIRST_FIT);
    p->bins = p->method == CHOP ? chop_rows(it->ds) : stk_attrs_int(a, "bins", 1);
    p->segments_max = stk_attrs_int(a, "max_sequences", 0);
    p->segments_max = p->segments_max > 0 ? p->segments_max : INT32_MAX;
    p->ask = 1;
    p->pieces = stk_alloc_zero((size_t)n, sizeof p->pieces[0]);
    bool ok = p->pieces && stk_pack_rows_open(&p->rows, n, stk_attrs_get(a, "lengths")->ints,
                                              stk_attrs_get(a, "padding_values"), p->bins);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

// Requests input elements in blocks that grow to ASK_BYTES.
static enum stoker_status pull(struct stk_iter *it, struct stoker_err *err)
{
    struct pack *p = it->state;
    if (stk_feed_left(&p->in) > 0 || p->in.at_end) {
        return STOKER_OK;
    }
    enum stoker_status s = stk_feed_fill(&p->in, it->in[0], p->ask, err);
    uint64_t bytes = s == STOKER_OK ? stk_block_bytes(&p->in.block) : ASK_BYTES;
    if (bytes < ASK_BYTES / 2 && p->ask < ASK_MAX) {
        p->ask *= 2;
    } else if (bytes > 2 * ASK_BYTES && p->ask > 1) {
        p->ask /= 2;
    }
    return s;
}

static enum stoker_status give(struct stk_iter *it, struct stoker_err *err)
{
    struct pack *p = it->state;
    p->ready.used = 0;
    return stk_pack_rows_end(&p->rows, p->outputs, &p->ready.block) ? STOKER_OK
                                                                    : stk_err_nomem(err);
}

// The current sequence can't be packed: skips it and returns its error.
static enum stoker_status refuse(struct pack *p, int k, struct stoker_err *err)
{
    struct stk_shape has = stk_col_shape(&p->in.block.cols[k], p->in.used);
    char text[STK_SHAPE_TEXT];
    STK_ASSERT(!p->is_cut); // nothing of it is in a row
    p->in.used++;
    stk_shape_text(&has, text);
    if (p->method != CHOP && has.rank > 0 && has.dim[0] > p->rows.lengths[k]) {
        return stk_err_set(err, STOKER_EINVAL,
                           "pack: component %d has %lld values and a row %lld; cut it in a map "
                           "before, or use method \"chop\"",
                           k, (long long)has.dim[0], (long long)p->rows.lengths[k]);
    }
    return stk_err_set(
        err, STOKER_EINVAL,
        "pack: component %d has shape %s, which differs from the other sequences' in "
        "more than its first dimension",
        k, text);
}

static enum stoker_status no_rows(const struct stk_iter *it, int64_t rows, struct stoker_err *err)
{
    const struct pack *p = it->state;
    struct stk_pool_stats pool = stk_pool_stats_of(it->run->pool);
    uint64_t bytes = 0;
    for (int k = 0; k < p->rows.n; k++) {
        bytes += (uint64_t)p->rows.lengths[k] * (p->rows.bytes[k] + 2 * sizeof(int32_t));
    }
    return stk_err_set(err, STOKER_ELIMIT,
                       "pack: no memory for %lld rows of %llu bytes (%llu of %llu bytes of %s in "
                       "use); fewer bins help, or a larger ram_budget",
                       (long long)rows, (unsigned long long)bytes,
                       (unsigned long long)pool.in_use_bytes, (unsigned long long)pool.cap_bytes,
                       pool.cap_name);
}

// Starts a group if none is open, and checks the sequence: *bad is a component that can't be
// packed, or -1.
static enum stoker_status look(struct stk_iter *it, int64_t want, int *bad, struct stoker_err *err)
{
    struct pack *p = it->state;
    const struct stk_block *b = &p->in.block;
    *bad = -1;
    for (int k = 0; k < p->rows.n; k++) {
        int64_t length = stk_pack_length(&b->cols[k], p->in.used);
        p->pieces[k].from = p->is_cut ? p->pieces[k].from : 0;
        p->pieces[k].count = length - p->pieces[k].from;
        if (p->method != CHOP && length > p->rows.lengths[k]) {
            *bad = k;
            return STOKER_OK;
        }
    }
    int64_t rows = p->method != CHOP || want > p->bins ? p->bins : want;
    if (!stk_pack_rows_is_open(&p->rows) &&
        !stk_pack_rows_begin(&p->rows, it->run->pool, b, p->in.used, rows)) {
        return no_rows(it, rows, err);
    }
    *bad = stk_pack_rows_differ(&p->rows, b, p->in.used);
    return STOKER_OK;
}

static bool fits(const struct pack *p, int64_t row)
{
    const struct stk_pack_rows *r = &p->rows;
    for (int k = 0; k < r->n; k++) {
        if (r->used[row * r->n + k] + p->pieces[k].count > r->lengths[k]) {
            return false;
        }
    }
    return r->segments[row] < p->segments_max;
}

// The row for the sequence; -1: none has space.
static int64_t find(const struct pack *p)
{
    const struct stk_pack_rows *r = &p->rows;
    int64_t best = -1, most = -1;
    for (int64_t row = 0; row <= r->begun && row < r->rows; row++) {
        if (!fits(p, row)) {
            continue;
        }
        if (p->method == FIRST_FIT) {
            return row;
        }
        int64_t held = 0;
        for (int k = 0; k < r->n; k++) {
            held += r->used[row * r->n + k];
        }
        if (held > most) {
            best = row;
            most = held;
        }
    }
    return best;
}

static enum stoker_status fit(struct stk_iter *it, struct stoker_err *err)
{
    struct pack *p = it->state;
    int64_t row = find(p);
    if (row < 0) {
        return give(it, err);
    }
    bool ok = stk_pack_rows_add(&p->rows, row, &p->in.block, p->in.used++, p->pieces);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

// Cuts the pieces to the free space of a row. False: the rest of the sequence fits.
static bool cut(struct pack *p, int64_t row, bool *is_empty)
{
    const struct stk_pack_rows *r = &p->rows;
    bool is_cut = false;
    *is_empty = true;
    for (int k = 0; k < r->n; k++) {
        int64_t space = r->lengths[k] - r->used[row * r->n + k];
        is_cut = is_cut || p->pieces[k].count > space;
        p->pieces[k].count = p->pieces[k].count > space ? space : p->pieces[k].count;
        *is_empty = *is_empty && p->pieces[k].count == 0;
    }
    return is_cut;
}

// Adds as much of the sequence as fits into the last started row; after a full row the next one
// starts.
static enum stoker_status chop(struct stk_iter *it, struct stoker_err *err)
{
    struct pack *p = it->state;
    struct stk_pack_rows *r = &p->rows;
    int64_t row = r->begun > 0 ? r->begun - 1 : 0;
    bool is_empty = true, is_full = r->segments[row] >= p->segments_max;
    bool is_cut = !is_full && cut(p, row, &is_empty);
    bool ok = true;
    if (!is_full && (!is_cut || !is_empty)) {
        ok = stk_pack_rows_add(r, row, &p->in.block, p->in.used, p->pieces);
    }
    for (int k = 0; !is_full && k < r->n; k++) {
        p->pieces[k].from += p->pieces[k].count;
    }
    p->is_cut = is_cut || (is_full && p->is_cut);
    p->in.used += !is_full && !is_cut;
    if (!ok) {
        return stk_err_nomem(err);
    }
    if (!is_cut && !is_full) {
        return STOKER_OK;
    }
    r->begun += row + 1 < r->rows; // the next row counts as started, though it is still empty
    return row + 1 < r->rows ? STOKER_OK : give(it, err);
}

static enum stoker_status pack_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    struct pack *p = it->state;
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK && stk_feed_left(&p->ready) == 0) {
        int bad = -1;
        s = pull(it, err);
        if (s == STOKER_OK && stk_feed_left(&p->in) == 0) {
            if (!stk_pack_rows_is_open(&p->rows)) {
                return STOKER_OK;
            }
            s = give(it, err);
            continue;
        }
        s = s == STOKER_OK ? look(it, want, &bad, err) : s;
        if (s != STOKER_OK || bad >= 0) {
            return s != STOKER_OK ? s : refuse(p, bad, err);
        }
        s = p->method == CHOP ? chop(it, err) : fit(it, err);
    }
    return s == STOKER_OK ? stk_feed_take(&p->ready, want, out, err) : s;
}

static void pack_close(struct stk_iter *it)
{
    struct pack *p = it->state;
    stk_feed_free(&p->in);
    stk_feed_free(&p->ready);
    stk_pack_rows_free(&p->rows);
    stk_free(p->pieces);
}

static const struct stk_arg_row pack_args[] = {
    STK_ARG("lengths", OTHER, "of a row, for each component", .is_required = true),
    STK_ARG("outputs", OTHER,
            "3k, 3k + 1, 3k + 2 stand for component k's values, segment ids, positions; in the "
            "order of the result's components",
            .is_required = true),
    STK_ARG("method", INT, "how sequences are assigned to rows",
            .choices = "first_fit,best_fit,chop"),
    STK_ARG("bins", INT, "rows that are filled at the same time; not for chop", .fallback = 1,
            .min = 1, .max = 1 << 20),
    STK_ARG("max_sequences", INT, "in a row; 0: any number", .min = 0, .max = INT32_MAX),
    STK_ARG("padding_values", OTHER, "a value for each component; without: zeros"),
    {0}};

const struct stk_dataset_kind stk_dataset_pack = {
    .name = "pack",
    .summary = "Packs sequences into rows of one length, with segment ids and positions",
    .holds_less_with = "fewer bins",
    .role = STK_DS_FORM,
    .args = pack_args,
    .infer = pack_infer,
    .cardinality = pack_cardinality,
    .state_bytes = sizeof(struct pack),
    .open = pack_open,
    .next = pack_next,
    .close = pack_close};
