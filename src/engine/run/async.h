// SPDX-License-Identifier: Apache-2.0
// A stage with threads of its own: workers take turns at the input, work on what they took side by
// side, and leave the results in a ring, in order.
//
// How many work is set at any time (`wanted`); who is beyond it sleeps. Threads start with the
// first element that is asked for; where none can be started the consumer does the work itself.
// Pieces are sized by measured cost, about STK_PIECE_NS each, so that handing over costs little and
// elements that take long spread over all workers.
//
// Where the tuner finds that handing over costs more than it gains, the stage is inline: its
// workers sleep, and who asks for an element makes a piece of them, a small one, so that what it
// was made of is still in the nearest caches.
#pragma once

#include "engine/run/regroup.h"
#include "engine/run/tuner.h"

#define STK_WORKERS_MAX 64
#define STK_PIECE_NS 150000
#define STK_PIECE_ELEMENTS_MAX 8192
#define STK_INLINE_PARTS 8 // a piece made inline is this part of a worker's

// Bytes that a piece shall have at most: 4 MiB, less where the run's budget is small.
int64_t stk_piece_bytes_max(const struct stk_run *run);

struct stk_async;

struct stk_async_kind {
    // What a worker needs of its own; NULL: nothing.
    enum stoker_status (*begin)(struct stk_async *a, void **own, struct stoker_err *err);
    void (*end)(void *own);
    // Takes up to n elements of the input; one thread at a time, in the order of pieces. Returns
    // how many; 0 is the end. An error is the piece.
    int64_t (*pull)(struct stk_async *a, void *own, int64_t n, struct stk_piece *p);
    // Makes the piece of them, on any thread. NULL: pull did.
    void (*work)(struct stk_async *a, void *own, struct stk_piece *p);
};

struct stk_worker {
    struct stk_async *async;
    pthread_t thread;
    int index;
};

struct stk_async {
    struct stk_iter *it;
    const struct stk_async_kind *kind;
    void *arg;
    int wanted, limit; // workers now; at most
    int n_threads;     // started
    bool is_stopping, is_started;
    int is_inline; // atomic; written under park_lock
    struct stk_ring ring;
    struct stk_regroup regroup; // of a sloppy ring, whose pieces share buffers
    pthread_mutex_t input_lock; // of the input, and of reserving
    pthread_mutex_t park_lock;
    pthread_cond_t unpark;
    int64_t piece_n;       // elements of the next piece; atomic
    int64_t in_bytes_each; // of what an element is made of, as last measured; atomic
    int64_t piece_n_max;   // 0: by cost alone
    int64_t piece_n_least; // at any cost, if not too large; 0: one
    uint64_t piece_ns;     // what a piece is to take
    int64_t piece_bytes;   // and to be at most
    int capacity;          // 0: by the number of workers
    struct stk_tuned tuned;
    void *own;              // of the consumer, where it makes pieces itself
    struct stk_block spare; // its, empty: the array is used again
    struct stk_worker workers[STK_WORKERS_MAX];
};

// One allocation; NULL: no memory. Nothing runs yet.
struct stk_async *stk_async_open(struct stk_iter *it, const struct stk_async_kind *kind, void *arg,
                                 int wanted, int limit, bool is_sloppy, int64_t elements_max);
void stk_async_close(struct stk_async *a); // joins the threads; takes NULL
// More or fewer workers; starts threads.
void stk_async_set_workers(struct stk_async *a, int n);
int stk_async_workers(struct stk_async *a); // wanted now
// Will the piece that is being made set the size of the next ones?
bool stk_async_measures(const struct stk_async *a);
// Sets the ring's number of pieces, independent of later changes in workers.
void stk_async_set_capacity(struct stk_async *a, int capacity);
// A worker found too little memory for its piece: waits until there may be more, and says whether
// to make the piece once more; no other worker of the run tries meanwhile. *tries: 0 at first.
// After the last try, with *tries > 0, stk_async_end_short.
bool stk_async_is_short(struct stk_async *a, int *tries);
void stk_async_end_short(struct stk_async *a);
// As an iterator's next. group: elements of neighboring pieces in one buffer are given together,
// up to a multiple of it (0: anything that is done).
enum stoker_status stk_async_next(struct stk_async *a, int64_t want, int64_t group,
                                  struct stk_block *out, struct stoker_err *err);
// Skips what is in the ring and in progress; the input is not asked for more. Before the first
// `next` it does nothing and *done is 0.
enum stoker_status stk_async_skip(struct stk_async *a, int64_t n, int64_t *done,
                                  struct stoker_err *err);
