// SPDX-License-Identifier: Apache-2.0
// Iterators: opening a tree of them, pulling, skipping, closing; what a run shares.
#include "data/graph/dataset.h"

#include <stddef.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/thread.h"
#include "data/run/permits.h"
#include "data/run/memory_wait.h"
#include "data/run/ring.h"
#include "data/run/aggregate.h"
#include "data/run/tuner.h"

#define SKIP_BLOCK 4096
#define RAM_FLOOR ((size_t)64 << 20)

uint64_t stk_path_mix(uint64_t path, uint64_t part)
{
    return stk_hash_u64(path * 0x9e3779b97f4a7c15u + part + 0x632be59bd9b4e019u);
}

uint64_t stk_iter_input_path(const struct stk_iter *it, int i)
{
    uint64_t path = i == 0 ? it->path : stk_path_mix(it->path, (uint64_t)i);
    for (int k = -1; i == 0 && k < it->ds->hops; k++) {
        path = stk_path_mix(path, 0);
    }
    return path;
}

static uint64_t seed_at(const struct stk_run *run, uint64_t path, uint64_t epoch, int64_t seed)
{
    uint64_t base = seed >= 0 ? stk_hash_u64((uint64_t)seed + 1) : run->seed ^ path;
    return stk_path_mix(base, epoch);
}

uint64_t stk_iter_seed_below(const struct stk_iter *it, int64_t hops, int64_t seed)
{
    uint64_t path = it->path;
    for (int64_t k = 0; k < hops; k++) {
        path = stk_path_mix(path, 0);
    }
    return seed_at(it->run, path, it->epoch, seed);
}

static size_t half_of_memory(void)
{
    long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t half = pages > 0 && size > 0 ? (size_t)pages / 2 * (size_t)size : RAM_FLOOR;
    return half < RAM_FLOOR ? RAM_FLOOR : half;
}

