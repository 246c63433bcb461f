// SPDX-License-Identifier: Apache-2.0
// CPU threads: each executes its instructions until one takes time or must wait. Threads of a host
// share its cores: if more run than there are, all are slower by the same factor.
//
// Which calls wait follows the CUDA API's page on synchronization: a copy from pageable memory
// waits for its stream, then for its own end (small ones are staged and return); a copy to pageable
// memory waits for its end; launches and copies of pinned memory wait only while the stream's queue
// is full; cudaMalloc waits for the device.
#include "base/assert.h"
#include "sim_plan.h"
#include "sim_world.h"

#define STAGED_BYTES 65536 // a pageable copy up to this returns after staging
#define SHORT_CALL_NS 1000 // a wait for something already done

enum progress { NEXT, AGAIN, LEFT }; // next instruction, same one in its next phase, until woken

static uint32_t host_of(const struct sim_world *w, const struct sim_thread *t)
{
    return t->rank / (uint32_t)w->job.ranks_per_host;
}

// Updates the rates of the host's shared threads when one more or fewer runs.
static void share(struct sim_world *w, uint32_t host, int change)
{
    uint32_t before = w->host_running[host], after = before + (uint32_t)change;
    double cores = w->shared_cores;
    w->host_running[host] = after;
    if (before <= cores && after <= cores) {
        return;
    }
    uint32_t per_rank = w->ranks[0].threads, per_host = (uint32_t)w->job.ranks_per_host * per_rank;
    uint32_t end =
        (host + 1) * per_host < w->thread_count ? (host + 1) * per_host : w->thread_count;
    for (uint32_t i = host * per_host; i < end; i++) {
        if (!w->threads[i].is_pinned) {
            sim_task_rate(w, &w->threads[i].task, after > cores ? cores / after : 1, SIM_AT_THREAD,
                          i);
        }
    }
}

static enum progress work(struct sim_world *w, struct sim_thread *t, double ns)
{
    sim_task_start(w, &t->task, ns, 1, SIM_AT_THREAD, (uint32_t)(t - w->threads));
    if (!t->is_pinned) {
        share(w, host_of(w, t), 1);
    }
    return LEFT;
}

static enum progress wait_for(struct sim_thread *t, enum sim_block block, int on, uint64_t count)
{
    t->block = block;
    t->block_on = (uint8_t)on;
    t->block_count = count;
    return LEFT;
}

static bool is_over(const struct sim_world *w, const struct sim_thread *t)
{
    const struct sim_rank *r = &w->ranks[t->rank];
    switch (t->block) {
    case SIM_FOR_DONE:
        return r->streams[t->block_on].done >= t->block_count;
    case SIM_FOR_QUEUE:
        return r->streams[t->block_on].calls_done >= t->block_count;
    case SIM_FOR_ALL:
        for (int i = 0; i < SIM_STREAMS; i++) {
            if (r->streams[i].done < r->streams[i].queued) {
                return false;
            }
        }
        return true;
    case SIM_FOR_BATCH:
        return r->is_ready[t->block_count % r->ready_ring];
    case SIM_FOR_ROOM:
        return (double)t->block_count < r->fetched + w->job.prefetch;
    case SIM_FOR_MEETING:
        return r->meetings[t->block_on] > 0;
    case SIM_FREE:
        break;
    }
    return true;
}

// Continues at once if there is nothing to wait for.
static enum progress until(struct sim_world *w, struct sim_thread *t, enum sim_block block, int on,
                           uint64_t count)
{
    wait_for(t, block, on, count);
    if (!is_over(w, t)) {
        return LEFT;
    }
    t->block = SIM_FREE;
    return AGAIN;
}

static void wake(struct sim_world *w, uint32_t rank, uint32_t first, uint32_t end)
{
    struct sim_rank *r = &w->ranks[rank];
    for (uint32_t i = first; i < end && i < r->threads; i++) {
        struct sim_thread *t = &w->threads[r->first_thread + i];
        if (t->block != SIM_FREE && is_over(w, t)) {
            t->block = SIM_FREE;
            sim_host_advance(w, r->first_thread + i);
        }
    }
}

void sim_host_wake(struct sim_world *w, uint32_t rank)
{
    wake(w, rank, 0, 2);
}

static void tell_call(struct sim_world *w, const struct sim_thread *t, const struct sim_instr *i)
{
    struct sim_row row = {.kind = SIM_RUNTIME,
                          .role = i->role,
                          .dir = i->dir,
                          .pinned = i->pinned,
                          .is_graph = i->what == SIM_DO_GRAPH,
                          .stream = i->stream,
                          .thread = t->number,
                          .rank = t->rank,
                          .step = w->ranks[t->rank].step,
                          .start_ns = t->call_ns,
                          .end_ns = w->now_ns,
                          .corr = t->call_corr,
                          .bytes = i->bytes};
    if (w->see) {
        w->see(w->arg, &row);
    }
}

