// SPDX-License-Identifier: Apache-2.0
// interleave with num_parallel_calls: workers read ahead in the cycle's datasets, a few pieces in
// each, starting with the one whose turn is next; the consumer takes elements in the same order as
// without threads. If order doesn't matter (deterministic 0, or a sloppy run), a dataset that has
// nothing ready at its turn is skipped.
//
// The consumer runs the input and the function: it opens datasets in order, as soon as a place in
// the cycle becomes free. With AUTOTUNE the tuner sets how many workers read, and whether any do:
// inline (async.h), the consumer itself reads at a dataset's turn.
#include <signal.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/thread.h"
#include "engine/run/account.h"
#include "engine/run/aggregate.h"
#include "engine/run/iter_open.h"
#include "engine/run/memory_wait.h"
#include "engine/run/permits.h"
#include "engine/run/pull.h"
#include "engine/run/ring.h"
#include "engine/run/worker.h"
#include "engine/transformations/interleave_impl.h"

#define READ_FACTOR 2 // memory of a read, relative to its elements: sources read larger blocks

static void set_workers(void *owner, int n);
static void set_inline(void *owner, bool is_inline);

enum stoker_status stk_interleave_open(struct stk_interleave **out, struct stk_iter *it,
                                       struct stk_nest *nest, int64_t cycle_length,
                                       int64_t block_length, struct stoker_err *err)
{
    int64_t calls = stk_attrs_int(it->ds->attrs, "num_parallel_calls", -1);
    int64_t ordered = stk_attrs_int(it->ds->attrs, "deterministic", -1);
    struct stk_interleave *p = stk_alloc_zero(1, sizeof *p);
    *out = p;
    if (!p) {
        return stk_err_nomem(err);
    }
    p->it = it;
    p->nest = nest;
    p->length = cycle_length;
    p->block = block_length;
    p->piece_n = 1;
    p->piece_bytes = stk_piece_bytes_max(it->run);
    p->is_sloppy = ordered < 0 ? it->run->options.is_sloppy : ordered == 0;
    p->is_tuned = calls < 0;
    // Threads that wait for something other than a core may exceed the number of cores.
    int threads = it->run->options.threads, most = it->run->has_cap ? threads : 4 * threads;
    calls = p->is_tuned ? most : calls;
    calls = calls < cycle_length ? calls : cycle_length;
    int limit = calls > STK_WORKERS_MAX ? STK_WORKERS_MAX : (int)calls;
    p->wanted = p->is_tuned ? stk_tuner_initial(it, limit) : limit;
    p->tuned = (struct stk_tuned){
        .it = it, .owner = p, .set_workers = set_workers, .limit = limit, .workers = p->wanted};
    p->tuned.set_inline = set_inline;
    pthread_cond_init(&p->unpark, NULL);
    stk_ring_open(&p->ring, it, false, 1, 0);
    it->stats.capacity = (uint32_t)cycle_length * STK_INTERLEAVE_AHEAD;
    p->slots = stk_alloc_zero((size_t)cycle_length, sizeof p->slots[0]);
    return p->slots && stk_tuner_add(&p->tuned, p->is_tuned) ? STOKER_OK : stk_err_nomem(err);
}

// Is memory too short to read ahead, including what busy workers may still take? Caller holds the
// lock.
static bool is_short(const struct stk_interleave *p)
{
    struct stk_pool_stats s = stk_pool_stats_of(p->it->run->pool);
    uint64_t more = (uint64_t)(p->n_busy + 1) * p->read_bytes;
    return s.in_use_bytes + more > stk_pool_ahead_bytes(s.cap_bytes);
}

// The next dataset to read in, starting with the one whose turn it is. If memory is short: only
// that one, if nothing of it is ready. Caller holds the lock.
static struct stk_interleave_slot *choose(struct stk_interleave *p)
{
    int64_t reach = is_short(p) ? 1 : p->length;
    for (int level = 0; level < (reach == 1 ? 1 : STK_INTERLEAVE_AHEAD); level++) {
        for (int64_t i = 0; i < reach; i++) {
            struct stk_interleave_slot *slot = &p->slots[(p->at + i) % p->length];
            if (slot->inner && !slot->is_busy && !slot->at_end && slot->count <= level) {
                return slot;
            }
        }
    }
    return NULL;
}

