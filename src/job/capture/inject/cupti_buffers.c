// SPDX-License-Identifier: Apache-2.0
// The buffers that CUPTI fills. CUPTI requests them in threads of the job and returns them in any
// thread, so both lists (a stack of free buffers, and a list of full ones that the service takes as
// a whole) are changed by one atomic exchange. The number of buffers is bounded. If all are in use,
// newer versions of CUPTI get none (and count what they drop); older ones would crash, and get a
// buffer whose records are counted and thrown away.
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "job/capture/inject/cupti.h"
#include "job/capture/inject/inject.h"

enum { BUFFERS = 48, BYTES = 1 << 20, SPARE_BYTES = 256 << 10 };

static struct {
    uint8_t *memory;
    struct stk_cupti_buffer all[BUFFERS];
    atomic_uint_least64_t idle; // tag << 32 | index + 1 of the first
    atomic_uint_least32_t full; // index + 1 of the latest
    atomic_uint out;
    atomic_uint_least64_t lost;
} pool;
static _Alignas(8) uint8_t spare[SPARE_BYTES];

static void push_idle(uint32_t index)
{
    STK_ASSERT(index < BUFFERS);
    uint64_t head = atomic_load(&pool.idle), next;
    do {
        __atomic_store_n(&pool.all[index].next, (uint32_t)head, __ATOMIC_RELAXED);
        next = ((head >> 32) + 1) << 32 | (index + 1);
    } while (!atomic_compare_exchange_weak(&pool.idle, &head, next));
}

static struct stk_cupti_buffer *pop_idle(void)
{
    uint64_t head = atomic_load(&pool.idle), next;
    do {
        if ((uint32_t)head == 0) {
            return NULL;
        }
        uint32_t below = __atomic_load_n(&pool.all[(uint32_t)head - 1].next, __ATOMIC_RELAXED);
        next = ((head >> 32) + 1) << 32 |
               below; // the tag shows that nobody took and returned it meanwhile
    } while (!atomic_compare_exchange_weak(&pool.idle, &head, next));
    return &pool.all[(uint32_t)head - 1];
}

bool stk_cupti_buffers_open(void)
{
    if (pool.memory) {
        return true;
    }
    void *memory = mmap(NULL, (size_t)BUFFERS * BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    pool.memory = memory;
    for (uint32_t i = BUFFERS; i-- > 0;) {
        pool.all[i].bytes = pool.memory + (size_t)i * BYTES;
        push_idle(i);
    }
    return true;
}

void stk_cupti_request_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
    struct stk_cupti_buffer *b = pop_idle();
    *records = 0;
    if (b) {
        atomic_fetch_add(&pool.out, 1);
        *buffer = b->bytes;
        *size = BYTES;
    } else if (stk_cupti.api_version >= STK_CUPTI_REFUSES_FROM) {
        *buffer = NULL;
        *size = 0;
    } else {
        *buffer = spare;
        *size = sizeof spare;
    }
}

// Counts the records of the spare buffer by their known lengths. Several threads may fill it at
// once, so this counts what is readable, up to the first invalid record.
static uint64_t count_spare(size_t valid)
{
    uint64_t n = 0;
    valid = valid < sizeof spare ? valid : sizeof spare;
    for (size_t at = 0; at + sizeof(uint32_t) <= valid;) {
        uint32_t kind;
        memcpy(&kind, spare + at, sizeof kind);
        uint32_t size = kind < STK_CUPTI_KINDS ? stk_cupti.size[kind] : 0;
        if (!size || at + size > valid) {
            break;
        }
        at += size;
        n++;
    }
    return n;
}

void stk_cupti_take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                           size_t valid)
{
    (void)size;
    if (buffer == spare) {
        atomic_fetch_add(&pool.lost, count_spare(valid));
        return;
    }
    if (!buffer || buffer < pool.memory || buffer >= pool.memory + (size_t)BUFFERS * BYTES) {
        return; // another client's buffer
    }
    uint32_t index = (uint32_t)((size_t)(buffer - pool.memory) / BYTES);
    struct stk_cupti_buffer *b = &pool.all[index];
    b->valid = valid < BYTES ? valid : BYTES;
    b->context = context;
    b->stream = stream;
    uint32_t head = atomic_load(&pool.full);
    do {
        __atomic_store_n(&b->next, head, __ATOMIC_RELAXED);
    } while (!atomic_compare_exchange_weak(&pool.full, &head, index + 1));
    atomic_fetch_sub(&pool.out, 1);
    if (!stk_inject_inside && stk_inject.slot) {
        stk_inject_wake(&stk_inject.slot->wake);
    }
}

struct stk_cupti_buffer *stk_cupti_buffers_waiting(void)
{
    uint32_t at = atomic_exchange(&pool.full, 0), oldest = 0;
    while (at) { // latest first
        uint32_t next = pool.all[at - 1].next;
        pool.all[at - 1].next = oldest;
        oldest = at;
        at = next;
    }
    return oldest ? &pool.all[oldest - 1] : NULL;
}

struct stk_cupti_buffer *stk_cupti_buffers_next(const struct stk_cupti_buffer *b)
{
    return b->next ? &pool.all[b->next - 1] : NULL;
}

void stk_cupti_buffers_give(struct stk_cupti_buffer *b)
{
    push_idle((uint32_t)(b - pool.all));
}

bool stk_cupti_buffers_have_waiting(void)
{
    return atomic_load(&pool.full) != 0;
}

uint32_t stk_cupti_buffers_out(void)
{
    return atomic_load(&pool.out);
}

uint64_t stk_cupti_buffers_lost(void)
{
    return atomic_load(&pool.lost);
}

void stk_cupti_buffers_forget(void)
{
    memset(&pool, 0, sizeof pool); // the parent's memory stays mapped, but unused
}