static void open_slice(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i)
{
    STK_ASSERT(t->depth < SIM_DEPTH);
    t->slices[t->depth++] = (struct sim_row){.kind = sim_role_kinds[i->role],
                                             .role = i->role,
                                             .thread = t->number,
                                             .rank = t->rank,
                                             .step = w->ranks[t->rank].step,
                                             .ordinal = i->ordinal,
                                             .start_ns = w->now_ns,
                                             .bytes = i->bytes};
}

static void close_slice(struct sim_world *w, struct sim_thread *t)
{
    struct sim_row *row = &t->slices[--t->depth];
    row->end_ns = w->now_ns;
    if (w->see) {
        w->see(w->arg, row);
    }
}

// Puts the instruction's work into its stream.
static void queue_op(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i,
                     bool is_graph, bool ends_call)
{
    struct sim_rank *r = &w->ranks[t->rank];
    struct sim_op op = {.role = i->other,
                        .kind = sim_role_kinds[i->other],
                        .dir = i->dir,
                        .pinned = i->pinned,
                        .is_graph = is_graph,
                        .ends_call = ends_call,
                        .step = r->step,
                        .ready_ns = w->now_ns + (int64_t)(w->job.latency_us * 1000),
                        .bytes = i->bytes,
                        .corr = t->call_corr,
                        .work_ns = i->work_ns};
    if (op.kind == SIM_COLLECTIVE) {
        op.ordinal = r->launched_collectives++;
    }
    sim_device_queue(w, t->rank, i->stream, &op);
}

// Starts a call: its link, and room in the queue.
static enum progress begin_call(struct sim_world *w, struct sim_thread *t,
                                const struct sim_instr *i)
{
    struct sim_rank *r = &w->ranks[t->rank];
    t->call_ns = w->now_ns;
    t->call_corr = ++r->corr;
    uint64_t calls = r->streams[i->stream].calls, limit = (uint64_t)w->job.queue_limit;
    return until(w, t, SIM_FOR_QUEUE, i->stream, calls >= limit ? calls - limit + 1 : 0);
}

static enum progress do_launch(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i)
{
    switch (t->phase) {
    case 0:
        return begin_call(w, t, i);
    case 1:
        for (uint32_t k = 1; k <= i->count; k++) { // of a graph
            queue_op(w, t, &i[k], true, k == i->count);
        }
        if (i->what == SIM_DO_LAUNCH) {
            queue_op(w, t, i, false, true);
        }
        sim_device_pump(w, t->rank);
        return work(w, t, (double)i->ns);
    default:
        tell_call(w, t, i);
        t->pc += i->count;
        return NEXT;
    }
}

static bool is_staged_whole(const struct sim_instr *i)
{
    return i->dir == SIM_TO_DEVICE && !i->pinned && i->bytes > STAGED_BYTES;
}

static enum progress do_copy(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i)
{
    const struct sim_stream *s = &w->ranks[t->rank].streams[i->stream];
    switch (t->phase) {
    case 0:
        return begin_call(w, t, i);
    case 1:
        return is_staged_whole(i) ? until(w, t, SIM_FOR_DONE, i->stream, s->queued) : AGAIN;
    case 2:
        queue_op(w, t, i, false, true);
        sim_device_pump(w, t->rank);
        return work(w, t, (double)i->ns);
    case 3:
        return is_staged_whole(i) || i->is_waited ? until(w, t, SIM_FOR_DONE, i->stream, s->queued)
                                                  : AGAIN;
    case 4:
        return is_staged_whole(i) || i->is_waited ? work(w, t, w->job.return_us * 1000) : AGAIN;
    default:
        tell_call(w, t, i);
        return NEXT;
    }
}

// Time from the end of the work to the return, minus what of it is over when the call starts:
// asking earlier never returns later.
static double return_ns(const struct sim_world *w, const struct sim_thread *t,
                        const struct sim_instr *i)
{
    const struct sim_rank *r = &w->ranks[t->rank];
    int64_t end = 0;
    for (int s = 0; s < SIM_STREAMS; s++) {
        if ((i->stream == SIM_STREAMS || i->stream == s) && r->streams[s].free_ns > end) {
            end = r->streams[s].free_ns;
        }
    }
    double left = w->job.return_us * 1000 - (double)(w->now_ns - end);
    return left > SHORT_CALL_NS ? left : SHORT_CALL_NS;
}

static enum progress do_sync(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i)
{
    const struct sim_rank *r = &w->ranks[t->rank];
    bool is_all = i->stream == SIM_STREAMS;
    switch (t->phase) {
    case 0:
        t->call_ns = w->now_ns;
        t->call_corr = ++w->ranks[t->rank].corr;
        return is_all ? until(w, t, SIM_FOR_ALL, 0, 0)
                      : until(w, t, SIM_FOR_DONE, i->stream, r->streams[i->stream].queued);
    case 1:
        if (i->what == SIM_DO_MALLOC) {
            return work(w, t, (double)i->ns);
        }
        return work(w, t, return_ns(w, t, i));
    default:
        tell_call(w, t, i);
        return NEXT;
    }
}

