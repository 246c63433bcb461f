// SPDX-License-Identifier: Apache-2.0
// map: runs a function on each element. Functions run on whole blocks, on the pulling thread, or
// with num_parallel_calls on their own threads (transform_map_parallel.c). It has no random access:
// a shuffle after it would have another order with threads than without.
//
// If a batch follows and results have a known shape, a batch is made in pieces: pulls as many
// elements as the function takes at once and writes their results to their place in the batch. So
// the source's data are still in the cache, and its memory is reused for the next ones.
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/graph/infer.h"
#include "engine/run/pull.h"
#include "engine/transformations/map_parallel.h"

#define GROUP_BYTES_MAX ((int64_t)64 << 20) // a short batch gets the memory of a whole one
#define GROUP_BUDGET_PARTS 20

struct map {
    struct stk_pmap *parallel; // NULL: runs on the pulling thread
    struct stk_frame *frame;
    struct stk_block in, rest;
    int64_t used;  // processed elements of `in`
    int64_t index; // of the next element at the input
    int64_t group; // elements of a batch made in pieces; 0: none
    bool at_end;   // the input has ended, after elements that were returned
    struct stk_block piece, whole;
    struct stk_fn *fn;
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

static enum stoker_status map_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    struct stk_fn *fn = stk_arg_fn(ds, "fn", 0, err);
    if (!fn) {
        return STOKER_EINVAL;
    }
    ds->specs = stk_fn_result(fn);
    return ds->specs ? STOKER_OK : stk_err_nomem(err);
}

// Seeds of a map merged from several, from the attribute "stages" (for each how many inputs below,
// and its own seed or -1). NULL with *ok: not merged.
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

static enum stoker_status map_open(struct stk_iter *it, struct stoker_err *err)
{
    struct map *m = it->state;
    bool ok;
    m->fn = function(it->ds);
    m->seeds = seeds_of(it, &ok);
    if (!ok) {
        return stk_err_nomem(err);
    }
    if (is_parallel(it->ds)) {
        return stk_pmap_open(&m->parallel, it, m->fn, m->seeds, err);
    }
    return stk_frame_open(&m->frame, m->fn, it->run->pool, it->run->options.host, err);
}

// Room for the results of n elements. False: no memory.
static bool make_capacity(struct stk_iter *it, int64_t n)
{
    struct map *m = it->state;
    const struct stk_fn *fn = m->fn;
    bool ok = stk_block_reset(&m->whole, fn->n_out);
    for (int o = 0; ok && o < fn->n_out; o++) {
        const struct stk_spec *spec = &fn->specs[fn->out[o]];
        ok = stk_col_uniform(&m->whole.cols[o], it->run->pool, spec->dtype, &spec->shape, n);
    }
    if (!ok) {
        stk_block_clear(&m->whole);
    }
    return ok;
}

// Runs the function on `n` elements of m->in and puts the results after those in m->whole. A
// failure belongs to the element after these.
static enum stoker_status run_piece(struct stk_iter *it, int64_t n, struct stoker_err *err)
{
    struct map *m = it->state;
    STK_ASSERT(n > 0 && m->used + n <= m->in.n);
    struct stk_eval eval = {.seed = it->seed, .seeds = m->seeds, .first_index = m->index};
    bool ok = stk_block_slice(&m->rest, &m->in, m->used, n) &&
              stk_block_slice(&m->piece, &m->whole, m->whole.n, n);
    for (int o = 0; ok && o < m->piece.count; o++) {
        stk_keep_drop(m->piece.cols[o].keep); // of previous pieces
        m->piece.cols[o].keep = NULL;
        m->piece.cols[o].is_bound = true;
    }
    enum stoker_status s =
        ok ? stk_frame_run(m->frame, &m->rest, &m->piece, &eval, err) : stk_err_nomem(err);
    for (int o = 0; s == STOKER_OK && o < m->piece.count; o++) {
        if (!stk_keep_join(&m->whole.cols[o].keep, m->piece.cols[o].keep)) {
            s = stk_err_nomem(err);
        }
    }
    stk_block_clear(&m->rest);
    stk_block_clear(&m->piece);
    if (s != STOKER_OK) {
        m->used = m->in.n;
        return s;
    }
    STK_ASSERT(eval.failed >= 0 && eval.failed <= n);
    bool has_failed = eval.failed < n;
    m->whole.n += eval.failed;
    m->used += eval.failed + has_failed;
    m->index += eval.failed + has_failed;
    if (has_failed) {
        *err = eval.failure;
        return eval.failure.code;
    }
    return STOKER_OK;
}

