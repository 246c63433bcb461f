// SPDX-License-Identifier: Apache-2.0
// map: each element through a function, on the thread that pulls. Functions run on whole blocks.
#include "data/dataset.h"

struct map {
    struct stk_frame *frame;
    struct stk_block in;
    int64_t used;  // elements of `in` that are done
    int64_t index; // of the next element at the input
};

static struct stk_fn *function(const struct stk_dataset *ds)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "fn");
    return t && t->kind == STK_ATTR_FN ? t->fn : NULL;
}

static enum stk_status map_infer(struct stk_dataset *ds, struct stk_err *err)
{
    struct stk_fn *fn = function(ds);
    if (!fn || fn->n_in != ds->in[0]->specs->count) {
        return stk_err_set(err, STK_EINVAL,
                           "map: the function takes %d components, the input has %d",
                           fn ? fn->n_in : 0, ds->in[0]->specs->count);
    }
    ds->specs = stk_fn_result(fn);
    return ds->specs ? STK_OK : stk_err_nomem(err);
}

static int64_t map_cardinality(const struct stk_dataset *ds)
{
    return stk_dataset_cardinality(ds->in[0]);
}

static enum stk_status map_open(struct stk_iter *it, struct stk_err *err)
{
    struct map *m = it->state;
    return stk_frame_open(&m->frame, function(it->ds), it->run->pool, it->run->options.host, err);
}

static enum stk_status map_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                struct stk_err *err)
{
    struct map *m = it->state;
    if (m->used == m->in.n) {
        m->used = 0;
        enum stk_status s = stk_iter_next(it->in[0], want, &m->in, err);
        if (s != STK_OK || m->in.n == 0) {
            m->index += s != STK_OK; // the failed element had its place
            return s;
        }
    }
    struct stk_block rest = {0};
    if (!stk_block_slice(&rest, &m->in, m->used, m->in.n - m->used) ||
        !stk_block_reset(out, it->ds->specs->count)) {
        stk_block_free(&rest);
        return stk_err_nomem(err);
    }
    struct stk_eval eval = {.seed = it->seed, .first_index = m->index};
    enum stk_status s = stk_frame_run(m->frame, &rest, out, &eval, err);
    int64_t done = eval.failed < rest.n ? eval.failed + 1 : rest.n;
    stk_block_free(&rest);
    if (s != STK_OK) {
        m->used = m->in.n;
        return s;
    }
    if (eval.failed < m->in.n - m->used) {
        *err = eval.failure;
        s = eval.failure.code;
    }
    m->used += done;
    m->index += done;
    return s;
}

static enum stk_status map_skip(struct stk_iter *it, int64_t n, int64_t *done, struct stk_err *err)
{
    struct map *m = it->state;
    int64_t held = m->in.n - m->used, from_held = n < held ? n : held, more = 0;
    enum stk_status s = STK_OK;
    m->used += from_held;
    if (n > from_held) {
        s = stk_iter_skip(it->in[0], n - from_held, &more, err);
    }
    *done = from_held + more;
    m->index += *done;
    return s;
}

static void map_close(struct stk_iter *it)
{
    struct map *m = it->state;
    stk_frame_close(m->frame);
    stk_block_free(&m->in);
}

static const struct stk_arg_row map_args[] = {
    {.name = "fn", .type = STK_ARG_OTHER, .is_required = true, .help = "the function"}, {0}};

const struct stk_dataset_kind stk_dataset_map = {.name = "map",
                                                 .summary = "Each element through a function",
                                                 .args = map_args,
                                                 .n_in_min = 1,
                                                 .n_in_max = 1,
                                                 .infer = map_infer,
                                                 .cardinality = map_cardinality,
                                                 .state_bytes = sizeof(struct map),
                                                 .open = map_open,
                                                 .next = map_next,
                                                 .skip = map_skip,
                                                 .close = map_close};
