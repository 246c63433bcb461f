// SPDX-License-Identifier: Apache-2.0
// Inputs read block by block through a block of the reader's own; what kinds share about arguments.
#include "data/run/feed.h"

enum stk_status stk_feed_fill(struct stk_feed *f, struct stk_iter *from, int64_t want,
                              struct stk_err *err)
{
    if (stk_feed_left(f) > 0 || f->at_end) {
        return STK_OK;
    }
    f->used = 0;
    enum stk_status s = stk_iter_next(from, want, &f->block, err);
    f->at_end = s == STK_OK && f->block.n == 0;
    return s;
}

enum stk_status stk_feed_take(struct stk_feed *f, int64_t n, struct stk_block *out,
                              struct stk_err *err)
{
    int64_t left = stk_feed_left(f);
    n = n < left ? n : left;
    if (f->used == 0 && n == f->block.n) {
        stk_block_move(out, &f->block);
        stk_block_clear(&f->block);
        return STK_OK;
    }
    if (!stk_block_slice(out, &f->block, f->used, n)) {
        return stk_err_nomem(err);
    }
    f->used += n;
    return STK_OK;
}

enum stk_status stk_feed_skip(struct stk_feed *f, struct stk_iter *from, int64_t n, int64_t *done,
                              struct stk_err *err)
{
    int64_t left = stk_feed_left(f), held = n < left ? n : left, more = 0;
    enum stk_status s = STK_OK;
    f->used += held;
    if (n > held && !f->at_end) {
        s = stk_iter_skip(from, n - held, &more, err);
        f->at_end = s == STK_OK && more < n - held;
    }
    *done = held + more;
    return s;
}

void stk_feed_free(struct stk_feed *f)
{
    stk_block_free(&f->block);
}

struct stk_fn *stk_arg_fn(const struct stk_dataset *ds, const char *name, int more,
                          struct stk_err *err)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, name);
    struct stk_fn *fn = t && t->kind == STK_ATTR_FN ? t->fn : NULL;
    int has = ds->n_in > 0 ? ds->in[0]->specs->count + more : more;
    if (!fn || fn->n_in != has) {
        (void)stk_err_set(err, STK_EINVAL, "%s: %s takes %d components, the input has %d",
                          ds->kind->name, name, fn ? fn->n_in : 0, has);
        return NULL;
    }
    return fn;
}

enum stk_status stk_stage_no_memory(const struct stk_iter *it, struct stk_err *err)
{
    struct stk_pool_stats s = stk_pool_stats_of(it->run->pool);
    return stk_err_set(err, STK_ELIMIT, "%s: no memory (%llu of %llu bytes of the budget in use)",
                       it->kind->name, (unsigned long long)s.in_use_bytes,
                       (unsigned long long)s.cap_bytes);
}

enum stk_status stk_specs_join_inputs(struct stk_dataset *ds, int from, struct stk_err *err)
{
    const struct stk_specs *first = ds->in[from]->specs;
    ds->specs = stk_specs_new(first->count);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < first->count; k++) {
        stk_spec_copy(&ds->specs->items[k], &first->items[k]);
    }
    for (int i = from + 1; i < ds->n_in; i++) {
        const struct stk_specs *more = ds->in[i]->specs;
        if (more->count != first->count) {
            return stk_err_set(err, STK_EINVAL,
                               "%s: dataset %d has %d components, the first one has %d",
                               ds->kind->name, i, more->count, first->count);
        }
        for (int k = 0; k < first->count; k++) {
            struct stk_spec *spec = &ds->specs->items[k];
            if (spec->dtype != more->items[k].dtype) {
                return stk_err_set(err, STK_EINVAL,
                                   "%s: component %d is %s in dataset %d and %s in the first",
                                   ds->kind->name, k, stk_dtype_name(more->items[k].dtype), i,
                                   stk_dtype_name(spec->dtype));
            }
            spec->shape = stk_shape_join(&spec->shape, &more->items[k].shape);
        }
    }
    return STK_OK;
}
