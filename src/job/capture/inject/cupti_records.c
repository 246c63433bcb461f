// SPDX-License-Identifier: Apache-2.0
// Converts CUPTI's records to stoker's. Times are moved to the monotonic clock; durations stay
// CUPTI's. Correlation ids have 32 bits, restart if CUPTI was shut down in between, and wrap in
// long jobs. A record gets its window's number above an extended id: of the ids with those low 32
// bits, the one nearest to the latest. So ids in one file are unique as long as the records of a
// window are within 2^31 launches of each other.
//
// Records without a time (CUPTI ran out of memory on the device) are counted, not written.
#include <string.h>

#include "job/capture/inject/cupti.h"
#include "job/capture/inject/inject.h"

enum { WINDOWS = 64, ID_BITS = 40, ASYNC = 1, OBJECT_THREAD = 2 };

struct stk_cupti_sums stk_cupti_sums;

static struct window {
    uint64_t source_ns, latest; // id; 0: none yet
} windows[WINDOWS];
static uint64_t window_count;

void stk_cupti_window_begins(uint64_t source_ns)
{
    window_count++;
    windows[window_count % WINDOWS] = (struct window){source_ns, 0};
}

void stk_cupti_records_reset(void)
{
    memset(&stk_cupti_sums, 0, sizeof stk_cupti_sums);
    memset(windows, 0, sizeof windows);
    window_count = 0;
}

static uint64_t correlation_of(uint32_t id, uint64_t source_ns)
{
    uint64_t n = window_count;
    while (n > 1 && n + WINDOWS > window_count + 1 && windows[n % WINDOWS].source_ns > source_ns) {
        n--;
    }
    struct window *w = &windows[n % WINDOWS];
    if (!id) {
        return 0;
    }
    if (!w->latest) {
        w->latest = (UINT64_C(1) << 32) | id; // leaves room below for late records
    }
    uint64_t whole = w->latest + (uint64_t)(int64_t)(int32_t)(id - (uint32_t)w->latest);
    w->latest = whole > w->latest ? whole : w->latest;
    return n << ID_BITS | (whole & ((UINT64_C(1) << ID_BITS) - 1));
}

static bool has_time(uint64_t start, uint64_t end)
{
    bool has = start && end >= start;
    stk_cupti_sums.without_time += !has;
    return has;
}

static uint32_t field(const void *record, size_t at, size_t from, uint32_t kind)
{
    uint32_t value = 0;
    if (stk_cupti.size[kind] >= from) {
        memcpy(&value, (const uint8_t *)record + at, sizeof value);
    }
    return value;
}

static bool is_node(const void *record, size_t at, size_t from, uint32_t kind)
{
    return field(record, at, from, kind) || field(record, at + 4, from, kind);
}

static void put_work(struct stk_wire_work *w, uint64_t start, uint64_t end)
{
    w->start_ns = stk_clocks_mono(start);
    w->dur_ns = end - start;
    void *room = stk_wire_slab_put(&stk_inject.writer, STK_WIRE_WORK, sizeof *w, w->start_ns,
                                   w->start_ns + w->dur_ns);
    if (room) {
        memcpy(room, w, sizeof *w);
        stk_cupti_sums.records++;
    }
}

static void put_event(struct stk_wire_event *e, uint64_t start, uint64_t end)
{
    e->start_ns = stk_clocks_mono(start);
    e->dur_ns = end - start;
    void *room = stk_wire_slab_put(&stk_inject.writer, STK_WIRE_EVENTS, sizeof *e, e->start_ns,
                                   e->start_ns + e->dur_ns);
    if (room) {
        memcpy(room, e, sizeof *e);
        stk_cupti_sums.records++;
    }
}

static uint32_t stream_of(uint32_t device, uint32_t stream)
{
    return stk_names_track(STK_WIRE_DEVICE, (int)device, stream);
}

