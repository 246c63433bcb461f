// SPDX-License-Identifier: Apache-2.0
// Stages with threads; see async.h.
#include "engine/run/async.h"

#include <signal.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/thread.h"
#include "engine/run/account.h"
#include "engine/run/memory_wait.h"
#include "engine/run/ring.h"
#include "engine/run/worker.h"

static void set_tuned(void *owner, int n)
{
    stk_async_set_workers(owner, n);
}

static bool is_inline(struct stk_async *a)
{
    return __atomic_load_n(&a->is_inline, __ATOMIC_RELAXED) != 0;
}

// Publishes who makes pieces. Caller holds the park lock.
static void tell_makers(struct stk_async *a)
{
    __atomic_store_n(&a->it->stats.threads, a->is_inline ? 0 : (uint32_t)a->wanted,
                     __ATOMIC_RELAXED);
    stk_ring_set_callers(&a->ring, a->is_inline || (a->is_started && a->n_threads == 0));
}

static void set_inline(void *owner, bool on)
{
    struct stk_async *a = owner;
    pthread_mutex_lock(&a->park_lock);
    __atomic_store_n(&a->is_inline, on, __ATOMIC_RELAXED);
    tell_makers(a);
    pthread_cond_broadcast(&a->unpark);
    pthread_mutex_unlock(&a->park_lock);
}

#define INLINE_TURN_US 20 // until the consumer checks its turn again
#define PIECE_BYTES_MAX ((uint64_t)4 << 20)
#define PIECE_BUDGET_PARTS 16 // a piece takes at most 1/16 of the budget

int64_t stk_piece_bytes_max(const struct stk_run *run)
{
    uint64_t part = stk_pool_stats_of(run->pool).cap_bytes / PIECE_BUDGET_PARTS;
    return (int64_t)(part < PIECE_BYTES_MAX ? part : PIECE_BYTES_MAX);
}

struct stk_async *stk_async_open(struct stk_iter *it, const struct stk_async_kind *kind, void *arg,
                                 int wanted, int limit, bool is_sloppy, int64_t elements_max)
{
    struct stk_async *a = stk_alloc_zero(1, sizeof *a);
    if (!a) {
        return NULL;
    }
    STK_ASSERT(kind->pull);
    a->it = it;
    a->kind = kind;
    a->arg = arg;
    a->limit = limit < 1 ? 1 : limit > STK_WORKERS_MAX ? STK_WORKERS_MAX : limit;
    a->wanted = wanted < 1 ? 1 : wanted > a->limit ? a->limit : wanted;
    a->piece_n = 1;
    a->piece_ns = STK_PIECE_NS;
    a->piece_bytes = stk_piece_bytes_max(it->run);
    a->tuned = (struct stk_tuned){
        .it = it, .owner = a, .set_workers = set_tuned, .limit = a->limit, .workers = a->wanted};
    a->tuned.set_inline = set_inline;
    pthread_mutex_init(&a->input_lock, NULL);
    pthread_mutex_init(&a->park_lock, NULL);
    pthread_cond_init(&a->unpark, NULL);
    stk_ring_open(&a->ring, it, is_sloppy, 2 * a->wanted + 2, elements_max);
    return a;
}

static int thread_count(struct stk_async *a)
{
    return __atomic_load_n(&a->n_threads, __ATOMIC_ACQUIRE);
}

// Parks workers beyond the wanted number. False: the stage is being closed.
static bool stays(struct stk_worker *w)
{
    struct stk_async *a = w->async;
    pthread_mutex_lock(&a->park_lock);
    while (!a->is_stopping && (w->index >= a->wanted || a->is_inline)) {
        pthread_cond_wait(&a->unpark, &a->park_lock);
    }
    bool goes_on = !a->is_stopping;
    pthread_mutex_unlock(&a->park_lock);
    return goes_on;
}

// Bytes of an element or of its input, the larger: both are in memory at once.
static int64_t bytes_each(struct stk_async *a, const struct stk_piece *p, int64_t n)
{
    if (p->in_bytes > 0) {
        __atomic_store_n(&a->in_bytes_each, (int64_t)p->in_bytes / n, __ATOMIC_RELAXED);
    }
    int64_t in = __atomic_load_n(&a->in_bytes_each, __ATOMIC_RELAXED);
    int64_t out = p->block.n > 0 ? (int64_t)stk_block_bytes(&p->block) / p->block.n : 0;
    __atomic_store_n(&a->it->stats.each_bytes, (uint64_t)out, __ATOMIC_RELAXED);
    return in > out ? in : out;
}