static void size_pieces(struct stk_interleave *p, const struct stk_piece *piece, uint64_t took_ns)
{
    int64_t now = p->piece_n, n = piece->block.n;
    uint64_t bytes = stk_block_bytes(&piece->block);
    int64_t each = (int64_t)bytes / n;
    p->read_bytes = READ_FACTOR * bytes > p->read_bytes ? READ_FACTOR * bytes : p->read_bytes;
    int64_t next = (int64_t)(STK_PIECE_NS * (uint64_t)n / (took_ns ? took_ns : 1));
    next = next > 2 * now ? 2 * now : next;
    next = next > STK_PIECE_ELEMENTS_MAX ? STK_PIECE_ELEMENTS_MAX : next;
    next = each > 0 && next > p->piece_bytes / each ? p->piece_bytes / each : next;
    p->piece_n = next < 1 ? 1 : next;
}

// Is it the dataset that the consumer waits for, or would wait for now? Caller holds the lock.
static bool has_turn(const struct stk_interleave *p, const struct stk_interleave_slot *slot)
{
    return slot == &p->slots[p->at] && slot->count == 0;
}

// Caller holds the lock, which is released meanwhile.
static void read_slot(struct stk_interleave *p, struct stk_interleave_slot *slot,
                      struct stk_piece *piece)
{
    struct stk_run *run = p->it->run;
    struct stoker_err err;
    int64_t n = is_short(p) ? 1 : p->is_inline ? p->piece_n / STK_INLINE_PARTS : p->piece_n;
    n = n > 0 ? n : 1;
    STK_ASSERT(!slot->is_busy && slot->inner && slot->count < STK_INTERLEAVE_AHEAD);
    slot->is_busy = true;
    p->n_busy++;
    pthread_mutex_unlock(&p->ring.lock);
    bool had_permit = stk_permit_is_held(); // true for a worker of the stage that pulls
    if (!had_permit) {
        stk_permit_take(&run->permits);
    }
    struct stk_iter *before = stk_account_enter(p->it);
    long pauses = stk_worker_pauses();
    uint64_t start_ns = stk_clock_ns();
    enum stoker_status s = stk_iter_next(slot->inner, n, &piece->block, &err);
    bool is_end = s == STOKER_OK && piece->block.n == 0;
    if (s != STOKER_OK) {
        (void)stk_piece_fail(piece, s, &err);
    }
    uint64_t took_ns = stk_clock_ns() - start_ns;
    pauses = stk_worker_pauses() - pauses;
    stk_account_leave(before, 0);
    stk_account_settle(p->it);
    if (!had_permit) {
        (void)stk_permit_return();
    }
    __atomic_add_fetch(&p->tuned.pauses, pauses > 0 ? (uint64_t)pauses : 0, __ATOMIC_RELAXED);
    __atomic_add_fetch(&p->tuned.piece_count, 1, __ATOMIC_RELAXED);
    stk_tuner_look(run);
    pthread_mutex_lock(&p->ring.lock);
    STK_ASSERT(slot->is_busy && p->n_busy > 0);
    slot->is_busy = false;
    p->n_busy--;
    slot->at_end = is_end;
    if (!is_end) {
        if (piece->block.n > 0) {
            size_pieces(p, piece, took_ns);
        }
        struct stk_piece *to = &slot->pieces[(slot->first + slot->count++) % STK_INTERLEAVE_AHEAD],
                         old = *to;
        *to = *piece;
        *piece = old;
        __atomic_add_fetch(&p->it->stats.fill, 1, __ATOMIC_RELAXED);
    }
    if (p->has_waiter) {
        pthread_cond_broadcast(&p->ring.has_piece);
    }
}

static bool is_over(const struct stk_interleave *p)
{
    return p->is_stopping || stk_run_is_cancelled(p->it->run);
}

// For a worker that waits for memory, without the lock. Once its dataset's turn comes, it may use
// all memory.
static bool is_over_by_now(void *worker)
{
    struct stk_interleave_worker *w = worker;
    struct stk_interleave *p = w->of;
    pthread_mutex_lock(&p->ring.lock);
    bool is = is_over(p);
    if (has_turn(p, w->slot)) {
        stk_pool_set_ahead(false);
    }
    pthread_mutex_unlock(&p->ring.lock);
    return is;
}

