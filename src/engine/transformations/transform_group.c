// SPDX-License-Identifier: Apache-2.0
// group_by_window: groups elements by a key. A group with window_size elements becomes a dataset
// and goes through a function that returns another dataset, whose elements are the results. At the
// end the remaining groups follow, by key.
//
// Attributes: fn (element to key, an int64 scalar), reduce_fn ((key, dataset of elements) to
// dataset), and window_size INT or window_size_fn (key to int64 scalar).
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/vec.h"
#include "engine/graph/infer.h"
#include "engine/memory/blocks.h"
#include "engine/run/feed.h"
#include "engine/run/iter_open.h"
#include "engine/run/nested.h"
#include "engine/run/pull.h"

#define GROUPS_MAX ((size_t)1 << 24)
#define PARTS_MAX ((size_t)1 << 24)
#define FIRST_BUCKETS 64

struct group {
    int64_t key, size;       // elements that make it complete
    struct stk_blocks parts; // its elements, in order
};

struct groups {
    struct stk_frame *key_frame, *reduce_frame, *size_frame;
    struct stk_feed in;
    struct stk_block keys, joined, part, args;
    struct stk_vec list; // struct group
    int32_t *buckets;    // open addressing: index + 1 in `list`
    size_t bucket_count;
    int64_t index;        // of the next element at the input
    size_t flushed;       // groups flushed at the end
    bool at_end, is_open; // is_open: results of a group come from input 1
    uint64_t emitted;
    int64_t window_size; // unless a function returns it
};

static struct stk_fn *fn_of(const struct stk_dataset *ds, const char *name)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, name);
    return t && t->kind == STK_ATTR_FN ? t->fn : NULL;
}

static bool gives_int(const struct stk_fn *fn)
{
    return fn->n_out == 1 && fn->specs[fn->out[0]].dtype == STK_DT_I64 &&
           fn->specs[fn->out[0]].shape.rank <= 0;
}

static enum stoker_status group_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    struct stk_fn *key = stk_arg_fn(ds, "fn", 0, err), *reduce = fn_of(ds, "reduce_fn");
    struct stk_fn *size = fn_of(ds, "window_size_fn");
    if (!key) {
        return STOKER_EINVAL;
    }
    const struct stk_spec number = {.dtype = STK_DT_I64};
    const struct stk_spec group = {.dtype = STK_DT_DATASET, .nested = ds->in[0]->specs};
    bool takes_key = !size || (size->n_in == 1 && stk_arg_fn_takes(size, 0, &number));
    if (!gives_int(key) || !takes_key || (size && !gives_int(size))) {
        return stk_err_set(err, STOKER_EINVAL,
                           "group_by_window: keys and window sizes must be int64 scalars");
    }
    if (!size && !stk_attrs_get(ds->attrs, "window_size")) {
        return stk_err_set(err, STOKER_EINVAL,
                           "group_by_window: needs window_size or window_size_fn");
    }
    if (!reduce || reduce->n_in != 2 || !stk_arg_fn_takes(reduce, 0, &number) ||
        !stk_arg_fn_takes(reduce, 1, &group)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "group_by_window: reduce_fn must take a key and a dataset");
    }
    ds->specs = stk_nest_specs(ds, reduce, err);
    return ds->specs ? STOKER_OK : STOKER_EINVAL;
}

static enum stoker_status group_open(struct stk_iter *it, struct stoker_err *err)
{
    struct groups *g = it->state;
    struct stk_pool *pool = it->run->pool;
    struct stk_host *host = it->run->options.host;
    g->window_size = stk_attrs_int(it->ds->attrs, "window_size", 1);
    it->n_in = 2; // one more than the dataset has
    stk_vec_init(&g->list, sizeof(struct group), GROUPS_MAX);
    enum stoker_status s = stk_frame_open(&g->key_frame, fn_of(it->ds, "fn"), pool, host, err);
    if (s == STOKER_OK) {
        s = stk_frame_open(&g->reduce_frame, fn_of(it->ds, "reduce_fn"), pool, host, err);
    }
    if (s == STOKER_OK && fn_of(it->ds, "window_size_fn")) {
        s = stk_frame_open(&g->size_frame, fn_of(it->ds, "window_size_fn"), pool, host, err);
    }
    return s;
}

