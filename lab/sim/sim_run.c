// SPDX-License-Identifier: Apache-2.0
// Sets up ranks and threads, processes events in order, and measures the steps.
#include "sim_run.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "sim_plan.h"
#include "sim_world.h"

#define R(role, kind, kineto, xplane, nsys) [SIM_ROLE_##role] = kind,
const uint8_t sim_role_kinds[SIM_ROLES] = {
#include "sim_roles.def"
};
#undef R

enum { COLLECTIVE_RING = 4 }; // a rank is at most one ahead of another

static void *array(struct sim_world *w, size_t count, size_t size)
{
    void *p = stk_arena_array(&w->arena, count, size);
    if (!p) {
        sim_die("a run", "no memory");
    }
    return p;
}

static void set_up_rank(struct sim_world *w, uint32_t rank, uint32_t threads)
{
    struct sim_rank *r = &w->ranks[rank];
    r->first_thread = rank * threads;
    r->threads = threads;
    r->ready_ring = (uint32_t)w->job.prefetch + 1;
    r->is_ready = array(w, r->ready_ring, 1);
    stk_vec_init(&r->marks, sizeof(struct sim_mark), SIZE_MAX / sizeof(struct sim_mark));
    for (uint32_t i = 0; i < threads; i++) {
        struct sim_thread *t = &w->threads[r->first_thread + i];
        t->rank = rank;
        t->number = (uint16_t)i;
        t->is_pinned = i < 2 && w->job.launch_thread;
        stk_vec_init(&t->program, sizeof(struct sim_instr), SIZE_MAX / sizeof(struct sim_instr));
    }
}

static void set_up(struct sim_world *w)
{
    const struct sim_job *job = &w->job;
    uint32_t threads = 2 + (sim_plan_has_loaders(job) ? (uint32_t)job->workers : 0);
    uint32_t per_host = (uint32_t)job->ranks_per_host;
    stk_arena_init(&w->arena, SIZE_MAX);
    stk_vec_init(&w->queue, sizeof(struct sim_event), SIZE_MAX / sizeof(struct sim_event));
    w->rank_count = (uint32_t)job->ranks;
    w->thread_count = w->rank_count * threads;
    w->host_count = (w->rank_count + per_host - 1) / per_host;
    w->ranks = array(w, w->rank_count, sizeof *w->ranks);
    w->threads = array(w, w->thread_count, sizeof *w->threads);
    w->host_running = array(w, w->host_count, sizeof *w->host_running);
    for (uint32_t i = 0; i < w->host_count; i++) {
        w->host_running[i] = (uint32_t)job->hogs;
    }
    double own = job->launch_thread ? (w->rank_count < per_host ? w->rank_count : per_host) : 0;
    w->shared_cores = job->cores > own ? job->cores - own : 1;
    w->collective_ring = COLLECTIVE_RING;
    w->collectives = array(w, COLLECTIVE_RING, sizeof *w->collectives);
    for (uint32_t i = 0; i < COLLECTIVE_RING; i++) {
        w->collectives[i].ordinal = UINT32_MAX;
    }
    for (uint32_t rank = 0; rank < w->rank_count; rank++) {
        set_up_rank(w, rank, threads);
    }
}

static void tear_down(struct sim_world *w)
{
    for (uint32_t i = 0; i < w->thread_count; i++) {
        stk_vec_deinit(&w->threads[i].program);
    }
    for (uint32_t i = 0; i < w->rank_count; i++) {
        stk_vec_deinit(&w->ranks[i].marks);
        for (int s = 0; s < SIM_STREAMS; s++) {
            stk_free(w->ranks[i].streams[s].ring);
        }
    }
    stk_vec_deinit(&w->queue);
    stk_arena_deinit(&w->arena);
}

static void happen(struct sim_world *w, const struct sim_event *e)
{
    struct sim_rank *r;
    switch ((enum sim_event_kind)e->what) {
    case SIM_AT_THREAD:
        if (sim_task_ends(&w->threads[e->id].task, e)) {
            sim_host_end(w, e->id);
        }
        break;
    case SIM_AT_STREAM:
        r = &w->ranks[e->id / SIM_STREAMS];
        if (sim_task_ends(&r->streams[e->id % SIM_STREAMS].task, e)) {
            sim_device_end(w, e->id / SIM_STREAMS, (int)(e->id % SIM_STREAMS));
        }
        break;
    case SIM_AT_PUMP:
        sim_device_pump(w, e->id);
        break;
    case SIM_AT_COLLECTIVE:
        if (sim_task_ends(&w->collectives[e->id].task, e)) {
            sim_collective_end(w, e->id);
        }
        break;
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void measure(const struct sim_world *w, struct sim_result *out)
{
    const struct sim_rank *r = &w->ranks[0];
    const struct sim_mark *marks = r->marks.items;
    uint32_t n = out->steps = (uint32_t)r->marks.count - 1;
    out->bounds_ns = stk_alloc_array(n + 1, sizeof *out->bounds_ns);
    int64_t *lengths = stk_alloc_array(n, sizeof *lengths);
    if (!out->bounds_ns || !lengths) {
        sim_die("steps", "no memory");
    }
    for (uint32_t i = 0; i <= n; i++) {
        const struct sim_mark *m = &marks[i];
        out->bounds_ns[i] = m->work_ns > m->host_ns ? m->work_ns : m->host_ns;
    }
    uint32_t used = n - SIM_WARMUP - 1;
    for (uint32_t i = 0; i < used; i++) {
        lengths[i] = out->bounds_ns[i + SIM_WARMUP + 1] - out->bounds_ns[i + SIM_WARMUP];
    }
    qsort(lengths, used, sizeof *lengths, compare);
    out->median_ns = lengths[(used - 1) / 2];
    out->step_ns = (out->bounds_ns[n - 1] - out->bounds_ns[SIM_WARMUP]) / used;
    out->events = w->events;
    stk_free(lengths);
}

void sim_run(const struct sim_job *job, enum sim_profiler profiler,
             void (*see)(void *arg, const struct sim_row *row), void *arg, struct sim_result *out)
{
    struct sim_world w = {.job = *job, .see = see, .arg = arg};
    struct sim_event e;
    w.is_profiled = profiler != SIM_UNPROFILED;
    w.asks_are_profiled = profiler == SIM_PROFILED;
    set_up(&w);
    for (uint32_t i = 0; i < w.thread_count; i++) {
        sim_host_advance(&w, i);
    }
    while (sim_queue_pop(&w, &e)) {
        w.now_ns = e.at_ns;
        w.events++;
        happen(&w, &e);
    }
    for (uint32_t i = 0; i < w.thread_count; i++) {
        if (!w.threads[i].is_done) {
            sim_die("a run", "a thread waits for ever"); // a bug in the simulator
        }
    }
    measure(&w, out);
    tear_down(&w);
}

void sim_result_free(struct sim_result *r)
{
    stk_free(r->bounds_ns);
}
