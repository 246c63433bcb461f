// SPDX-License-Identifier: Apache-2.0
// Removes stages that change nothing: repeat(1), take(-1), skip(0), one shard of one, an identity
// map, a prefetch right below a prefetch. Not if that would make a shuffle's input readable by
// position: it would draw another order.
#include <string.h>

#include "engine/rewrites/rewrite.h"

static bool has_int(const struct stk_dataset *ds, const char *name, int64_t *value)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, name);
    *value = stk_attrs_int(ds->attrs, name, 0);
    return t && t->kind == STK_ATTR_INT;
}

static bool maps_to_itself(const struct stk_dataset *ds)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "fn");
    bool is_same = t && t->kind == STK_ATTR_FN && t->fn->n_nodes == 0 &&
                   t->fn->n_out == ds->in[0]->specs->count;
    for (int i = 0; is_same && i < t->fn->n_out; i++) {
        is_same = t->fn->out[i] == i;
    }
    return is_same;
}

// The consumer has its own buffer.
static bool is_second_buffer(const struct stk_dataset *consumer, const struct stk_dataset *ds)
{
    int64_t outer = stk_attrs_int(consumer->attrs, "buffer_size", -1);
    int64_t inner = stk_attrs_int(ds->attrs, "buffer_size", -1);
    return consumer->kind == &stk_dataset_prefetch && ds->kind == &stk_dataset_prefetch &&
           (outer < 0 || (inner >= 0 && inner <= outer));
}

static bool passes_on(const struct stk_dataset *consumer, const struct stk_dataset *ds)
{
    int64_t n;
    if (ds->n_in != 1) {
        return false;
    }
    return (ds->kind == &stk_dataset_repeat && has_int(ds, "count", &n) && n == 1) ||
           (ds->kind == &stk_dataset_take && has_int(ds, "count", &n) && n < 0) ||
           (ds->kind == &stk_dataset_skip && has_int(ds, "count", &n) && n == 0) ||
           (ds->kind == &stk_dataset_shard && has_int(ds, "num_shards", &n) && n == 1) ||
           (ds->kind == &stk_dataset_map && maps_to_itself(ds)) || is_second_buffer(consumer, ds);
}

enum stoker_status stk_rewrite_no_stage(struct stk_dataset *ds, enum stk_on_error policy,
                                        const struct stk_rewrite_row *row, struct stk_dataset **out,
                                        struct stoker_err *err)
{
    (void)policy;
    if (ds->n_in != 1 || !passes_on(ds, ds->in[0])) {
        return STOKER_OK;
    }
    const struct stk_dataset *gone = ds->in[0];
    enum stoker_status s = stk_rewrite_like(out, ds, gone->in, NULL, err);
    if (s != STOKER_OK) {
        return s;
    }
    if (stk_dataset_has_at(*out) != stk_dataset_has_at(ds)) {
        stk_dataset_drop(*out);
        *out = NULL;
        return STOKER_OK;
    }
    (*out)->hops += 1 + gone->hops;
    struct stk_rewrite_log log = {(*out)->reason, (*out)->reason ? strlen((*out)->reason) : 0};
    bool ok = stk_rewrite_append(&log, gone->reason) &&
              stk_rewrite_note(&log, row, gone->kind->name, gone->where);
    (*out)->reason = log.text;
    if (!ok) {
        stk_dataset_drop(*out);
        *out = NULL;
        return stk_err_nomem(err);
    }
    return STOKER_OK;
}
