// SPDX-License-Identifier: Apache-2.0
// random: int64 numbers of 32 random bits, without end. Number i depends only on the seed and i.
// With rerandomize_each_iteration each epoch has other numbers.
#include "base/str.h"
#include "engine/run/iter.h"

struct random {
    int64_t at;
    uint64_t seed;
};

static int64_t random_endless(const struct stk_dataset *ds)
{
    (void)ds;
    return STK_INFINITE;
}

static enum stoker_status random_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    ds->specs = stk_specs_new(1);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    ds->specs->items[0].dtype = STK_DT_I64;
    return STOKER_OK;
}

static enum stoker_status random_open(struct stk_iter *it, struct stoker_err *err)
{
    (void)err;
    bool is_same =
        it->ds->seed >= 0 && !stk_attrs_int(it->ds->attrs, "rerandomize_each_iteration", 0);
    ((struct random *)it->state)->seed =
        is_same ? stk_hash_u64((uint64_t)it->ds->seed + 1) : it->seed;
    return STOKER_OK;
}

static enum stoker_status random_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct random *r = it->state;
    const struct stk_spec *spec = &it->ds->specs->items[0];
    if (!stk_block_reset(out, 1) ||
        !stk_col_uniform(&out->cols[0], it->run->pool, spec->dtype, &spec->shape, want)) {
        return stk_err_set(err, STOKER_ELIMIT, "random: no memory for %lld elements",
                           (long long)want);
    }
    int64_t *to = (int64_t *)out->cols[0].data;
    for (int64_t i = 0; i < want; i++) {
        to[i] = (int64_t)(stk_random_bits(r->seed, 0, r->at++, 0) >> 32);
    }
    out->n = want;
    return STOKER_OK;
}

static enum stoker_status random_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                      struct stoker_err *err)
{
    (void)err;
    ((struct random *)it->state)->at += n;
    *done = n;
    return STOKER_OK;
}

static const struct stk_arg_row random_args[] = {
    STK_ARG("seed", INT, "of the numbers", .fallback = -1),
    STK_ARG("rerandomize_each_iteration", BOOL, "other numbers in each epoch, even with a seed"),
    {0}};

const struct stk_dataset_kind stk_dataset_random = {.name = "random",
                                                    .summary = "Infinite random numbers",
                                                    .role = STK_DS_SOURCE,
                                                    .args = random_args,
                                                    .infer = random_infer,
                                                    .cardinality = random_endless,
                                                    .state_bytes = sizeof(struct random),
                                                    .open = random_open,
                                                    .next = random_next,
                                                    .skip = random_skip};