static void *work(void *arg)
{
    struct stk_interleave_worker *w = arg;
    struct stk_interleave *p = w->of;
    struct stk_piece piece = {0};
    stk_worker_be_batch();
    pthread_mutex_lock(&p->ring.lock);
    while (!is_over(p)) {
        if (w->index >= p->wanted || p->is_inline) {
            pthread_cond_signal(
                &p->ring.has_capacity); // this worker may have been the one to check
            pthread_cond_wait(&p->unpark, &p->ring.lock);
            continue;
        }
        struct stk_interleave_slot *slot = choose(p);
        if (slot) {
            w->slot = slot;
            (void)stk_memory_wait_set((struct stk_memory_wait){
                .is_over = is_over_by_now, .arg = w, .is_ahead = !has_turn(p, slot)});
            read_slot(p, slot, &piece);
        } else {
            pthread_cond_wait(&p->ring.has_capacity, &p->ring.lock);
        }
    }
    pthread_mutex_unlock(&p->ring.lock);
    stk_piece_clear(&piece);
    return NULL;
}

// Caller holds the lock.
static void tell_threads(struct stk_interleave *p)
{
    int n = p->n_threads < p->wanted ? p->n_threads : p->wanted;
    __atomic_store_n(&p->it->stats.threads, p->is_inline ? 0 : (uint32_t)n, __ATOMIC_RELAXED);
}

// Caller holds the lock.
static void start_threads(struct stk_interleave *p)
{
    sigset_t before;
    bool masked = stk_thread_block_signals(&before);
    while (p->n_threads < p->wanted) {
        struct stk_interleave_worker *w = &p->workers[p->n_threads];
        *w = (struct stk_interleave_worker){.of = p, .index = p->n_threads};
        if (!stk_worker_start(&w->thread, work, w)) {
            break;
        }
        p->n_threads++;
    }
    if (masked) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    tell_threads(p);
}

static void set_inline(void *owner, bool is_inline)
{
    struct stk_interleave *p = owner;
    pthread_mutex_lock(&p->ring.lock);
    p->is_inline = is_inline;
    tell_threads(p);
    pthread_cond_broadcast(&p->unpark);
    pthread_cond_broadcast(&p->ring.has_capacity);
    pthread_cond_broadcast(&p->ring.has_piece);
    pthread_mutex_unlock(&p->ring.lock);
}

static void set_workers(void *owner, int n)
{
    struct stk_interleave *p = owner;
    pthread_mutex_lock(&p->ring.lock);
    p->wanted = n < 1 ? 1 : n > p->tuned.limit ? p->tuned.limit : n;
    __atomic_store_n(&p->tuned.workers, p->wanted, __ATOMIC_RELAXED);
    if (p->is_begun && !p->is_stopping) {
        start_threads(p);
    }
    pthread_cond_broadcast(&p->unpark);
    pthread_cond_broadcast(&p->ring.has_capacity);
    pthread_mutex_unlock(&p->ring.lock);
}

static void piece_pop(struct stk_interleave *p, struct stk_interleave_slot *slot)
{
    struct stk_piece *piece = &slot->pieces[slot->first];
    struct stk_block block = piece->block;
    stk_block_clear(&block);
    piece->block = (struct stk_block){0};
    stk_piece_clear(piece);
    piece->block = block;
    pthread_mutex_lock(&p->ring.lock);
    slot->first = (slot->first + 1) % STK_INTERLEAVE_AHEAD;
    slot->kept_for = 0;
    slot->count--;
    __atomic_sub_fetch(&p->it->stats.fill, 1, __ATOMIC_RELAXED);
    pthread_cond_signal(&p->ring.has_capacity);
    pthread_mutex_unlock(&p->ring.lock);
}

// Opens a dataset in a free slot of the cycle. An error waits there for its turn.
static enum stoker_status open_slot(struct stk_interleave *p, struct stk_interleave_slot *slot,
                                    struct stoker_err *err)
{
    struct stk_iter *inner = NULL;
    struct stoker_err mine;
    if (p->at_end || slot->status != STOKER_OK) {
        return STOKER_OK;
    }
    enum stoker_status s = stk_nest_next(p->nest, p->it, true, &inner, &mine);
    if (s != STOKER_OK) {
        slot->err = stk_alloc(sizeof *slot->err);
        if (!slot->err) {
            return stk_err_nomem(err);
        }
        *slot->err = mine;
        slot->status = s;
        p->is_lazy = true;
        return STOKER_OK;
    }
    if (inner) {
        stk_aggregate_join(p->it, inner);
    }
    pthread_mutex_lock(&p->ring.lock);
    slot->inner = inner;
    slot->at_end = false;
    p->at_end = !inner;
    p->open += inner != NULL;
    pthread_cond_broadcast(&p->ring.has_capacity);
    pthread_mutex_unlock(&p->ring.lock);
    return STOKER_OK;
}

