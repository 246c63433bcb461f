// SPDX-License-Identifier: Apache-2.0
// Buffers and their pool. Free buffers wait in lists by size class (four classes for each power of
// two, so at most a quarter is unused); one lock guards the lists. Large ones ask for huge pages,
// since first touch of small pages costs more than filling them.
#include "data/buf.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/alloc.h"

#define ALIGN 64
#define CLASS_BYTES_MIN 256
#define CLASSES 160
#define HUGE_PAGE ((size_t)2 << 20)
#define SOURCED_BYTES_MIN ((size_t)64 << 10) // smaller ones are not worth the source's granularity
#define CACHE_SHIFT 2                        // at most a quarter of the cap waits in the lists

struct stk_pool {
    int refs; // its owner and every buffer that is out
    pthread_mutex_t lock;
    struct stk_pool_stats stats;
    struct stoker_memory_source source; // get NULL: none
    struct stk_buf *free[CLASSES];
};

static size_t class_bytes(int c)
{
    return ((size_t)(4 + c % 4) << (c / 4)) * (CLASS_BYTES_MIN / 4);
}

STK_HOT static int class_of(size_t size)
{
    if (size <= CLASS_BYTES_MIN) {
        return 0;
    }
    size_t units = (size - 1) / (CLASS_BYTES_MIN / 4);
    int top = 63 - __builtin_clzll(units); // >= 2
    int c = (top - 2) * 4 + (int)((units >> (top - 2)) & 3) + 1;
    return c;
}

struct stk_pool *stk_pool_open_in(size_t cap_bytes, const struct stoker_memory_source *source)
{
    struct stk_pool *p = stk_alloc_zero(1, sizeof *p);
    if (p) {
        p->refs = 1;
        p->source = source ? *source : (struct stoker_memory_source){0};
        p->stats.cap_bytes = cap_bytes;
        pthread_mutex_init(&p->lock, NULL);
    }
    return p;
}

struct stk_pool *stk_pool_open(size_t cap_bytes)
{
    return stk_pool_open_in(cap_bytes, NULL);
}

STK_HOT struct stk_pool *stk_pool_hold(struct stk_pool *p)
{
    __atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
    return p;
}

static void buf_free(struct stk_pool *p, struct stk_buf *b)
{
    if (b && b->is_sourced) {
        p->source.give(p->source.arg, b->data, b->size);
    }
    stk_free(b);
}

// The lock is held.
static void free_lists(struct stk_pool *p)
{
    for (int c = 0; c < CLASSES; c++) {
        while (p->free[c]) {
            struct stk_buf *b = p->free[c];
            p->free[c] = b->next;
            p->stats.free_bytes -= b->size;
            buf_free(p, b);
        }
    }
}

