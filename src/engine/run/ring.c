// SPDX-License-Identifier: Apache-2.0
// The ring of pieces between workers and consumer; see ring.h.
#include "engine/run/ring.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/memory/block_check.h"
#include "engine/run/account.h"

void stk_piece_clear(struct stk_piece *p)
{
    struct stk_piece *next = p->next;
    stk_block_free(&p->block);
    stk_free(p->err);
    *p = (struct stk_piece){0};
    while (next) {
        struct stk_piece *after = next->next;
        stk_block_free(&next->block);
        stk_free(next->err);
        stk_free(next);
        next = after;
    }
}

STK_HOT void stk_piece_reset(struct stk_piece *p)
{
    if (p->next) {
        stk_piece_clear(p);
        return;
    }
    stk_block_clear(&p->block);
    stk_free(p->err);
    *p = (struct stk_piece){.block = p->block};
}

struct stk_piece *stk_piece_last(struct stk_piece *p)
{
    while (p->next) {
        p = p->next;
    }
    return p;
}

bool stk_piece_fail(struct stk_piece *p, enum stoker_status status, const struct stoker_err *err)
{
    STK_ASSERT(status != STOKER_OK);
    p = stk_piece_last(p);
    STK_ASSERT(p->status == STOKER_OK && !p->err);
    p->next = stk_alloc_zero(1, sizeof *p->next);
    p->err = stk_alloc(sizeof *p->err);
    p->status = status;
    if (!p->next || !p->err) {
        p->status = STOKER_ENOMEM;
        return false;
    }
    *p->err = *err;
    return true;
}

const char *stk_ring_check(const struct stk_ring *r)
{
    int64_t elements = 0;
    uint32_t done = __atomic_load_n(&r->it->stats.head_ready, __ATOMIC_RELAXED);
    if (r->capacity < 1 || r->capacity > STK_RING_SLOTS) {
        return "no room, or more than the slots";
    }
    if (r->head > r->tail || r->tail - r->head > STK_RING_SLOTS) {
        return "the head is before the tail, or slots were handed out twice";
    }
    if (r->in_flight < 0 || (r->in_flight > 0 && !r->is_sloppy)) {
        return "pieces are in progress without a reservation";
    }
    for (uint64_t k = r->head + 1; k < r->tail; k++) { // the consumer owns the head's slot
        const struct stk_piece *p = &r->slots[k % STK_RING_SLOTS];
        done += p->is_done;
        elements += p->is_done ? p->count : 0;
    }
    if (done != r->ready) {
        return "the number of ready pieces differs from the count";
    }
    return elements <= r->elements ? NULL : "more elements are ready than are counted";
}

void stk_ring_dump(const struct stk_ring *r, FILE *to)
{
    const char *why = stk_ring_check(r);
    to = to ? to : stderr;
    fprintf(to,
            "ring of %s head=%" PRIu64 " tail=%" PRIu64 " ready=%u in_flight=%d capacity=%d "
            "elements=%" PRId64 "%s%s%s%s%s%s\n",
            r->it->kind->name, r->head, r->tail, r->ready, r->in_flight, r->capacity, r->elements,
            r->is_sloppy ? " sloppy" : "", r->is_ended ? " ended" : "",
            r->is_stopped ? " stopped" : "", r->has_waiter ? " consumer waits" : "",
            why ? "  BROKEN: " : "", why ? why : "");
}

static void join_run(struct stk_ring *r)
{
    struct stk_run *run = r->it->run;
    pthread_mutex_lock(&run->rings_lock);
    r->previous = NULL;
    r->next = run->rings;
    if (r->next) {
        r->next->previous = r;
    }
    run->rings = r;
    pthread_mutex_unlock(&run->rings_lock);
}