enum stoker_status stk_interleave_begin(struct stk_interleave *p, struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    for (int64_t i = 0; s == STOKER_OK && i < p->length && !p->at_end && !p->is_lazy; i++) {
        s = open_slot(p, &p->slots[i], err);
    }
    pthread_mutex_lock(&p->ring.lock);
    p->is_begun = true;
    start_threads(p);
    pthread_mutex_unlock(&p->ring.lock);
    return s;
}

void stk_interleave_advance(struct stk_interleave *p, int64_t turns)
{
    pthread_mutex_lock(&p->ring.lock);
    p->at = (p->at + turns) % p->length;
    p->given = 0;
    pthread_mutex_unlock(&p->ring.lock);
}

// Does a slot have a piece, or has it ended? Caller holds the lock.
static bool is_ready(const struct stk_interleave_slot *slot)
{
    return slot->count > 0 || (slot->at_end && !slot->is_busy);
}

// Sloppy: if this dataset has nothing ready, the turn goes to the next one that has.
static void turn_to_ready(struct stk_interleave *p)
{
    for (int64_t i = 0; p->is_sloppy && i < p->length; i++) {
        int64_t at = (p->at + i) % p->length;
        if (p->slots[at].inner && is_ready(&p->slots[at])) {
            p->given = i ? 0 : p->given;
            p->at = at;
            return;
        }
    }
}

static bool is_over_here(void *interleave)
{
    struct stk_interleave *p = interleave;
    pthread_mutex_lock(&p->ring.lock);
    bool is = is_over(p);
    pthread_mutex_unlock(&p->ring.lock);
    return is;
}

// The consumer reads in the dataset whose turn it is. Caller holds the lock, which is released
// meanwhile.
static void read_here(struct stk_interleave *p)
{
    struct stk_piece piece = {0};
    uint64_t start_ns = stk_clock_ns();
    struct stk_memory_wait how = {.is_over = p->n_threads > 0 ? is_over_here : NULL, .arg = p};
    struct stk_memory_wait waited = stk_memory_wait_set(how);
    read_slot(p, &p->slots[p->at], &piece);
    (void)stk_memory_wait_set(waited);
    stk_piece_clear(&piece);
    __atomic_add_fetch(&p->it->stats.inline_ns, stk_clock_ns() - start_ns, __ATOMIC_RELAXED);
}

// Waits until the dataset whose turn it is has a piece or has ended.
static void await(struct stk_interleave *p)
{
    struct stk_wait w;
    bool has_waited = false;
    pthread_mutex_lock(&p->ring.lock);
    turn_to_ready(p);
    while (!is_ready(&p->slots[p->at]) && !is_over(p)) {
        if ((p->n_threads == 0 || p->is_inline) && !p->slots[p->at].is_busy) {
            read_here(p);
            continue;
        }
        if (!has_waited) {
            has_waited = true;
            w = stk_wait_begin();
        }
        // If memory is short, workers read only in this dataset, and the turn may have changed
        // since they last checked.
        pthread_cond_broadcast(&p->ring.has_capacity);
        p->has_waiter = true;
        pthread_cond_wait(&p->ring.has_piece, &p->ring.lock);
        p->has_waiter = false;
        turn_to_ready(p);
    }
    pthread_mutex_unlock(&p->ring.lock);
    if (has_waited) {
        stk_wait_end(w, p->it);
    }
}

static enum stoker_status slot_error(struct stk_interleave_slot *slot, struct stoker_err *err)
{
    enum stoker_status s = slot->status;
    *err = *slot->err;
    stk_free(slot->err);
    slot->err = NULL;
    slot->status = STOKER_OK;
    return s;
}

// The dataset of this turn has ended: frees its slot.
static enum stoker_status end_slot(struct stk_interleave *p, struct stoker_err *err)
{
    struct stk_interleave_slot *slot = &p->slots[p->at];
    pthread_mutex_lock(&p->ring.lock);
    struct stk_iter *inner = slot->inner;
    slot->inner = NULL;
    p->open--;
    pthread_mutex_unlock(&p->ring.lock);
    stk_iter_close_concurrent(p->it, inner);
    enum stoker_status s = p->is_lazy ? STOKER_OK : open_slot(p, slot, err);
    stk_interleave_advance(p, 1);
    return s;
}