// Up to `want` elements, piece by piece, until the input ends or one fails.
static enum stoker_status next_pieces(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct map *m = it->state;
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK && m->whole.n < want && !m->at_end) {
        int64_t left = want - m->whole.n, chunk = stk_frame_chunk(m->frame);
        if (m->used == m->in.n) {
            m->used = 0;
            s = stk_iter_next(it->in[0], left < chunk ? left : chunk, &m->in, err);
            m->index += s != STOKER_OK; // the failed element has a position
            m->at_end = s == STOKER_OK && m->in.n == 0;
        }
        int64_t held = m->in.n - m->used;
        if (held > 0) {
            s = run_piece(it, held < left ? held : left, err);
        }
    }
    for (int o = 0; o < m->whole.count; o++) {
        m->whole.cols[o].n = m->whole.n;
    }
    if (m->whole.n > 0) {
        stk_block_move(out, &m->whole);
    }
    stk_block_clear(&m->whole);
    return s;
}

static enum stoker_status map_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                   struct stoker_err *err)
{
    struct map *m = it->state;
    if (m->parallel) {
        return stk_pmap_next(m->parallel, want, out, err);
    }
    if (m->at_end) {
        return STOKER_OK;
    }
    if (want <= m->group && want > stk_frame_chunk(m->frame) && make_capacity(it, want)) {
        return next_pieces(it, want, out, err);
    }
    if (m->used == m->in.n) {
        m->used = 0;
        enum stoker_status s = stk_iter_next(it->in[0], want, &m->in, err);
        if (s != STOKER_OK || m->in.n == 0) {
            m->index += s != STOKER_OK; // the failed element has a position
            return s;
        }
    }
    // After a failed element, more may be left than are requested now.
    int64_t left = m->in.n - m->used, n = left < want ? left : want;
    if (!stk_block_slice(&m->rest, &m->in, m->used, n) ||
        !stk_block_reset(out, it->ds->specs->count)) {
        return stk_err_nomem(err);
    }
    struct stk_eval eval = {.seed = it->seed, .seeds = m->seeds, .first_index = m->index};
    enum stoker_status s = stk_frame_run(m->frame, &m->rest, out, &eval, err);
    int64_t done = eval.failed < n ? eval.failed + 1 : n;
    stk_block_clear(&m->rest);
    if (s != STOKER_OK) {
        m->used = m->in.n;
        return s;
    }
    if (eval.failed < n) {
        *err = eval.failure;
        s = eval.failure.code;
    }
    m->used += done;
    m->index += done;
    return s;
}

static enum stoker_status map_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                   struct stoker_err *err)
{
    struct map *m = it->state;
    if (m->parallel) {
        return stk_pmap_skip(m->parallel, n, done, err);
    }
    STK_ASSERT(m->used <= m->in.n);
    int64_t held = m->in.n - m->used, from_held = n < held ? n : held, more = 0;
    enum stoker_status s = STOKER_OK;
    m->used += from_held;
    if (n > from_held) {
        s = stk_iter_skip(it->in[0], n - from_held, &more, err);
    }
    *done = from_held + more;
    m->index += *done + (s != STOKER_OK);
    return s;
}

void stk_iter_hint_group(struct stk_iter *it, int64_t size)
{
    while (it && it->kind->keeps_blocks) {
        it = it->in[0];
    }
    if (!it || it->kind != &stk_dataset_map) {
        return;
    }
    struct map *m = it->state;
    if (m->parallel) {
        stk_pmap_group(m->parallel, size);
        return;
    }
    int64_t budget = (int64_t)(stk_pool_stats_of(it->run->pool).cap_bytes / GROUP_BUDGET_PARTS);
    int64_t bytes = stk_fn_result_bytes(m->fn), all;
    budget = budget < GROUP_BYTES_MAX ? budget : GROUP_BYTES_MAX;
    bool fits = bytes > 0 && !__builtin_mul_overflow(size, bytes, &all) && all <= budget;
    m->group = fits ? size : 0;
}

static void map_close(struct stk_iter *it)
{
    struct map *m = it->state;
    stk_pmap_close(m->parallel);
    stk_frame_close(m->frame);
    stk_free(m->seeds);
    stk_block_free(&m->in);
    stk_block_free(&m->rest);
    stk_block_free(&m->piece);
    stk_block_free(&m->whole);
}

static const struct stk_arg_row map_args[] = {
    STK_ARG("fn", OTHER, "the function", .is_required = true),
    STK_ARG("num_parallel_calls", INT, "threads; -1: AUTOTUNE; 0: the consumer's thread",
            .is_tunable = true, .min = -1, .max = INT32_MAX),
    STK_ARG("deterministic", INT, "keep the order; -1: from the run's options", .fallback = -1,
            .min = -1, .max = 1),
    STK_ARG("stages", INTS, "set if a rewrite merged several maps", .is_internal = true),
    {0}};

const struct stk_dataset_kind stk_dataset_map = {.name = "map",
                                                 .summary = "Applies a function to each element",
                                                 .holds_less_with = "a smaller num_parallel_calls",
                                                 .role = STK_DS_FUNCTION,
                                                 .args = map_args,
                                                 .infer = map_infer,
                                                 .cardinality = stk_dataset_as_many,
                                                 .state_bytes = sizeof(struct map),
                                                 .open = map_open,
                                                 .next = map_next,
                                                 .skip = map_skip,
                                                 .close = map_close};
