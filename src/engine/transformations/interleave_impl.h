// SPDX-License-Identifier: Apache-2.0
// Internals of interleave with threads, shared by transform_interleave.c (workers, opening,
// waiting), interleave_turns.c (elements of many turns at once) and interleave_next.c.
#pragma once

#include <pthread.h>

#include "engine/run/async.h"
#include "engine/transformations/interleave.h"
#include "engine/run/parts.h"

#define STK_INTERLEAVE_AHEAD 3 // most pieces of a dataset that wait

struct stk_interleave_slot {
    struct stk_iter *inner;
    struct stk_piece pieces[STK_INTERLEAVE_AHEAD];
    int first, count;
    bool is_busy, at_end;
    uint64_t kept_for;         // the call during which its first piece's memory is held, 0: none
    enum stoker_status status; // opening it failed: the error comes at its position
    struct stoker_err *err;
};

struct stk_interleave {
    struct stk_iter *it;
    struct stk_nest *nest;
    int64_t length, block, at, given, open;
    bool at_end, is_sloppy, is_begun, is_stopping, has_waiter;
    bool is_lazy; // something failed: open datasets only at their turn, so that errors come in
                  // order
    struct stk_interleave_slot *slots;
    struct stk_ring ring;         // only for its lock and conditions: canceling wakes waiters
    int64_t piece_n, piece_bytes; // elements to read at once; most of their bytes
    uint64_t read_bytes;          // memory that reading a piece may take, by the largest so far
    int n_busy;                   // workers that are reading
    int wanted, n_threads;        // workers that should read; workers started
    bool is_tuned;
    bool is_inline;        // the consumer reads, from the dataset whose turn it is
    pthread_cond_t unpark; // for workers beyond the wanted number
    struct stk_tuned tuned;
    struct stk_interleave_worker {
        struct stk_interleave *of;
        pthread_t thread;
        int index;
        struct stk_interleave_slot *slot; // the one it reads in
    } workers[STK_WORKERS_MAX];
    struct stk_parts parts;
    uint64_t calls; // calls of stk_interleave_turns
};

// Opens the first datasets and starts the workers; call it before the first element.
STK_MUST_CHECK enum stoker_status stk_interleave_begin(struct stk_interleave *p,
                                                       struct stoker_err *err);
// The dataset whose turn it is, with a piece ready. *slot NULL: all datasets have ended, or (not
// is_waiting) nothing is ready. An error stands for one element of that dataset.
STK_MUST_CHECK enum stoker_status stk_interleave_turn(struct stk_interleave *p, bool is_waiting,
                                                      struct stk_interleave_slot **slot,
                                                      struct stoker_err *err);
// Takes up to `want` elements of the slot's first piece, within its turn, or the piece's error.
STK_MUST_CHECK enum stoker_status stk_interleave_take(struct stk_interleave *p,
                                                      struct stk_interleave_slot *slot,
                                                      int64_t want, struct stk_block *out,
                                                      struct stoker_err *err);
// Removes n elements from the slot's first piece and from its turn.
void stk_interleave_used(struct stk_interleave *p, struct stk_interleave_slot *slot, int64_t n);
void stk_interleave_advance(struct stk_interleave *p, int64_t turns);
// The slot's first piece; NULL: none is ready.
struct stk_piece *stk_interleave_first(struct stk_interleave *p, struct stk_interleave_slot *slot);

// Are the block's elements cheap to copy one by one?
bool stk_interleave_is_flat(const struct stk_block *b);
// Copies elements of as many turns as are ready, in order, into one block, starting with the
// slot's.
STK_MUST_CHECK enum stoker_status stk_interleave_turns(struct stk_interleave *p,
                                                       struct stk_interleave_slot *slot,
                                                       int64_t want, struct stk_block *out,
                                                       struct stoker_err *err);