static uint64_t drawn_seed(void)
{
    uint64_t seed;
    struct timespec t;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) {
        return seed;
    }
    clock_gettime(CLOCK_REALTIME, &t);
    return stk_hash_u64((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
}

enum stk_status stk_run_open(struct stk_run **out, const struct stk_run_options *options,
                             struct stk_err *err)
{
    *out = NULL;
    struct stk_run *run = stk_alloc_zero(1, sizeof *run);
    if (!run) {
        return stk_err_nomem(err);
    }
    run->refs = 1;
    if (options) {
        run->options = *options;
    }
    run->has_cap = run->options.threads > 0;
    if (run->options.threads <= 0) {
        run->options.threads = stk_thread_count();
    }
    run->seed = run->options.has_seed ? run->options.seed : drawn_seed();
    run->pool = stk_pool_open_in(run->options.ram_bytes ? run->options.ram_bytes : half_of_memory(),
                                 run->options.memory);
    if (!run->pool) {
        stk_free(run);
        return stk_err_nomem(err);
    }
    stk_pool_set_wait(run->pool, stk_memory_wait_once, run);
    pthread_mutex_init(&run->permits.lock, NULL);
    pthread_cond_init(&run->permits.freed, NULL);
    pthread_mutex_init(&run->short_lock, NULL);
    pthread_mutex_init(&run->rings_lock, NULL);
    pthread_mutex_init(&run->tree_lock, NULL);
    run->permits.permits = run->options.threads;
    run->forks = stk_fork_count();
    *out = run;
    return STK_OK;
}

struct stk_run *stk_run_hold(struct stk_run *run)
{
    __atomic_add_fetch(&run->refs, 1, __ATOMIC_RELAXED);
    return run;
}

void stk_run_drop(struct stk_run *run)
{
    if (run && __atomic_sub_fetch(&run->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        stk_tuner_close(run->tuner);
        stk_pool_drop(run->pool);
        pthread_mutex_destroy(&run->tree_lock);
        pthread_mutex_destroy(&run->rings_lock);
        pthread_mutex_destroy(&run->short_lock);
        pthread_cond_destroy(&run->permits.freed);
        pthread_mutex_destroy(&run->permits.lock);
        stk_free(run);
    }
}

void stk_run_cancel(struct stk_run *run)
{
    __atomic_store_n(&run->is_cancelled, 1, __ATOMIC_RELEASE);
    if (run->forks != stk_fork_count()) {
        return; // nobody of ours waits in this process
    }
    stk_permits_set(run, 0);
    pthread_mutex_lock(&run->rings_lock);
    for (struct stk_ring *r = run->rings; r; r = r->next) {
        stk_ring_wake(r);
    }
    pthread_mutex_unlock(&run->rings_lock);
}

struct opening { // where in the tree an iterator is
    uint64_t path, place, epoch;
    struct stk_iter *parent;
    bool is_concurrent;
};

static enum stk_status open_at(struct stk_iter **out, struct stk_dataset *ds, struct stk_run *run,
                               const struct opening *at, struct stk_err *err);

static enum stk_status open_inputs(struct stk_iter *it, struct stk_err *err)
{
    const struct stk_dataset *ds = it->ds;
    it->in = stk_alloc_zero((size_t)ds->n_in + 1, sizeof it->in[0]);
    if (!it->in) {
        return stk_err_nomem(err);
    }
    it->n_in = ds->n_in;
    for (int i = 0; i < ds->n_in && !it->kind->opens_inputs; i++) {
        enum stk_status s = stk_iter_open_input(&it->in[i], it, i, it->epoch, err);
        if (s != STK_OK) {
            return s;
        }
    }
    return STK_OK;
}

static enum stk_status open_at(struct stk_iter **out, struct stk_dataset *ds, struct stk_run *run,
                               const struct opening *at, struct stk_err *err)
{
    *out = NULL;
    struct stk_iter *it = stk_alloc_zero(1, sizeof *it);
    if (!it) {
        return stk_err_nomem(err);
    }
    it->kind = ds->kind;
    it->ds = stk_dataset_hold(ds);
    it->run = stk_run_hold(run);
    it->path = at->path;
    it->place = at->place;
    it->epoch = at->epoch;
    it->parent = at->parent;
    it->is_concurrent = at->is_concurrent;
    it->seed = seed_at(run, at->path, at->epoch, ds->seed);
    it->state = stk_alloc_zero(1, ds->kind->state_bytes + 1);
    enum stk_status s = it->state ? open_inputs(it, err) : stk_err_nomem(err);
    if (s == STK_OK && ds->kind->open) {
        s = ds->kind->open(it, err);
    }
    if (s != STK_OK) {
        stk_iter_close(it);
        return s;
    }
    if (!at->parent && at->path == 0) {
        pthread_mutex_lock(&run->tree_lock);
        if (!run->root) {
            __atomic_store_n(&run->root, it, __ATOMIC_RELAXED);
        }
        pthread_mutex_unlock(&run->tree_lock);
    }
    *out = it;
    return STK_OK;
}

enum stk_status stk_iter_open(struct stk_iter **out, struct stk_dataset *ds, struct stk_run *run,
                              uint64_t path, uint64_t epoch, struct stk_err *err)
{
    struct opening at = {.path = path, .place = path, .epoch = epoch};
    return open_at(out, ds, run, &at, err);
}

enum stk_status stk_iter_open_input(struct stk_iter **out, struct stk_iter *it, int i,
                                    uint64_t epoch, struct stk_err *err)
{
    struct opening at = {.path = stk_iter_input_path(it, i),
                         .place = stk_path_mix(it->place, (uint64_t)i),
                         .epoch = epoch,
                         .parent = it,
                         .is_concurrent = it->is_concurrent};
    return open_at(out, it->ds->in[i], it->run, &at, err);
}

#define GIVEN_FROM 16 // numbers of datasets that a function gave, behind those of inputs

enum stk_status stk_iter_open_given(struct stk_iter **out, struct stk_iter *it,
                                    struct stk_dataset *ds, uint64_t number, bool is_concurrent,
                                    struct stk_err *err)
{
    struct opening at = {.path = stk_path_mix(it->path, number + GIVEN_FROM),
                         .place = stk_path_mix(it->place, GIVEN_FROM),
                         .epoch = it->epoch,
                         .parent = it,
                         .is_concurrent = is_concurrent || it->is_concurrent};
    return open_at(out, ds, it->run, &at, err);
}

void stk_iter_close(struct stk_iter *it)
{
    // In a child of fork there are no threads to join, and locks may be held by threads that are
    // not there: the iterator is left as it is.
    if (!it || it->run->forks != stk_fork_count()) {
        return;
    }
    if (__atomic_load_n(&it->run->root, __ATOMIC_RELAXED) == it) {
        pthread_mutex_lock(&it->run->tree_lock);
        __atomic_store_n(&it->run->root, NULL, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&it->run->tree_lock);
    }
    if (it->kind->close && it->state) {
        it->kind->close(it);
    }
    for (int i = 0; i < it->n_in; i++) {
        stk_iter_close(it->in[i]);
    }
    stk_free(it->in);
    stk_free(it->state);
    stk_dataset_drop(it->ds);
    stk_run_drop(it->run);
    stk_free(it);
}

bool stk_status_is_of_element(enum stk_status s)
{
    return s != STK_OK && s != STK_EINTR && s != STK_ENOMEM && s != STK_ELIMIT && s != STK_EBUG;
}

_Static_assert(offsetof(struct stk_stage_stats, threads) == STK_STAGE_COUNTS * sizeof(uint64_t),
               "counts come first");

// What the old tree counted, added to the new tree of the same datasets. Of datasets that a
// function gave there the counts are kept.
static void inherit(struct stk_iter *to, const struct stk_iter *from)
{
    uint64_t *a = (uint64_t *)&to->stats;
    const uint64_t *b = (const uint64_t *)&from->stats;
    for (size_t i = 0; i < STK_STAGE_COUNTS; i++) {
        __atomic_add_fetch(&a[i], __atomic_load_n(&b[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        to->told[i] += from->told[i];
    }
    for (int i = 0; i < to->n_in && i < from->n_in && to->kind == from->kind; i++) {
        if (!to->in[i] && from->in[i] && i >= to->ds->n_in) {
            to->in[i] = stk_aggregate_make(from->in[i], to);
        }
        if (to->in[i] && from->in[i]) {
            inherit(to->in[i], from->in[i]);
        }
    }
}

void stk_iter_exchange(struct stk_iter *it, int i, struct stk_iter *fresh)
{
    struct stk_iter *old = it->in[i];
    pthread_mutex_lock(&it->run->tree_lock);
    if (old && fresh) {
        stk_aggregate_tell(old);
        inherit(fresh, old);
    }
    it->in[i] = fresh;
    if (fresh) {
        fresh->parent = it;
    }
    pthread_mutex_unlock(&it->run->tree_lock);
    stk_iter_close(old);
}

void stk_iter_hint_final(struct stk_iter *it)
{
    const struct stk_dataset_kind *const passing[] = {
        &stk_dataset_prefetch, &stk_dataset_take,    &stk_dataset_skip,         &stk_dataset_shard,
        &stk_dataset_repeat,   &stk_dataset_shuffle, &stk_dataset_ignore_errors};
    while (it) {
        bool passes = false;
        it->is_final = true;
        for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
            passes = passes || it->kind == passing[i];
        }
        it = passes && it->n_in > 0 ? it->in[0] : NULL;
    }
}

static enum stk_status take_pending(struct stk_iter *it, struct stk_err *err)
{
    enum stk_status s = it->pending;
    it->pending = STK_OK;
    *err = it->pending_err;
    return s;
}

// With the policy to skip, an element that failed is left out by the stage where it failed, so that
// stages behind it never see the error.
static bool leaves_out(struct stk_iter *it, enum stk_status s)
{
    __atomic_add_fetch(&it->stats.errors, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&it->run->failures, 1, __ATOMIC_RELAXED);
    if (it->run->options.on_error != STK_ON_ERROR_SKIP || !stk_status_is_of_element(s)) {
        return false;
    }
    __atomic_add_fetch(&it->stats.skipped, 1, __ATOMIC_RELAXED);
    return true;
}

// Names the stage where it went wrong, and the line of the program that made that stage: once.
static void name_stage(const struct stk_iter *it, enum stk_status s, struct stk_err *err)
{
    if (s != STK_EINTR && err && err->contexts == 0 && it->ds->where) {
        stk_err_while(err, "%s, %s", it->kind->name, it->ds->where);
    }
}

STK_HOT static enum stk_status next_of_kind(struct stk_iter *it, int64_t want,
                                            struct stk_block *out, struct stk_err *err)
{
    enum stk_status s;
    // What the root has at hand is handed out within a microsecond: reading clocks would double it.
    bool is_at_hand = !it->parent && !it->run->recorder &&
                      __atomic_load_n(&it->stats.head_ready, __ATOMIC_RELAXED);
    struct stk_iter *before = is_at_hand ? NULL : stk_account_enter(it);
    if (!is_at_hand && !it->parent) {
        __atomic_store_n(&it->run->root_waits, 1, __ATOMIC_RELAXED);
    }
    for (;;) {
        s = it->kind->next(it, want, out, err);
        if (s == STK_OK) {
            break;
        }
        bool is_left_out = leaves_out(it, s);
        name_stage(it, s, err);
        if (out->n > 0) {
            it->pending = is_left_out ? STK_OK : s;
            it->pending_err = *err;
            s = STK_OK;
            break;
        }
        if (!is_left_out) {
            break;
        }
    }
    if (!is_at_hand && !it->parent) {
        __atomic_store_n(&it->run->root_waits, 0, __ATOMIC_RELAXED);
    }
    if (!is_at_hand) {
        stk_account_leave(before, s == STK_OK ? out->n : 0);
    }
    return s;
}

STK_HOT enum stk_status stk_iter_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stk_err *err)
{
    stk_block_clear(out);
    if (it->pending != STK_OK) {
        return take_pending(it, err);
    }
    if (__atomic_load_n(&it->run->is_cancelled, __ATOMIC_ACQUIRE)) {
        return stk_err_set(err, STK_EINTR, "the iterator was cancelled");
    }
    if (it->run->forks != stk_fork_count()) {
        return stk_err_set(
            err, STK_EUSAGE,
            "the iterator was made before fork() and cannot go on in the child; open "
            "another one there");
    }
    enum stk_status s = next_of_kind(it, want, out, err);
    if (s == STK_OK && out->n > 0) {
        __atomic_add_fetch(&it->stats.elements, (uint64_t)out->n, __ATOMIC_RELAXED);
        __atomic_add_fetch(&it->stats.blocks, 1, __ATOMIC_RELAXED);
    }
    return s;
}

enum stk_status stk_iter_skip(struct stk_iter *it, int64_t n, int64_t *done, struct stk_err *err)
{
    *done = 0;
    if (it->pending != STK_OK) {
        return take_pending(it, err);
    }
    if (__atomic_load_n(&it->run->is_cancelled, __ATOMIC_ACQUIRE)) {
        return stk_err_set(err, STK_EINTR, "the iterator was cancelled");
    }
    if (it->kind->skip && !it->run->pulls_to_skip) {
        enum stk_status skipped = it->kind->skip(it, n, done, err);
        if (skipped != STK_OK) {
            name_stage(it, skipped, err);
        }
        return skipped;
    }
    struct stk_block block = {0};
    enum stk_status s = STK_OK;
    while (s == STK_OK && *done < n) {
        int64_t want = n - *done < SKIP_BLOCK ? n - *done : SKIP_BLOCK;
        s = stk_iter_next(it, want, &block, err);
        *done += block.n;
        if (block.n == 0) {
            break;
        }
    }
    stk_block_free(&block);
    return s;
}

enum stk_status stk_iter_at(struct stk_iter *it, const int64_t *index, int64_t n,
                            struct stk_block *out, struct stk_err *err)
{
    stk_block_clear(out);
    return it->kind->at(it, index, n, out, err);
}
