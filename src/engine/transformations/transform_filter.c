// SPDX-License-Identifier: Apache-2.0
// filter: elements for which a function returns true. take_while: elements before the first for
// which it returns false. ignore_errors: skips and counts failed elements; errors that aren't an
// element's (memory, cancellation) are still returned.
#include "engine/graph/infer.h"
#include "engine/run/feed.h"
#include "engine/run/pull.h"

struct filter {
    struct stk_frame *frame;
    struct stk_feed feed;
    struct stk_block in, verdict;
    int64_t index; // of the next element at the input
    bool is_over;  // take_while: an element ended it
};

static enum stoker_status filter_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    struct stk_fn *fn = stk_arg_fn(ds, "fn", 0, err);
    if (!fn) {
        return STOKER_EINVAL;
    }
    const struct stk_spec *spec = fn->n_out == 1 ? &fn->specs[fn->out[0]] : NULL;
    if (!spec || spec->dtype != STK_DT_BOOL || (spec->shape.rank != 0 && spec->shape.rank >= 0)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: the function must give one scalar bool",
                           ds->kind->name);
    }
    return stk_dataset_like_input(ds, err);
}

static enum stoker_status filter_open(struct stk_iter *it, struct stoker_err *err)
{
    struct filter *f = it->state;
    struct stk_fn *fn = stk_arg_fn(it->ds, "fn", 0, err);
    return fn ? stk_frame_open(&f->frame, fn, it->run->pool, it->run->options.host, err)
              : STOKER_EBUG;
}

// Runs the function on the rest of the input's block: f->verdict for the elements of f->in. A
// failed element ends the block and is in eval.
static enum stoker_status judge(struct stk_iter *it, int64_t want, struct stk_eval *eval,
                                struct stoker_err *err)
{
    struct filter *f = it->state;
    enum stoker_status s = stk_feed_fill(&f->feed, it->in[0], want, err);
    stk_block_clear(&f->in);
    if (s != STOKER_OK || stk_feed_left(&f->feed) == 0) {
        f->index += s != STOKER_OK;
        return s;
    }
    if (!stk_block_slice(&f->in, &f->feed.block, f->feed.used, stk_feed_left(&f->feed)) ||
        !stk_block_reset(&f->verdict, 1)) {
        return stk_err_nomem(err);
    }
    *eval = (struct stk_eval){.seed = it->seed, .first_index = f->index};
    s = stk_frame_run(f->frame, &f->in, &f->verdict, eval, err);
    if (s == STOKER_OK) {
        stk_eval_want_scalars(eval, &f->verdict, it->ds->kind->name);
    }
    int64_t done = s != STOKER_OK || eval->failed >= f->in.n ? f->in.n : eval->failed + 1;
    f->feed.used += done;
    f->index += done;
    return s;
}

static bool says(const struct filter *f, int64_t i)
{
    return *(const uint8_t *)stk_col_at(&f->verdict.cols[0], i) != 0;
}

// The elements of f->in that pass, among the first n.
static enum stoker_status gather(struct stk_iter *it, int64_t n, struct stk_block *out,
                                 struct stoker_err *err)
{
    struct filter *f = it->state;
    struct stk_buf *list = stk_buf_get(it->run->pool, (size_t)n * sizeof(int64_t) + 8);
    if (!list) {
        return stk_stage_no_memory(it, err);
    }
    int64_t *index = (int64_t *)list->data, count = 0;
    for (int64_t i = 0; i < n; i++) {
        index[count] = i;
        count += says(f, i);
    }
    bool ok = count == f->in.n ? stk_block_share(out, &f->in)
              : count == 0     ? true
              : count == 1 || index[count - 1] - index[0] == count - 1
                  ? stk_block_slice(out, &f->in, index[0], count)
                  : stk_block_gather(out, it->run->pool, &f->in, index, count);
    stk_buf_drop(list);
    return ok ? STOKER_OK : stk_stage_no_memory(it, err);
}

static enum stoker_status filter_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct filter *f = it->state;
    while (out->n == 0) {
        struct stk_eval eval;
        enum stoker_status s = judge(it, want, &eval, err);
        if (s != STOKER_OK || f->in.n == 0) {
            return s;
        }
        bool has_failed = eval.failed < f->in.n;
        s = gather(it, f->verdict.n, out, err);
        stk_block_clear(&f->verdict);
        if (s == STOKER_OK && has_failed) {
            *err = eval.failure;
            s = eval.failure.code;
        }
        if (s != STOKER_OK) {
            return s;
        }
    }
    return STOKER_OK;
}

static enum stoker_status while_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct filter *f = it->state;
    struct stk_eval eval;
    if (f->is_over) {
        return STOKER_OK;
    }
    enum stoker_status s = judge(it, want, &eval, err);
    if (s != STOKER_OK || f->in.n == 0) {
        return s;
    }
    int64_t n = 0;
    while (n < f->verdict.n && says(f, n)) {
        n++;
    }
    f->is_over = n < f->verdict.n;
    if (n > 0 && !stk_block_slice(out, &f->in, 0, n)) {
        return stk_err_nomem(err);
    }
    if (!f->is_over && eval.failed < f->in.n) {
        *err = eval.failure;
        return eval.failure.code;
    }
    return STOKER_OK;
}

static void filter_close(struct stk_iter *it)
{
    struct filter *f = it->state;
    stk_frame_close(f->frame);
    stk_feed_free(&f->feed);
    stk_block_free(&f->in);
    stk_block_free(&f->verdict);
}

static enum stoker_status ignore_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    for (;;) {
        enum stoker_status s = stk_iter_next(it->in[0], want, out, err);
        if (s == STOKER_OK || !stk_status_is_of_element(s)) {
            return s;
        }
        __atomic_add_fetch(&it->stats.skipped, 1, __ATOMIC_RELAXED);
    }
}

static const struct stk_arg_row fn_args[] = {
    STK_ARG("fn", OTHER, "element to bool", .is_required = true), {0}};
static const struct stk_arg_row ignore_args[] = {
    STK_ARG("log_warning", BOOL, "accepted; errors are counted"), {0}};

const struct stk_dataset_kind stk_dataset_filter = {.name = "filter",
                                                    .summary = "Filters elements with a function",
                                                    .role = STK_DS_FUNCTION,
                                                    .args = fn_args,
                                                    .infer = filter_infer,
                                                    .state_bytes = sizeof(struct filter),
                                                    .open = filter_open,
                                                    .next = filter_next,
                                                    .close = filter_close};
const struct stk_dataset_kind stk_dataset_take_while = {
    .name = "take_while",
    .summary = "Elements until a function returns false",
    .role = STK_DS_FUNCTION,
    .args = fn_args,
    .infer = filter_infer,
    .state_bytes = sizeof(struct filter),
    .open = filter_open,
    .next = while_next,
    .close = filter_close};
const struct stk_dataset_kind stk_dataset_ignore_errors = {.name = "ignore_errors",
                                                           .summary =
                                                               "Leaves out elements that fail",
                                                           .role = STK_DS_ERRORS,
                                                           .keeps_blocks = true,
                                                           .args = ignore_args,
                                                           .infer = stk_dataset_like_input,
                                                           .next = ignore_next};