STK_HOT void stk_pool_drop(struct stk_pool *p)
{
    if (!p || __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    free_lists(p);
    pthread_mutex_destroy(&p->lock);
    stk_free(p);
}

STK_HOT struct stk_pool_stats stk_pool_stats_of(struct stk_pool *p)
{
    pthread_mutex_lock(&p->lock);
    struct stk_pool_stats s = p->stats;
    pthread_mutex_unlock(&p->lock);
    return s;
}

bool stk_pool_is_full(struct stk_pool *p, size_t more_bytes)
{
    struct stk_pool_stats s = stk_pool_stats_of(p);
    return s.in_use_bytes + more_bytes > s.cap_bytes;
}

// A buffer in the source's memory; NULL: it has none left, or there is no source for that size.
static struct stk_buf *buf_sourced(struct stk_pool *p, size_t size)
{
    struct stk_buf *b = p->source.get && size >= SOURCED_BYTES_MIN ? stk_alloc(sizeof *b) : NULL;
    if (!b) {
        return NULL;
    }
    *b = (struct stk_buf){.size = size, .is_sourced = true};
    b->data = p->source.get(p->source.arg, size);
    if (!b->data) {
        stk_free(b);
        b = NULL;
    }
    return b;
}

static struct stk_buf *buf_new(size_t size)
{
    struct stk_buf *b = stk_alloc(sizeof *b + ALIGN + size);
    if (!b) {
        return NULL;
    }
    *b = (struct stk_buf){.size = size};
    b->data = (uint8_t *)(((uintptr_t)(b + 1) + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
#ifdef MADV_HUGEPAGE
    if (size >= 2 * HUGE_PAGE) {
        uintptr_t from = ((uintptr_t)b->data + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
        uintptr_t to = ((uintptr_t)b->data + size) & ~(uintptr_t)(HUGE_PAGE - 1);
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
    }
#endif
    return b;
}

// Takes `size` out of the budget. The lock is held. False: it would pass the cap.
STK_HOT static bool reserve(struct stk_pool *p, size_t size)
{
    struct stk_pool_stats *s = &p->stats;
    if (size > s->cap_bytes || s->in_use_bytes > s->cap_bytes - size) {
        return false;
    }
    if (s->in_use_bytes + s->free_bytes + size > s->cap_bytes) {
        free_lists(p);
    }
    s->in_use_bytes += size;
    s->peak_bytes = s->in_use_bytes > s->peak_bytes ? s->in_use_bytes : s->peak_bytes;
    return true;
}

bool stk_pool_claim(struct stk_pool *p, size_t bytes)
{
    pthread_mutex_lock(&p->lock);
    bool fits = reserve(p, bytes);
    pthread_mutex_unlock(&p->lock);
    return fits;
}

void stk_pool_unclaim(struct stk_pool *p, size_t bytes)
{
    pthread_mutex_lock(&p->lock);
    p->stats.in_use_bytes -= bytes;
    pthread_mutex_unlock(&p->lock);
}

STK_HOT struct stk_buf *stk_buf_get(struct stk_pool *p, size_t size)
{
    int c = class_of(size);
    if (c >= CLASSES) {
        return NULL;
    }
    size = class_bytes(c);
    pthread_mutex_lock(&p->lock);
    struct stk_buf *b = p->free[c];
    if (b) {
        p->free[c] = b->next;
        p->stats.free_bytes -= size;
    }
    bool fits = reserve(p, size);
    p->stats.fresh += fits && !b;
    pthread_mutex_unlock(&p->lock);
    if (!fits) {
        buf_free(p, b);
        return NULL;
    }
    if (!b && !(b = buf_sourced(p, size)) && !(b = buf_new(size))) {
        pthread_mutex_lock(&p->lock);
        p->stats.in_use_bytes -= size;
        pthread_mutex_unlock(&p->lock);
        return NULL;
    }
    b->refs = 1;
    b->is_readonly = false;
    b->next = NULL;
    b->pool = stk_pool_hold(p);
    return b;
}

struct stk_buf *stk_buf_foreign(const void *data, size_t size, bool is_readonly,
                                void (*drop)(void *arg), void *arg)
{
    struct stk_buf *b = stk_alloc_zero(1, sizeof *b);
    if (b) {
        *b = (struct stk_buf){.refs = 1,
                              .is_foreign = true,
                              .is_readonly = is_readonly,
                              .data = (uint8_t *)(uintptr_t)data,
                              .size = size,
                              .drop = drop,
                              .arg = arg};
    }
    return b;
}

STK_HOT struct stk_buf *stk_buf_hold(struct stk_buf *b)
{
    if (b) {
        __atomic_add_fetch(&b->refs, 1, __ATOMIC_RELAXED);
    }
    return b;
}

STK_HOT void stk_buf_drop(struct stk_buf *b)
{
    if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    struct stk_pool *p = b->pool;
    if (!p) {
        if (b->drop) {
            b->drop(b->arg);
        }
        stk_free(b);
        return;
    }
    int c = class_of(b->size);
    pthread_mutex_lock(&p->lock);
    p->stats.in_use_bytes -= b->size;
    bool keeps = p->stats.free_bytes + b->size <= p->stats.cap_bytes >> CACHE_SHIFT;
    if (keeps) {
        b->next = p->free[c];
        p->free[c] = b;
        p->stats.free_bytes += b->size;
    }
    pthread_mutex_unlock(&p->lock);
    if (!keeps) {
        buf_free(p, b);
    }
    stk_pool_drop(p);
}

bool stk_buf_is_sole(const struct stk_buf *b)
{
    return __atomic_load_n(&b->refs, __ATOMIC_ACQUIRE) == 1 && !b->is_readonly;
}

STK_HOT struct stk_keep *stk_keep_hold(struct stk_keep *k)
{
    if (k) {
        __atomic_add_fetch(&k->refs, 1, __ATOMIC_RELAXED);
    }
    return k;
}

STK_HOT void stk_keep_drop(struct stk_keep *k)
{
    if (!k || __atomic_sub_fetch(&k->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (int i = 0; i < k->count; i++) {
        stk_buf_drop(k->bufs[i]);
    }
    stk_free(k->bufs);
    stk_free(k);
}

static bool keep_make_own(struct stk_keep **k)
{
    struct stk_keep *old = *k;
    if (old && __atomic_load_n(&old->refs, __ATOMIC_ACQUIRE) == 1) {
        return true;
    }
    struct stk_keep *own = stk_alloc_zero(1, sizeof *own);
    if (!own) {
        return false;
    }
    own->refs = 1;
    if (old && old->count) {
        own->bufs = stk_alloc_array((size_t)old->count, sizeof own->bufs[0]);
        if (!own->bufs) {
            stk_free(own);
            return false;
        }
        own->count = own->capacity = old->count;
        for (int i = 0; i < old->count; i++) {
            own->bufs[i] = stk_buf_hold(old->bufs[i]);
        }
    }
    stk_keep_drop(old);
    *k = own;
    return true;
}

bool stk_keep_add(struct stk_keep **k, struct stk_buf *b)
{
    if (!keep_make_own(k)) {
        return false;
    }
    struct stk_keep *own = *k;
    if (own->count && own->bufs[own->count - 1] == b) {
        return true;
    }
    if (own->count == own->capacity) {
        int capacity = own->capacity ? 2 * own->capacity : 4;
        struct stk_buf **bufs = stk_realloc_array(own->bufs, (size_t)capacity, sizeof own->bufs[0]);
        if (!bufs) {
            return false;
        }
        own->bufs = bufs;
        own->capacity = capacity;
    }
    own->bufs[own->count++] = stk_buf_hold(b);
    return true;
}

bool stk_keep_join(struct stk_keep **k, struct stk_keep *other)
{
    if (!other || other == *k) {
        return true;
    }
    if (!*k) {
        *k = stk_keep_hold(other);
        return true;
    }
    for (int i = 0; i < other->count; i++) {
        if (!stk_keep_add(k, other->bufs[i])) {
            return false;
        }
    }
    return true;
}