static bool is_measured(uint64_t count)
{
    return count <= 64 || count % 16 == 0;
}

bool stk_async_measures(const struct stk_async *a)
{
    return is_measured(__atomic_load_n(&a->tuned.piece_count, __ATOMIC_RELAXED) + 1);
}

// Sets the next piece's size by what this one cost per element.
static void size_pieces(struct stk_async *a, const struct stk_piece *p, int64_t n, uint64_t took_ns)
{
    uint64_t count = __atomic_add_fetch(&a->tuned.piece_count, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&a->ring.piece_ns, took_ns, __ATOMIC_RELAXED);
    if (!is_measured(count)) {
        return;
    }
    int64_t now = __atomic_load_n(&a->piece_n, __ATOMIC_RELAXED), each = bytes_each(a, p, n);
    int64_t fits = (int64_t)(a->piece_ns * (uint64_t)n / (took_ns ? took_ns : 1));
    int64_t next = fits > 4 * now ? 4 * now : fits;
    next = next < a->piece_n_least ? a->piece_n_least : next;
    next = next > STK_PIECE_ELEMENTS_MAX ? STK_PIECE_ELEMENTS_MAX : next;
    next = each > 0 && next > a->piece_bytes / each ? a->piece_bytes / each : next;
    next = a->piece_n_max && next > a->piece_n_max ? a->piece_n_max : next;
    next = next < 1 ? 1 : next;
    STK_ASSERT(n > 0 && next <= STK_PIECE_ELEMENTS_MAX);
    __atomic_store_n(&a->piece_n, next, __ATOMIC_RELAXED);
    __atomic_store_n(&a->it->stats.block_max, (uint32_t)next, __ATOMIC_RELAXED);
}

#define SHORT_PIECES 64 // pieces made one at a time after memory ran short

// May the run's memory still become free? It just did, or the consumer hasn't yet come back for
// what it waits for. If the budget refused nothing in the last try, the system is out of memory,
// and there is no point in waiting.
bool stk_async_is_short(struct stk_async *a, int *tries)
{
    struct stk_run *run = a->it->run;
    struct stk_wait w = stk_wait_begin();
    if (*tries == 0) {
        pthread_mutex_lock(&run->short_lock);
        *tries = 1;
        stk_ring_be_short(&a->ring, SHORT_PIECES);
    }
    struct stk_pool_stats pool = stk_pool_stats_of(run->pool);
    uint64_t used = pool.in_use_bytes;
    bool is_over = *tries > 1 && pool.refused == run->short_refused;
    run->short_refused = pool.refused;
    for (int idle = 0; *tries > 1 && !is_over && idle < STK_MEMORY_WAIT_TRIES;) {
        usleep(STK_MEMORY_WAIT_MS * 1000);
        uint64_t now = stk_pool_stats_of(run->pool).in_use_bytes;
        if (now < used) {
            break;
        }
        used = now;
        idle = __atomic_load_n(&run->root_waits, __ATOMIC_RELAXED) ? idle + 1 : 0;
        is_over = idle >= STK_MEMORY_WAIT_TRIES || stk_ring_is_stopped(&a->ring);
    }
    ++*tries;
    stk_wait_end(w, NULL);
    return !is_over;
}

void stk_async_end_short(struct stk_async *a)
{
    pthread_mutex_unlock(&a->it->run->short_lock);
}

// Elements in the next piece.
static int64_t piece_size(struct stk_async *a, bool is_worker)
{
    int64_t n = __atomic_load_n(&a->piece_n, __ATOMIC_RELAXED);
    if (!is_worker && is_inline(a)) {
        n = n / STK_INLINE_PARTS > a->piece_n_least ? n / STK_INLINE_PARTS : a->piece_n_least;
    }
    return n > 0 ? n : 1;
}

static bool ring_is_stopped(void *ring)
{
    return stk_ring_is_stopped(ring);
}

