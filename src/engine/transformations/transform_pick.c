// SPDX-License-Identifier: Apache-2.0
// pick: elements of the first input at the positions that the second gives (int64 scalars), in that
// order, as often as they occur. The first must allow random access: arrays, indexed and NPY files,
// and stages that keep their positions. A position beyond the end is a failed element.
#include "engine/run/feed.h"

#define AT_ONCE 1024 // elements of a block

struct pick {
    struct stk_feed positions;
};

static enum stoker_status pick_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *second = ds->in[1]->specs;
    bool is_position = second->count == 1 && second->items[0].dtype == STK_DT_I64 &&
                       second->items[0].shape.rank <= 0;
    if (!is_position) {
        return stk_err_set(err, STOKER_EINVAL, "pick: positions are int64 scalars");
    }
    if (!stk_dataset_has_at(ds->in[0])) {
        return stk_err_set(err, STOKER_EINVAL,
                           "pick: the elements of %s can't be read by position; those of arrays, "
                           "indexed and NPY files can, before filter, shuffle or batch",
                           ds->in[0]->kind->name);
    }
    return stk_dataset_like_input(ds, err);
}

static int64_t pick_cardinality(const struct stk_dataset *ds)
{
    return stk_dataset_cardinality(ds->in[1]);
}

static enum stoker_status outside(int64_t position, int64_t count, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINVAL, "pick: position %lld of %lld elements",
                       (long long)position, (long long)count);
}

static enum stoker_status pick_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    struct pick *p = it->state;
    int64_t at[AT_ONCE], count = stk_dataset_cardinality(it->ds->in[0]), n = 0;
    want = want < AT_ONCE ? want : AT_ONCE;
    enum stoker_status s = stk_feed_fill(&p->positions, it->in[1], want, err);
    int64_t left = stk_feed_left(&p->positions);
    if (s != STOKER_OK || left == 0) {
        return s;
    }
    const struct stk_col *c = &p->positions.block.cols[0];
    for (; n < want && n < left; n++) {
        if (stk_col_shape(c, p->positions.used + n).rank != 0) {
            break;
        }
        at[n] = *(const int64_t *)stk_col_at(c, p->positions.used + n);
        if (at[n] < 0 || at[n] >= count) {
            break;
        }
    }
    if (n == 0) {
        p->positions.used++;
        if (stk_col_shape(c, p->positions.used - 1).rank != 0) {
            return stk_err_set(err, STOKER_EINVAL, "pick: positions are int64 scalars");
        }
        return outside(at[0], count, err);
    }
    s = stk_iter_at(it->in[0], at, n, out, err);
    if (s != STOKER_OK && stk_status_is_of_element(s) && n > 1) {
        // If one fails, it alone is an error, and the others are returned.
        n = 1;
        s = stk_iter_at(it->in[0], at, n, out, err);
    }
    if (s != STOKER_OK) {
        stk_block_clear(out);
    }
    p->positions.used += n;
    return s;
}

static enum stoker_status pick_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                    struct stoker_err *err)
{
    return stk_feed_skip(&((struct pick *)it->state)->positions, it->in[1], n, done, err);
}

static void pick_close(struct stk_iter *it)
{
    stk_feed_free(&((struct pick *)it->state)->positions);
}

const struct stk_dataset_kind stk_dataset_pick = {.name = "pick",
                                                  .summary = "Selects elements by position",
                                                  .role = STK_DS_SEVERAL,
                                                  .n_in_min = 2,
                                                  .n_in_max = 2,
                                                  .infer = pick_infer,
                                                  .cardinality = pick_cardinality,
                                                  .state_bytes = sizeof(struct pick),
                                                  .next = pick_next,
                                                  .skip = pick_skip,
                                                  .close = pick_close};
