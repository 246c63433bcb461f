// SPDX-License-Identifier: Apache-2.0
// scan: a function of a state and an element returns the next state and a result. reduce: only the
// last state is the result, one element. Runs element by element, since each needs the previous
// state.
//
// The function takes the state's components, then the element's; it returns the state's, then
// (scan) the result's. A failed element leaves the state unchanged; reduce ends with the error.

#include "base/assert.h"
#include "engine/graph/infer.h"
#include "engine/run/feed.h"

struct scan {
    struct stk_frame *frame;
    struct stk_feed feed;
    struct stk_block state, in, out, joined;
    int64_t index;
    int n_out;    // of the function
    bool is_done; // reduce
};

static const struct stk_attr *initial(const struct stk_dataset *ds)
{
    return stk_attrs_get(ds->attrs, "initial_state");
}

static bool is_reduce(const struct stk_dataset *ds)
{
    return ds->kind == &stk_dataset_reduce;
}

static enum stk_dtype initial_dtype(const struct stk_attr *state, int k)
{
    return state->kind == STK_ATTR_BOUND ? state->specs->items[k].dtype : state->cols[k].dtype;
}

// The function must return the state with the specs it takes, and the initial state must have them.
static enum stoker_status check_state(struct stk_dataset *ds, const struct stk_fn *fn, int n,
                                      struct stoker_err *err)
{
    for (int k = 0; k < n; k++) {
        const struct stk_spec *in = &fn->specs[k], *out = &fn->specs[fn->out[k]];
        enum stk_dtype begins = initial_dtype(initial(ds), k);
        if (in->dtype != begins) {
            return stk_err_set(
                err, STOKER_EINVAL, "%s: component %d of the state begins as %s and goes in as %s",
                ds->kind->name, k, stk_dtype_name(begins), stk_dtype_name(in->dtype));
        }
        if (in->dtype != out->dtype) {
            return stk_err_set(err, STOKER_EINVAL,
                               "%s: component %d of the state goes in as %s and comes out as %s",
                               ds->kind->name, k, stk_dtype_name(in->dtype),
                               stk_dtype_name(out->dtype));
        }
    }
    return STOKER_OK;
}

static enum stoker_status scan_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_attr *state = initial(ds);
    bool is_bound = state->kind == STK_ATTR_BOUND;
    if (!is_bound && state->kind != STK_ATTR_COLS) {
        return stk_err_set(err, STOKER_EINVAL, "%s: initial_state must be tensors", ds->kind->name);
    }
    int n = is_bound ? state->specs->count : (int)state->count;
    struct stk_fn *fn = stk_arg_fn(ds, "fn", n, err);
    if (!fn) {
        return STOKER_EINVAL;
    }
    if (is_reduce(ds) ? fn->n_out != n : fn->n_out < n) {
        return stk_err_set(err, STOKER_EINVAL,
                           "%s: the state has %d components, the function gives %d", ds->kind->name,
                           n, fn->n_out);
    }
    int first = is_reduce(ds) ? 0 : n;
    ds->specs = stk_specs_new(fn->n_out - first);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < ds->specs->count; k++) {
        stk_spec_copy(&ds->specs->items[k], &fn->specs[fn->out[first + k]]);
    }
    for (int k = 0; is_reduce(ds) && !is_bound && k < n; k++) {
        struct stk_shape shape = stk_col_shape(&state->cols[k], 0);
        ds->specs->items[k].shape = stk_shape_join(&ds->specs->items[k].shape, &shape);
    }
    return check_state(ds, fn, n, err);
}

static int64_t reduce_one(const struct stk_dataset *ds)
{
    (void)ds;
    return 1;
}

static enum stoker_status scan_open(struct stk_iter *it, struct stoker_err *err)
{
    struct scan *c = it->state;
    const struct stk_attr *state = initial(it->ds);
    struct stk_fn *fn = stk_arg_fn(it->ds, "fn", (int)state->count, err);
    struct stk_block first = {.count = (int)state->count, .n = 1, .cols = state->cols};
    if (!fn || !stk_block_share(&c->state, &first)) {
        return fn ? stk_err_nomem(err) : STOKER_EBUG;
    }
    c->n_out = fn->n_out;
    return stk_frame_open(&c->frame, fn, it->run->pool, it->run->options.host, err);
}

