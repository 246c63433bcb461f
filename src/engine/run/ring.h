// SPDX-License-Identifier: Apache-2.0
// The ordered ring between a stage's workers and its consumer. A slot holds a piece: elements, then
// perhaps an error and the elements after it. Workers reserve slots in order (a sloppy ring: in the
// order in which pieces are done), the consumer takes pieces in order. One lock, two conditions.
// If a piece takes only microseconds, sleeping and waking cost more than the work. So a side that
// must wait spins for a few microseconds first, and a sleeping worker is woken when half of the
// ready pieces are gone, not for each piece: the consumer then rarely enters the kernel. While the
// caller's thread keeps coming back, it never does: the worker that feeds it naps and checks for
// room every millisecond. It sleeps until woken once nothing was taken for a while, or once a nap
// was too long: the consumer had to wait, or the CPU was so busy that the nap ended late.
//
// Limits: STK_RING_SLOTS pieces; how many of them are used (`room`) and how many elements they may
// hold together (`elements_max`, 0: any number) may change at any time.
#pragma once

#include <pthread.h>
#include <stdio.h>

#include "engine/run/iter.h"
#include "engine/run/ring_capacity.h"

#define STK_RING_SLOTS 128

struct stk_piece {
    struct stk_block block;
    int64_t used, count;       // elements taken by the consumer; all elements, with those of `next`
    enum stoker_status status; // an error after the elements, or STOKER_OK
    struct stoker_err *err;    // owned
    struct stk_piece *next;    // after the error; owned
    uint64_t in_bytes;         // of the input elements it was made of, if measured
    bool is_done, ends_group;  // ends_group: the next piece is elsewhere in memory
    struct stk_place {         // its position in a buffer that several pieces share
        uint64_t group;
        int64_t first, count, of; // in elements: before it, its own, the buffer's; of 0: no buffer
    } place;
};

struct stk_ring {
    struct stk_iter *it;
    pthread_mutex_t lock;
    uint64_t head, tail; // pieces taken; slots handed out
    int in_flight;       // sloppy: slots reserved but not done
    uint32_t ready;      // pieces done but not taken
    uint32_t low;        // the least of them since the last marks
    uint64_t piece_ns;   // atomic: about how long a worker takes for one; 0: unknown
    int64_t elements, elements_max;
    int capacity;
    int short_left;  // pieces still to be made one at a time, after memory was too little
    bool is_callers; // the consumer makes a piece if none is in progress
    bool is_sloppy, is_ended, is_stopped, has_waiter, has_sleeper, is_napping;
    bool was_full, is_drained; // since it was last drained; since the last marks
    struct stk_ring_naps {
        int left;    // naps before the worker sleeps until woken; < 0: sleeps until naps resume
        int penalty; // sleeps that the next overlong nap costs: doubles, falls with good naps
    } naps;
    struct stk_ring_spin { // before it sleeps, a side spins for SPIN_NS
        uint64_t moves;    // atomic: how often the other side moved
        int score;         // rises when spinning paid off, else falls
    } consumer, worker;
    pthread_cond_t has_capacity, has_piece;
    struct stk_ring *previous, *next; // in the run's list, for canceling
    struct stk_piece slots[STK_RING_SLOTS];
};

void stk_ring_open(struct stk_ring *r, struct stk_iter *it, bool is_sloppy, int capacity,
                   int64_t elements_max);
void stk_ring_close(struct stk_ring *r); // no thread may use it any more
void stk_ring_stop(struct stk_ring *r);  // ends all waits
void stk_ring_set_capacity(struct stk_ring *r, int capacity);
// Memory ran short: the next pieces are made one at a time.
void stk_ring_be_short(struct stk_ring *r, int pieces);
// Whether the consumer makes pieces itself, once those in progress are used up.
void stk_ring_set_callers(struct stk_ring *r, bool is_callers);
bool stk_ring_is_over(struct stk_ring *r);    // all pieces were taken, or it is stopped
bool stk_ring_is_stopped(struct stk_ring *r); // or the run was canceled
// What happened since the last call.
struct stk_ring_marks stk_ring_marks(struct stk_ring *r);
void stk_ring_wake(struct stk_ring *r);

// For workers. Waits for room. False: stopped or canceled. *seq: the slot (not in a sloppy ring).
bool stk_ring_reserve(struct stk_ring *r, uint64_t *seq);
// For the consumer; never waits. False: a piece exists or is in progress.
bool stk_ring_reserve_callers(struct stk_ring *r, uint64_t *seq);
// The input ended: returns the slot, and no more follow.
void stk_ring_end(struct stk_ring *r);
// The piece is done; its contents move into the slot.
void stk_ring_finish(struct stk_ring *r, uint64_t seq, struct stk_piece *p);

// For the consumer. The k-th piece from the head. NULL: the end, canceled, the consumer must make
// it, or is_waiting is false and it isn't done.
struct stk_piece *stk_ring_peek(struct stk_ring *r, int k, bool is_waiting);
// The head if it is done; without the lock, since only the consumer moves it. NULL: it may not be
// done.
static inline struct stk_piece *stk_ring_head(struct stk_ring *r)
{
    bool is_done = __atomic_load_n(&r->it->stats.head_ready, __ATOMIC_ACQUIRE) != 0;
    return is_done ? &r->slots[r->head % STK_RING_SLOTS] : NULL;
}
// Drops the head piece.
void stk_ring_pop(struct stk_ring *r);

// What is wrong with the ring; NULL: nothing. Caller holds the lock.
const char *stk_ring_check(const struct stk_ring *r);
void stk_ring_dump(const struct stk_ring *r, FILE *to); // NULL: stderr

void stk_piece_clear(struct stk_piece *p);
void stk_piece_reset(struct stk_piece *p); // as clear, but keeps its block's array
// Adds an empty part with this error at the piece's end. False: no memory for the error.
bool stk_piece_fail(struct stk_piece *p, enum stoker_status status, const struct stoker_err *err);
struct stk_piece *stk_piece_last(struct stk_piece *p);
