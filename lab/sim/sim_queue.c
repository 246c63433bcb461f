// SPDX-License-Identifier: Apache-2.0
// The event queue (a binary heap by time, then by arrival), and tasks, whose end events become
// stale when the task changes its rate.
#include "sim_world.h"

#include <math.h>

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order);
}

void sim_queue_push(struct sim_world *w, int64_t at_ns, enum sim_event_kind what, uint32_t id,
                    uint32_t version)
{
    struct sim_event e = {at_ns, w->order++, what, id, version};
    if (!stk_vec_push(&w->queue)) {
        sim_die("queue of events", "no memory");
    }
    struct sim_event *heap = w->queue.items;
    size_t i = w->queue.count - 1;
    for (; i && is_before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2) {
        heap[i] = heap[(i - 1) / 2];
    }
    heap[i] = e;
}

bool sim_queue_pop(struct sim_world *w, struct sim_event *out)
{
    if (!w->queue.count) {
        return false;
    }
    struct sim_event *heap = w->queue.items, last = heap[--w->queue.count];
    *out = heap[0];
    size_t n = w->queue.count, i = 0;
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &last)) {
            break;
        }
        heap[i] = heap[child];
    }
    heap[i] = last;
    return true;
}

static void schedule(struct sim_world *w, struct sim_task *t, enum sim_event_kind what, uint32_t id)
{
    t->version++;
    sim_queue_push(w, w->now_ns + (int64_t)ceil(t->left / t->rate), what, id, t->version);
}

void sim_task_start(struct sim_world *w, struct sim_task *t, double work, double rate,
                    enum sim_event_kind what, uint32_t id)
{
    t->left = work;
    t->rate = rate;
    t->since_ns = w->now_ns;
    t->is_running = true;
    schedule(w, t, what, id);
}

void sim_task_rate(struct sim_world *w, struct sim_task *t, double rate, enum sim_event_kind what,
                   uint32_t id)
{
    if (!t->is_running || t->rate == rate) {
        return;
    }
    t->left -= (double)(w->now_ns - t->since_ns) * t->rate;
    t->left = t->left < 0 ? 0 : t->left;
    t->since_ns = w->now_ns;
    t->rate = rate;
    schedule(w, t, what, id);
}

bool sim_task_ends(struct sim_task *t, const struct sim_event *e)
{
    if (!t->is_running || t->version != e->version) {
        return false;
    }
    t->is_running = false;
    return true;
}
