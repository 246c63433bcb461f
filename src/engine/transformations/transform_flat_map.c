// SPDX-License-Identifier: Apache-2.0
// flat_map: the elements of datasets that a function returns, one dataset after the other.
// interleave on one thread: cycle_length of them in turn, block_length elements at a time, in
// tf.data's order; with num_parallel_calls see transform_interleave.c.
#include "base/alloc.h"
#include "engine/graph/infer.h"
#include "engine/run/aggregate.h"
#include "engine/run/iter_open.h"
#include "engine/run/nested.h"
#include "engine/run/parts.h"
#include "engine/run/pull.h"
#include "engine/transformations/interleave.h"

struct flat {
    struct stk_nest nest;
    bool is_open; // else the dataset is kept only for its counts
};

static enum stoker_status flat_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    struct stk_fn *fn = stk_arg_fn(ds, "fn", 0, err);
    ds->specs = fn ? stk_nest_specs(ds, fn, err) : NULL;
    return ds->specs ? STOKER_OK : STOKER_EINVAL;
}

// The open dataset is input 1 of the iterator, so that its counts are visible.
static enum stoker_status flat_open(struct stk_iter *it, struct stoker_err *err)
{
    struct flat *f = it->state;
    it->n_in = 2; // one more than the dataset has
    return stk_nest_open(&f->nest, it, stk_arg_fn(it->ds, "fn", 0, err), err);
}

static enum stoker_status flat_turn(struct stk_iter *it, bool *is_end, struct stoker_err *err)
{
    struct flat *t = it->state;
    struct stk_iter *inner = NULL;
    *is_end = false;
    if (t->is_open) {
        return STOKER_OK;
    }
    enum stoker_status s = stk_nest_next(&t->nest, it, false, &inner, err);
    *is_end = s == STOKER_OK && !inner;
    if (s == STOKER_OK && inner) {
        stk_iter_exchange(it, 1, inner);
        t->is_open = true;
    }
    return s;
}

static enum stoker_status flat_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    struct flat *t = it->state;
    for (;;) {
        bool is_end;
        enum stoker_status s = flat_turn(it, &is_end, err);
        if (s != STOKER_OK || is_end) {
            return s;
        }
        s = stk_iter_next(it->in[1], want, out, err);
        if (s != STOKER_OK || out->n > 0) {
            return s;
        }
        t->is_open = false;
    }
}

static enum stoker_status flat_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                    struct stoker_err *err)
{
    struct flat *t = it->state;
    while (*done < n) {
        bool is_end;
        int64_t passed = 0;
        enum stoker_status s = flat_turn(it, &is_end, err);
        if (s != STOKER_OK || is_end) {
            return s;
        }
        s = stk_iter_skip(it->in[1], n - *done, &passed, err);
        *done += passed;
        if (s != STOKER_OK) {
            return s;
        }
        t->is_open = *done == n;
    }
    return STOKER_OK;
}

static void flat_close(struct stk_iter *it)
{
    stk_nest_close(&((struct flat *)it->state)->nest);
}

struct cycle {
    struct stk_interleave *parallel; // first field (interleave.h). NULL: runs on the pulling thread
    struct stk_nest nest;
    struct stk_iter **slots;
    int64_t length, block, at, given; // slots; elements per turn; the current slot; elements
                                      // returned in this turn
    int64_t open;
    bool at_end;
    struct stk_parts parts;
};

static enum stoker_status cycle_open(struct stk_iter *it, struct stoker_err *err)
{
    struct cycle *c = it->state;
    c->length = stk_attrs_int(it->ds->attrs, "cycle_length", -1);
    c->length = c->length < 1 ? it->run->options.threads : c->length;
    c->block = stk_attrs_int(it->ds->attrs, "block_length", 1);
    it->n_in = 2; // one more than the dataset has: the aggregate
    enum stoker_status s = stk_nest_open(&c->nest, it, stk_arg_fn(it->ds, "fn", 0, err), err);
    if (s == STOKER_OK && stk_attrs_int(it->ds->attrs, "num_parallel_calls", 0) != 0) {
        return stk_interleave_open(&c->parallel, it, &c->nest, c->length, c->block, err);
    }
    c->slots = s == STOKER_OK ? stk_alloc_zero((size_t)c->length, sizeof c->slots[0]) : NULL;
    return s == STOKER_OK && !c->slots ? stk_err_nomem(err) : s;
}

static void advance(struct cycle *c)
{
    c->at = (c->at + 1) % c->length;
    c->given = 0;
}

