// SPDX-License-Identifier: Apache-2.0
// Collects elements of unequal shapes; see unequal_batch.h.
#include "engine/run/unequal_batch.h"

#include "base/assert.h"
#include "engine/graph/infer.h"

int64_t stk_unequal_size(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "batch_size", 1);
}

static bool drops_remainder(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "drop_remainder", 0) != 0;
}

int64_t stk_unequal_rows(const struct stk_dataset *ds)
{
    bool is_fixed = !stk_arg_is_bound(ds, "batch_size") && drops_remainder(ds);
    return is_fixed ? stk_unequal_size(ds) : STK_UNKNOWN;
}

int64_t stk_unequal_cardinality(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]), size = stk_unequal_size(ds);
    if (n < 0 || stk_arg_is_bound(ds, "batch_size")) {
        return n == STK_INFINITE ? n : STK_CARDINALITY_UNKNOWN;
    }
    return n / size + (!drops_remainder(ds) && n % size != 0);
}

enum stoker_status stk_unequal_open(struct stk_iter *it, struct stoker_err *err)
{
    struct stk_unequal *p = it->state;
    (void)err;
    p->size = stk_unequal_size(it->ds);
    p->drops_remainder = drops_remainder(it->ds);
    stk_held_init(&p->held);
    return STOKER_OK;
}

enum stoker_status stk_unequal_next(struct stk_iter *it,
                                    enum stoker_status (*make)(struct stk_iter *it, int64_t n,
                                                               struct stk_block *out,
                                                               struct stoker_err *err),
                                    struct stk_block *out, struct stoker_err *err)
{
    struct stk_unequal *p = it->state;
    int64_t size = p->size;
    STK_ASSERT(size > 0);
    enum stoker_status s = stk_held_fill(&p->held, it, size, size, err);
    int64_t n = p->held.block.n < size ? p->held.block.n : size;
    if (s != STOKER_OK || n == 0 || (n < size && p->drops_remainder)) {
        return s;
    }
    if (!stk_block_reset(out, it->ds->specs->count)) {
        return stk_err_nomem(err);
    }
    s = make(it, n, out, err);
    if (!stk_held_drop(&p->held, n)) {
        s = stk_err_nomem(err);
    }
    out->n = s == STOKER_OK;
    if (s != STOKER_OK) {
        stk_block_clear(out);
    }
    return s;
}

void stk_unequal_close(struct stk_iter *it)
{
    struct stk_unequal *p = it->state;
    stk_held_free(&p->held);
}
