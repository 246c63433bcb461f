// SPDX-License-Identifier: Apache-2.0
// Trees of iterators; see iter_open.h. An iterator holds its run and dataset, and owns its inputs.
// Kinds that open their inputs themselves (repeat, flat_map) store them in it->in.
#include "engine/run/iter_open.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/run/aggregate.h"
#include "engine/run/fork.h"
#include "engine/run/run_open.h"
#include "engine/run/tuner.h"

struct opening { // where in the tree an iterator is
    uint64_t path, place, epoch;
    struct stk_iter *parent;
    bool is_concurrent;
};

static enum stoker_status open_at(struct stk_iter **out, struct stk_dataset *ds,
                                  struct stk_run *run, const struct opening *at,
                                  struct stoker_err *err);

// A stage that keeps elements reads its input as in the first epoch, in every pass. Whether an
// earlier pass completed, so that its elements were kept, depends on memory, errors and how far the
// stages above read ahead; the elements must not.
static uint64_t epoch_of_inputs(const struct stk_iter *it)
{
    enum stk_dataset_role role = it->kind->role;
    return role == STK_DS_CACHE || role == STK_DS_STORE ? 0 : it->epoch;
}

static enum stoker_status open_inputs(struct stk_iter *it, struct stoker_err *err)
{
    const struct stk_dataset *ds = it->ds;
    it->in = stk_alloc_zero((size_t)ds->n_in + 1, sizeof it->in[0]);
    if (!it->in) {
        return stk_err_nomem(err);
    }
    it->n_in = ds->n_in;
    for (int i = 0; i < ds->n_in && !it->kind->opens_inputs; i++) {
        enum stoker_status s = stk_iter_open_input(&it->in[i], it, i, epoch_of_inputs(it), err);
        if (s != STOKER_OK) {
            return s;
        }
    }
    return STOKER_OK;
}

static enum stoker_status open_at(struct stk_iter **out, struct stk_dataset *ds,
                                  struct stk_run *run, const struct opening *at,
                                  struct stoker_err *err)
{
    STK_ASSERT(ds->specs && ds->kind->next);
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
    it->seed = stk_iter_seed_at(run, at->path, at->epoch, ds->seed);
    it->state = stk_alloc_zero(1, ds->kind->state_bytes + 1);
    if (!at->parent && at->path == 0) {
        stk_tuner_recall(run, ds);
    }
    enum stoker_status s = it->state ? open_inputs(it, err) : stk_err_nomem(err);
    if (s == STOKER_OK && ds->kind->open) {
        s = ds->kind->open(it, err);
    }
    if (s != STOKER_OK) {
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
    return STOKER_OK;
}

enum stoker_status stk_iter_open(struct stk_iter **out, struct stk_dataset *ds, struct stk_run *run,
                                 uint64_t path, uint64_t epoch, struct stoker_err *err)
{
    struct opening at = {.path = path, .place = path, .epoch = epoch};
    return open_at(out, ds, run, &at, err);
}

enum stoker_status stk_iter_open_input(struct stk_iter **out, struct stk_iter *it, int i,
                                       uint64_t epoch, struct stoker_err *err)
{
    STK_ASSERT(i >= 0 && i < it->ds->n_in);
    struct opening at = {.path = stk_iter_input_path(it, i),
                         .place = stk_path_mix(it->place, (uint64_t)i),
                         .epoch = epoch,
                         .parent = it,
                         .is_concurrent = it->is_concurrent};
    return open_at(out, it->ds->in[i], it->run, &at, err);
}

#define GIVEN_FROM 16 // numbers of datasets returned by a function, after those of inputs

enum stoker_status stk_iter_open_given(struct stk_iter **out, struct stk_iter *it,
                                       struct stk_dataset *ds, uint64_t number, bool is_concurrent,
                                       struct stoker_err *err)
{
    struct opening at = {.path = stk_path_mix(it->path, number + GIVEN_FROM),
                         .place = stk_path_mix(it->place, GIVEN_FROM),
                         .epoch = it->epoch,
                         .parent = it,
                         .is_concurrent = is_concurrent || it->is_concurrent};
    // possible with a pickle whose function was made for other datasets
    if (!stk_specs_fit(it->ds->specs, ds->specs)) {
        return stk_err_set(
            err, STOKER_EINVAL,
            "%s: the function returned a dataset whose elements differ from its declared spec",
            it->kind->name);
    }
    return open_at(out, ds, it->run, &at, err);
}

void stk_iter_close(struct stk_iter *it)
{
    // A forked child has no threads to join, and threads that don't exist may hold locks: leave the
    // iterator as it is.
    if (!it || it->run->forks != stk_fork_count()) {
        return;
    }
    if (__atomic_load_n(&it->run->root, __ATOMIC_RELAXED) == it) {
        pthread_mutex_lock(&it->run->tree_lock);
        __atomic_store_n(&it->run->root, NULL, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&it->run->tree_lock);
        stk_tuner_keep(it->run, it->ds);
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

_Static_assert(offsetof(struct stk_stage_stats, threads) == STK_STAGE_COUNTS * sizeof(uint64_t),
               "counts come first");

// Adds the old tree's counts to the new tree of the same datasets. Keeps the counts of datasets
// that a function returned.
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
    STK_ASSERT(i >= 0 && i < it->n_in && (!fresh || fresh->run == it->run));
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

void stk_iter_close_concurrent(struct stk_iter *it, struct stk_iter *inner)
{
    STK_ASSERT(!inner || inner->parent == it);
    if (inner) {
        stk_aggregate_leave(it, inner);
        stk_iter_close(inner);
    }
}
