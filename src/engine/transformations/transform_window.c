// SPDX-License-Identifier: Apache-2.0
// window: datasets of `size` elements, each starting `shift` after the previous one, with elements
// `stride` apart. If an element has several components, a window is one dataset for each.
//
// Windows share the memory of the input's blocks; if they overlap it is read-only.
#include "base/assert.h"
#include "engine/graph/infer.h"
#include "engine/memory/blocks.h"
#include "engine/run/nested.h"
#include "engine/run/pull.h"

#define PULL_ELEMENTS 256 // fewest elements to pull from the input
#define PULLED_MAX 4096   // blocks waiting to be joined

struct window {
    struct stk_block held, more, part; // held: elements from input position `base` on
    struct stk_blocks pulled;          // the blocks to join to `held`, including it
    int64_t base, start;               // input positions of `held` and of the next window
    int64_t size, shift, stride, span;
    bool drops;
    bool at_end;
};

static int64_t number(const struct stk_dataset *ds, const char *name, int64_t fallback)
{
    int64_t n = stk_attrs_int(ds->attrs, name, -1);
    return n > 0 ? n : fallback;
}

static int64_t size_of(const struct stk_dataset *ds)
{
    return number(ds, "size", 1);
}

static int64_t shift_of(const struct stk_dataset *ds)
{
    return number(ds, "shift", size_of(ds));
}

// Elements from a window's first to its last.
static int64_t span_of(const struct stk_dataset *ds)
{
    int64_t span;
    return __builtin_mul_overflow(size_of(ds) - 1, number(ds, "stride", 1), &span) ? INT64_MAX / 2
                                                                                   : span + 1;
}

static enum stoker_status window_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    ds->specs = stk_specs_new(in->count);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < in->count; k++) {
        struct stk_specs *nested = stk_specs_new(1);
        if (!nested) {
            return stk_err_nomem(err);
        }
        stk_spec_copy(&nested->items[0], &in->items[k]);
        ds->specs->items[k] = (struct stk_spec){.dtype = STK_DT_DATASET, .nested = nested};
    }
    return STOKER_OK;
}

static int64_t window_cardinality(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]);
    if (n <= 0 || stk_arg_is_bound(ds, "size") || stk_arg_is_bound(ds, "shift") ||
        stk_arg_is_bound(ds, "stride")) {
        return n <= 0 ? n : STK_CARDINALITY_UNKNOWN;
    }
    if (!stk_attrs_int(ds->attrs, "drop_remainder", 0)) {
        return (n - 1) / shift_of(ds) + 1;
    }
    return n < span_of(ds) ? 0 : (n - span_of(ds)) / shift_of(ds) + 1;
}

static enum stoker_status window_open(struct stk_iter *it, struct stoker_err *err)
{
    struct window *w = it->state;
    (void)err;
    stk_blocks_init(&w->pulled, PULLED_MAX + 1);
    w->size = size_of(it->ds);
    w->shift = shift_of(it->ds);
    w->stride = number(it->ds, "stride", 1);
    w->span = span_of(it->ds);
    w->drops = stk_attrs_int(it->ds->attrs, "drop_remainder", 0) != 0;
    return STOKER_OK;
}

