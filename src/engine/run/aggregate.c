// SPDX-License-Identifier: Apache-2.0
// Aggregates; see aggregate.h. Limit: with more than TOLD_MAX datasets open at once, only the
// newest count while they run; the others count when they close.
#include "engine/run/aggregate.h"

#include "base/alloc.h"
#include "base/assert.h"

#define TOLD_MAX 256
#define EACH UINT32_MAX         // pullers: one per dataset
#define CLOSES (UINT32_MAX - 1) // pullers: none any more

struct stk_iter *stk_aggregate_make(const struct stk_iter *of, struct stk_iter *parent)
{
    struct stk_iter *t = stk_alloc_zero(1, sizeof *t);
    struct stk_iter **in = t ? stk_alloc_zero((size_t)of->n_in + 1, sizeof in[0]) : NULL;
    if (!in) {
        stk_free(t);
        return NULL;
    }
    t->kind = of->kind;
    t->ds = stk_dataset_hold(of->ds);
    t->run = stk_run_hold(of->run);
    t->in = in;
    t->n_in = of->n_in;
    t->parent = parent;
    t->path = of->path;
    t->place = of->place;
    t->is_aggregate = true;
    for (int i = 0; i < of->n_in; i++) {
        in[i] = of->in[i] ? stk_aggregate_make(of->in[i], t) : NULL;
    }
    return t;
}

static uint32_t read_gauge(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static void add_gauge(uint32_t *to, uint32_t n)
{
    __atomic_store_n(to, read_gauge(to) + n, __ATOMIC_RELAXED);
}

static void forget_gauges(struct stk_iter *t)
{
    struct stk_stage_stats *s = &t->stats;
    __atomic_store_n(&s->threads, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->fill, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->capacity, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < t->n_in; i++) {
        if (t->in[i]) {
            forget_gauges(t->in[i]);
        }
    }
}

static void tell_gauges(struct stk_stage_stats *to, const struct stk_stage_stats *from,
                        uint32_t pullers)
{
    uint32_t own = read_gauge(&from->threads), block = read_gauge(&from->block_max);
    if (own > 0 || pullers == EACH) {
        add_gauge(&to->threads, own > 0 ? own : 1);
    } else if (pullers > 0) {
        __atomic_store_n(&to->threads, pullers, __ATOMIC_RELAXED);
    }
    add_gauge(&to->fill, read_gauge(&from->fill));
    add_gauge(&to->capacity, read_gauge(&from->capacity));
    if (block > read_gauge(&to->block_max)) {
        __atomic_store_n(&to->block_max, block, __ATOMIC_RELAXED);
    }
}

// Adds what `from` counted since the last call. pullers: threads that pull it.
static void tell(struct stk_iter *to, struct stk_iter *from, uint32_t pullers)
{
    if (to->kind != from->kind) {
        return;
    }
    uint64_t *a = (uint64_t *)&to->stats;
    const uint64_t *b = (const uint64_t *)&from->stats;
    for (size_t i = 0; i < STK_STAGE_COUNTS; i++) {
        uint64_t now = __atomic_load_n(&b[i], __ATOMIC_RELAXED);
        STK_ASSERT(now >= from->told[i]);
        __atomic_add_fetch(&a[i], now - from->told[i], __ATOMIC_RELAXED);
        from->told[i] = now;
    }
    if (pullers != CLOSES) {
        tell_gauges(&to->stats, &from->stats, pullers);
    }
    bool has_own = read_gauge(&from->stats.threads) > 0 && pullers != CLOSES;
    for (int i = 0; i < to->n_in && i < from->n_in; i++) {
        if (!to->in[i] && from->in[i]) {
            to->in[i] = stk_aggregate_make(from->in[i], to);
        }
        if (to->in[i] && from->in[i]) {
            tell(to->in[i], from->in[i], has_own ? EACH : pullers);
        }
    }
}

void stk_aggregate_tell(struct stk_iter *it)
{
    struct stk_iter *aggregate =
        it->n_in > 1 && it->in[1] && it->in[1]->is_aggregate ? it->in[1] : NULL;
    if (aggregate && it->concurrent) { // else its gauges stay unchanged
        int n = 0;
        forget_gauges(aggregate);
        for (struct stk_iter *k = it->concurrent; k && n < TOLD_MAX; k = k->concurrent_next, n++) {
            stk_aggregate_tell(k);
            tell(aggregate, k, read_gauge(&it->stats.threads));
        }
    }
    for (int i = 0; i < it->n_in; i++) {
        if (it->in[i] && !it->in[i]->is_aggregate) {
            stk_aggregate_tell(it->in[i]);
        }
    }
}

void stk_aggregate_join(struct stk_iter *it, struct stk_iter *inner)
{
    STK_ASSERT(it->n_in > 1 && inner->is_concurrent && inner->parent == it);
    STK_ASSERT(!inner->concurrent_next && !inner->concurrent_previous);
    pthread_mutex_lock(&it->run->tree_lock);
    inner->concurrent_next = it->concurrent;
    if (it->concurrent) {
        it->concurrent->concurrent_previous = inner;
    }
    it->concurrent = inner;
    if (!it->in[1]) {
        it->in[1] = stk_aggregate_make(inner, it);
    }
    pthread_mutex_unlock(&it->run->tree_lock);
}

void stk_aggregate_leave(struct stk_iter *it, struct stk_iter *inner)
{
    pthread_mutex_lock(&it->run->tree_lock);
    stk_aggregate_tell(inner);
    if (it->in[1]) {
        tell(it->in[1], inner, CLOSES);
    }
    if (inner->concurrent_previous) {
        inner->concurrent_previous->concurrent_next = inner->concurrent_next;
    } else {
        STK_ASSERT(it->concurrent == inner);
        it->concurrent = inner->concurrent_next;
    }
    if (inner->concurrent_next) {
        inner->concurrent_next->concurrent_previous = inner->concurrent_previous;
    }
    pthread_mutex_unlock(&it->run->tree_lock);
}
