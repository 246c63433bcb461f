// SPDX-License-Identifier: Apache-2.0
// Shared by the steps that take a batch: buffers that keep the batch alive, and errors for damage
// and lack of memory. See arrow.h.
#include "base/alloc.h"
#include "engine/formats/arrow_impl.h"

void stk_arrow_drop_held(void *arg)
{
    struct stk_arrow_held *h = arg;
    if (__atomic_sub_fetch(&h->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    if (h->array.release) {
        h->array.release(&h->array);
    }
    stk_buf_drop(h->mapped);
    stk_free(h);
}

struct stk_buf *stk_arrow_buf(struct stk_arrow_taking *t, const void *data, size_t size,
                              bool is_readonly)
{
    struct stk_buf *b = stk_buf_foreign(data, size, is_readonly, stk_arrow_drop_held, t->held);
    if (b) {
        __atomic_add_fetch(&t->held->refs, 1, __ATOMIC_RELAXED);
        t->out->bytes += t->held->mapped ? 0 : size;
    }
    return b;
}

enum stoker_status stk_arrow_damage(const struct stk_arrow_taking *t, const char *what)
{
    return stk_err_set(t->err, STOKER_EDAMAGE, "column '%.200s' %s", stk_arrow_leaf_of(t)->name,
                       what);
}

enum stoker_status stk_arrow_no_memory(const struct stk_arrow_taking *t)
{
    return stk_err_set(t->err, STOKER_ELIMIT, "no memory for %lld values of column '%.200s'",
                       (long long)t->view.n, stk_arrow_leaf_of(t)->name);
}
