// SPDX-License-Identifier: Apache-2.0
// What the training thread does in its fetches: how many calls, how much of the time goes by in
// short ones, and how many tensors it puts together. Many short calls are work that is done sample
// by sample, which calls for whole batches instead, and costs a worker as much; each tensor of a
// batch is handed over by itself where workers make it.
//
// Method: in the order of their starts, the events of the thread that begin in a fetch. What lies
// between two of them, or the last one and the end of the fetch, is short where it is below
// FINE_NS; a long one is work in one place, or what is not recorded.
// Limit: without Python's rows only the framework's operations are calls.
#include "model/analysis.h"
#include "model/threads/thread_events.h"

#define FINE_NS (50 * STK_US)

// The first fetch that ends after a time, from one on; they are in order and apart.
static size_t fetch_at(const struct stk_marks *m, size_t from, int64_t t_ns)
{
    while (from < m->count && m->v[from].end_ns <= t_ns) {
        from++;
    }
    return from;
}

static void add_stretch(struct stk_facts *f, int64_t from_ns, int64_t to_ns)
{
    int64_t ns = to_ns - from_ns;
    f->fetch_fine_ns += ns > 0 && ns < FINE_NS ? ns : 0;
}

static void add_call(struct stk_analysis *a, uint32_t event)
{
    struct stk_facts *f = &a->sum->facts;
    uint32_t name = a->t->name[event];
    f->fetch_calls++;
    if (a->signs[name] == STK_SIGN_ATEN + 1) {
        f->fetch_ops++;
        f->fetch_stacks += stk_str_eq(stk_name_of(a->t, event), STK_STR("aten::stack"));
    }
}

bool stk_fetch_calls_count(struct stk_analysis *a)
{
    const struct stk_marks *m = &a->fetches;
    if (m->count == 0 || a->driver == STK_NONE) {
        return true;
    }
    struct stk_thread_events events;
    stk_thread_events_init(&events, a);
    bool ok = stk_thread_events_begin(&events, a->threads[a->driver].root);
    size_t in = 0; // fetch that `at_ns` belongs to
    int64_t at_ns = m->v[0].start_ns;
    for (uint32_t e; ok && (e = stk_thread_events_next(&events)) != STK_NONE;) {
        int64_t start_ns = a->t->start_ns[e];
        size_t now = fetch_at(m, in, start_ns);
        if (now != in) {
            add_stretch(&a->sum->facts, at_ns, m->v[in].end_ns);
            in = now;
            at_ns = in < m->count ? m->v[in].start_ns : 0;
        }
        if (in == m->count) {
            break;
        }
        if (start_ns > m->v[in].start_ns) { // else around the fetch, or the fetch itself
            add_stretch(&a->sum->facts, at_ns, start_ns);
            add_call(a, e);
            at_ns = start_ns;
        }
    }
    if (ok && in < m->count) {
        add_stretch(&a->sum->facts, at_ns, m->v[in].end_ns);
    }
    stk_thread_events_deinit(&events);
    return ok;
}