void stk_interleave_used(struct stk_interleave *p, struct stk_interleave_slot *slot, int64_t n)
{
    struct stk_piece *piece = &slot->pieces[slot->first];
    piece->used += n;
    if (piece->used == piece->block.n && piece->status == STOKER_OK) {
        piece_pop(p, slot);
    }
}

struct stk_piece *stk_interleave_first(struct stk_interleave *p, struct stk_interleave_slot *slot)
{
    pthread_mutex_lock(&p->ring.lock);
    struct stk_piece *piece = slot->inner && slot->count > 0 ? &slot->pieces[slot->first] : NULL;
    pthread_mutex_unlock(&p->ring.lock);
    return piece;
}

enum stoker_status stk_interleave_take(struct stk_interleave *p, struct stk_interleave_slot *slot,
                                       int64_t want, struct stk_block *out, struct stoker_err *err)
{
    struct stk_piece *piece = &slot->pieces[slot->first];
    int64_t left = piece->block.n - piece->used, turn = p->block - p->given;
    int64_t n = want < left ? want : left;
    enum stoker_status s = STOKER_OK;
    n = n < turn ? n : turn;
    if (n > 0 && !stk_block_slice(out, &piece->block, piece->used, n)) {
        return stk_err_nomem(err);
    }
    p->given += n;
    if (n == 0) {
        s = piece->status;
        *err = piece->err ? *piece->err : *err;
        s = piece->err ? s : stk_err_nomem(err);
        p->given++;
        piece_pop(p, slot);
    } else {
        stk_interleave_used(p, slot, n);
    }
    if (p->given >= p->block) {
        stk_interleave_advance(p, 1);
    }
    return s;
}

enum stoker_status stk_interleave_turn(struct stk_interleave *p, bool is_waiting,
                                       struct stk_interleave_slot **out, struct stoker_err *err)
{
    *out = NULL;
    for (;;) {
        struct stk_interleave_slot *slot = &p->slots[p->at];
        if (slot->status != STOKER_OK) {
            enum stoker_status s = slot_error(slot, err), again = open_slot(p, slot, err);
            return again == STOKER_OK ? s : again;
        }
        if (!slot->inner) {
            enum stoker_status s = open_slot(p, slot, err);
            if (s != STOKER_OK || (p->at_end && p->open == 0)) {
                return s;
            }
            if (!slot->inner && slot->status == STOKER_OK) {
                stk_interleave_advance(p, 1);
            }
            continue;
        }
        pthread_mutex_lock(&p->ring.lock);
        bool ready = is_ready(slot), has_piece = slot->count > 0, is_inline = p->is_inline;
        pthread_mutex_unlock(&p->ring.lock);
        if (!ready) {
            if (!is_waiting && !is_inline) { // nothing would be read while this doesn't wait
                return STOKER_OK;
            }
            await(p);
            if (is_over(p)) {
                return stk_err_set(err, STOKER_EINTR, "the iterator was canceled");
            }
            continue;
        }
        if (has_piece) {
            *out = slot;
            return STOKER_OK;
        }
        enum stoker_status s = end_slot(p, err);
        if (s != STOKER_OK) {
            return s;
        }
    }
}

void stk_interleave_close(struct stk_interleave *p)
{
    if (!p) {
        return;
    }
    stk_tuner_remove(&p->tuned);
    pthread_mutex_lock(&p->ring.lock);
    p->is_stopping = true;
    pthread_cond_broadcast(&p->unpark);
    pthread_mutex_unlock(&p->ring.lock);
    stk_ring_stop(&p->ring);
    struct stk_wait w = stk_wait_begin(); // workers may be waiting for this thread's permit
    for (int i = 0; i < p->n_threads; i++) {
        stk_worker_join(p->workers[i].thread);
    }
    stk_wait_end(w, NULL);
    for (int64_t i = 0; p->slots && i < p->length; i++) {
        for (int k = 0; k < STK_INTERLEAVE_AHEAD; k++) {
            stk_piece_clear(&p->slots[i].pieces[k]);
        }
        stk_iter_close_concurrent(p->it, p->slots[i].inner);
        stk_free(p->slots[i].err);
    }
    stk_free(p->slots);
    stk_parts_free(&p->parts);
    pthread_cond_destroy(&p->unpark);
    stk_ring_close(&p->ring);
    stk_free(p);
}
