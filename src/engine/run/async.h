// SPDX-License-Identifier: Apache-2.0
// A stage with its own threads: workers take turns at the input, process what they took in
// parallel, and put the results into a ring, in order.
//
// `wanted` workers run, and others sleep; it may change at any time. Threads start with the first
// request; if none can start, the consumer does the work. Pieces are sized by measured cost, about
// STK_PIECE_NS each, so that handing over costs little and slow elements spread over all workers.
//
// If the tuner finds that handing over costs more than it gains, the stage runs inline: workers
// sleep, and the thread that asks for an element makes a piece. It is a small one, so its input is
// still in the nearest caches.
#pragma once

#include "engine/run/regroup.h"
#include "engine/run/tuner.h"

#define STK_WORKERS_MAX 64
#define STK_PIECE_NS 150000
#define STK_PIECE_ELEMENTS_MAX 8192
#define STK_INLINE_PARTS 8 // an inline piece is 1/8 of a worker's

// Most bytes of a piece: 4 MiB, or less with a small budget.
int64_t stk_piece_bytes_max(const struct stk_run *run);

struct stk_async;

struct stk_async_kind {
    // Prepares what a worker needs; NULL: nothing.
    enum stoker_status (*begin)(struct stk_async *a, void **own, struct stoker_err *err);
    void (*end)(void *own);
    // Takes up to n elements of the input; one thread at a time, in the order of pieces. Returns
    // how many; 0: the end. An error becomes part of the piece.
    int64_t (*pull)(struct stk_async *a, void *own, int64_t n, struct stk_piece *p);
    // Turns them into the piece, on any thread. NULL: pull did.
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
    int wanted, limit; // workers now; most workers
    int n_threads;     // threads started
    bool is_stopping, is_started;
    int is_inline; // atomic; written under park_lock
    struct stk_ring ring;
    struct stk_regroup regroup; // for a sloppy ring whose pieces share buffers
    pthread_mutex_t input_lock; // for the input and for reserving slots
    pthread_mutex_t park_lock;
    pthread_cond_t unpark;
    int64_t piece_n;       // elements in the next piece; atomic
    int64_t in_bytes_each; // bytes of an element's input, as last measured; atomic
    int64_t piece_n_max;   // 0: limited by cost alone
    int64_t piece_n_least; // regardless of cost, unless too large; 0: one
    uint64_t piece_ns;     // target time of a piece
    int64_t piece_bytes;   // most bytes of a piece
    int capacity;          // 0: derived from the number of workers
    struct stk_tuned tuned;
    void *own;              // of the consumer, if it makes pieces itself
    struct stk_block spare; // the consumer's, empty: reuses the array
    struct stk_worker workers[STK_WORKERS_MAX];
};

// One allocation; NULL: no memory. Starts nothing yet.
struct stk_async *stk_async_open(struct stk_iter *it, const struct stk_async_kind *kind, void *arg,
                                 int wanted, int limit, bool is_sloppy, int64_t elements_max);
void stk_async_close(struct stk_async *a); // joins the threads; takes NULL
// Changes the number of workers; starts threads.
void stk_async_set_workers(struct stk_async *a, int n);
int stk_async_workers(struct stk_async *a); // wanted now
// Will the piece being made set the size of the next ones?
bool stk_async_measures(const struct stk_async *a);
// Sets the ring's capacity, independent of later changes in workers.
void stk_async_set_capacity(struct stk_async *a, int capacity);
// A worker found too little memory for its piece. Waits until more may be free, and says whether to
// make the piece again; no other worker of the run tries meanwhile. *tries: 0 at first. After the
// last try, if *tries > 0, call stk_async_end_short.
bool stk_async_is_short(struct stk_async *a, int *tries);
void stk_async_end_short(struct stk_async *a);
// Like an iterator's next. group: returns elements of neighboring pieces in one buffer together, up
// to a multiple of it (0: all that is done).
enum stoker_status stk_async_next(struct stk_async *a, int64_t want, int64_t group,
                                  struct stk_block *out, struct stoker_err *err);
// Skips what is in the ring and in progress; takes nothing more from the input. Before the first
// `next` it does nothing and *done is 0.
enum stoker_status stk_async_skip(struct stk_async *a, int64_t n, int64_t *done,
                                  struct stoker_err *err);
