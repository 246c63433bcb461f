// SPDX-License-Identifier: Apache-2.0
// single_element: the components of the only element of a dataset that a function made or was
// given, for reduce and get_single_element within functions. The dataset runs on this thread,
// within the enclosing run's memory budget; its random stages draw from the function's seed and the
// element's position.
#include <string.h>

#include "engine/ops/op_util.h"
#include "engine/run/iter_open.h"
#include "engine/run/pull.h"
#include "engine/run/run_open.h"

static enum stoker_status single_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    const struct stk_specs *specs = c->in[0].nested;
    if (s == STOKER_OK &&
        (c->in[0].dtype != STK_DT_DATASET || !specs || specs->count > STK_OP_OUTPUTS_MAX)) {
        s = stk_err_set(err, STOKER_EINVAL,
                        "single_element: takes a dataset whose elements' spec is known");
    }
    for (int k = 0; s == STOKER_OK && k < specs->count; k++) {
        if (specs->items[k].dtype == STK_DT_DATASET) {
            s = stk_err_set(err, STOKER_EINVAL, "single_element: component %d is a dataset", k);
        }
        stk_spec_copy(&c->out[k], &specs->items[k]);
    }
    c->n_out = s == STOKER_OK ? specs->count : 1;
    return s;
}

struct single {
    struct stk_run *run;
    struct stk_block one, more;
};

static void single_element_scratch_end(void *scratch)
{
    struct single *s = scratch;
    stk_block_free(&s->one);
    stk_block_free(&s->more);
    stk_run_drop(s->run);
}

static enum stoker_status open_run(struct single *s, struct stk_op_run *r, struct stoker_err *err)
{
    if (s->run) {
        return STOKER_OK;
    }
    struct stk_run_options options = {.has_seed = true, .threads = 1, .ram_bytes = 1};
    options.host = r->host;
    enum stoker_status status = stk_run_open(&s->run, &options, err);
    if (status == STOKER_OK) {
        stk_pool_drop(s->run->pool);
        s->run->pool = stk_pool_hold(r->pool);
    }
    return status;
}

// Does it have the inferred specs? A pickle's function may have been made for other datasets.
static bool is_as_said(const struct stk_op_run *r, const struct stk_dataset *ds)
{
    bool is = ds->specs->count == r->n_out;
    for (int k = 0; is && k < r->n_out; k++) {
        is = stk_spec_fits(&ds->specs->items[k], &r->spec[k]);
    }
    return is;
}

// Takes the only element into s->one. STOKER_EINVAL: the dataset is empty or has more. Its own
// errors are returned unchanged.
static enum stoker_status take_one(struct single *s, struct stk_dataset *ds, struct stoker_err *err)
{
    struct stk_iter *it;
    enum stoker_status status = stk_iter_open(&it, ds, s->run, 0, 0, err);
    if (status != STOKER_OK) {
        return status;
    }
    status = stk_iter_next(it, 1, &s->one, err);
    if (status == STOKER_OK && s->one.n == 1) {
        status = stk_iter_next(it, 1, &s->more, err);
    }
    if (status == STOKER_OK && (s->one.n != 1 || s->more.n > 0)) {
        status = stk_err_set(err, STOKER_EINVAL, "the dataset %s",
                             s->one.n ? "has more than one element" : "is empty");
    }
    stk_block_clear(&s->more);
    stk_iter_close(it);
    return status;
}

static enum stoker_status put_one(struct stk_op_run *r, const struct single *s,
                                  struct stoker_err *err)
{
    for (int k = 0; k < r->n_out; k++) {
        const struct stk_col *c = &s->one.cols[k];
        struct stk_shape shape = stk_col_shape(c, 0);
        void *to = stk_op_append(r, k, c->dtype, &shape, err);
        size_t bytes = (size_t)stk_shape_count(&shape) * stk_dtype_bytes(c->dtype);
        if (!to) {
            return err->code;
        }
        if (bytes) {
            memcpy(to, stk_col_at(c, 0), bytes);
        }
        if (!stk_keep_join(&r->out[k].keep, c->keep)) {
            return stk_op_no_memory(r, err);
        }
    }
    return STOKER_OK;
}

static enum stoker_status single_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct single *s = r->scratch;
    enum stoker_status status = open_run(s, r, err);
    for (int64_t i = 0; status == STOKER_OK && i < r->n && i < r->failed; i++) {
        struct stoker_err why;
        stk_err_init(&why);
        s->run->seed = stk_random_bits(r->seed, 1, r->first_index + i, 0);
        struct stk_dataset *ds = *(struct stk_dataset **)stk_col_at(r->in[0], i);
        status = is_as_said(r, ds) ? take_one(s, ds, &why)
                                   : stk_err_set(&why, STOKER_EINVAL,
                                                 "the dataset has other elements than declared");
        if (status == STOKER_OK) {
            status = put_one(r, s, err);
        } else if (stk_status_is_of_element(status)) {
            status = stk_op_fail(r, i, status, "%.350s", why.message);
        } else {
            *err = why;
        }
        stk_block_clear(&s->one);
    }
    return status;
}

const struct stk_op stk_op_single_element = {.name = "single_element",
                                             .summary = "The only element of a dataset",
                                             .is_random = true,
                                             .cost_ns = 2000,
                                             .infer = single_infer,
                                             .scratch_bytes = sizeof(struct single),
                                             .scratch_end = single_element_scratch_end,
                                             .run = single_run};
