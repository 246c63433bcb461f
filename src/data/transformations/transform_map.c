// SPDX-License-Identifier: Apache-2.0
// map: each element through a function. Functions run on whole blocks, on the thread that pulls, or
// with num_parallel_calls on threads of their own (transform_map_parallel.c). It has no access by
// position: a shuffle behind it would have another order with threads than without.
#include "base/alloc.h"
#include "data/feed.h"
#include "data/map_parallel.h"

struct map {
    struct stk_pmap *parallel; // NULL: it runs on the thread that pulls
    struct stk_frame *frame;
    struct stk_block in, rest;
    int64_t used;    // elements of `in` that are done
    int64_t index;   // of the next element at the input
    uint64_t *seeds; // see seeds_of; NULL: one
};

static struct stk_fn *function(const struct stk_dataset *ds)
{
    return stk_attrs_get(ds->attrs, "fn")->fn;
}

static bool is_parallel(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "num_parallel_calls", 0) != 0;
}

static enum stk_status map_infer(struct stk_dataset *ds, struct stk_err *err)
{
    struct stk_fn *fn = stk_arg_fn(ds, "fn", 0, err);
    if (!fn) {
        return STK_EINVAL;
    }
    ds->specs = stk_fn_result(fn);
    return ds->specs ? STK_OK : stk_err_nomem(err);
}

static int64_t map_cardinality(const struct stk_dataset *ds)
{
    return stk_dataset_cardinality(ds->in[0]);
}

// Of a map that several became: their seeds, from the attribute "stages" (for each how many inputs
// below, and the seed it was given or -1). NULL with *ok: it is of one.
static uint64_t *seeds_of(const struct stk_iter *it, bool *ok)
{
    const struct stk_attr *t = stk_attrs_get(it->ds->attrs, "stages");
    *ok = true;
    if (!t || t->kind != STK_ATTR_INTS) {
        return NULL;
    }
    size_t n = (size_t)t->count / 2;
    uint64_t *seeds = stk_alloc_array(n + 1, sizeof seeds[0]);
    *ok = seeds != NULL;
    for (size_t i = 0; seeds && i < n; i++) {
        seeds[i] = stk_iter_seed_below(it, t->ints[2 * i], t->ints[2 * i + 1]);
    }
    return seeds;
}

static enum stk_status map_open(struct stk_iter *it, struct stk_err *err)
{
    struct map *m = it->state;
    bool ok;
    m->seeds = seeds_of(it, &ok);
    if (!ok) {
        return stk_err_nomem(err);
    }
    if (is_parallel(it->ds)) {
        return stk_pmap_open(&m->parallel, it, function(it->ds), m->seeds, err);
    }
    return stk_frame_open(&m->frame, function(it->ds), it->run->pool, it->run->options.host, err);
}

static enum stk_status map_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                struct stk_err *err)
{
    struct map *m = it->state;
    if (m->parallel) {
        return stk_pmap_next(m->parallel, want, out, err);
    }
    if (m->used == m->in.n) {
        m->used = 0;
        enum stk_status s = stk_iter_next(it->in[0], want, &m->in, err);
        if (s != STK_OK || m->in.n == 0) {
            m->index += s != STK_OK; // the failed element had its place
            return s;
        }
    }
    if (!stk_block_slice(&m->rest, &m->in, m->used, m->in.n - m->used) ||
        !stk_block_reset(out, it->ds->specs->count)) {
        return stk_err_nomem(err);
    }
    struct stk_eval eval = {.seed = it->seed, .seeds = m->seeds, .first_index = m->index};
    enum stk_status s = stk_frame_run(m->frame, &m->rest, out, &eval, err);
    int64_t done = eval.failed < m->rest.n ? eval.failed + 1 : m->rest.n;
    stk_block_clear(&m->rest);
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
    if (m->parallel) {
        return stk_pmap_skip(m->parallel, n, done, err);
    }
    int64_t held = m->in.n - m->used, from_held = n < held ? n : held, more = 0;
    enum stk_status s = STK_OK;
    m->used += from_held;
    if (n > from_held) {
        s = stk_iter_skip(it->in[0], n - from_held, &more, err);
    }
    *done = from_held + more;
    m->index += *done + (s != STK_OK);
    return s;
}

void stk_iter_hint_group(struct stk_iter *it, int64_t size)
{
    while (it && (it->kind == &stk_dataset_take || it->kind == &stk_dataset_ignore_errors)) {
        it = it->in[0];
    }
    if (it && it->kind == &stk_dataset_map && ((struct map *)it->state)->parallel) {
        stk_pmap_group(((struct map *)it->state)->parallel, size);
    }
}

static void map_close(struct stk_iter *it)
{
    struct map *m = it->state;
    stk_pmap_close(m->parallel);
    stk_frame_close(m->frame);
    stk_free(m->seeds);
    stk_block_free(&m->in);
    stk_block_free(&m->rest);
}

static const struct stk_arg_row map_args[] = {
    {.name = "fn", .type = STK_ARG_OTHER, .is_required = true, .help = "the function"},
    {.name = "num_parallel_calls",
     .type = STK_ARG_INT,
     .is_tunable = true,
     .min = -1,
     .max = INT32_MAX,
     .help = "threads; -1: AUTOTUNE; 0: the thread that pulls"},
    {.name = "deterministic",
     .type = STK_ARG_INT,
     .fallback = -1,
     .min = -1,
     .max = 1,
     .help = "in order; -1: as the run's options say"},
    {.name = "stages", .type = STK_ARG_OTHER, .help = "of a map that a rewrite made of several"},
    {0}};

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
