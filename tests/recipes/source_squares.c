// SPDX-License-Identifier: Apache-2.0
// squares(count): 0, 1, 4, 9, ... as int64. Indexed: any position is computed.
//
// Recipe of a kind of dataset: src/engine/sources/source_squares.c and X(squares) in
// src/engine/datasets.def. The check of the arguments, `stoker data --list` and docs/pipelines.md
// come from the descriptor at the end.
#include "engine/graph/infer.h"
#include "engine/run/iter.h"

struct squares {
    int64_t at, n; // position of the next element; how many there are
};

static int64_t squares_cardinality(const struct stk_dataset *ds)
{
    // Unknown while the argument is a value of the function around.
    return stk_arg_is_bound(ds, "count") ? STK_CARDINALITY_UNKNOWN
                                         : stk_attrs_int(ds->attrs, "count", 0);
}

static enum stoker_status squares_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    ds->specs = stk_specs_new(1); // one component, a scalar
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    ds->specs->items[0].dtype = STK_DT_I64;
    return STOKER_OK;
}

static enum stoker_status squares_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                     struct stk_block *out, struct stoker_err *err)
{
    const struct stk_spec *spec = &it->ds->specs->items[0];
    if (!stk_block_reset(out, 1) ||
        !stk_col_uniform(&out->cols[0], it->run->pool, spec->dtype, &spec->shape, n)) {
        return stk_err_set(err, STOKER_ELIMIT, "squares: no memory for %lld elements",
                           (long long)n);
    }
    int64_t *to = (int64_t *)out->cols[0].data;
    for (int64_t i = 0; i < n; i++) {
        to[i] = index[i] * index[i];
    }
    out->n = n;
    return STOKER_OK;
}

// Arguments are looked up once for each iterator, not for each element.
static enum stoker_status squares_open(struct stk_iter *it, struct stoker_err *err)
{
    (void)err;
    *(struct squares *)it->state = (struct squares){.n = squares_cardinality(it->ds)};
    return STOKER_OK;
}

// Up to `want` elements; none is the end.
static enum stoker_status squares_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                       struct stoker_err *err)
{
    enum { MOST = 256 }; // positions at a time
    struct squares *s = it->state;
    int64_t index[MOST], left = s->n - s->at, n = want < left ? want : left;
    n = n < MOST ? n : MOST;
    for (int64_t i = 0; i < n; i++) {
        index[i] = s->at + i;
    }
    enum stoker_status status = n > 0 ? squares_at(it, index, n, out, err) : STOKER_OK;
    s->at += status == STOKER_OK && n > 0 ? n : 0;
    return status;
}

// Resuming passes over what was given: here for nothing.
static enum stoker_status squares_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                       struct stoker_err *err)
{
    struct squares *s = it->state;
    int64_t left = s->n - s->at;
    (void)err;
    *done = n < left ? n : left;
    s->at += *done;
    return STOKER_OK;
}

static const struct stk_arg_row squares_args[] = {
    STK_ARG("count", INT, "how many", .is_required = true, .max = INT64_C(1) << 31), {0}};

const struct stk_dataset_kind stk_dataset_squares = {.name = "squares",
                                                     .summary = "The squares from 0 on",
                                                     .role = STK_DS_SOURCE,
                                                     .called = "range_squares",
                                                     .args = squares_args,
                                                     .infer = squares_infer,
                                                     .cardinality = squares_cardinality,
                                                     .state_bytes = sizeof(struct squares),
                                                     .open = squares_open,
                                                     .next = squares_next,
                                                     .skip = squares_skip,
                                                     .at = squares_at};
