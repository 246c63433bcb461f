// SPDX-License-Identifier: Apache-2.0
// See unequal_batch.h. Blocks of the input are joined until they hold a batch; what is left over
// begins the next one.
#include "data/run/unequal_batch.h"

#include "base/assert.h"
#include "data/graph/infer.h"
#include "data/run/pull.h"

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
    return STOKER_OK;
}

// Until a batch is held, or the end.
static enum stoker_status fill(struct stk_iter *it, int64_t size, struct stoker_err *err)
{
    struct stk_unequal *p = it->state;
    while (!p->at_end && p->held.n < size) {
        enum stoker_status s = stk_iter_next(it->in[0], size - p->held.n, &p->more, err);
        p->at_end = s == STOKER_OK && p->more.n == 0;
        if (s != STOKER_OK) {
            stk_block_clear(&p->held); // the batch of the bad element is lost with it
            return s;
        }
        if (p->held.n == 0) {
            stk_block_move(&p->held, &p->more);
        } else if (p->more.n > 0) {
            const struct stk_block *both[2] = {&p->held, &p->more};
            if (!stk_block_concat(&p->joined, it->run->pool, both, 2)) {
                return stk_stage_no_memory(it, err);
            }
            stk_block_move(&p->held, &p->joined);
            stk_block_clear(&p->joined);
        }
        stk_block_clear(&p->more);
    }
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
    enum stoker_status s = fill(it, size, err);
    STK_ASSERT(size > 0);
    int64_t n = p->held.n < size ? p->held.n : size;
    if (s != STOKER_OK || n == 0 || (n < size && p->drops_remainder)) {
        return s;
    }
    if (!stk_block_reset(out, it->ds->specs->count)) {
        return stk_err_nomem(err);
    }
    s = make(it, n, out, err);
    if (!stk_block_slice(&p->rest, &p->held, n, p->held.n - n)) {
        s = stk_err_nomem(err);
    }
    stk_block_move(&p->held, &p->rest);
    stk_block_clear(&p->rest);
    out->n = s == STOKER_OK;
    if (s != STOKER_OK) {
        stk_block_clear(out);
    }
    return s;
}

void stk_unequal_close(struct stk_iter *it)
{
    struct stk_unequal *p = it->state;
    stk_block_free(&p->held);
    stk_block_free(&p->more);
    stk_block_free(&p->joined);
    stk_block_free(&p->rest);
}
