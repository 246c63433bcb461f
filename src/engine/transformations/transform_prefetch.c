// SPDX-License-Identifier: Apache-2.0
// prefetch: a thread that runs ahead of the consumer by at most buffer_size elements; with AUTOTUNE
// (-1) by a number of pieces that the tuner sets. 0: no buffer and no thread.
#include "engine/run/async.h"
#include "engine/run/pull.h"

#define AUTO_ROOM 8 // initial pieces with AUTOTUNE

struct prefetch {
    struct stk_async *async;
    bool has_begun;
};

static int64_t pull(struct stk_async *a, void *own, int64_t n, struct stk_piece *p)
{
    struct stoker_err err;
    (void)own;
    enum stoker_status s = stk_iter_next(a->it->in[0], n, &p->block, &err);
    if (s != STOKER_OK) {
        (void)stk_piece_fail(p, s, &err);
        return 0;
    }
    return p->block.n;
}

static const struct stk_async_kind prefetch_kind = {.pull = pull};

static enum stoker_status prefetch_open(struct stk_iter *it, struct stoker_err *err)
{
    struct prefetch *p = it->state;
    int64_t size = stk_attrs_int(it->ds->attrs, "buffer_size", -1);
    if (size == 0) {
        return STOKER_OK;
    }
    p->async = stk_async_open(it, &prefetch_kind, NULL, 1, 1, false, size > 0 ? size : 0);
    if (!p->async) {
        return stk_err_nomem(err);
    }
    p->async->tuned.ring = size > 0 ? NULL : &p->async->ring;
    if (!stk_tuner_add(&p->async->tuned, false)) {
        return stk_err_nomem(err);
    }
    // At least two pieces in a buffer of a given size, so that one is made while another is used.
    p->async->piece_n_max = size > 0 ? size / 2 + size % 2 : 0;
    stk_async_set_capacity(p->async, size > 0 ? STK_RING_SLOTS : AUTO_ROOM);
    return STOKER_OK;
}

STK_HOT static enum stoker_status prefetch_next(struct stk_iter *it, int64_t want,
                                                struct stk_block *out, struct stoker_err *err)
{
    struct prefetch *p = it->state;
    p->has_begun = true;
    return p->async ? stk_async_next(p->async, want, 0, out, err)
                    : stk_iter_next(it->in[0], want, out, err);
}

static enum stoker_status prefetch_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                        struct stoker_err *err)
{
    struct prefetch *p = it->state;
    return p->async && p->has_begun ? stk_async_skip(p->async, n, done, err)
                                    : stk_iter_skip(it->in[0], n, done, err);
}

static enum stoker_status prefetch_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                      struct stk_block *out, struct stoker_err *err)
{
    return stk_iter_at(it->in[0], index, n, out, err);
}

static void prefetch_close(struct stk_iter *it)
{
    struct prefetch *p = it->state;
    if (p->async) {
        stk_tuner_remove(&p->async->tuned);
        stk_async_close(p->async);
    }
}

static const struct stk_arg_row prefetch_args[] = {
    STK_ARG("buffer_size", INT, "elements to prepare ahead; -1: AUTOTUNE", .is_tunable = true,
            .fallback = -1, .min = -1, .max = INT64_MAX),
    {0}};

const struct stk_dataset_kind stk_dataset_prefetch = {.name = "prefetch",
                                                      .summary = "Prepares elements ahead of time",
                                                      .holds_less_with = "a smaller buffer_size",
                                                      .role = STK_DS_AHEAD,
                                                      .args = prefetch_args,
                                                      .infer = stk_dataset_like_input,
                                                      .cardinality = stk_dataset_as_many,
                                                      .state_bytes = sizeof(struct prefetch),
                                                      .open = prefetch_open,
                                                      .next = prefetch_next,
                                                      .skip = prefetch_skip,
                                                      .at = prefetch_at,
                                                      .close = prefetch_close};
