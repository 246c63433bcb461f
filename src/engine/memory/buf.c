// SPDX-License-Identifier: Apache-2.0
// Buffers and their pool. Free buffers wait in lists by size class (four classes for each power of
// two, so at most a quarter is unused); one lock guards the lists. If a class has no free buffer, a
// small one from the next classes serves, less than twice as large, so sizes that vary from file to
// file soon find a match. Large buffers ask for huge pages, because the first touch of small pages
// costs more than filling them. All pages of other buffers are touched at once, not by the first
// element that needs them.
#include "engine/memory/buf.h"

#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/guard.h"
#include "engine/memory/process_limits.h"

#define ALIGN 64
#define CLASS_BYTES_MIN 256
#define CLASSES 160
#define HUGE_PAGE ((size_t)2 << 20)
#define SOURCED_BYTES_MIN ((size_t)64 << 10) // smaller buffers waste the source's granularity
#define CACHE_SHIFT 2                        // at most a quarter of the cap waits in the free lists
#define CLASSES_ABOVE 3                      // lists searched for a free buffer
#define TOUCH_BYTES 4096                     // the smallest page size in use
#define SMALL_BYTES_MAX ((size_t)1 << 20)    // larger buffers come in few sizes and are mostly full

struct stk_pool {
    int refs;                        // the owner and every buffer in use
    bool is_counted;                 // counts against the process's limit
    struct stk_pool *before, *after; // links in the list of counted pools
    pthread_mutex_t lock;
    struct stk_pool_stats stats;
    struct stoker_memory_source source; // get NULL: none
    bool (*wait)(void *arg, int *idle); // NULL: never waits
    void *wait_arg;
    bool (*split)(void *arg, const struct stk_split *work); // NULL: no helper
    void *split_arg;
    struct stk_buf *free[CLASSES];
};

static struct {           // counted pools; their free lists are emptied when another runs short
    pthread_mutex_t lock; // lock order: before a pool's lock
    struct stk_pool *first;
} counted = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock_counted(void)
{
    pthread_mutex_lock(&counted.lock);
}

static void unlock_counted(void)
{
    pthread_mutex_unlock(&counted.lock);
}

static void watch_forks(void)
{
    pthread_atfork(lock_counted, unlock_counted, unlock_counted);
}

static void count_pool(struct stk_pool *p)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    lock_counted();
    p->after = counted.first;
    if (p->after) {
        p->after->before = p;
    }
    counted.first = p;
    unlock_counted();
}

static void uncount_pool(struct stk_pool *p)
{
    lock_counted();
    *(p->before ? &p->before->after : &counted.first) = p->after;
    if (p->after) {
        p->after->before = p->before;
    }
    unlock_counted();
}

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
        p->is_counted = cap_bytes != SIZE_MAX;
        pthread_mutex_init(&p->lock, NULL);
        if (p->is_counted) {
            count_pool(p);
        }
    }
    return p;
}

struct stk_pool *stk_pool_open(size_t cap_bytes)
{
    return stk_pool_open_in(cap_bytes, NULL);
}

void stk_pool_set_wait(struct stk_pool *p, bool (*wait)(void *arg, int *idle), void *arg)
{
    p->wait = wait;
    p->wait_arg = arg;
}

void stk_pool_set_split(struct stk_pool *p, bool (*split)(void *arg, const struct stk_split *work),
                        void *arg)
{
    p->split = split;
    p->split_arg = arg;
}

bool stk_pool_split(struct stk_pool *p, const struct stk_split *work)
{
    return p->split && p->split(p->split_arg, work);
}

STK_HOT struct stk_pool *stk_pool_hold(struct stk_pool *p)
{
    STK_ASSERT(__atomic_load_n(&p->refs, __ATOMIC_RELAXED) > 0);
    __atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
    return p;
}

static void buf_free(struct stk_pool *p, struct stk_buf *b)
{
    if (b && p->is_counted) {
        stk_limits_give_ram(b->size);
    }
    if (b && b->is_sourced) {
        p->source.give(p->source.arg, b->data, b->size);
    }
    stk_free(b);
}

