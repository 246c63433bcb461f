// SPDX-License-Identifier: Apache-2.0
// batch: combines runs of elements into one with a new first dimension. Asks its input for whole
// batches, so that usually the input's column, read with another shape, is the batch.
#include <string.h>

#include "base/assert.h"
#include "engine/memory/split.h"
#include "engine/run/held.h"
#include "engine/run/pull.h"
#include "engine/transformations/map_parallel.h"

struct batch {
    struct stk_held held;  // elements of an incomplete batch
    struct stk_block part; // empty between calls
    int64_t size;
    bool drops_remainder;
};

static int64_t batch_size(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "batch_size", STK_UNKNOWN);
}

static bool drops_remainder(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "drop_remainder", 0) != 0;
}

static int64_t batch_cardinality(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]), size = batch_size(ds);
    if (n < 0 || size <= 0) {
        return n < 0 ? n : STK_CARDINALITY_UNKNOWN;
    }
    return n / size + (!drops_remainder(ds) && n % size != 0);
}

static enum stoker_status batch_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    // As in tf.data, the size is static only if no batch can be short.
    bool is_fixed = drops_remainder(ds);
    int64_t size = batch_size(ds);
    ds->specs = stk_specs_new(in->count);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < in->count; k++) {
        stk_spec_copy(&ds->specs->items[k], &in->items[k]);
        if (!stk_shape_prepend(&ds->specs->items[k].shape, is_fixed ? size : STK_UNKNOWN)) {
            return stk_err_set(err, STOKER_EINVAL, "batch: component %d has %d dimensions already",
                               k, STK_RANK_MAX);
        }
    }
    return STOKER_OK;
}

// Does the batch share memory with something else: the user's, a cache's, a constant's, or another
// component's?
static bool is_shared(const struct stk_block *part, const struct stk_block *out, int k)
{
    const struct stk_col *c = &out->cols[k];
    if (c->dtype == STK_DT_STRING || c->dtype == STK_DT_DATASET || !c->data_buf) {
        return false;
    }
    if (__atomic_load_n(&c->data_buf->is_readonly, __ATOMIC_RELAXED) ||
        (part->cols[k].data_buf == c->data_buf && part->cols[k].stride == 0)) {
        return true;
    }
    for (int i = 0; i < k; i++) {
        if (out->cols[i].data_buf == c->data_buf && out->cols[i].data == c->data) {
            return true;
        }
    }
    return false;
}

// Batches that go to the consumer must be writable: copies a shared one.
static bool make_writable(struct stk_iter *it, struct stk_block *out, int k)
{
    struct stk_col *c = &out->cols[k], own;
    if (!it->is_final || !is_shared(&((struct batch *)it->state)->part, out, k)) {
        return true;
    }
    if (c->is_varied) {
        const struct stk_col *parts[2] = {c, c};
        struct stk_col none;
        stk_col_slice(&none, c, 0, 0);
        parts[1] = &none;
        bool ok = stk_col_concat(&own, it->run->pool, parts, 2);
        stk_col_clear(&none);
        if (!ok) {
            return false;
        }
    } else {
        if (!stk_col_uniform(&own, it->run->pool, c->dtype, &c->shape, c->n)) {
            return false;
        }
        size_t bytes = own.stride * (size_t)c->n;
        stk_split_copy(it->run->pool, own.data, c->data, bytes);
    }
    stk_col_clear(c);
    *c = own;
    return true;
}

static enum stoker_status differs(const struct stk_col *c, int k, int64_t unequal, int64_t size,
                                  struct stoker_err *err)
{
    char have[STK_SHAPE_TEXT], want[STK_SHAPE_TEXT];
    stk_shape_text(&c->shapes[unequal], have);
    stk_shape_text(&c->shapes[unequal / size * size], want);
    return stk_err_set(err, STOKER_EINVAL,
                       "batch: component %d has shape %s in element %lld of a batch and %s in its "
                       "first; padded_batch makes them equal",
                       k, have, (long long)(unequal % size), want);
}

// Turns b->part into the result, in groups of `size`. *unequal: the first element whose shape
// differs within its group; below 0: out of memory.
static enum stoker_status fold_part(struct stk_iter *it, int64_t size, struct stk_block *out,
                                    int64_t *unequal, struct stoker_err *err)
{
    struct batch *b = it->state;
    const struct stk_block *part = &b->part;
    *unequal = -1;
    if (!stk_block_reset(out, part->count)) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < part->count; k++) {
        if (!stk_col_fold(&out->cols[k], it->run->pool, &part->cols[k], size, unequal)) {
            if (*unequal >= 0) {
                return differs(&part->cols[k], k, *unequal, size, err);
            }
        } else if (make_writable(it, out, k)) {
            continue;
        }
        *unequal = -1;
        return stk_err_set(err, STOKER_ELIMIT, "batch: no memory for %lld elements",
                           (long long)part->n);
    }
    out->n = part->n / size;
    return STOKER_OK;
}