static void take_kernel(const void *record)
{
    struct stk_cupti_kernel k;
    memcpy(&k, record, sizeof k);
    if (!has_time(k.start, k.end)) {
        return;
    }
    struct stk_wire_config c = {.registers = k.registers,
                                .shared_bytes =
                                    (uint32_t)k.static_shared + (uint32_t)k.dynamic_shared,
                                .local_bytes = k.local_of_thread};
    for (int i = 0; i < 3; i++) {
        c.grid[i] = (uint32_t)k.grid[i];
        c.block[i] = (uint32_t)k.block[i];
    }
    struct stk_wire_work w = {.name = stk_names_text(k.name),
                              .track = stream_of(k.device, k.stream),
                              .kind = STK_WIRE_KERNEL,
                              .in_graph = is_node(record, STK_CUPTI_KERNEL_NODE,
                                                  STK_CUPTI_KERNEL_NODE_FROM, STK_CUPTI_KERNEL),
                              .correlation = correlation_of(k.correlation, k.start),
                              .config = stk_names_config(&c),
                              .graph = field(record, STK_CUPTI_KERNEL_GRAPH,
                                             STK_CUPTI_KERNEL_GRAPH_FROM, STK_CUPTI_KERNEL)};
    put_work(&w, k.start, k.end);
}

// The names that other profilers use.
static const char *copy_name(uint8_t direction)
{
    static const char *const names[] = {
        "[CUDA memcpy]",      "[CUDA memcpy HtoD]", "[CUDA memcpy DtoH]", "[CUDA memcpy HtoA]",
        "[CUDA memcpy AtoH]", "[CUDA memcpy AtoA]", "[CUDA memcpy AtoD]", "[CUDA memcpy DtoA]",
        "[CUDA memcpy DtoD]", "[CUDA memcpy HtoH]", "[CUDA memcpy PtoP]"};
    return names[direction < sizeof names / sizeof names[0] ? direction : 0];
}

static void take_memcpy(const void *record)
{
    struct stk_cupti_memcpy m;
    memcpy(&m, record, sizeof m);
    if (!has_time(m.start, m.end)) {
        return;
    }
    struct stk_wire_work w = {.name = stk_names_text(copy_name(m.direction)),
                              .track = stream_of(m.device, m.stream),
                              .kind = STK_WIRE_MEMCPY,
                              .direction = m.direction,
                              .from = m.from,
                              .to = m.to,
                              .is_async = m.flags & ASYNC,
                              .in_graph = is_node(record, STK_CUPTI_COPY_NODE,
                                                  STK_CUPTI_COPY_NODE_FROM, STK_CUPTI_MEMCPY),
                              .bytes = m.bytes,
                              .correlation = correlation_of(m.correlation, m.start)};
    put_work(&w, m.start, m.end);
}

static void take_memcpy2(const void *record)
{
    struct stk_cupti_memcpy2 m;
    memcpy(&m, record, sizeof m);
    if (!has_time(m.start, m.end)) {
        return;
    }
    struct stk_wire_work w = {.name = stk_names_text(copy_name(m.direction)),
                              .track = stream_of(m.device, m.stream),
                              .kind = STK_WIRE_MEMCPY,
                              .direction = m.direction,
                              .from = m.from,
                              .to = m.to,
                              .is_async = m.flags & ASYNC,
                              .bytes = m.bytes,
                              .correlation = correlation_of(m.correlation, m.start)};
    put_work(&w, m.start, m.end);
}

static void take_memset(const void *record)
{
    struct stk_cupti_memset m;
    memcpy(&m, record, sizeof m);
    if (!has_time(m.start, m.end)) {
        return;
    }
    struct stk_wire_work w = {.name = stk_names_text("[CUDA memset]"),
                              .track = stream_of(m.device, m.stream),
                              .kind = STK_WIRE_MEMSET,
                              .to = (uint8_t)m.memory,
                              .in_graph = is_node(record, STK_CUPTI_COPY_NODE,
                                                  STK_CUPTI_COPY_NODE_FROM, STK_CUPTI_MEMSET),
                              .bytes = m.bytes,
                              .correlation = correlation_of(m.correlation, m.start)};
    put_work(&w, m.start, m.end);
}

