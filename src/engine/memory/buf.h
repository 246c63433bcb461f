// SPDX-License-Identifier: Apache-2.0
// Memory for columns: reference-counted buffers from a pool that reuses them, so the steady state
// neither allocates nor faults pages in. A pool has a cap in bytes (the dataset's RAM budget). All
// pools together stay below the cap of the process (process_limits.h), except pools without a cap
// (SIZE_MAX), whose buffers belong to the caller. A pool is freed when its owner and the last of
// its buffers have released it. A buffer may also wrap foreign memory, with a function that
// releases it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stoker/data.h"

// Marks functions that every element passes through on its way to the consumer. They are placed
// together in the program, so after a pause the first element waits for few pages and cache lines.
#define STK_HOT __attribute__((hot))

struct stk_guard;
struct stk_pool;

struct stk_buf {
    int refs; // atomic
    bool is_foreign, is_readonly;
    bool is_sourced;         // data came from the pool's source
    uint8_t *data;           // 64-byte aligned, unless foreign
    size_t size;             // usable bytes
    struct stk_pool *pool;   // NULL: foreign
    void (*drop)(void *arg); // foreign: called at the last drop, on any thread
    void *arg;
    struct stk_guard *guard; // foreign: of a mapped file (base/guard.h), or NULL; ends before drop
    struct stk_buf *next;    // in a free list
};

struct stk_pool_stats {
    uint64_t in_use_bytes, free_bytes, peak_bytes;
    uint64_t cap_bytes;   // its own, or what the process's limit allows if less
    const char *cap_name; // "the budget", or "the process' limit"
    uint64_t refused;     // requests that would pass the cap
    uint64_t short_bytes; // in use at the last of these
    uint64_t fresh;       // buffers allocated: constant in the steady state
};

struct stk_pool *stk_pool_open(size_t cap_bytes); // NULL: no memory
// Large buffers come from the source, which outlives pool and buffers; NULL: all from the heap.
struct stk_pool *stk_pool_open_in(size_t cap_bytes, const struct stoker_memory_source *source);
struct stk_pool *stk_pool_hold(struct stk_pool *p);
void stk_pool_drop(struct stk_pool *p); // takes NULL
struct stk_pool_stats stk_pool_stats_of(struct stk_pool *p);
bool stk_pool_refused(void); // True: this thread's last failed request would have passed the cap.
// Counts memory from elsewhere as in use until it is returned. False: past the cap.
bool stk_pool_claim(struct stk_pool *p, size_t bytes);
bool stk_pool_claim_waiting(struct stk_pool *p, size_t bytes); // as stk_buf_get does
void stk_pool_unclaim(struct stk_pool *p, size_t bytes);

// This thread reads ahead from now on, or stops doing so. While it does, it gets only a part of any
// budget and waits beyond that, so the rest is left for what the consumer waits for.
void stk_pool_set_ahead(bool is_ahead);
uint64_t stk_pool_ahead_bytes(uint64_t cap_bytes); // that part
bool stk_pool_is_ahead(void);                      // the setting of this thread

// If the budget is exhausted, the pool calls `wait`, if set, and tries again. *idle starts at 0 and
// belongs to the function. `wait` returns false to give up.
void stk_pool_set_wait(struct stk_pool *p, bool (*wait)(void *arg, int *idle), void *arg);

// Has several threads do large work (engine/memory/split.h). False: it was not done.
struct stk_split;
void stk_pool_set_split(struct stk_pool *p, bool (*split)(void *arg, const struct stk_split *work),
                        void *arg);
bool stk_pool_split(struct stk_pool *p, const struct stk_split *work);

// At least `size` bytes, uninitialised. NULL: no memory, or past the cap.
struct stk_buf *stk_buf_get(struct stk_pool *p, size_t size);
struct stk_buf *stk_buf_foreign(const void *data, size_t size, bool is_readonly,
                                void (*drop)(void *arg), void *arg);
// Marks foreign memory as a mapped file, guarded until its end. Not while others may see the
// buffer. False: there are too many guards.
bool stk_buf_guard(struct stk_buf *b);
bool stk_buf_is_torn(
    const struct stk_buf *b); // a page of the mapping failed and read as zeros; takes NULL
struct stk_buf *stk_buf_hold(struct stk_buf *b); // takes NULL
void stk_buf_drop(struct stk_buf *b);            // takes NULL; from any thread
bool stk_buf_is_sole(const struct stk_buf *b);   // one holder, and writable

// The buffers that string views point into, held together as a list. The list is stored in a small
// buffer of their pool if they have one, so blocks of strings don't allocate either.
struct stk_keep {
    int refs; // atomic
    int count, capacity;
    struct stk_buf *place; // the buffer that holds the list; NULL: the heap
    struct stk_buf *bufs[];
};
struct stk_keep *stk_keep_hold(struct stk_keep *k); // takes NULL
void stk_keep_drop(struct stk_keep *k);             // takes NULL
// Adds a reference to `b` to *k, creating *k if NULL and copying it if shared. False: no memory.
bool stk_keep_add(struct stk_keep **k, struct stk_buf *b);
bool stk_keep_join(struct stk_keep **k, struct stk_keep *other); // adds all of other's; takes NULL