static void leave_run(struct stk_ring *r)
{
    struct stk_run *run = r->it->run;
    pthread_mutex_lock(&run->rings_lock);
    if (r->previous) {
        r->previous->next = r->next;
    } else {
        run->rings = r->next;
    }
    if (r->next) {
        r->next->previous = r->previous;
    }
    pthread_mutex_unlock(&run->rings_lock);
}

void stk_ring_open(struct stk_ring *r, struct stk_iter *it, bool is_sloppy, int capacity,
                   int64_t elements_max)
{
    STK_ASSERT(elements_max >= 0);
    r->it = it;
    r->is_sloppy = is_sloppy;
    r->elements_max = elements_max;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); // naps use this clock
    pthread_cond_init(&r->has_capacity, &attr);
    pthread_condattr_destroy(&attr);
    pthread_cond_init(&r->has_piece, NULL);
    stk_ring_set_capacity(r, capacity);
    join_run(r);
}

void stk_ring_close(struct stk_ring *r)
{
    STK_ASSERT(!r->has_waiter && !r->has_sleeper);
    leave_run(r);
    for (int i = 0; i < STK_RING_SLOTS; i++) {
        stk_piece_clear(&r->slots[i]);
    }
    pthread_cond_destroy(&r->has_piece);
    pthread_cond_destroy(&r->has_capacity);
    pthread_mutex_destroy(&r->lock);
}

void stk_ring_wake(struct stk_ring *r)
{
    pthread_mutex_lock(&r->lock);
    pthread_cond_broadcast(&r->has_capacity);
    pthread_cond_broadcast(&r->has_piece);
    pthread_mutex_unlock(&r->lock);
}

void stk_ring_stop(struct stk_ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->is_stopped = true;
    pthread_mutex_unlock(&r->lock);
    stk_ring_wake(r);
}

void stk_ring_set_capacity(struct stk_ring *r, int capacity)
{
    pthread_mutex_lock(&r->lock);
    r->capacity = capacity < 1 ? 1 : capacity > STK_RING_SLOTS ? STK_RING_SLOTS : capacity;
    r->was_full = r->is_drained = false;
    __atomic_store_n(&r->it->stats.capacity, (uint32_t)r->capacity, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&r->has_capacity);
    pthread_mutex_unlock(&r->lock);
}

void stk_ring_be_short(struct stk_ring *r, int pieces)
{
    pthread_mutex_lock(&r->lock);
    r->short_left = pieces;
    pthread_mutex_unlock(&r->lock);
}

void stk_ring_set_callers(struct stk_ring *r, bool is_callers)
{
    pthread_mutex_lock(&r->lock);
    bool is_new = r->is_callers != is_callers;
    r->is_callers = is_callers;
    pthread_mutex_unlock(&r->lock);
    if (is_new) {
        stk_ring_wake(r);
    }
}

// Caller holds the lock.
static bool is_callers_turn(const struct stk_ring *r)
{
    return r->is_callers && r->head == r->tail && r->in_flight == 0 && !r->is_ended &&
           !r->is_stopped && !stk_run_is_cancelled(r->it->run);
}

bool stk_ring_is_over(struct stk_ring *r)
{
    pthread_mutex_lock(&r->lock);
    bool is_off = r->is_stopped || stk_run_is_cancelled(r->it->run);
    bool is = is_off || (r->is_ended && r->head == r->tail && r->in_flight == 0);
    pthread_mutex_unlock(&r->lock);
    return is;
}

bool stk_ring_is_stopped(struct stk_ring *r)
{
    pthread_mutex_lock(&r->lock);
    bool is = r->is_stopped || stk_run_is_cancelled(r->it->run);
    pthread_mutex_unlock(&r->lock);
    return is;
}

struct stk_ring_marks stk_ring_marks(struct stk_ring *r)
{
    pthread_mutex_lock(&r->lock);
    struct stk_ring_marks m = {r->capacity, r->low, r->is_drained};
    r->low = r->ready;
    r->is_drained = false;
    pthread_mutex_unlock(&r->lock);
    return m;
}

