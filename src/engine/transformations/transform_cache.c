// SPDX-License-Identifier: Apache-2.0
// cache: keeps the first complete pass over the input in memory, for later passes of the same
// iterator (repeat) and of others over the same dataset. An abandoned pass keeps nothing, but every
// pass reads the input as in the first epoch (engine/run/iter_open.c), so random stages below give
// the same elements in the next pass, whether kept or not. Only two places of one pipeline that
// read the same cache at the same time see different draws, until one of them is done.
//
// Kept memory counts against the budget of the run that filled the cache, and is read-only for
// consumers. With a filename it is a file, filename.stkidx (transform_cache_file.c). Small blocks
// are joined on arrival, like the digits of a binary counter, because a block of one number may
// occupy a buffer for a thousand. A cache that would take most of the budget is dropped: elements
// pass through, the next pass reads the input again, and the stage's statistics say that memory was
// short.
//
// After a source of tensors nothing is kept: its elements are views of memory that lives as long as
// the dataset, in larger blocks than a cache would return.
//
// A failed element isn't kept: the pass continues, but the next one reads the input again.
#include <pthread.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/vec.h"
#include "engine/run/holders.h"
#include "engine/run/pull.h"
#include "engine/transformations/cache_file.h"

#define BLOCKS_MAX ((size_t)1 << 28)
#define TAKE_MAX 4096            // most elements of a block taken
#define JOIN_BYTES (256u << 10)  // a block of this size isn't joined
#define KEPT_PARTS ((uint64_t)3) // takes at most 3/4 of the budget; other stages need some
#define KEPT_OF ((uint64_t)4)

struct kept { // immutable once attached to the dataset
    int refs;
    struct stk_vec blocks; // struct stk_block
    uint64_t bytes;        // of the elements
};

struct cache {
    struct stk_cache_file *file; // NULL: in memory
    struct kept *source;         // read from here; NULL: read the input
    struct kept *filling;
    size_t at;    // block
    int64_t used; // elements of it
    bool has_begun, has_failed;
    bool passes; // passes the input's elements through
};

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER; // guards every cache's ds->shared