// A block of one element: the key, then perhaps a dataset.
static enum stoker_status key_block(struct stk_iter *it, int64_t key, int count,
                                    struct stoker_err *err)
{
    struct groups *g = it->state;
    struct stk_shape scalar = {0};
    if (!stk_block_reset(&g->args, count)) {
        return stk_err_nomem(err);
    }
    if (!stk_col_uniform(&g->args.cols[0], it->run->pool, STK_DT_I64, &scalar, 1)) {
        return stk_stage_no_memory(it, err);
    }
    *(int64_t *)g->args.cols[0].data = key;
    g->args.n = 1;
    return STOKER_OK;
}

static enum stoker_status run_one(struct stk_iter *it, struct stk_frame *frame,
                                  struct stk_block *out, struct stoker_err *err)
{
    struct groups *g = it->state;
    struct stk_eval eval = {.seed = it->seed, .first_index = (int64_t)g->emitted};
    if (!stk_block_reset(out, 1)) {
        return stk_err_nomem(err);
    }
    enum stoker_status s = stk_frame_run(frame, &g->args, out, &eval, err);
    if (s == STOKER_OK && frame == g->size_frame) {
        stk_eval_want_scalars(&eval, out, "group_by_window: window_size_fn");
    }
    if (s == STOKER_OK && eval.failed == 0) {
        *err = eval.failure;
        s = eval.failure.code;
    }
    stk_block_clear(&g->args);
    return s;
}

static enum stoker_status size_of_group(struct stk_iter *it, int64_t key, int64_t *size,
                                        struct stoker_err *err)
{
    struct groups *g = it->state;
    enum stoker_status s = STOKER_OK;
    *size = g->window_size;
    if (g->size_frame) {
        s = key_block(it, key, 1, err);
        s = s == STOKER_OK ? run_one(it, g->size_frame, &g->part, err) : s;
        if (s == STOKER_OK) {
            *size = *(int64_t *)stk_col_at(&g->part.cols[0], 0);
        }
        stk_block_clear(&g->part);
    }
    if (s == STOKER_OK && *size < 1) {
        return stk_err_set(err, STOKER_EINVAL, "group_by_window: window size of key %lld is %lld",
                           (long long)key, (long long)*size);
    }
    return s;
}

static size_t hash(int64_t key, size_t count)
{
    return (size_t)((uint64_t)key * 0x9e3779b97f4a7c15u >> 32) & (count - 1);
}

static bool grow_buckets(struct groups *g)
{
    size_t count = g->bucket_count ? 2 * g->bucket_count : FIRST_BUCKETS;
    int32_t *buckets = stk_alloc_zero(count, sizeof buckets[0]);
    for (size_t i = 0; buckets && i < g->list.count; i++) {
        size_t at = hash(((struct group *)stk_vec_at(&g->list, i))->key, count);
        while (buckets[at]) {
            at = (at + 1) & (count - 1);
        }
        buckets[at] = (int32_t)i + 1;
    }
    if (buckets) {
        stk_free(g->buckets);
        g->buckets = buckets;
        g->bucket_count = count;
    }
    return buckets != NULL;
}