// Opens the dataset of the current slot, or moves to the next slot if the input has ended.
// *is_over: nothing is open and nothing will be.
static enum stoker_status cycle_turn(struct stk_iter *it, bool *is_over, struct stoker_err *err)
{
    struct cycle *c = it->state;
    *is_over = false;
    while (!c->slots[c->at]) {
        if (c->at_end && c->open == 0) {
            *is_over = true;
            return STOKER_OK;
        }
        if (!c->at_end) {
            enum stoker_status s = stk_nest_next(&c->nest, it, true, &c->slots[c->at], err);
            if (s != STOKER_OK) {
                return s;
            }
            c->at_end = !c->slots[c->at];
            c->open += !c->at_end;
            if (!c->at_end) {
                stk_aggregate_join(it, c->slots[c->at]);
            }
        }
        if (!c->slots[c->at]) {
            advance(c);
        }
    }
    return STOKER_OK;
}

static void end_slot(struct stk_iter *it)
{
    struct cycle *c = it->state;
    stk_iter_close_concurrent(it, c->slots[c->at]);
    c->slots[c->at] = NULL;
    c->open--;
    advance(c);
}

// Some elements of one dataset.
static enum stoker_status cycle_part(struct stk_iter *it, int64_t want, bool is_first,
                                     struct stk_block *out, struct stoker_err *err)
{
    struct cycle *c = it->state;
    (void)is_first;
    for (;;) {
        bool is_over;
        enum stoker_status s = cycle_turn(it, &is_over, err);
        if (s != STOKER_OK || is_over) {
            return s;
        }
        int64_t left = c->block - c->given;
        s = stk_iter_next(c->slots[c->at], want < left ? want : left, out, err);
        c->given += s == STOKER_OK ? out->n : 1;
        if (s == STOKER_OK && out->n == 0) {
            end_slot(it);
            continue;
        }
        if (c->given >= c->block) {
            advance(c);
        }
        return s;
    }
}

static enum stoker_status cycle_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct cycle *c = it->state;
    if (c->parallel) {
        return stk_interleave_next(c->parallel, want, out, err);
    }
    return stk_parts_collect(&c->parts, it, want, out, cycle_part, err);
}

static enum stoker_status cycle_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                     struct stoker_err *err)
{
    struct cycle *c = it->state;
    if (c->parallel) {
        return stk_interleave_skip(c->parallel, n, done, err);
    }
    while (*done < n) {
        bool is_over;
        int64_t passed = 0, left = c->block - c->given;
        enum stoker_status s = cycle_turn(it, &is_over, err);
        if (s != STOKER_OK || is_over) {
            return s;
        }
        left = c->block - c->given;
        left = left < n - *done ? left : n - *done;
        s = stk_iter_skip(c->slots[c->at], left, &passed, err);
        *done += passed;
        c->given += passed + (s != STOKER_OK);
        if (s != STOKER_OK) {
            return s;
        }
        if (passed < left) {
            end_slot(it);
        } else if (c->given >= c->block) {
            advance(c);
        }
    }
    return STOKER_OK;
}

static void cycle_close(struct stk_iter *it)
{
    struct cycle *c = it->state;
    stk_interleave_close(c->parallel);
    for (int64_t i = 0; c->slots && i < c->length; i++) {
        stk_iter_close_concurrent(it, c->slots[i]);
    }
    stk_free(c->slots);
    stk_parts_free(&c->parts);
    stk_nest_close(&c->nest);
}

static const struct stk_arg_row flat_args[] = {
    STK_ARG("fn", OTHER, "element to dataset", .is_required = true), {0}};
static const struct stk_arg_row cycle_args[] = {
    STK_ARG("fn", OTHER, "element to dataset", .is_required = true),
    STK_ARG("cycle_length", INT, "datasets open at once; -1: one per thread", .fallback = -1,
            .min = -1, .max = 65536),
    STK_ARG("block_length", INT, "elements from one dataset before the next", .fallback = 1,
            .min = 1, .max = INT64_MAX),
    STK_ARG("num_parallel_calls", INT, "threads; -1: AUTOTUNE; 0: the consumer's thread",
            .is_tunable = true, .min = -1, .max = INT32_MAX),
    STK_ARG("deterministic", INT, "keep the order; -1: from the run's options", .fallback = -1,
            .min = -1, .max = 1),
    {0}};

const struct stk_dataset_kind stk_dataset_flat_map = {
    .name = "flat_map",
    .summary = "Elements of the datasets that a function returns",
    .role = STK_DS_NESTED,
    .args = flat_args,
    .infer = flat_infer,
    .state_bytes = sizeof(struct flat),
    .open = flat_open,
    .next = flat_next,
    .skip = flat_skip,
    .close = flat_close};
const struct stk_dataset_kind stk_dataset_interleave = {.name = "interleave",
                                                        .summary = "Interleaves several datasets",
                                                        .role = STK_DS_NESTED,
                                                        .args = cycle_args,
                                                        .infer = flat_infer,
                                                        .state_bytes = sizeof(struct cycle),
                                                        .open = cycle_open,
                                                        .next = cycle_next,
                                                        .skip = cycle_skip,
                                                        .close = cycle_close};