// Runs one element through the function; keeps the new state and puts the result after it in
// c->out.
static enum stoker_status step(struct stk_iter *it, struct stoker_err *err)
{
    struct scan *c = it->state;
    int n = c->state.count;
    STK_ASSERT(stk_feed_left(&c->feed) > 0 && c->state.n == 1);
    if (!stk_block_reset(&c->in, n + c->feed.block.count) || !stk_block_reset(&c->out, c->n_out)) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < n; k++) {
        stk_col_share(&c->in.cols[k], &c->state.cols[k]);
    }
    for (int k = 0; k < c->feed.block.count; k++) {
        stk_col_slice(&c->in.cols[n + k], &c->feed.block.cols[k], c->feed.used, 1);
    }
    c->in.n = 1;
    struct stk_eval eval = {.seed = it->seed, .first_index = c->index++};
    c->feed.used++;
    enum stoker_status s = stk_frame_run(c->frame, &c->in, &c->out, &eval, err);
    if (s == STOKER_OK && eval.failed == 0) {
        *err = eval.failure;
        s = eval.failure.code;
    }
    for (int k = 0; s == STOKER_OK && k < n; k++) {
        struct stk_col *to = &c->state.cols[k];
        stk_col_clear(to);
        stk_col_share(to, &c->out.cols[k]);
    }
    stk_block_clear(&c->in);
    return s;
}

// Appends the result of the last step as a block.
static enum stoker_status append(struct stk_iter *it, struct stk_block *out, struct stoker_err *err)
{
    struct scan *c = it->state;
    int n = c->state.count;
    struct stk_block one_more = {.count = c->out.count - n, .n = 1, .cols = c->out.cols + n};
    const struct stk_block *both[2] = {out, &one_more};
    bool ok = out->n ? stk_block_concat(&c->joined, it->run->pool, both, 2)
                     : stk_block_share(&c->joined, &one_more);
    if (!ok) {
        return stk_stage_no_memory(it, err);
    }
    stk_block_move(out, &c->joined);
    stk_block_clear(&c->joined);
    return STOKER_OK;
}

#define SCAN_BLOCK 16 // results returned together: joining is quadratic

static enum stoker_status scan_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    struct scan *c = it->state;
    want = want < SCAN_BLOCK ? want : SCAN_BLOCK;
    while (out->n < want) {
        if (out->n > 0 && stk_feed_left(&c->feed) == 0) {
            break;
        }
        enum stoker_status s = stk_feed_fill(&c->feed, it->in[0], want, err);
        if (s != STOKER_OK || stk_feed_left(&c->feed) == 0) {
            c->index += s != STOKER_OK;
            return s;
        }
        s = step(it, err);
        s = s == STOKER_OK ? append(it, out, err) : s;
        if (s != STOKER_OK) {
            return s;
        }
    }
    return STOKER_OK;
}

static enum stoker_status reduce_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct scan *c = it->state;
    (void)want;
    while (!c->is_done) {
        enum stoker_status s = stk_feed_fill(&c->feed, it->in[0], 256, err);
        if (s == STOKER_OK && stk_feed_left(&c->feed) > 0) {
            s = step(it, err);
        } else if (s == STOKER_OK) {
            c->is_done = true;
            return stk_block_share(out, &c->state) ? STOKER_OK : stk_err_nomem(err);
        }
        if (s != STOKER_OK) {
            c->is_done = it->run->options.on_error == STK_ON_ERROR_STOP;
            return s;
        }
    }
    return STOKER_OK;
}

static void scan_close(struct stk_iter *it)
{
    struct scan *c = it->state;
    stk_frame_close(c->frame);
    stk_feed_free(&c->feed);
    stk_block_free(&c->state);
    stk_block_free(&c->in);
    stk_block_free(&c->out);
    stk_block_free(&c->joined);
}

static const struct stk_arg_row scan_args[] = {
    STK_ARG("initial_state", OTHER, "the initial state", .is_required = true),
    STK_ARG("fn", OTHER, "(state, element) to (state, result)", .is_required = true),
    {0}};

const struct stk_dataset_kind stk_dataset_scan = {.name = "scan",
                                                  .summary = "Maps with a state that carries over",
                                                  .role = STK_DS_FUNCTION,
                                                  .args = scan_args,
                                                  .infer = scan_infer,
                                                  .cardinality = stk_dataset_as_many,
                                                  .state_bytes = sizeof(struct scan),
                                                  .open = scan_open,
                                                  .next = scan_next,
                                                  .close = scan_close};
const struct stk_dataset_kind stk_dataset_reduce = {
    .name = "reduce",
    .summary = "Reduces all elements to one: the last state",
    .role = STK_DS_FUNCTION,
    .args = scan_args,
    .infer = scan_infer,
    .cardinality = reduce_one,
    .state_bytes = sizeof(struct scan),
    .open = scan_open,
    .next = reduce_next,
    .close = scan_close};
