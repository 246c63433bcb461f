// SPDX-License-Identifier: Apache-2.0
// Inside of interleave with threads: what transform_interleave.c (workers, opening, waiting),
// interleave_turns.c (elements of many turns at once) and interleave_next.c share.
#pragma once

#include <pthread.h>

#include "engine/run/async.h"
#include "engine/transformations/interleave.h"
#include "engine/run/parts.h"

#define STK_INTERLEAVE_AHEAD 3 // pieces of a dataset that wait, at most

struct stk_interleave_slot {
    struct stk_iter *inner;
    struct stk_piece pieces[STK_INTERLEAVE_AHEAD];
    int first, count;
    bool is_busy, at_end;
    uint64_t kept_for;         // the call that its first piece's memory is held for, 0: none
    enum stoker_status status; // opening it failed: the error comes at its position
    struct stoker_err *err;
};

struct stk_interleave {
    struct stk_iter *it;
    struct stk_nest *nest;
    int64_t length, block, at, given, open;
    bool at_end, is_sloppy, is_begun, is_stopping, has_waiter;
    bool is_lazy; // something failed: datasets open in their turn only, to fail in order
    struct stk_interleave_slot *slots;
    struct stk_ring ring;         // for its lock and conditions alone: canceling wakes who waits
    int64_t piece_n, piece_bytes; // elements to read at once; their bytes, at most
    uint64_t read_bytes;          // that reading a piece may take, by the largest so far
    int n_busy;                   // workers that read
    int wanted, n_threads;        // workers that read; that there are
    bool is_tuned;
    bool is_inline;        // the consumer reads, in the dataset whose turn it is
    pthread_cond_t unpark; // for those beyond the wanted number
    struct stk_tuned tuned;
    struct stk_interleave_worker {
        struct stk_interleave *of;
        pthread_t thread;
        int index;
        struct stk_interleave_slot *slot; // that it reads in
    } workers[STK_WORKERS_MAX];
    struct stk_parts parts;
    uint64_t calls; // of stk_interleave_turns
};

// Before the first element: the first datasets, and the workers.
STK_MUST_CHECK enum stoker_status stk_interleave_begin(struct stk_interleave *p,
                                                       struct stoker_err *err);
// The dataset whose turn it is, with a piece ready. *slot NULL: all datasets are at their end, or
// (not is_waiting) it has nothing yet. An error stands for one element of that dataset.
STK_MUST_CHECK enum stoker_status stk_interleave_turn(struct stk_interleave *p, bool is_waiting,
                                                      struct stk_interleave_slot **slot,
                                                      struct stoker_err *err);
// Up to `want` elements of the slot's first piece, within its turn, or the piece's error.
STK_MUST_CHECK enum stoker_status stk_interleave_take(struct stk_interleave *p,
                                                      struct stk_interleave_slot *slot,
                                                      int64_t want, struct stk_block *out,
                                                      struct stoker_err *err);
// n more elements of the slot's first piece are gone, and so many of its turn.
void stk_interleave_used(struct stk_interleave *p, struct stk_interleave_slot *slot, int64_t n);
void stk_interleave_advance(struct stk_interleave *p, int64_t turns);
// The slot's first piece; NULL: none is ready.
struct stk_piece *stk_interleave_first(struct stk_interleave *p, struct stk_interleave_slot *slot);

// Can elements like those of the block be copied one by one at little cost?
bool stk_interleave_is_flat(const struct stk_block *b);
// Elements of as many turns as are ready, in order, copied side by side, beginning with the slot's.
STK_MUST_CHECK enum stoker_status stk_interleave_turns(struct stk_interleave *p,
                                                       struct stk_interleave_slot *slot,
                                                       int64_t want, struct stk_block *out,
                                                       struct stoker_err *err);
