// SPDX-License-Identifier: Apache-2.0
// columns: elements that are already in memory, as columns of n: windows and groups.
#include "base/assert.h"
#include "engine/run/iter.h"

struct columns {
    int64_t at, n; // position; elements
    const struct stk_attr *cols;
};

static int64_t columns_cardinality(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "n", 0);
}

static enum stoker_status columns_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_attr *specs = stk_attrs_get(ds->attrs, "specs");
    const struct stk_attr *cols = stk_attrs_get(ds->attrs, "columns");
    if (!specs || specs->kind != STK_ATTR_SPECS || !cols || cols->kind != STK_ATTR_COLS ||
        cols->count != specs->specs->count) {
        return stk_err_set(err, STOKER_EINVAL, "columns: needs columns and their specs");
    }
    ds->specs = stk_specs_hold(specs->specs);
    return STOKER_OK;
}

static enum stoker_status columns_open(struct stk_iter *it, struct stoker_err *err)
{
    (void)err;
    *(struct columns *)it->state = (struct columns){
        .n = columns_cardinality(it->ds), .cols = stk_attrs_get(it->ds->attrs, "columns")};
    return STOKER_OK;
}

static enum stoker_status columns_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                       struct stoker_err *err)
{
    struct columns *c = it->state;
    int64_t left = c->n - c->at, n = want < left ? want : left;
    if (n <= 0) {
        return STOKER_OK;
    }
    if (!stk_block_reset(out, (int)c->cols->count)) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < out->count; k++) {
        stk_col_slice(&out->cols[k], &c->cols->cols[k], c->at, n);
    }
    out->n = n;
    c->at += n;
    STK_ASSERT(c->at <= c->n);
    return STOKER_OK;
}

static enum stoker_status columns_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                       struct stoker_err *err)
{
    struct columns *c = it->state;
    int64_t left = c->n - c->at;
    (void)err;
    *done = n < left ? n : left;
    c->at += *done;
    return STOKER_OK;
}

static enum stoker_status columns_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                     struct stk_block *out, struct stoker_err *err)
{
    const struct columns *c = it->state;
    struct stk_block all = {.count = (int)c->cols->count, .n = c->n, .cols = c->cols->cols};
    if (!stk_block_gather(out, it->run->pool, &all, index, n)) {
        return stk_err_set(err, STOKER_ELIMIT, "columns: no memory for %lld elements",
                           (long long)n);
    }
    return STOKER_OK;
}

static const struct stk_arg_row columns_args[] = {
    STK_ARG("columns", OTHER, "the elements", .is_required = true),
    STK_ARG("specs", OTHER, "specs of the elements", .is_required = true),
    STK_ARG("n", INT, "number of elements", .is_required = true),
    {0}};

const struct stk_dataset_kind stk_dataset_columns = {.name = "columns",
                                                     .summary = "Elements of a window or a group",
                                                     .role = STK_DS_SOURCE,
                                                     .args = columns_args,
                                                     .infer = columns_infer,
                                                     .cardinality = columns_cardinality,
                                                     .state_bytes = sizeof(struct columns),
                                                     .open = columns_open,
                                                     .next = columns_next,
                                                     .skip = columns_skip,
                                                     .at = columns_at};