// Makes one piece, from the input to the ring's slot. Caller holds the input lock; this releases it
// early. A stage with workers may wait for its input's memory. False: the input has ended.
static bool one_piece(struct stk_async *a, void *own, uint64_t seq, struct stk_piece *p,
                      bool is_worker)
{
    struct stk_run *run = a->it->run;
    bool can_wait = is_worker || thread_count(a) > 0;
    bool had_permit = stk_permit_is_held(); // true for a worker of the stage that pulls
    if (!had_permit) {
        stk_permit_take(&run->permits);
    }
    struct stk_iter *before = stk_account_enter(a->it);
    uint64_t start_ns = stk_clock_ns();
    struct stk_memory_wait waited = stk_memory_wait_set(
        (struct stk_memory_wait){.is_over = can_wait ? ring_is_stopped : NULL, .arg = &a->ring});
    int64_t n = a->kind->pull(a, own, piece_size(a, is_worker), p);
    (void)stk_memory_wait_set(waited);
    STK_ASSERT(n >= 0 && p->used == 0);
    bool is_end = n == 0 && p->status == STOKER_OK;
    if (is_end) {
        stk_ring_end(&a->ring);
    }
    pthread_mutex_unlock(&a->input_lock);
    uint64_t pulled_ns = stk_clock_ns();
    if (n > 0 && a->kind->work) {
        long pauses = stk_worker_pauses();
        a->kind->work(a, own, p);
        pauses = stk_worker_pauses() - pauses;
        __atomic_add_fetch(&a->tuned.pauses, pauses > 0 ? (uint64_t)pauses : 0, __ATOMIC_RELAXED);
    }
    uint64_t end_ns = stk_clock_ns();
    stk_account_leave(before, 0);
    stk_account_settle(a->it);
    if (!had_permit) {
        (void)stk_permit_return();
    }
    if (is_end) {
        return false;
    }
    if (n > 0) {
        size_pieces(a, p, n, a->kind->work ? end_ns - pulled_ns : pulled_ns - start_ns);
    }
    stk_ring_finish(&a->ring, seq, p);
    stk_tuner_look(run);
    return true;
}

static bool next_piece(struct stk_async *a, void *own, struct stk_piece *p)
{
    uint64_t seq;
    pthread_mutex_lock(&a->input_lock);
    if (!stk_ring_reserve(&a->ring, &seq)) {
        pthread_mutex_unlock(&a->input_lock);
        return false;
    }
    return one_piece(a, own, seq, p, true);
}

// A worker that can't start: makes an error the last piece.
static void fail_all(struct stk_async *a, struct stk_piece *p, enum stoker_status s,
                     const struct stoker_err *err)
{
    uint64_t seq;
    pthread_mutex_lock(&a->input_lock);
    if (stk_ring_reserve(&a->ring, &seq)) {
        (void)stk_piece_fail(p, s, err);
        stk_ring_finish(&a->ring, seq, p);
        if (stk_ring_reserve(&a->ring, &seq)) {
            stk_ring_end(&a->ring);
        }
    }
    pthread_mutex_unlock(&a->input_lock);
    stk_piece_clear(p);
}

static void *work(void *arg)
{
    struct stk_worker *w = arg;
    struct stk_async *a = w->async;
    struct stk_piece piece = {0};
    struct stoker_err err;
    void *own = NULL;
    stk_worker_be_batch();
    enum stoker_status s = a->kind->begin ? a->kind->begin(a, &own, &err) : STOKER_OK;
    if (s != STOKER_OK) {
        fail_all(a, &piece, s, &err);
    }
    while (s == STOKER_OK && stays(w) && next_piece(a, own, &piece)) {
    }
    stk_piece_clear(&piece);
    if (a->kind->end && own) {
        a->kind->end(own);
    }
    return NULL;
}