// The key's group, created if missing.
static enum stoker_status find(struct stk_iter *it, int64_t key, struct group **out,
                               struct stoker_err *err)
{
    struct groups *g = it->state;
    if (2 * g->list.count >= g->bucket_count && !grow_buckets(g)) {
        return stk_err_nomem(err);
    }
    size_t at = hash(key, g->bucket_count);
    for (; g->buckets[at]; at = (at + 1) & (g->bucket_count - 1)) {
        *out = stk_vec_at(&g->list, (size_t)g->buckets[at] - 1);
        if ((*out)->key == key) {
            return STOKER_OK;
        }
    }
    int64_t size;
    enum stoker_status s = size_of_group(it, key, &size, err);
    if (s != STOKER_OK) {
        return s;
    }
    *out = stk_vec_push(&g->list);
    if (!*out) {
        return stk_err_nomem(err);
    }
    (*out)->key = key;
    stk_blocks_init(&(*out)->parts, PARTS_MAX);
    (*out)->size = size;
    g->buckets[at] = (int32_t)g->list.count;
    return STOKER_OK;
}

// Runs the group's elements through the function; the result becomes input 1.
static enum stoker_status emit(struct stk_iter *it, struct group *group, struct stoker_err *err)
{
    struct groups *g = it->state;
    struct stk_dataset *ds = NULL;
    struct stk_iter *inner = NULL;
    struct stk_shape scalar = {0};
    enum stoker_status s = stk_blocks_join(&group->parts, it->run->pool, &g->joined)
                               ? STOKER_OK
                               : stk_stage_no_memory(it, err);
    if (s == STOKER_OK) {
        s = stk_dataset_of_block(&ds, &g->joined, 0, g->joined.count, it->ds->in[0]->specs, err);
    }
    stk_block_clear(&g->joined);
    s = s == STOKER_OK ? key_block(it, group->key, 2, err) : s;
    if (s == STOKER_OK) {
        struct stk_buf *b = stk_dataset_buf(ds);
        struct stk_col *c = &g->args.cols[1];
        bool ok = b && stk_col_uniform(c, it->run->pool, STK_DT_DATASET, &scalar, 1) &&
                  stk_keep_add(&c->keep, b);
        if (ok) {
            *(struct stk_dataset **)c->data = ds;
        }
        stk_buf_drop(b);
        s = ok ? run_one(it, g->reduce_frame, &g->part, err) : stk_err_nomem(err);
    }
    if (s == STOKER_OK) {
        s = stk_iter_open_given(&inner, it, *(struct stk_dataset **)stk_col_at(&g->part.cols[0], 0),
                                g->emitted++, false, err);
    }
    if (s == STOKER_OK) {
        stk_iter_exchange(it, 1, inner);
        g->is_open = true;
    }
    stk_block_clear(&g->part);
    stk_block_clear(&g->args);
    stk_dataset_drop(ds);
    return s;
}

// Computes the keys of the input's next elements.
static enum stoker_status pull(struct stk_iter *it, struct stoker_err *err)
{
    struct groups *g = it->state;
    enum stoker_status s = stk_feed_fill(&g->in, it->in[0], 256, err);
    if (s != STOKER_OK || stk_feed_left(&g->in) == 0) {
        g->at_end = s == STOKER_OK;
        g->index += s != STOKER_OK;
        return s;
    }
    if (!stk_block_reset(&g->keys, 1) ||
        !stk_block_slice(&g->part, &g->in.block, g->in.used, stk_feed_left(&g->in))) {
        return stk_err_nomem(err);
    }
    struct stk_eval eval = {.seed = it->seed, .first_index = g->index};
    s = stk_frame_run(g->key_frame, &g->part, &g->keys, &eval, err);
    if (s == STOKER_OK) {
        stk_eval_want_scalars(&eval, &g->keys, "group_by_window: key_func");
    }
    if (s == STOKER_OK && eval.failed == 0) {
        *err = eval.failure;
        s = eval.failure.code;
        g->in.used++;
        g->index++;
    }
    stk_block_clear(&g->part);
    return s;
}