static enum progress do_ask(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i)
{
    if (t->phase == 0) {
        t->call_ns = w->now_ns;
        t->call_corr = ++w->ranks[t->rank].corr;
        return work(w, t, (double)i->ns);
    }
    tell_call(w, t, i);
    return NEXT;
}

// An event is recorded, or a stream told to wait for it.
static enum progress do_event(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i)
{
    struct sim_rank *r = &w->ranks[t->rank];
    if (t->phase == 0) {
        t->call_ns = w->now_ns;
        t->call_corr = ++r->corr;
        if (i->what == SIM_DO_RECORD) {
            r->slots[i->slot] = r->streams[i->stream].queued;
        } else {
            struct sim_op op = {.is_wait = true, .other = i->other, .until = r->slots[i->slot]};
            sim_device_queue(w, t->rank, i->stream, &op);
            sim_device_pump(w, t->rank);
        }
        return work(w, t, (double)i->ns);
    }
    tell_call(w, t, i);
    return NEXT;
}

static void mark_step(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i)
{
    struct sim_rank *r = &w->ranks[t->rank];
    struct sim_mark *m = stk_vec_push(&r->marks);
    if (!m) {
        sim_die("marks of steps", "no memory");
    }
    r->step = i->ordinal;
    m->host_ns = w->now_ns;
    for (int s = 0; s < SIM_STREAMS; s++) {
        m->queued[s] = r->streams[s].queued;
    }
}

static enum progress do_batch(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i)
{
    struct sim_rank *r = &w->ranks[t->rank];
    if (i->what == SIM_DO_PUT) {
        r->is_ready[i->ordinal % r->ready_ring] = 1;
        wake(w, t->rank, 0, 1);
        return NEXT;
    }
    if (t->phase == 0) {
        return until(w, t, i->what == SIM_DO_FETCH ? SIM_FOR_BATCH : SIM_FOR_ROOM, 0, i->ordinal);
    }
    if (i->what == SIM_DO_FETCH) {
        r->is_ready[i->ordinal % r->ready_ring] = 0;
        r->fetched++;
        wake(w, t->rank, 2, r->threads);
    }
    return NEXT;
}

static enum progress do_meeting(struct sim_world *w, struct sim_thread *t,
                                const struct sim_instr *i)
{
    struct sim_rank *r = &w->ranks[t->rank];
    if (i->what == SIM_DO_GIVE) {
        r->meetings[i->slot]++;
        wake(w, t->rank, t->number ? 0 : 1, t->number ? 1 : 2);
        return NEXT;
    }
    if (t->phase == 0) {
        return until(w, t, SIM_FOR_MEETING, i->slot, 0);
    }
    r->meetings[i->slot]--;
    return NEXT;
}

static enum progress perform(struct sim_world *w, struct sim_thread *t, const struct sim_instr *i)
{
    switch ((enum sim_do)i->what) {
    case SIM_DO_WORK:
        return t->phase ? NEXT : work(w, t, (double)i->ns);
    case SIM_DO_OPEN:
        open_slice(w, t, i);
        return NEXT;
    case SIM_DO_CLOSE:
        close_slice(w, t);
        return NEXT;
    case SIM_DO_LAUNCH:
    case SIM_DO_GRAPH:
        return do_launch(w, t, i);
    case SIM_DO_COPY:
        return do_copy(w, t, i);
    case SIM_DO_SYNC:
    case SIM_DO_MALLOC:
        return do_sync(w, t, i);
    case SIM_DO_ASK:
        return do_ask(w, t, i);
    case SIM_DO_RECORD:
    case SIM_DO_WAIT:
        return do_event(w, t, i);
    case SIM_DO_STEP:
        mark_step(w, t, i);
        return NEXT;
    case SIM_DO_FETCH:
    case SIM_DO_ROOM:
    case SIM_DO_PUT:
        return do_batch(w, t, i);
    case SIM_DO_GIVE:
    case SIM_DO_TAKE:
        return do_meeting(w, t, i);
    }
    return NEXT;
}

void sim_host_advance(struct sim_world *w, uint32_t thread)
{
    struct sim_thread *t = &w->threads[thread];
    while (!t->is_done && t->block == SIM_FREE && !t->task.is_running) {
        if (t->pc == t->program.count) {
            t->program.count = t->pc = 0;
            t->is_done = !sim_plan_fill(w, t);
            continue;
        }
        const struct sim_instr *i = stk_vec_at(&t->program, t->pc);
        enum progress p = perform(w, t, i);
        if (p == NEXT) {
            t->pc++;
            t->phase = 0;
        } else {
            t->phase++; // where it continues, now or when woken
        }
    }
}

void sim_host_end(struct sim_world *w, uint32_t thread)
{
    struct sim_thread *t = &w->threads[thread];
    if (!t->is_pinned) {
        share(w, host_of(w, t), -1);
    }
    sim_host_advance(w, thread);
}
