// SPDX-License-Identifier: Apache-2.0
// A writer for each thread of the job that reports something: NVTX ranges, steps, waits. Each
// record is published immediately, since the thread may not report again. The number of threads is
// bounded; further ones are counted.
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "job/capture/inject/inject.h"

enum { THREADS = 256, NESTED = 32, NAMES = 256 };

struct stk_inject_thread {
    struct stk_wire_slab writer;
    uint32_t track;
    struct name {
        uint64_t hash;
        uint32_t length, id;
    } names[NAMES];          // by hash; of several with the same one, the latest
    uint32_t nested, window; // window: the one that the ranges are in
    struct stk_open_range open[NESTED];
};

static struct stk_inject_thread threads[THREADS];
static atomic_uint taken;
static STK_THREAD_LOCAL struct stk_inject_thread *mine;
static STK_THREAD_LOCAL bool has_none;

struct stk_inject_thread *stk_threads_mine(void)
{
    if (!mine && !has_none) {
        unsigned n = atomic_fetch_add(&taken, 1);
        if (n < THREADS) {
            mine = &threads[n];
            mine->writer.slabs = &stk_inject.slabs;
        } else {
            has_none = true;
            atomic_fetch_add(&stk_inject.hooks_lost, 1);
        }
    }
    return mine;
}

// The child has one thread, with a fresh state.
void stk_threads_forget(void)
{
    if (mine) {
        memset(mine, 0, sizeof *mine);
    }
    mine = NULL;
    has_none = false;
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].track = 0; // otherwise don't touch the memory
        if (threads[i].writer.slabs) {
            memset(&threads[i], 0, sizeof threads[i]);
        }
    }
    atomic_store(&taken, 0);
    atomic_store(&stk_inject.hooks_lost, 0);
}

static uint32_t track_of(struct stk_inject_thread *t)
{
    if (!t->track) {
        t->track =
            stk_wire_slab_track(&t->writer, STK_WIRE_HOST, (int64_t)syscall(SYS_gettid), -1, 0);
    }
    return t->track;
}

static uint32_t name_of(struct stk_inject_thread *t, const char *text, size_t n)
{
    uint64_t hash = stk_names_hash(text, n);
    struct name *known = &t->names[hash % NAMES];
    if (!known->id || known->hash != hash || known->length != n) {
        *known = (struct name){hash, (uint32_t)n, stk_wire_slab_string(&t->writer, text, n)};
    }
    return known->id;
}

void stk_threads_event(struct stk_inject_thread *t, const char *text, size_t n,
                       enum stk_wire_event_kind kind, uint64_t start_ns, uint64_t end_ns)
{
    struct stk_wire_event e = {.start_ns = start_ns,
                               .dur_ns = end_ns > start_ns ? end_ns - start_ns : 0,
                               .name = name_of(t, text, n),
                               .track = track_of(t),
                               .kind = kind};
    void *room = stk_wire_slab_put(&t->writer, STK_WIRE_EVENTS, sizeof e, start_ns, end_ns);
    if (room) {
        memcpy(room, &e, sizeof e);
    }
    stk_wire_slab_publish(&t->writer);
}

void stk_threads_step(struct stk_inject_thread *t, uint64_t number, uint64_t start_ns,
                      uint64_t end_ns)
{
    struct stk_wire_step s = {.start_ns = start_ns,
                              .dur_ns = end_ns > start_ns ? end_ns - start_ns : 0,
                              .number = number,
                              .track = track_of(t)};
    void *room = stk_wire_slab_put(&t->writer, STK_WIRE_STEPS, sizeof s, start_ns, end_ns);
    if (room) {
        memcpy(room, &s, sizeof s);
    }
    stk_wire_slab_publish(&t->writer);
}

void stk_threads_fact(struct stk_inject_thread *t, const char *key, const char *value)
{
    struct stk_wire_fact f = {.key = name_of(t, key, strlen(key)),
                              .value = name_of(t, value, strlen(value))};
    void *room = stk_wire_slab_put(&t->writer, STK_WIRE_FACTS, sizeof f, 0, 0);
    if (room) {
        memcpy(room, &f, sizeof f);
    }
    stk_wire_slab_publish(&t->writer);
}

// In a new window, forgets open ranges: their ends may have come between the windows.
static void turn_to_window(struct stk_inject_thread *t)
{
    uint32_t now = atomic_load(&stk_inject.window);
    t->nested = t->window == now ? t->nested : 0;
    t->window = now;
}

struct stk_open_range *stk_threads_push(struct stk_inject_thread *t)
{
    STK_ASSERT(t);
    turn_to_window(t);
    t->nested++; // also beyond NESTED, so that ends match their starts
    return t->nested <= NESTED ? &t->open[t->nested - 1] : NULL;
}

struct stk_open_range *stk_threads_pop(struct stk_inject_thread *t)
{
    turn_to_window(t);
    if (t->nested == 0) {
        return NULL;
    }
    t->nested--;
    return t->nested < NESTED ? &t->open[t->nested] : NULL;
}
