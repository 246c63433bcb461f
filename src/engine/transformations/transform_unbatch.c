// SPDX-License-Identifier: Apache-2.0
// unbatch: splits each element along its first dimension into elements. Components must agree on
// it.
#include "engine/run/feed.h"

#include <string.h>

struct unbatch {
    struct stk_feed feed, cut; // elements of the input; split ones
};

static enum stoker_status unbatch_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    ds->specs = stk_specs_new(in->count);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < in->count; k++) {
        struct stk_spec *spec = &ds->specs->items[k];
        stk_spec_copy(spec, &in->items[k]);
        if (spec->shape.rank == 0) {
            return stk_err_set(err, STOKER_EINVAL, "unbatch: component %d is a scalar", k);
        }
        if (spec->shape.rank > 0) {
            spec->shape.rank--;
            memmove(spec->shape.dim, spec->shape.dim + 1,
                    (size_t)spec->shape.rank * sizeof spec->shape.dim[0]);
        }
    }
    return STOKER_OK;
}

static int64_t unbatch_cardinality(const struct stk_dataset *ds)
{
    const struct stk_specs *in = ds->in[0]->specs;
    int64_t n = stk_dataset_cardinality(ds->in[0]), each = STK_UNKNOWN, all;
    for (int k = 0; k < in->count && each < 0; k++) {
        each = in->items[k].shape.rank > 0 ? in->items[k].shape.dim[0] : STK_UNKNOWN;
    }
    if (n == 0 || n == STK_INFINITE) {
        return n;
    }
    if (n < 0 || each < 0 || __builtin_mul_overflow(n, each, &all)) {
        return STK_CARDINALITY_UNKNOWN;
    }
    return all;
}

// How many of the feed's remaining elements have components that agree on their first dimension.
static int64_t agreeing(const struct stk_feed *f)
{
    int64_t i = f->used;
    for (; i < f->block.n; i++) {
        int64_t rows = -1;
        for (int k = 0; k < f->block.count; k++) {
            struct stk_shape shape = stk_col_shape(&f->block.cols[k], i);
            if (shape.rank < 1 || (rows >= 0 && shape.dim[0] != rows)) {
                return i - f->used;
            }
            rows = shape.dim[0];
        }
    }
    return i - f->used;
}

static enum stoker_status refuse(struct unbatch *u, struct stoker_err *err)
{
    char first[STK_SHAPE_TEXT], other[STK_SHAPE_TEXT];
    const struct stk_block *b = &u->feed.block;
    struct stk_shape s0 = stk_col_shape(&b->cols[0], u->feed.used), s1 = s0;
    int at = 0;
    for (int k = 1; k < b->count && at == 0; k++) {
        s1 = stk_col_shape(&b->cols[k], u->feed.used);
        at = s1.rank < 1 || s0.rank < 1 || s1.dim[0] != s0.dim[0] ? k : 0;
    }
    u->feed.used++;
    return stk_err_set(err, STOKER_EINVAL,
                       "unbatch: component 0 has shape %s, component %d has %s; their first "
                       "dimensions must be equal",
                       stk_shape_text(&s0, first), at, stk_shape_text(&s1, other));
}

// Splits elements of the input until one has rows.
static enum stoker_status cut_more(struct stk_iter *it, int64_t want, struct stoker_err *err)
{
    struct unbatch *u = it->state;
    while (stk_feed_left(&u->cut) == 0) {
        const struct stk_specs *in = it->ds->in[0]->specs;
        int64_t each = in->count && in->items[0].shape.rank > 0 ? in->items[0].shape.dim[0] : 1;
        enum stoker_status s =
            stk_feed_fill(&u->feed, it->in[0], each > 0 ? (want + each - 1) / each : 1, err);
        if (s != STOKER_OK || stk_feed_left(&u->feed) == 0) {
            return s;
        }
        int64_t n = agreeing(&u->feed);
        struct stk_block part = {0};
        if (n == 0) {
            return refuse(u, err);
        }
        u->cut.used = 0;
        s = stk_feed_take(&u->feed, n, &part, err);
        if (s == STOKER_OK && !stk_block_reset(&u->cut.block, part.count)) {
            s = stk_err_nomem(err);
        }
        for (int k = 0; s == STOKER_OK && k < part.count; k++) {
            struct stk_col *to = &u->cut.block.cols[k];
            s = stk_col_unfold(to, it->run->pool, &part.cols[k]) ? STOKER_OK
                                                                 : stk_stage_no_memory(it, err);
            u->cut.block.n = to->n;
        }
        stk_block_free(&part);
        if (s != STOKER_OK) {
            stk_block_clear(&u->cut.block);
            return s;
        }
    }
    return STOKER_OK;
}

static enum stoker_status unbatch_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                       struct stoker_err *err)
{
    struct unbatch *u = it->state;
    enum stoker_status s = cut_more(it, want, err);
    if (s != STOKER_OK || stk_feed_left(&u->cut) == 0) {
        return s;
    }
    return stk_feed_take(&u->cut, want, out, err);
}

static void unbatch_close(struct stk_iter *it)
{
    struct unbatch *u = it->state;
    stk_feed_free(&u->feed);
    stk_feed_free(&u->cut);
}

const struct stk_dataset_kind stk_dataset_unbatch = {
    .name = "unbatch",
    .summary = "Splits elements along their first dimension",
    .role = STK_DS_FORM,
    .infer = unbatch_infer,
    .cardinality = unbatch_cardinality,
    .state_bytes = sizeof(struct unbatch),
    .next = unbatch_next,
    .close = unbatch_close};