// Caller holds the park lock.
static void start_threads(struct stk_async *a)
{
    STK_ASSERT(a->wanted >= 1 && a->wanted <= STK_WORKERS_MAX && a->n_threads >= 0);
    sigset_t before;
    bool masked = stk_thread_block_signals(&before);
    while (a->n_threads < a->wanted) {
        struct stk_worker *w = &a->workers[a->n_threads];
        *w = (struct stk_worker){.async = a, .index = a->n_threads};
        if (!stk_worker_start(&w->thread, work, w)) {
            break;
        }
        __atomic_store_n(&a->n_threads, a->n_threads + 1, __ATOMIC_RELEASE);
    }
    if (masked) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

void stk_async_set_workers(struct stk_async *a, int n)
{
    pthread_mutex_lock(&a->park_lock);
    a->wanted = n < 1 ? 1 : n > a->limit ? a->limit : n;
    if (a->is_started && !a->is_stopping) {
        start_threads(a);
    }
    int wanted = a->wanted;
    __atomic_store_n(&a->tuned.workers, wanted, __ATOMIC_RELAXED);
    tell_makers(a);
    pthread_cond_broadcast(&a->unpark);
    pthread_mutex_unlock(&a->park_lock);
    stk_ring_set_capacity(&a->ring, a->capacity ? a->capacity : 2 * wanted + 2);
}

int stk_async_workers(struct stk_async *a)
{
    pthread_mutex_lock(&a->park_lock);
    int n = a->wanted;
    pthread_mutex_unlock(&a->park_lock);
    return n;
}

void stk_async_set_capacity(struct stk_async *a, int capacity)
{
    a->capacity = capacity;
    stk_ring_set_capacity(&a->ring, capacity);
}

// Prepares the consumer to make pieces.
static enum stoker_status begin_here(struct stk_async *a, struct stoker_err *err)
{
    return a->own || !a->kind->begin ? STOKER_OK : a->kind->begin(a, &a->own, err);
}

STK_HOT static enum stoker_status start(struct stk_async *a, struct stoker_err *err)
{
    if (!a->is_started) {
        pthread_mutex_lock(&a->park_lock);
        a->is_started = true;
        pthread_mutex_unlock(&a->park_lock);
        stk_async_set_workers(a, stk_async_workers(a));
    }
    return thread_count(a) > 0 ? STOKER_OK : begin_here(a, err);
}

void stk_async_close(struct stk_async *a)
{
    if (!a) {
        return;
    }
    pthread_mutex_lock(&a->park_lock);
    a->is_stopping = true;
    pthread_cond_broadcast(&a->unpark);
    pthread_mutex_unlock(&a->park_lock);
    stk_ring_stop(&a->ring);
    struct stk_wait w = stk_wait_begin(); // workers may be waiting for this thread's permit
    for (int i = 0; i < a->n_threads; i++) {
        stk_worker_join(a->workers[i].thread);
    }
    stk_wait_end(w, NULL);
    STK_ASSERT(a->is_stopping && a->ring.is_stopped);
    if (a->own && a->kind->end) {
        a->kind->end(a->own);
    }
    stk_regroup_free(&a->regroup);
    stk_block_free(&a->spare);
    stk_ring_close(&a->ring);
    pthread_cond_destroy(&a->unpark);
    pthread_mutex_destroy(&a->park_lock);
    pthread_mutex_destroy(&a->input_lock);
    stk_free(a);
}

// The calling thread makes a piece if it is its turn. It isn't while a worker holds the input lock:
// that worker may wait for room, which only this thread can make.
static void make_here(struct stk_async *a)
{
    uint64_t seq, start_ns = stk_clock_ns();
    if (pthread_mutex_trylock(&a->input_lock) != 0) {
        usleep(INLINE_TURN_US);
        return;
    }
    if (!stk_ring_reserve_callers(&a->ring, &seq)) {
        pthread_mutex_unlock(&a->input_lock);
        return;
    }
    struct stk_piece piece = {.block = a->spare};
    (void)one_piece(a, a->own, seq, &piece, false);
    stk_piece_reset(&piece);
    a->spare = piece.block;
    __atomic_add_fetch(&a->it->stats.inline_ns, stk_clock_ns() - start_ns, __ATOMIC_RELAXED);
}

// The ring's next piece; made here if no worker should make it.
STK_HOT static struct stk_piece *peek_ring(struct stk_async *a, bool is_waiting)
{
    struct stoker_err ignored;
    struct stk_piece *p = stk_ring_head(&a->ring);
    while (!p && !(p = stk_ring_peek(&a->ring, 0, is_waiting)) && is_waiting &&
           !stk_ring_is_over(&a->ring)) {
        if (begin_here(a, &ignored) == STOKER_OK) {
            make_here(a);
        } else if (thread_count(a) > 0) {
            set_inline(a, false); // no memory to do it here: the workers have all they need
        } else {
            break; // start() has reported it
        }
    }
    return p;
}

// The next piece in output order.
STK_HOT static struct stk_piece *peek(struct stk_async *a, bool is_waiting)
{
    struct stk_piece *turn = stk_regroup_turn(&a->regroup), *p = NULL;
    if (!a->ring.is_sloppy) {
        return peek_ring(a, is_waiting);
    }
    while (!turn && (p = peek_ring(a, is_waiting)) && p->place.of > 0) {
        if (!stk_regroup_take(&a->regroup, p)) {
            return p; // ungrouped, as it is
        }
        stk_ring_pop(&a->ring);
        turn = stk_regroup_turn(&a->regroup);
    }
    bool is_over = !turn && !p && is_waiting && !stk_run_is_cancelled(a->it->run);
    return turn ? turn : is_over ? stk_regroup_flush(&a->regroup) : p;
}

// Drops the piece that peek() returned.
STK_HOT static void pop(struct stk_async *a)
{
    if (stk_regroup_turn(&a->regroup)) {
        stk_regroup_pop(&a->regroup);
    } else {
        stk_ring_pop(&a->ring);
    }
}

// If the piece continues in memory where the block ends, extends the block.
STK_HOT static bool extend(struct stk_block *out, const struct stk_piece *p, int64_t n)
{
    for (int k = 0; k < out->count; k++) {
        const struct stk_col *a = &out->cols[k], *b = &p->block.cols[k];
        if (a->is_varied || b->is_varied || a->data_buf != b->data_buf || !a->data_buf ||
            a->stride != b->stride || a->stride == 0 || !stk_shape_equal(&a->shape, &b->shape) ||
            a->data + (size_t)a->n * a->stride != b->data + (size_t)p->used * b->stride) {
            return false;
        }
    }
    for (int k = 0; k < out->count; k++) {
        if (!stk_keep_join(&out->cols[k].keep, p->block.cols[k].keep)) {
            return false;
        }
    }
    for (int k = 0; k < out->count; k++) {
        out->cols[k].n += n;
    }
    out->n += n;
    return true;
}

// Returns the error after a piece's elements and moves on to the rest.
static enum stoker_status turn_error(struct stk_async *a, struct stk_piece *p,
                                     struct stoker_err *err)
{
    enum stoker_status s = p->status;
    STK_ASSERT(s != STOKER_OK && p->used == p->block.n);
    struct stk_piece *next = p->next;
    if (p->err) {
        *err = *p->err;
    } else {
        (void)stk_err_nomem(err);
    }
    if (!next) {
        pop(a);
        return s;
    }
    stk_block_free(&p->block);
    stk_free(p->err);
    int64_t count = p->count;
    *p = *next;
    p->is_done = true;
    p->count = count;
    stk_free(next);
    if (p->used == p->block.n && p->status == STOKER_OK) {
        pop(a);
    }
    return s;
}

STK_HOT enum stoker_status stk_async_next(struct stk_async *a, int64_t want, int64_t group,
                                          struct stk_block *out, struct stoker_err *err)
{
    enum stoker_status s = start(a, err);
    int64_t target = group > 0 ? want / group * group : 0;
    while (s == STOKER_OK && out->n < want) {
        // after the first piece, take only ready ones or those of the same group
        struct stk_piece *p = peek(a, out->n == 0 || out->n < target);
        if (!p) {
            break;
        }
        int64_t left = p->block.n - p->used, n = left < want - out->n ? left : want - out->n;
        STK_ASSERT(left >= 0 && n >= 0);
        if (n > 0 && out->n == 0 && n == p->block.n && p->status == STOKER_OK) {
            stk_block_move(out, &p->block); // all of it: moves the references
            target = p->ends_group ? 0 : target;
            pop(a);
            continue;
        }
        if (n > 0 && out->n == 0) {
            if (!stk_block_slice(out, &p->block, p->used, n)) {
                return stk_err_nomem(err);
            }
        } else if (n > 0 && !extend(out, p, n)) {
            break;
        }
        p->used += n;
        if (p->used < p->block.n) {
            break;
        }
        if (p->status != STOKER_OK) {
            return out->n > 0 ? STOKER_OK : turn_error(a, p, err);
        }
        target = p->ends_group ? 0 : target;
        pop(a);
    }
    if (s == STOKER_OK && out->n == 0 && stk_run_is_cancelled(a->it->run)) {
        return stk_err_set(err, STOKER_EINTR, "the iterator was canceled");
    }
    return s;
}

enum stoker_status stk_async_skip(struct stk_async *a, int64_t n, int64_t *done,
                                  struct stoker_err *err)
{
    *done = 0;
    while (a->is_started && *done < n) {
        struct stk_piece *p = peek(a, true);
        if (!p) {
            break;
        }
        int64_t left = p->block.n - p->used, by = left < n - *done ? left : n - *done;
        p->used += by;
        *done += by;
        if (p->used < p->block.n) {
            break;
        }
        if (p->status != STOKER_OK) {
            return turn_error(a, p, err);
        }
        pop(a);
    }
    return STOKER_OK;
}