// Makes `held` the first block to join. Copies its strings: the joined block would otherwise keep
// all memory they were ever in.
static enum stoker_status keep_held(struct stk_iter *it, struct stoker_err *err)
{
    struct window *w = it->state;
    for (int k = 0; w->held.n > 0 && k < w->held.count; k++) {
        if (w->held.cols[k].dtype == STK_DT_STRING &&
            !stk_col_own(&w->held.cols[k], it->run->pool)) {
            return stk_stage_no_memory(it, err);
        }
    }
    bool ok = w->held.n == 0 || stk_blocks_add(&w->pulled, &w->held);
    stk_block_clear(&w->held);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

// Joins what was pulled into `held`, as one block.
static enum stoker_status join(struct stk_iter *it, struct stoker_err *err)
{
    struct window *w = it->state;
    bool ok = w->pulled.n == 0 || stk_blocks_join(&w->pulled, it->run->pool, &w->held);
    return ok ? STOKER_OK : stk_stage_no_memory(it, err);
}

// Drops what no window needs, and pulls what the next one needs. Joins it all at once: otherwise
// blocks of few elements would be copied again for each.
static enum stoker_status pull(struct stk_iter *it, struct stoker_err *err)
{
    struct window *w = it->state;
    STK_ASSERT(w->base >= 0 && w->start >= 0 && w->shift > 0 && w->span > 0);
    int64_t gone = w->start - w->base, span = w->span;
    gone = gone < w->held.n ? gone : w->held.n;
    if (gone > 0) {
        if (!stk_block_slice(&w->part, &w->held, gone, w->held.n - gone)) {
            return stk_err_nomem(err);
        }
        stk_block_move(&w->held, &w->part);
        stk_block_clear(&w->part);
        w->base += gone;
    }
    int64_t between = w->start - w->base - w->held.n;
    if (between > 0) {
        STK_ASSERT(w->pulled.n == 0);
        // Skip elements between windows (shift beyond the span).
        int64_t done = 0;
        enum stoker_status s = stk_iter_skip(it->in[0], between, &done, err);
        stk_block_clear(&w->held);
        w->base += done;
        w->at_end = s == STOKER_OK && done < between;
        return s;
    }
    enum stoker_status s = keep_held(it, err);
    while (s == STOKER_OK && !w->at_end && w->pulled.n < span) {
        int64_t left = span - w->pulled.n;
        s = stk_iter_next(it->in[0], left > PULL_ELEMENTS ? left : PULL_ELEMENTS, &w->more, err);
        w->at_end = s == STOKER_OK && w->more.n == 0;
        if (s == STOKER_OK && !w->at_end && !stk_blocks_add(&w->pulled, &w->more)) {
            s = stk_err_nomem(err);
        }
        if (s == STOKER_OK && w->pulled.list.count >= PULLED_MAX) {
            s = join(it, err);
            s = s == STOKER_OK ? keep_held(it, err) : s;
        }
    }
    return s == STOKER_OK ? join(it, err) : s;
}

// The elements of the window that starts at element `first` of `held`.
static bool elements(struct stk_iter *it, int64_t first, int64_t n, struct stk_block *part)
{
    struct window *w = it->state;
    int64_t stride = w->stride;
    STK_ASSERT(first >= 0 && n > 0 && first + (n - 1) * stride < w->held.n);
    if (stride == 1) {
        return stk_block_slice(part, &w->held, first, n);
    }
    struct stk_buf *list = stk_buf_get(it->run->pool, (size_t)n * sizeof(int64_t) + 8);
    int64_t *index = list ? (int64_t *)list->data : NULL;
    for (int64_t i = 0; list && i < n; i++) {
        index[i] = first + i * stride;
    }
    bool ok = list && stk_block_gather(part, it->run->pool, &w->held, index, n);
    stk_buf_drop(list);
    return ok;
}

// Adds the window as the i-th result.
static enum stoker_status put(struct stk_iter *it, struct stk_block *out, int64_t i,
                              struct stoker_err *err)
{
    struct window *w = it->state;
    bool overlaps = w->shift < w->span;
    for (int k = 0; k < out->count; k++) {
        struct stk_dataset *ds = NULL;
        struct stk_buf *data = w->part.cols[k].data_buf;
        if (overlaps && data && !__atomic_load_n(&data->is_readonly, __ATOMIC_RELAXED)) {
            __atomic_store_n(&data->is_readonly, true, __ATOMIC_RELAXED);
        }
        enum stoker_status s =
            stk_dataset_of_block(&ds, &w->part, k, 1, it->ds->specs->items[k].nested, err);
        struct stk_buf *b = s == STOKER_OK ? stk_dataset_buf(ds) : NULL;
        bool ok = b && stk_keep_add(&out->cols[k].keep, b);
        ((struct stk_dataset **)out->cols[k].data)[i] = ds;
        stk_buf_drop(b);
        stk_dataset_drop(ds);
        if (!ok) {
            return s != STOKER_OK ? s : stk_err_nomem(err);
        }
    }
    return STOKER_OK;
}

// Elements in the next window: all, or at the input's end what there is; 0: more is needed.
static int64_t ready(struct stk_iter *it)
{
    struct window *w = it->state;
    int64_t left = w->held.n - (w->start - w->base), span = w->span;
    if (w->start < w->base || left <= 0) {
        return 0;
    }
    if (left >= span) {
        return w->size;
    }
    return w->at_end ? (left - 1) / w->stride + 1 : 0;
}

static bool make_capacity(struct stk_iter *it, int64_t n, struct stk_block *out)
{
    struct stk_shape scalar = {0};
    if (!stk_block_reset(out, it->ds->specs->count)) {
        return false;
    }
    for (int k = 0; k < out->count; k++) {
        if (!stk_col_uniform(&out->cols[k], it->run->pool, STK_DT_DATASET, &scalar, n)) {
            return false;
        }
    }
    return true;
}

static enum stoker_status window_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct window *w = it->state;
    bool drops = w->drops;
    while (!w->at_end && ready(it) == 0) {
        enum stoker_status s = pull(it, err);
        if (s != STOKER_OK) {
            return s;
        }
    }
    int64_t n = ready(it), count = 0;
    want = want < PULL_ELEMENTS ? want : PULL_ELEMENTS;
    if (n == 0 || (drops && n < w->size)) {
        return STOKER_OK;
    }
    if (!make_capacity(it, want, out)) {
        return stk_stage_no_memory(it, err);
    }
    enum stoker_status s = STOKER_OK;
    for (; s == STOKER_OK && count < want && n > 0 && !(drops && n < w->size); count++) {
        s = elements(it, w->start - w->base, n, &w->part) ? put(it, out, count, err)
                                                          : stk_stage_no_memory(it, err);
        if (__builtin_add_overflow(w->start, w->shift, &w->start)) {
            w->start = INT64_MAX; // no input can skip as many, which it will report
        }
        n = ready(it);
    }
    stk_block_clear(&w->part);
    if (s != STOKER_OK) {
        stk_block_clear(out);
        return s;
    }
    for (int k = 0; k < out->count; k++) {
        out->cols[k].n = count;
    }
    out->n = count;
    return STOKER_OK;
}

static void window_close(struct stk_iter *it)
{
    struct window *w = it->state;
    stk_block_free(&w->held);
    stk_block_free(&w->more);
    stk_blocks_free(&w->pulled);
    stk_block_free(&w->part);
}

static const struct stk_arg_row window_args[] = {
    STK_ARG("size", INT, "elements per window", .is_required = true, .min = 1,
            .max = INT64_MAX / 4),
    STK_ARG("shift", INT, "distance between windows; default: the size", .fallback = 1, .min = 1,
            .max = INT64_MAX / 4),
    STK_ARG("stride", INT, "distance between a window's elements", .fallback = 1, .min = 1,
            .max = INT64_MAX / 4),
    STK_ARG("drop_remainder", BOOL, "drop short windows"),
    {0}};

const struct stk_dataset_kind stk_dataset_window = {.name = "window",
                                                    .summary =
                                                        "Datasets of adjacent elements (windows)",
                                                    .role = STK_DS_FORM,
                                                    .args = window_args,
                                                    .infer = window_infer,
                                                    .cardinality = window_cardinality,
                                                    .state_bytes = sizeof(struct window),
                                                    .open = window_open,
                                                    .next = window_next,
                                                    .close = window_close};
