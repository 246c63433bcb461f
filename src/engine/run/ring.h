// SPDX-License-Identifier: Apache-2.0
// The ordered ring between a stage's workers and its consumer. A slot holds a piece: elements, then
// perhaps an error and what follows it. Workers reserve slots in order (a sloppy ring: in the
// order in which pieces are done), the consumer takes pieces in order. One lock, two conditions.
// Between stages that take microseconds for a piece, falling asleep and waking cost more than the
// work: there a side that must wait looks for a few microseconds first, and a worker that sleeps is
// woken when half of what was ready is gone rather than for each piece: a consumer that takes what
// is ready then rarely enters the kernel. The caller's thread is spared even that while it keeps
// coming back: the worker that feeds it checks for room every millisecond by itself (a nap), and
// sleeps until it is woken when nothing was taken for a while, or when a nap was too long: because
// the consumer had to wait, or because the processors are so busy that the nap ended late.
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
    int64_t used, count; // elements that the consumer has; that there were, with all that follow
    enum stoker_status status; // an error after the elements, or STOKER_OK
    struct stoker_err *err;    // owned
    struct stk_piece *next;    // after the error; owned
    uint64_t in_bytes;         // of the elements it was made of, where that was measured
    bool is_done, ends_group;  // the latter: what comes next is elsewhere in memory
    struct stk_place {         // its position in a buffer that several pieces share
        uint64_t group;
        int64_t first, count, of; // elements: before it, its own, the buffer's; of 0: in none
    } place;
};

struct stk_ring {
    struct stk_iter *it;
    pthread_mutex_t lock;
    uint64_t head, tail; // pieces taken; slots given out
    int in_flight;       // sloppy: reserved, and not done
    uint32_t ready;      // pieces done and not taken
    uint32_t low;        // the least of them of late
    uint64_t piece_ns;   // atomic: about how long a worker needs for one; 0: not known
    int64_t elements, elements_max;
    int capacity;
    int short_left;  // pieces still to be made one at a time, after memory was too little
    bool is_callers; // the consumer makes pieces where none are under way
    bool is_sloppy, is_ended, is_stopped, has_waiter, has_sleeper, is_napping;
    bool was_full, is_drained; // since it was last drained; since that was told
    struct stk_ring_naps {
        int left;    // before the worker sleeps for good; < 0: sleeps before there are naps again
        int penalty; // sleeps that the next nap costs that is too long: doubles, and falls with
                     // good ones
    } naps;
    struct stk_ring_spin { // before it sleeps, a side looks for SPIN_NS whether the other one moved
        uint64_t moves;    // atomic: of the other side
        int score;         // how often that paid of late; its own side's
    } consumer, worker;
    pthread_cond_t has_capacity, has_piece;
    struct stk_ring *previous, *next; // in the run's list, for canceling
    struct stk_piece slots[STK_RING_SLOTS];
};

void stk_ring_open(struct stk_ring *r, struct stk_iter *it, bool is_sloppy, int capacity,
                   int64_t elements_max);
void stk_ring_close(struct stk_ring *r); // nobody works on it any more
void stk_ring_stop(struct stk_ring *r);  // all waits end
void stk_ring_set_capacity(struct stk_ring *r, int capacity);
// The next pieces are made one at a time: memory was too little for more.
void stk_ring_be_short(struct stk_ring *r, int pieces);
// The consumer makes pieces itself from now on, once those under way are used up; or no longer.
void stk_ring_set_callers(struct stk_ring *r, bool is_callers);
bool stk_ring_is_over(struct stk_ring *r);    // all pieces were taken, or it is stopped
bool stk_ring_is_stopped(struct stk_ring *r); // or the run was canceled
// What happened since the last call; each is reported once.
struct stk_ring_marks stk_ring_marks(struct stk_ring *r);
void stk_ring_wake(struct stk_ring *r);

// Workers. Waits for room; false: stopped or canceled. *seq is the slot (not of a sloppy ring).
bool stk_ring_reserve(struct stk_ring *r, uint64_t *seq);
// The consumer's: never waits. False: it is not its turn, since there is a piece, or will be.
bool stk_ring_reserve_callers(struct stk_ring *r, uint64_t *seq);
// Nothing came: the slot goes back, and there will be no others.
void stk_ring_end(struct stk_ring *r);
// The piece is done; its contents move into the slot.
void stk_ring_finish(struct stk_ring *r, uint64_t seq, struct stk_piece *p);

// The consumer. The k-th piece from the head; NULL: the end, or is_waiting is false and it is not
// done. Waits end with NULL when canceled, too, and when it is the consumer's turn to make one.
struct stk_piece *stk_ring_peek(struct stk_ring *r, int k, bool is_waiting);
// The head, if it is done, without the lock: only the consumer moves it. NULL: perhaps not.
static inline struct stk_piece *stk_ring_head(struct stk_ring *r)
{
    bool is_done = __atomic_load_n(&r->it->stats.head_ready, __ATOMIC_ACQUIRE) != 0;
    return is_done ? &r->slots[r->head % STK_RING_SLOTS] : NULL;
}
// The head piece is used up.
void stk_ring_pop(struct stk_ring *r);

// What is wrong with the ring, whose lock is held; NULL: nothing.
const char *stk_ring_check(const struct stk_ring *r);
void stk_ring_dump(const struct stk_ring *r, FILE *to); // NULL: standard error

void stk_piece_clear(struct stk_piece *p);
void stk_piece_reset(struct stk_piece *p); // the same, but its block's array stays
// Adds elements and an error after them at the piece's end. False: no memory for the error.
bool stk_piece_fail(struct stk_piece *p, enum stoker_status status, const struct stoker_err *err);
struct stk_piece *stk_piece_last(struct stk_piece *p);