#define SPIN_NS 8000u
#define SPIN_SCORE_MAX 16
#define SPIN_AGAIN 64   // waits without spinning before it spins again
#define CHEAP_NS 50000u // a ready piece is cheap if remaking it takes less
#define NAP_NS 1000000u
#define NAPS 16 // naps in a row with nothing taken, before the worker sleeps until woken
#define NAP_PENALTY_MIN 4
#define NAP_PENALTY_MAX 256

// Spins until the other side moves. Caller holds the lock, which is released meanwhile: check the
// condition again afterwards.
static void look(struct stk_ring *r, struct stk_ring_spin *s)
{
    if (s->score < 0) {
        s->score += s->score <= -SPIN_AGAIN ? SPIN_AGAIN : -1;
        return;
    }
    uint64_t before = __atomic_load_n(&s->moves, __ATOMIC_RELAXED), start_ns = stk_clock_ns();
    bool has_moved = false;
    pthread_mutex_unlock(&r->lock);
    while (!has_moved && stk_clock_ns() - start_ns < SPIN_NS) {
        for (int i = 0; i < 20 && !has_moved; i++) {
            has_moved = __atomic_load_n(&s->moves, __ATOMIC_RELAXED) != before;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    }
    pthread_mutex_lock(&r->lock);
    s->score += !has_moved ? -4 : s->score < SPIN_SCORE_MAX;
}

static void moved(struct stk_ring_spin *s)
{
    __atomic_add_fetch(&s->moves, 1, __ATOMIC_RELAXED);
}

static bool is_over(struct stk_ring *r)
{
    return r->is_stopped || r->is_ended || stk_run_is_cancelled(r->it->run);
}

// Caller holds the lock. An empty ring may always get one piece, so the pipeline never stops,
// however small the budget.
static bool is_full(const struct stk_ring *r)
{
    uint64_t held = r->tail - r->head + (uint64_t)r->in_flight;
    if (held == 0) {
        return false;
    }
    if (held >= (uint64_t)r->capacity || r->short_left > 0 ||
        (r->elements_max && r->elements >= r->elements_max)) {
        return true;
    }
    struct stk_pool_stats s = stk_pool_stats_of(r->it->run->pool);
    bool is_short = s.in_use_bytes > s.cap_bytes / 4 * 3;
    if (is_short) {
        __atomic_add_fetch(&r->it->run->memory_waits, 1, __ATOMIC_RELAXED);
    }
    return is_short;
}

static bool is_cheap(const struct stk_ring *r)
{
    uint64_t held = r->tail - r->head + (uint64_t)r->in_flight;
    uint64_t piece_ns = __atomic_load_n(&r->piece_ns, __ATOMIC_RELAXED);
    return piece_ns != 0 && piece_ns * held <= CHEAP_NS;
}

// Caller holds the lock. A nap was too long: no naps for a while.
static void forgo_naps(struct stk_ring_naps *naps)
{
    int penalty = naps->penalty > NAP_PENALTY_MIN ? naps->penalty : NAP_PENALTY_MIN;
    naps->left = -penalty;
    naps->penalty = penalty < NAP_PENALTY_MAX ? 2 * penalty : penalty;
}

// Sleeps until there may be room. Caller holds the lock. True: something was taken meanwhile.
static bool sleep_for_capacity(struct stk_ring *r)
{
    uint64_t before = r->head;
    struct stk_ring_naps *naps = &r->naps;
    bool is_last = __atomic_load_n(&r->it->run->root, __ATOMIC_RELAXED) == r->it;
    r->has_sleeper = true;
    if (naps->left > 0 && is_last && is_cheap(r)) {
        uint64_t end_ns = stk_clock_ns() + NAP_NS;
        struct timespec end = stk_clock_moment(end_ns);
        r->is_napping = true;
        (void)pthread_cond_timedwait(&r->has_capacity, &r->lock, &end);
        r->is_napping = false;
        if (naps->left > 0 && stk_clock_ns() > end_ns + NAP_NS / 2) {
            forgo_naps(naps); // the CPU is busy: a woken thread runs sooner than one whose timer
                              // ends
        } else if (naps->left > 0 && r->head == before) {
            naps->left--;
        } else if (naps->left > 0 && naps->penalty > NAP_PENALTY_MIN) {
            naps->penalty--;
        }
    } else {
        pthread_cond_wait(&r->has_capacity, &r->lock);
        naps->left += naps->left < 0;
    }
    r->has_sleeper = false;
    if (naps->left >= 0 && r->head != before) {
        naps->left = NAPS;
    }
    return r->head != before;
}

// Caller holds the lock. A sloppy ring assigns the slot when the piece is done.
static uint64_t give_slot(struct stk_ring *r)
{
    r->in_flight += r->is_sloppy;
    return r->is_sloppy ? 0 : r->tail++;
}

bool stk_ring_reserve(struct stk_ring *r, uint64_t *seq)
{
    pthread_mutex_lock(&r->lock);
    bool has_looked = false;
    while (!is_over(r) && is_full(r)) {
        if (!has_looked) {
            has_looked = true; // the lock was released: check the condition again
            look(r, &r->worker);
        } else {
            has_looked = !sleep_for_capacity(r);
        }
    }
    STK_ASSERT(!stk_ring_check(r));
    bool has_slot = !is_over(r);
    if (has_slot) {
        *seq = give_slot(r);
    }
    pthread_mutex_unlock(&r->lock);
    return has_slot;
}

bool stk_ring_reserve_callers(struct stk_ring *r, uint64_t *seq)
{
    pthread_mutex_lock(&r->lock);
    bool has_slot = is_callers_turn(r);
    if (has_slot) {
        *seq = give_slot(r);
    }
    pthread_mutex_unlock(&r->lock);
    return has_slot;
}

void stk_ring_end(struct stk_ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->is_ended = true;
    STK_ASSERT(r->is_sloppy ? r->in_flight > 0 : r->tail > r->head);
    if (r->is_sloppy) {
        r->in_flight--;
    } else {
        r->tail--; // the newest slot: slots are reserved and ended under the stage's input lock
    }
    pthread_mutex_unlock(&r->lock);
    stk_ring_wake(r);
}

static int64_t elements_of(const struct stk_piece *p)
{
    int64_t n = 0;
    for (; p; p = p->next) {
        n += p->block.n;
    }
    return n;
}

// Publishes whether next() can be answered at once, for readers without the lock. Caller holds it.
static void tell_head(struct stk_ring *r, bool is_ready)
{
    __atomic_store_n(&r->it->stats.head_ready, is_ready, __ATOMIC_RELEASE);
}

// Should a worker that waits for room wake up? If pieces are cheap, only once half of the ring is
// free. Caller holds the lock.
STK_HOT static bool is_low(const struct stk_ring *r)
{
    uint64_t held = r->tail - r->head + (uint64_t)r->in_flight;
    return !is_cheap(r) || (held <= (uint64_t)r->capacity / 2 &&
                            (r->elements_max == 0 || r->elements <= r->elements_max / 2));
}

void stk_ring_finish(struct stk_ring *r, uint64_t seq, struct stk_piece *p)
{
    int64_t n = elements_of(p);
    STK_ASSERT_BLOCK(&p->block);
    pthread_mutex_lock(&r->lock);
    STK_ASSERT(r->is_sloppy ? r->in_flight > 0 : seq >= r->head && seq < r->tail);
    if (r->is_sloppy) {
        seq = r->tail++;
        r->in_flight--;
    }
    struct stk_piece *slot = &r->slots[seq % STK_RING_SLOTS], old = *slot;
    STK_ASSERT(!old.is_done && !old.next);
    *slot = *p;
    slot->is_done = true;
    slot->count = n;
    *p = old; // the worker reuses its block's array
    r->short_left -= r->short_left > 0;
    r->elements += n;
    __atomic_store_n(&r->it->stats.fill, ++r->ready, __ATOMIC_RELAXED);
    r->was_full = r->was_full || r->ready + 1 >= (uint32_t)r->capacity;
    if (seq == r->head) { // else the consumer may be at work on the head's slot
        tell_head(r, true);
    }
    STK_ASSERT(!stk_ring_check(r));
    moved(&r->consumer);
    if (r->has_waiter) {
        pthread_cond_signal(&r->has_piece);
    }
    pthread_mutex_unlock(&r->lock);
}

STK_HOT struct stk_piece *stk_ring_peek(struct stk_ring *r, int k, bool is_waiting)
{
    struct stk_run *run = r->it->run;
    struct stk_wait w;
    bool has_waited = false, has_looked = false;
    pthread_mutex_lock(&r->lock);
    for (;;) {
        uint64_t at = r->head + (uint64_t)k;
        struct stk_piece *p = at < r->tail ? &r->slots[at % STK_RING_SLOTS] : NULL;
        bool is_end = !p && r->is_ended && r->in_flight == 0, is_done = p && p->is_done;
        bool is_off = r->is_stopped || stk_run_is_cancelled(run);
        if (is_done || is_end || is_off || !is_waiting || (!p && is_callers_turn(r))) {
            pthread_mutex_unlock(&r->lock);
            if (has_waited) {
                stk_wait_end(w, r->it);
            }
            return is_done ? p : NULL;
        }
        if (!has_waited) {
            has_waited = true;
            r->is_drained = r->is_drained || r->was_full;
            r->was_full = false;
            w = stk_wait_begin();
            if (r->is_napping && r->naps.left > 0) {
                forgo_naps(&r->naps);
                pthread_cond_signal(&r->has_capacity);
            }
        }
        if (!has_looked) {
            has_looked = true;
            look(r, &r->consumer);
            continue;
        }
        r->has_waiter = true;
        pthread_cond_wait(&r->has_piece, &r->lock);
        r->has_waiter = false;
    }
}

// Gives the array of a consumed block to the next slot to be handed out, so there are never more
// arrays than pieces held at a time. Caller holds the lock.
STK_HOT static void pass_on(struct stk_ring *r, struct stk_block *used)
{
    uint64_t most = r->head + STK_RING_SLOTS;
    for (uint64_t at = r->tail; at < most && at < r->tail + (uint64_t)r->capacity; at++) {
        struct stk_block *to = &r->slots[at % STK_RING_SLOTS].block;
        if (to == used) {
            return;
        }
        if (!to->cols) {
            *to = *used;
            *used = (struct stk_block){0};
            return;
        }
    }
}

STK_HOT void stk_ring_pop(struct stk_ring *r)
{
    struct stk_piece *slot = &r->slots[r->head % STK_RING_SLOTS];
    int64_t n = slot->count;
    STK_ASSERT(slot->is_done && n >= 0);
    stk_piece_reset(slot);
    pthread_mutex_lock(&r->lock);
    STK_ASSERT(r->head < r->tail && r->ready > 0 && r->elements >= n);
    r->head++;
    pass_on(r, &slot->block);
    r->elements -= n;
    __atomic_store_n(&r->it->stats.fill, --r->ready, __ATOMIC_RELAXED);
    r->low = r->ready < r->low ? r->ready : r->low;
    tell_head(r, r->head < r->tail && r->slots[r->head % STK_RING_SLOTS].is_done);
    STK_ASSERT(!stk_ring_check(r));
    moved(&r->worker);
    if (r->has_sleeper && !r->is_napping && is_low(r)) {
        r->has_sleeper = false; // wake it once; it sets this before it sleeps again
        pthread_cond_signal(&r->has_capacity);
    }
    pthread_mutex_unlock(&r->lock);
}
