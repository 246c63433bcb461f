// SPDX-License-Identifier: Apache-2.0
// cond: runs one of two functions, chosen by a scalar bool. Attributes true_fn and false_fn, with
// the same inputs and results; inputs: the bool, then theirs. Neighboring elements that choose the
// same function go through it together, so nothing of the other one runs (failing, decoding).
#include "base/alloc.h"
#include "base/vec.h"
#include "engine/graph/fn.h"

enum { ARG_TRUE_FN, ARG_FALSE_FN };
static const struct stk_arg_row cond_args[] = {
    [ARG_TRUE_FN] = STK_ARG("true_fn", OTHER, "the function if true", .is_required = true),
    [ARG_FALSE_FN] = STK_ARG("false_fn", OTHER, "the function if false", .is_required = true),
    {0}};

#define PARTS_MAX ((size_t)1 << 24)

struct cond_scratch {
    struct stk_frame *frame[2]; // false, true
};

static struct stk_fn *side(const struct stk_arg_value *args, bool is_true)
{
    const struct stk_attr *t = args[is_true ? ARG_TRUE_FN : ARG_FALSE_FN].attr;
    return t && t->kind == STK_ATTR_FN ? t->fn : NULL;
}

static enum stoker_status cond_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct stk_fn *fn[2] = {side(c->args, false), side(c->args, true)};
    bool fits = fn[0] && fn[1] && fn[0]->n_in == c->n_in - 1 && fn[1]->n_in == c->n_in - 1 &&
                fn[0]->n_out == fn[1]->n_out && fn[0]->n_out <= STK_OP_OUTPUTS_MAX;
    if (!fits || c->in[0].dtype != STK_DT_BOOL || c->in[0].shape.rank > 0) {
        return stk_err_set(err, STOKER_EINVAL,
                           "cond: takes a bool scalar and two functions with the same results");
    }
    c->n_out = fn[0]->n_out;
    for (int k = 0; k < c->n_out; k++) {
        const struct stk_spec *no = &fn[0]->specs[fn[0]->out[k]];
        const struct stk_spec *yes = &fn[1]->specs[fn[1]->out[k]];
        if (no->dtype != yes->dtype) {
            return stk_err_set(err, STOKER_EINVAL,
                               "cond: result %d is %s in one function and %s in the other", k,
                               stk_dtype_name(yes->dtype), stk_dtype_name(no->dtype));
        }
        if (!stk_spec_fits(no, yes)) {
            return stk_err_set(err, STOKER_EINVAL,
                               "cond: result %d is a dataset of other elements of one function "
                               "than of the other",
                               k);
        }
        stk_spec_copy(&c->out[k], yes);
        if (!stk_spec_join(&c->out[k], no)) {
            return stk_err_nomem(err);
        }
    }
    return STOKER_OK;
}

// Runs elements [first, first + n) through one function and adds the results to the parts.
static enum stoker_status run_side(struct stk_op_run *r, bool is_true, int64_t first, int64_t n,
                                   struct stk_vec *parts, struct stoker_err *err)
{
    struct cond_scratch *own = r->scratch;
    struct stk_block in = {0}, *out = stk_vec_push(parts);
    struct stk_eval eval = {.seed = r->seed, .first_index = r->first_index + first};
    if (!out) {
        return stk_err_nomem(err);
    }
    *out = (struct stk_block){0};
    enum stoker_status s = STOKER_OK;
    if (!own->frame[is_true]) {
        s = stk_frame_open(&own->frame[is_true], side(r->args, is_true), r->pool, r->host, err);
    }
    if (s == STOKER_OK && (!stk_block_reset(&in, r->n_in - 1) || !stk_block_reset(out, r->n_out))) {
        s = stk_err_nomem(err);
    }
    for (int j = 1; s == STOKER_OK && j < r->n_in; j++) {
        stk_col_slice(&in.cols[j - 1], r->in[j], first, n);
    }
    in.n = n;
    s = s == STOKER_OK ? stk_frame_run(own->frame[is_true], &in, out, &eval, err) : s;
    if (s == STOKER_OK && eval.failed < n) {
        r->failed = first + eval.failed;
        *r->err = eval.failure;
    }
    stk_block_free(&in);
    return s;
}

static bool join(struct stk_op_run *r, struct stk_vec *parts)
{
    const struct stk_block **list = stk_alloc_array(parts->count + 1, sizeof list[0]);
    struct stk_block all = {0};
    for (size_t i = 0; list && i < parts->count; i++) {
        list[i] = stk_vec_at(parts, i);
    }
    bool ok = list && stk_block_concat(&all, r->pool, list, (int)parts->count);
    for (int k = 0; ok && k < r->n_out; k++) {
        stk_col_clear(&r->out[k]);
        stk_col_share(&r->out[k], &all.cols[k]);
    }
    stk_block_free(&all);
    stk_free(list);
    return ok;
}

static enum stoker_status cond_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_vec parts;
    enum stoker_status s = STOKER_OK;
    stk_vec_init(&parts, sizeof(struct stk_block), PARTS_MAX);
    for (int64_t i = 0; s == STOKER_OK && i < r->failed;) {
        if (stk_col_shape(r->in[0], i).rank != 0) {
            s = stk_op_fail(r, i, STOKER_EINVAL, "cond: takes a bool scalar");
            break;
        }
        bool is_true = *(const uint8_t *)stk_col_at(r->in[0], i) != 0;
        int64_t end = i + 1;
        while (end < r->n && stk_col_shape(r->in[0], end).rank == 0 &&
               (*(const uint8_t *)stk_col_at(r->in[0], end) != 0) == is_true) {
            end++;
        }
        s = run_side(r, is_true, i, end - i, &parts, err);
        i = end;
    }
    if (s == STOKER_OK && parts.count > 0 && !join(r, &parts)) {
        s = stk_err_set(err, STOKER_ELIMIT, "cond: no memory for its results");
    }
    for (size_t i = 0; i < parts.count; i++) {
        stk_block_free(stk_vec_at(&parts, i));
    }
    stk_vec_deinit(&parts);
    return s;
}

static void cond_end(void *scratch)
{
    struct cond_scratch *own = scratch;
    stk_frame_close(own->frame[0]);
    stk_frame_close(own->frame[1]);
}

const struct stk_op stk_op_cond = {.name = "cond",
                                   .summary = "Runs one of two functions, depending on a bool",
                                   .takes_varied = true,
                                   .is_random = true, // its functions may be
                                   .scratch_bytes = sizeof(struct cond_scratch),
                                   .scratch_end = cond_end,
                                   .infer = cond_infer,
                                   .run = cond_run,
                                   .args = cond_args};