// Turns the first `n` held elements into the result, in groups of `size`; keeps the others. If a
// group can't be made, the ones before it are the result, and the next call returns the error.
static enum stoker_status fold(struct stk_iter *it, int64_t n, int64_t size, struct stk_block *out,
                               struct stoker_err *err)
{
    struct batch *b = it->state;
    enum stoker_status s;
    STK_ASSERT(n > 0 && size > 0 && n % size == 0 && n <= b->held.block.n);
    for (;;) {
        int64_t unequal = -1;
        s = stk_block_slice(&b->part, &b->held.block, 0, n)
                ? fold_part(it, size, out, &unequal, err)
                : stk_err_nomem(err);
        stk_block_clear(&b->part);
        if (s == STOKER_OK || unequal < size) {
            n = s != STOKER_OK && unequal >= 0 ? size : n;
            break;
        }
        n = unequal / size * size;
    }
    if (!stk_held_drop(&b->held, n)) {
        s = stk_err_nomem(err);
    }
    if (s != STOKER_OK) {
        stk_block_clear(out);
    }
    return s;
}

static enum stoker_status batch_open(struct stk_iter *it, struct stoker_err *err)
{
    struct batch *b = it->state;
    (void)err;
    b->size = batch_size(it->ds);
    b->drops_remainder = drops_remainder(it->ds);
    STK_ASSERT(b->size > 0); // checked by infer
    stk_held_init(&b->held);
    stk_iter_hint_group(it->in[0], b->size);
    return STOKER_OK;
}

static enum stoker_status batch_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct batch *b = it->state;
    int64_t size = b->size, target;
    STK_ASSERT(want > 0);
    if (__builtin_mul_overflow(size, want, &target)) {
        target = INT64_MAX;
    }
    enum stoker_status s = stk_held_fill(&b->held, it, size, target, err);
    if (s != STOKER_OK) {
        return s;
    }
    if (b->held.block.n >= size) { // more than `want` if a batch couldn't be made before
        int64_t n = b->held.block.n / size;
        return fold(it, (n < want ? n : want) * size, size, out, err);
    }
    if (b->held.block.n == 0 || b->drops_remainder) {
        return STOKER_OK;
    }
    return fold(it, b->held.block.n, b->held.block.n, out, err);
}

// at most so many batches that counting their elements doesn't overflow
static enum stoker_status skip_some(struct stk_iter *it, int64_t n, int64_t *done,
                                    struct stoker_err *err)
{
    struct batch *b = it->state;
    int64_t want = n * b->size, passed = 0;
    int64_t from_held = b->held.block.n < want ? b->held.block.n : want;
    if (!stk_held_drop(&b->held, from_held)) {
        return stk_err_nomem(err);
    }
    enum stoker_status s = stk_iter_skip(it->in[0], want - from_held, &passed, err);
    passed += from_held;
    *done += passed / b->size + (passed % b->size != 0 && !b->drops_remainder);
    b->held.at_end = s == STOKER_OK && passed < want;
    return s;
}

static enum stoker_status batch_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                     struct stoker_err *err)
{
    struct batch *b = it->state;
    int64_t most = INT64_MAX / b->size;
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK && *done < n && !(b->held.at_end && b->held.block.n == 0)) {
        int64_t left = n - *done;
        s = skip_some(it, left < most ? left : most, done, err);
    }
    return s;
}

static void batch_close(struct stk_iter *it)
{
    struct batch *b = it->state;
    stk_held_free(&b->held);
    stk_block_free(&b->part);
}

static const struct stk_arg_row batch_args[] = {
    STK_ARG("batch_size", INT, "elements per batch", .is_required = true, .min = 1,
            .max = INT32_MAX),
    STK_ARG("drop_remainder", BOOL, "drop a short last batch"),
    {0}};

const struct stk_dataset_kind stk_dataset_batch = {.name = "batch",
                                                   .summary = "Batches consecutive elements",
                                                   .holds_less_with = "a smaller batch_size",
                                                   .role = STK_DS_BATCH,
                                                   .args = batch_args,
                                                   .infer = batch_infer,
                                                   .cardinality = batch_cardinality,
                                                   .state_bytes = sizeof(struct batch),
                                                   .open = batch_open,
                                                   .next = batch_next,
                                                   .skip = batch_skip,
                                                   .close = batch_close};