static void take_call(const void *record, int domain)
{
    struct stk_cupti_api a;
    memcpy(&a, record, sizeof a);
    const struct stk_cupti_call *call = stk_cupti_call_of(domain, a.cbid);
    if (!call->name) {
        stk_cupti_sums.left_out++;
        return;
    }
    if (!has_time(a.start, a.end)) {
        return;
    }
    struct stk_wire_event e = {.name = call->name,
                               .track = stk_names_track(STK_WIRE_HOST, -1, a.thread),
                               .kind = STK_WIRE_RUNTIME,
                               .correlation = correlation_of(a.correlation, a.start)};
    put_event(&e, a.start, a.end);
}

static void take_sync(const void *record)
{
    static const char *const names[] = {"Synchronization", "Event sync", "Stream wait event",
                                        "Stream sync", "Context sync"};
    struct stk_cupti_sync s;
    memcpy(&s, record, sizeof s);
    if (!has_time(s.start, s.end)) {
        return;
    }
    struct stk_wire_work w = {
        .name = stk_names_text(names[s.type < sizeof names / sizeof names[0] ? s.type : 0]),
        .track = stk_names_track(STK_WIRE_ASIDE, -1, (int32_t)s.stream),
        .kind = STK_WIRE_SYNC,
        .correlation = correlation_of(s.correlation, s.start)};
    put_work(&w, s.start, s.end);
}

static void take_overhead(const void *record)
{
    struct stk_cupti_overhead o;
    memcpy(&o, record, sizeof o);
    if (!has_time(o.start, o.end)) {
        return;
    }
    stk_cupti_sums.overhead_ns += o.end - o.start;
    if (o.object_kind == OBJECT_THREAD) {
        struct stk_wire_event e = {.name = stk_names_text("Profiler overhead"),
                                   .track = stk_names_track(STK_WIRE_HOST, -1, o.object[1]),
                                   .kind = STK_WIRE_OVERHEAD};
        put_event(&e, o.start, o.end);
    }
}

static void take(uint32_t kind, const void *record)
{
    switch (kind) {
    case STK_CUPTI_KERNEL:
        take_kernel(record);
        break;
    case STK_CUPTI_MEMCPY:
        take_memcpy(record);
        break;
    case STK_CUPTI_MEMCPY2:
        take_memcpy2(record);
        break;
    case STK_CUPTI_MEMSET:
        take_memset(record);
        break;
    case STK_CUPTI_RUNTIME:
        take_call(record, STK_CUPTI_DOMAIN_RUNTIME);
        break;
    case STK_CUPTI_DRIVER:
        take_call(record, STK_CUPTI_DOMAIN_DRIVER);
        break;
    case STK_CUPTI_SYNC:
        take_sync(record);
        break;
    case STK_CUPTI_OVERHEAD:
        take_overhead(record);
        break;
    default:
        stk_cupti_sums.left_out++;
        break;
    }
}

void stk_cupti_decode(const struct stk_cupti_buffer *b)
{
    void *record = NULL;
    size_t dropped = 0;
    while (stk_cupti.next(b->bytes, b->valid, &record) == STK_CUPTI_OK && record) {
        uint32_t kind;
        memcpy(&kind, record, sizeof kind);
        if (kind < STK_CUPTI_KINDS && stk_cupti.size[kind] &&
            (size_t)((uint8_t *)record - b->bytes) + stk_cupti.size[kind] <= b->valid) {
            take(kind, record);
        } else {
            stk_cupti_sums.unknown++;
        }
    }
    if (stk_cupti.dropped(b->context, b->stream, &dropped) == STK_CUPTI_OK) {
        stk_cupti_sums.profiler_dropped += dropped;
    }
}