// Caller holds the lock.
static void free_lists(struct stk_pool *p)
{
    for (int c = 0; c < CLASSES; c++) {
        while (p->free[c]) {
            struct stk_buf *b = p->free[c];
            p->free[c] = b->next;
            STK_ASSERT(b->refs == 0 && p->stats.free_bytes >= b->size);
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
    STK_ASSERT(p->stats.in_use_bytes == 0);
    if (p->is_counted) {
        uncount_pool(p);
    }
    free_lists(p);
    STK_ASSERT(p->stats.free_bytes == 0);
    pthread_mutex_destroy(&p->lock);
    stk_free(p);
}

STK_HOT struct stk_pool_stats stk_pool_stats_of(struct stk_pool *p)
{
    pthread_mutex_lock(&p->lock);
    struct stk_pool_stats s = p->stats;
    pthread_mutex_unlock(&p->lock);
    uint64_t left = p->is_counted ? stk_limits_use().ram_left : UINT64_MAX;
    s.cap_name = "the budget";
    if (left < s.cap_bytes && s.in_use_bytes + s.free_bytes + left < s.cap_bytes) {
        s.cap_bytes = s.in_use_bytes + s.free_bytes + left;
        s.cap_name = "what the process's limit allows";
    }
    return s;
}

static _Thread_local bool thread_was_refused;

bool stk_pool_refused(void)
{
    return thread_was_refused;
}

// A buffer from the source. NULL: the source has no memory left, or there is no source for that
// size.
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
    STK_ASSERT(((uintptr_t)b->data & (ALIGN - 1)) == 0);
    for (size_t i = TOUCH_BYTES; i < size && size <= SMALL_BYTES_MAX; i += TOUCH_BYTES) {
        ((volatile uint8_t *)b->data)[i] = 0;
    }
#ifdef MADV_HUGEPAGE
    if (size >= 2 * HUGE_PAGE) {
        uintptr_t from = ((uintptr_t)b->data + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
        uintptr_t to = ((uintptr_t)b->data + size) & ~(uintptr_t)(HUGE_PAGE - 1);
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
    }
#endif
    return b;
}

// Takes `size` out of the process's limit. Caller holds the lock.
static bool take_ram(struct stk_pool *p, size_t size)
{
    if (!p->is_counted || stk_limits_take_ram(size)) {
        return true;
    }
    free_lists(p);
    return stk_limits_take_ram(size);
}

uint64_t stk_pool_ahead_bytes(uint64_t cap_bytes)
{
    return cap_bytes / 4 * 3;
}

static _Thread_local bool thread_is_ahead;

void stk_pool_set_ahead(bool is_ahead)
{
    thread_is_ahead = is_ahead;
}

bool stk_pool_is_ahead(void)
{
    return thread_is_ahead;
}

// The part of the budget that this thread may use.
static uint64_t thread_bytes(const struct stk_pool *p)
{
    return thread_is_ahead ? stk_pool_ahead_bytes(p->stats.cap_bytes) : p->stats.cap_bytes;
}

// Reserves `size` bytes of the budget; is_fresh: the pool must allocate them. Caller holds the
// lock. False: more than `most` would be in use.
STK_HOT static bool reserve(struct stk_pool *p, size_t size, bool is_fresh, uint64_t most)
{
    struct stk_pool_stats *s = &p->stats;
    if (size > most || s->in_use_bytes > most - size) {
        s->refused++;
        s->short_bytes = s->in_use_bytes;
        return false;
    }
    if (s->in_use_bytes + s->free_bytes + size > s->cap_bytes) {
        free_lists(p);
    }
    if (is_fresh && !take_ram(p, size)) {
        s->refused++;
        s->short_bytes = s->in_use_bytes;
        return false;
    }
    s->in_use_bytes += size;
    STK_ASSERT(s->in_use_bytes <= s->cap_bytes);
    s->peak_bytes = s->in_use_bytes > s->peak_bytes ? s->in_use_bytes : s->peak_bytes;
    return true;
}

static bool claim(struct stk_pool *p, size_t bytes, uint64_t most)
{
    pthread_mutex_lock(&p->lock);
    bool fits = reserve(p, bytes, true, most);
    pthread_mutex_unlock(&p->lock);
    return fits;
}

bool stk_pool_claim(struct stk_pool *p, size_t bytes)
{
    return claim(p, bytes, p->stats.cap_bytes);
}

// Empties the free lists of all pools whose lock is free.
static void free_all_lists(void)
{
    lock_counted();
    for (struct stk_pool *p = counted.first; p; p = p->after) {
        if (pthread_mutex_trylock(&p->lock) == 0) {
            free_lists(p);
            pthread_mutex_unlock(&p->lock);
        }
    }
    unlock_counted();
}

static bool waits(struct stk_pool *p, size_t bytes, int *idle)
{
    uint64_t most = p->is_counted ? stk_limits_now().ram_bytes : 0;
    return p->wait && bytes <= p->stats.cap_bytes && (!most || bytes <= most) &&
           p->wait(p->wait_arg, idle);
}

// Whether to try again at once: other pools may have had the missing memory.
static bool frees_others(const struct stk_pool *p, size_t bytes)
{
    if (!p->is_counted || stk_limits_use().ram_left >= bytes) {
        return false;
    }
    free_all_lists();
    return true;
}

bool stk_pool_claim_waiting(struct stk_pool *p, size_t bytes)
{
    bool is_claimed = claim(p, bytes, thread_bytes(p)) ||
                      (frees_others(p, bytes) && claim(p, bytes, thread_bytes(p)));
    for (int idle = 0; !is_claimed && waits(p, bytes, &idle);) {
        is_claimed = claim(p, bytes, thread_bytes(p));
    }
    return is_claimed;
}

void stk_pool_unclaim(struct stk_pool *p, size_t bytes)
{
    pthread_mutex_lock(&p->lock);
    STK_ASSERT(p->stats.in_use_bytes >= bytes);
    p->stats.in_use_bytes -= bytes;
    pthread_mutex_unlock(&p->lock);
    if (p->is_counted) {
        stk_limits_give_ram(bytes);
    }
}

// Takes a free buffer of class c, or a small one of a slightly larger class, from its list. NULL:
// none. Caller holds the lock.
STK_HOT static struct stk_buf *take_free(struct stk_pool *p, int c)
{
    for (int k = c; k < CLASSES && k <= c + CLASSES_ABOVE; k++) {
        struct stk_buf *b = p->free[k];
        if (b && k > c &&
            (b->size > SMALL_BYTES_MAX || p->stats.in_use_bytes > p->stats.cap_bytes / 2)) {
            return NULL;
        }
        if (b) {
            STK_ASSERT(b->refs == 0 && b->size >= class_bytes(c));
            STK_ASSERT(p->stats.free_bytes >= b->size);
            p->free[k] = b->next;
            p->stats.free_bytes -= b->size;
            return b;
        }
    }
    return NULL;
}

// Caller holds the lock.
STK_HOT static bool put_free(struct stk_pool *p, struct stk_buf *b)
{
    int c = class_of(b->size);
    STK_ASSERT(c >= 0 && c < CLASSES && b->refs == 0 && b->pool == p);
    if (p->stats.free_bytes + b->size > p->stats.cap_bytes >> CACHE_SHIFT) {
        return false;
    }
    b->next = p->free[c];
    p->free[c] = b;
    p->stats.free_bytes += b->size;
    return true;
}

// A buffer of class c; NULL: no memory. *is_short: because it would pass the cap.
STK_HOT static struct stk_buf *buf_try(struct stk_pool *p, int c, bool *is_short)
{
    pthread_mutex_lock(&p->lock);
    struct stk_buf *b = take_free(p, c);
    size_t size = b ? b->size : class_bytes(c);
    *is_short = !reserve(p, size, !b, thread_bytes(p));
    p->stats.fresh += !*is_short && !b;
    pthread_mutex_unlock(&p->lock);
    if (*is_short) {
        buf_free(p, b);
        return NULL;
    }
    if (!b && !(b = buf_sourced(p, size)) && !(b = buf_new(size))) {
        stk_pool_unclaim(p, size);
        return NULL;
    }
    b->refs = 1;
    b->is_readonly = false;
    b->next = NULL;
    b->pool = stk_pool_hold(p);
    return b;
}

STK_HOT struct stk_buf *stk_buf_get(struct stk_pool *p, size_t size)
{
    int c = class_of(size), idle = 0;
    STK_ASSERT(c >= CLASSES || class_bytes(c) >= size);
    bool is_short = false;
    struct stk_buf *b = c < CLASSES ? buf_try(p, c, &is_short) : NULL;
    if (!b && c < CLASSES && is_short && frees_others(p, class_bytes(c))) {
        b = buf_try(p, c, &is_short);
    }
    while (!b && c < CLASSES && is_short && waits(p, class_bytes(c), &idle)) {
        b = buf_try(p, c, &is_short);
    }
    if (!b) {
        thread_was_refused = c >= CLASSES || is_short;
    }
    return b;
}

struct stk_buf *stk_buf_foreign(const void *data, size_t size, bool is_readonly,
                                void (*drop)(void *arg), void *arg)
{
    STK_ASSERT(data || size == 0);
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

bool stk_buf_guard(struct stk_buf *b)
{
    STK_ASSERT(b->is_foreign);
    if (!b->guard && b->size) {
        b->guard = stk_guard_add(b->data, b->size);
    }
    return b->guard || !b->size;
}

bool stk_buf_is_torn(const struct stk_buf *b)
{
    return b && stk_guard_is_torn(b->guard);
}

STK_HOT struct stk_buf *stk_buf_hold(struct stk_buf *b)
{
    if (b) {
        STK_ASSERT(__atomic_load_n(&b->refs, __ATOMIC_RELAXED) > 0);
        __atomic_add_fetch(&b->refs, 1, __ATOMIC_RELAXED);
    }
    return b;
}

STK_HOT void stk_buf_drop(struct stk_buf *b)
{
    if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    STK_ASSERT(b->refs == 0);
    struct stk_pool *p = b->pool;
    if (!p) {
        stk_guard_drop(b->guard);
        if (b->drop) {
            b->drop(b->arg);
        }
        stk_free(b);
        return;
    }
    pthread_mutex_lock(&p->lock);
    STK_ASSERT(p->stats.in_use_bytes >= b->size);
    p->stats.in_use_bytes -= b->size;
    bool keeps = put_free(p, b);
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
        STK_ASSERT(__atomic_load_n(&k->refs, __ATOMIC_RELAXED) > 0);
        __atomic_add_fetch(&k->refs, 1, __ATOMIC_RELAXED);
    }
    return k;
}

STK_HOT void stk_keep_drop(struct stk_keep *k)
{
    if (!k || __atomic_sub_fetch(&k->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    STK_ASSERT(k->refs == 0 && k->count >= 0 && k->count <= k->capacity);
    for (int i = 0; i < k->count; i++) {
        stk_buf_drop(k->bufs[i]);
    }
    if (k->place) {
        stk_buf_drop(k->place);
    } else {
        stk_free(k);
    }
}

// An empty list with room for at least `least` buffers. NULL: no memory.
static struct stk_keep *keep_new(struct stk_pool *pool, int least)
{
    size_t size = sizeof(struct stk_keep) + (size_t)least * sizeof(struct stk_buf *);
    size = size < CLASS_BYTES_MIN ? CLASS_BYTES_MIN : size;
    bool is_short;
    struct stk_buf *place = pool ? buf_try(pool, class_of(size), &is_short) : NULL;
    struct stk_keep *k = place ? (struct stk_keep *)place->data : stk_alloc(size);
    if (k) {
        size_t capacity = place ? place->size : size;
        *k = (struct stk_keep){.refs = 1, .place = place};
        k->capacity = (int)((capacity - sizeof *k) / sizeof k->bufs[0]);
    }
    return k;
}

// Makes *k a list that only the caller holds, with room for one more.
static bool keep_make_own(struct stk_keep **k, struct stk_pool *pool)
{
    struct stk_keep *old = *k;
    int count = old ? old->count : 0;
    bool is_sole = old && __atomic_load_n(&old->refs, __ATOMIC_ACQUIRE) == 1;
    if (is_sole && count < old->capacity) {
        return true;
    }
    struct stk_keep *own = count < INT_MAX / 2 ? keep_new(pool, 2 * count + 1) : NULL;
    if (!own) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        own->bufs[i] = stk_buf_hold(old->bufs[i]);
    }
    own->count = count;
    stk_keep_drop(old);
    *k = own;
    return true;
}

bool stk_keep_add(struct stk_keep **k, struct stk_buf *b)
{
    if (*k && (*k)->count && (*k)->bufs[(*k)->count - 1] == b) {
        return true;
    }
    if (!keep_make_own(k, b->pool)) {
        return false;
    }
    struct stk_keep *own = *k;
    STK_ASSERT(own->refs == 1 && own->count < own->capacity); // only one holder, so no one sees the
                                                              // change
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