// Adds elements to groups until one is complete. Neighbors with the same key go together.
static enum stoker_status distribute(struct stk_iter *it, struct group **full,
                                     struct stoker_err *err)
{
    struct groups *g = it->state;
    *full = NULL;
    while (g->keys.n > 0 && !*full) {
        int64_t key = *(int64_t *)stk_col_at(&g->keys.cols[0], 0), n = 1;
        struct group *group = NULL;
        enum stoker_status s = find(it, key, &group, err);
        int64_t capacity = s == STOKER_OK ? group->size - group->parts.n : 1;
        while (n < capacity && n < g->keys.n &&
               *(int64_t *)stk_col_at(&g->keys.cols[0], n) == key) {
            n++;
        }
        bool ok = s == STOKER_OK && stk_block_slice(&g->part, &g->in.block, g->in.used, n) &&
                  stk_blocks_add(&group->parts, &g->part);
        g->in.used += n;
        g->index += n;
        ok = stk_block_slice(&g->part, &g->keys, n, g->keys.n - n) && ok;
        stk_block_move(&g->keys, &g->part);
        stk_block_clear(&g->part);
        if (s != STOKER_OK || !ok) {
            return s != STOKER_OK ? s : stk_err_nomem(err);
        }
        *full = group->parts.n >= group->size ? group : NULL;
    }
    return STOKER_OK;
}

static int by_key(const void *a, const void *b)
{
    int64_t x = ((const struct group *)a)->key, y = ((const struct group *)b)->key;
    return (x > y) - (x < y);
}

// The next remaining group, by key; NULL: none.
static struct group *left_over(struct groups *g)
{
    if (g->flushed == 0) {
        stk_sort(g->list.items, g->list.count, sizeof(struct group), by_key);
    }
    while (g->flushed < g->list.count) {
        struct group *group = stk_vec_at(&g->list, g->flushed++);
        if (group->parts.n > 0) {
            return group;
        }
    }
    return NULL;
}

static enum stoker_status next_group(struct stk_iter *it, struct stoker_err *err)
{
    struct groups *g = it->state;
    struct group *group = NULL;
    while (!group && !g->at_end) {
        enum stoker_status s = g->keys.n > 0 ? STOKER_OK : pull(it, err);
        s = s == STOKER_OK ? distribute(it, &group, err) : s;
        if (s != STOKER_OK) {
            return s;
        }
    }
    group = group ? group : left_over(g);
    return group ? emit(it, group, err) : STOKER_OK;
}

static enum stoker_status group_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct groups *g = it->state;
    for (;;) {
        enum stoker_status s = g->is_open ? STOKER_OK : next_group(it, err);
        if (s != STOKER_OK || !g->is_open) {
            return s;
        }
        s = stk_iter_next(it->in[1], want, out, err);
        if (s != STOKER_OK || out->n > 0) {
            return s;
        }
        g->is_open = false;
    }
}

static void group_close(struct stk_iter *it)
{
    struct groups *g = it->state;
    stk_frame_close(g->key_frame);
    stk_frame_close(g->reduce_frame);
    stk_frame_close(g->size_frame);
    stk_feed_free(&g->in);
    for (size_t i = 0; i < g->list.count; i++) {
        struct group *group = stk_vec_at(&g->list, i);
        stk_blocks_free(&group->parts);
    }
    stk_vec_deinit(&g->list);
    stk_free(g->buckets);
    stk_block_free(&g->keys);
    stk_block_free(&g->joined);
    stk_block_free(&g->part);
    stk_block_free(&g->args);
}

static const struct stk_arg_row group_args[] = {
    STK_ARG("fn", OTHER, "element to key", .is_required = true),
    STK_ARG("reduce_fn", OTHER, "(key, dataset of elements) to dataset", .is_required = true),
    STK_ARG("window_size", INT, "elements per group", .fallback = 1, .min = 1, .max = INT64_MAX),
    STK_ARG("window_size_fn", OTHER, "key to elements of its group"),
    {0}};

const struct stk_dataset_kind stk_dataset_group_by_window = {
    .name = "group_by_window",
    .summary = "Groups elements by key and applies a function to each group",
    .holds_less_with = "smaller windows",
    .role = STK_DS_NESTED,
    .args = group_args,
    .infer = group_infer,
    .state_bytes = sizeof(struct groups),
    .open = group_open,
    .next = group_next,
    .close = group_close};