static void kept_drop(struct kept *k)
{
    if (!k || __atomic_sub_fetch(&k->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    STK_ASSERT(k->refs == 0);
    for (size_t i = 0; i < k->blocks.count; i++) {
        stk_block_free(stk_vec_at(&k->blocks, i));
    }
    stk_vec_deinit(&k->blocks);
    stk_free(k);
}

static void cache_forget(struct stk_dataset *ds)
{
    kept_drop(ds->shared);
}

static enum stoker_status begin(struct stk_iter *it, struct stoker_err *err)
{
    struct cache *c = it->state;
    STK_ASSERT(!c->has_begun && !c->source && !c->filling);
    c->has_begun = true;
    pthread_mutex_lock(&shared_lock);
    c->source = it->ds->shared;
    if (c->source) {
        __atomic_add_fetch(&c->source->refs, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&shared_lock);
    if (!c->source) {
        c->filling = stk_alloc_zero(1, sizeof *c->filling);
        if (!c->filling) {
            return stk_err_nomem(err);
        }
        c->filling->refs = 1;
        stk_vec_init(&c->filling->blocks, sizeof(struct stk_block), BLOCKS_MAX);
    }
    return STOKER_OK;
}

// Memory shared by readers must not be written.
static void make_readonly(struct stk_block *b)
{
    for (int k = 0; k < b->count; k++) {
        struct stk_buf *data = b->cols[k].data_buf;
        if (data && !__atomic_load_n(&data->is_readonly, __ATOMIC_RELAXED)) {
            __atomic_store_n(&data->is_readonly, true, __ATOMIC_RELAXED);
        }
    }
}

// Copies strings: views may point into much larger memory.
static bool own_strings(struct stk_iter *it, struct stk_block *b)
{
    bool ok = true;
    for (int k = 0; ok && k < b->count; k++) {
        ok = b->cols[k].dtype != STK_DT_STRING || stk_col_own(&b->cols[k], it->run->pool);
    }
    return ok;
}

// Joins the last blocks while both are small and the one before isn't much larger than the last.
// Without memory for that, they stay separate.
static void join_small(struct stk_iter *it, struct stk_vec *blocks)
{
    while (blocks->count >= 2) {
        struct stk_block *a = stk_vec_at(blocks, blocks->count - 2), *b = a + 1, joined = {0};
        const struct stk_block *both[2] = {a, b};
        if (a->n / 2 > b->n || stk_block_bytes(a) >= JOIN_BYTES ||
            stk_block_bytes(b) >= JOIN_BYTES) {
            return;
        }
        if (!stk_block_concat(&joined, it->run->pool, both, 2) || !own_strings(it, &joined)) {
            stk_block_free(&joined);
            return;
        }
        STK_ASSERT(joined.n == a->n + b->n);
        make_readonly(&joined);
        stk_block_free(a);
        stk_block_free(b);
        *a = joined;
        blocks->count--;
    }
}

// False: no memory (see *err), or the cache would become too large.
static bool keep(struct stk_iter *it, struct stk_block *b, struct stoker_err *err)
{
    struct kept *kept = ((struct cache *)it->state)->filling;
    uint64_t most = stk_pool_stats_of(it->run->pool).cap_bytes / KEPT_OF * KEPT_PARTS;
    kept->bytes += stk_block_bytes(b);
    stk_holders_note(it, kept->bytes);
    if (kept->bytes > most || !own_strings(it, b)) {
        __atomic_store_n(&it->stats.keeps_nothing, 1, __ATOMIC_RELAXED);
        return false;
    }
    make_readonly(b);
    struct stk_block *own = stk_vec_push(&kept->blocks);
    if (!own || !stk_block_share(own, b)) {
        (void)stk_err_nomem(err);
        return false;
    }
    join_small(it, &kept->blocks);
    return true;
}

// The input has ended: publishes the cache for all iterators.
static void publish(struct stk_iter *it)
{
    struct cache *c = it->state;
    if (!c->has_failed) {
        pthread_mutex_lock(&shared_lock);
        if (!it->ds->shared) {
            it->ds->shared = c->filling;
            c->filling = NULL;
        }
        pthread_mutex_unlock(&shared_lock);
    }
    kept_drop(c->filling);
    c->filling = NULL;
}

static enum stoker_status fill_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    struct cache *c = it->state;
    enum stoker_status s = stk_iter_next(it->in[0], want < TAKE_MAX ? want : TAKE_MAX, out, err);
    if (!c->filling) {
        return s;
    }
    if (s != STOKER_OK) {
        c->has_failed = true;
        return s;
    }
    if (out->n == 0) {
        publish(it);
        return STOKER_OK;
    }
    err->code = STOKER_OK;
    if (!keep(it, out, err)) {
        kept_drop(c->filling);
        c->filling = NULL;
        return err->code; // STOKER_OK: elements pass through, and the cache stays empty
    }
    return STOKER_OK;
}

static bool lies_in_memory(const struct stk_dataset *ds)
{
    bool is_tensors = ds->kind == &stk_dataset_tensor_slices || ds->kind == &stk_dataset_tensors;
    return is_tensors && stk_attrs_int(ds->attrs, "is_mapped", 0) == 0;
}

static enum stoker_status cache_open(struct stk_iter *it, struct stoker_err *err)
{
    struct cache *c = it->state;
    const char *name = stk_attrs_text(it->ds->attrs, "filename", "");
    char path[4096];
    if (!*name) {
        ((struct cache *)it->state)->passes = lies_in_memory(it->ds->in[0]);
        return STOKER_OK;
    }
    int n = snprintf(path, sizeof path, "%s.stkidx", name);
    if (n < 0 || (size_t)n >= sizeof path) {
        return stk_err_set(err, STOKER_EINVAL, "cache: filename is too long");
    }
    return stk_cache_file_open(&c->file, it, path, false, false, err);
}

static enum stoker_status cache_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct cache *c = it->state;
    if (c->file) {
        return stk_cache_file_next(c->file, want, out, err);
    }
    if (c->passes) {
        return stk_iter_next(it->in[0], want, out, err);
    }
    enum stoker_status s = c->has_begun ? STOKER_OK : begin(it, err);
    if (s != STOKER_OK || !c->source) {
        return s == STOKER_OK ? fill_next(it, want, out, err) : s;
    }
    if (c->at == c->source->blocks.count) {
        return STOKER_OK;
    }
    const struct stk_block *b = stk_vec_at(&c->source->blocks, c->at);
    int64_t left = b->n - c->used, n = want < left ? want : left;
    STK_ASSERT(left > 0);
    if (!stk_block_slice(out, b, c->used, n)) {
        return stk_err_nomem(err);
    }
    c->used += n;
    if (c->used == b->n) {
        c->at++;
        c->used = 0;
    }
    return STOKER_OK;
}

static enum stoker_status cache_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                     struct stoker_err *err)
{
    struct cache *c = it->state;
    if (c->file) {
        return stk_cache_file_skip(c->file, n, done, err);
    }
    if (c->passes) {
        return stk_iter_skip(it->in[0], n, done, err);
    }
    enum stoker_status s = c->has_begun ? STOKER_OK : begin(it, err);
    struct stk_block block = {0};
    while (s == STOKER_OK && *done < n) {
        if (!c->source) {
            s = fill_next(it, n - *done, &block, err);
            *done += block.n;
            if (block.n == 0) {
                break;
            }
            stk_block_clear(&block);
            continue;
        }
        if (c->at == c->source->blocks.count) {
            break;
        }
        const struct stk_block *b = stk_vec_at(&c->source->blocks, c->at);
        int64_t left = b->n - c->used, by = n - *done < left ? n - *done : left;
        c->used += by;
        *done += by;
        if (c->used == b->n) {
            c->at++;
            c->used = 0;
        }
    }
    stk_block_free(&block);
    return s;
}

static void cache_close(struct stk_iter *it)
{
    struct cache *c = it->state;
    stk_cache_file_close(c->file);
    kept_drop(c->source);
    kept_drop(c->filling);
}

static const struct stk_arg_row cache_args[] = {
    STK_ARG("filename", TEXT, "file for the elements; empty: memory"), {0}};

const struct stk_dataset_kind stk_dataset_cache = {
    .name = "cache",
    .summary = "Caches elements in memory or a file",
    .holds_less_with = "a cache file, or caching before the stage that makes elements large",
    .role = STK_DS_CACHE,
    .args = cache_args,
    .infer = stk_dataset_like_input,
    .cardinality = stk_dataset_as_many,
    .state_bytes = sizeof(struct cache),
    .open = cache_open,
    .next = cache_next,
    .skip = cache_skip,
    .close = cache_close,
    .forget = cache_forget};
