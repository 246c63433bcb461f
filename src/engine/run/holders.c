// SPDX-License-Identifier: Apache-2.0
// Which stages hold the memory of a run; see holders.h.
#include "engine/run/holders.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 3
#define SHARE 16 // a stage is named if it holds at least 1/16 of the budget

struct holder {
    const struct stk_iter *it;
    uint64_t bytes;
};

struct holders {
    struct holder most[SHOWN]; // largest first
    uint64_t least;            // fewest bytes that count
    uint64_t sum;              // bytes of all
};

static uint64_t bytes_of(const struct stk_iter *it)
{
    const struct stk_stage_stats *s = &it->stats;
    uint64_t pieces = __atomic_load_n(&s->fill, __ATOMIC_RELAXED);
    uint64_t elements = pieces * __atomic_load_n(&s->block_max, __ATOMIC_RELAXED);
    return __atomic_load_n(&s->kept_bytes, __ATOMIC_RELAXED) +
           elements * __atomic_load_n(&s->each_bytes, __ATOMIC_RELAXED);
}

// Caller holds the tree's lock.
static void look_at(struct holders *h, const struct stk_iter *it)
{
    struct holder one = {it, bytes_of(it)};
    h->sum += one.bytes;
    for (int i = 0; i < SHOWN && one.bytes > h->least; i++) {
        if (one.bytes > h->most[i].bytes) {
            struct holder next = h->most[i];
            h->most[i] = one;
            one = next;
        }
    }
    for (int k = 0; k < it->n_in; k++) {
        if (it->in[k]) {
            look_at(h, it->in[k]);
        }
    }
}

struct text {
    char *at;
    size_t used, size;
};

STK_PRINTF(2, 3) static void add(struct text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->at + t->used, t->size - t->used, fmt, args);
    va_end(args);
    size_t left = t->size - t->used - 1;
    t->used += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left;
}

// "; held by shuffle, train.py:7: 838860800 bytes (less with a smaller buffer_size)".
static void tell_one(struct text *t, const struct holder *h, bool is_first)
{
    const char *where = h->it->ds->where, *advice = h->it->kind->holds_less_with;
    add(t, "; %s%s%s%s: %llu bytes", is_first ? "held by " : "", h->it->kind->name,
        where ? ", " : "", where ? where : "", (unsigned long long)h->bytes);
    if (advice) {
        add(t, " (less with %s)", advice);
    }
}

void stk_holders_tell(struct stk_iter *root, struct stoker_err *err)
{
    struct stk_pool_stats pool = stk_pool_stats_of(root->run->pool);
    struct holders h = {.least = pool.cap_bytes / SHARE};
    struct text t = {err->message, strnlen(err->message, sizeof err->message - 1),
                     sizeof err->message};
    pthread_mutex_lock(&root->run->tree_lock);
    look_at(&h, root);
    for (int i = 0; i < SHOWN && h.most[i].it; i++) {
        tell_one(&t, &h.most[i], i == 0);
    }
    pthread_mutex_unlock(&root->run->tree_lock);
    // Elements being made were freed before the error got here.
    uint64_t used = pool.short_bytes > h.sum ? pool.short_bytes - h.sum : 0;
    if (used > pool.cap_bytes / 4) {
        add(&t, "; %selements being made and arrays in use: %llu bytes",
            h.most[0].it ? "" : "held by ", (unsigned long long)used);
    }
}
