// SPDX-License-Identifier: Apache-2.0
// Streams and copy engines of a device, with CUDA's semantics: a stream is a queue processed in
// order. The first operation starts once it has reached the device (launch latency), the stream's
// last one has ended (and a gap is over), and its dependencies are done. A copy needs the engine of
// its direction; kernels of several streams share the SMs, and a collective takes a part of them
// while it is resident, even while it waits for its peers.
#include "sim_world.h"

#include <string.h>

#include "base/alloc.h"

static struct sim_op *head_of(const struct sim_stream *s)
{
    return &s->ring[s->done % s->capacity];
}

static uint32_t event_id(uint32_t rank, int stream)
{
    return rank * SIM_STREAMS + (uint32_t)stream;
}

static void grow(struct sim_stream *s)
{
    uint32_t capacity = s->capacity ? 2 * s->capacity : 64;
    struct sim_op *ring = stk_alloc_array(capacity, sizeof *ring);
    if (!ring) {
        sim_die("queue of a stream", "no memory");
    }
    for (uint64_t i = s->done; i < s->queued; i++) {
        ring[i % capacity] = s->ring[i % s->capacity];
    }
    stk_free(s->ring);
    s->ring = ring;
    s->capacity = capacity;
}

void sim_device_queue(struct sim_world *w, uint32_t rank, int stream, const struct sim_op *op)
{
    struct sim_stream *s = &w->ranks[rank].streams[stream];
    if (s->queued - s->done == s->capacity) {
        grow(s);
    }
    s->ring[s->queued++ % s->capacity] = *op;
    s->calls += op->ends_call;
}

void sim_device_share(struct sim_world *w, uint32_t rank)
{
    struct sim_rank *r = &w->ranks[rank];
    double rate = 1 / ((r->kernels > 1 ? r->kernels : 1) *
                       (1 + (r->has_collective ? w->job.compute_contention : 0)));
    for (int i = 0; i < SIM_STREAMS; i++) {
        struct sim_stream *s = &r->streams[i];
        if (s->is_busy && head_of(s)->kind == SIM_KERNEL) {
            sim_task_rate(w, &s->task, rate, SIM_AT_STREAM, event_id(rank, i));
        }
    }
}

static void start(struct sim_world *w, uint32_t rank, int stream)
{
    struct sim_rank *r = &w->ranks[rank];
    struct sim_stream *s = &r->streams[stream];
    struct sim_op *op = head_of(s);
    s->is_busy = true;
    s->start_ns = w->now_ns;
    if (op->kind == SIM_COLLECTIVE) {
        r->has_collective = true;
        sim_device_share(w, rank);
        sim_collective_arrive(w, op);
        return;
    }
    sim_task_start(w, &s->task, op->work_ns, 1, SIM_AT_STREAM, event_id(rank, stream));
    if (op->kind == SIM_COPY) {
        r->engines[op->dir] = true;
    } else {
        r->kernels++;
        sim_device_share(w, rank);
        sim_collective_share(w);
    }
}

// Steps whose earlier work ends with this operation.
static void reach_marks(struct sim_rank *r, int stream)
{
    struct sim_stream *s = &r->streams[stream];
    struct sim_mark *marks = r->marks.items;
    while (s->next_mark < r->marks.count && marks[s->next_mark].queued[stream] <= s->done) {
        struct sim_mark *m = &marks[s->next_mark++];
        if (m->queued[stream] == s->done && s->free_ns > m->work_ns) {
            m->work_ns = s->free_ns;
        }
    }
}

// Removes finished waits at the head.
static bool pass_waits(struct sim_rank *r, int stream)
{
    struct sim_stream *s = &r->streams[stream];
    bool passed = false;
    while (!s->is_busy && s->done < s->queued && head_of(s)->is_wait &&
           r->streams[head_of(s)->other].done >= head_of(s)->until) {
        s->done++;
        reach_marks(r, stream);
        passed = true;
    }
    return passed;
}

static void pump_stream(struct sim_world *w, uint32_t rank, int stream)
{
    struct sim_rank *r = &w->ranks[rank];
    struct sim_stream *s = &r->streams[stream];
    if (s->is_busy || s->done == s->queued || head_of(s)->is_wait) {
        return;
    }
    struct sim_op *op = head_of(s);
    double gap_us = op->is_graph ? w->job.graph_gap_us : w->job.gap_us;
    int64_t at = s->done ? s->free_ns + (int64_t)(gap_us * 1000) : 0;
    at = at > op->ready_ns ? at : op->ready_ns;
    if (at > w->now_ns) {
        if (s->pump_ns != at) {
            s->pump_ns = at;
            sim_queue_push(w, at, SIM_AT_PUMP, rank, 0);
        }
    } else if (op->kind != SIM_COPY || !r->engines[op->dir]) {
        start(w, rank, stream);
    }
}

void sim_device_pump(struct sim_world *w, uint32_t rank)
{
    struct sim_rank *r = &w->ranks[rank];
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < SIM_STREAMS; i++) {
            again |= pass_waits(r, i);
        }
    }
    for (int i = 0; i < SIM_STREAMS; i++) {
        pump_stream(w, rank, i);
    }
}

static void tell(struct sim_world *w, uint32_t rank, int stream)
{
    struct sim_stream *s = &w->ranks[rank].streams[stream];
    const struct sim_op *op = head_of(s);
    struct sim_row row = {.kind = op->kind,
                          .role = op->role,
                          .dir = op->dir,
                          .pinned = op->pinned,
                          .is_graph = op->is_graph,
                          .stream = (uint8_t)stream,
                          .rank = rank,
                          .step = op->step,
                          .ordinal = op->ordinal,
                          .start_ns = s->start_ns,
                          .end_ns = w->now_ns,
                          .corr = op->corr,
                          .bytes = op->bytes};
    if (w->see) {
        w->see(w->arg, &row);
    }
}

void sim_device_end(struct sim_world *w, uint32_t rank, int stream)
{
    struct sim_rank *r = &w->ranks[rank];
    struct sim_stream *s = &r->streams[stream];
    const struct sim_op *op = head_of(s);
    tell(w, rank, stream);
    s->is_busy = false;
    s->free_ns = w->now_ns;
    if (op->kind == SIM_COPY) {
        r->engines[op->dir] = false;
    } else if (op->kind == SIM_COLLECTIVE) {
        r->has_collective = false;
    } else {
        r->kernels--;
    }
    bool is_copy = op->kind == SIM_COPY, is_kernel = !is_copy && op->kind != SIM_COLLECTIVE;
    s->calls_done += op->ends_call;
    s->done++;
    reach_marks(r, stream);
    if (!is_copy) {
        sim_device_share(w, rank);
    }
    if (is_kernel) {
        sim_collective_share(w);
    }
    sim_device_pump(w, rank);
    sim_host_wake(w, rank);
}
