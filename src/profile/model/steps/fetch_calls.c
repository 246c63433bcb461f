// SPDX-License-Identifier: Apache-2.0
// What the training thread does in its fetches: the number of calls, the time in short ones, and
// the number of tensors it joins. Many short calls mean work sample by sample. It should handle
// whole batches, since a worker would take as long. Workers send each tensor of a batch separately.
//
// Method: the thread's events that begin in a fetch, by start. The time between two of them, or
// between the last one and the end of the fetch, is short if it is below FINE_NS. A longer time is
// work in one place, or wasn't recorded. Operators that draw sample numbers belong to a sampler.
// Limits: without Python's rows, only the framework's operations are calls. A Dataset that draws
// with the same operators counts as a sampler.
#include "profile/model/analysis.h"
#include "profile/model/steps/own_batch.h"
#include "profile/model/threads/thread_events.h"

#define FINE_NS (50 * STK_US)
#define LISTED 256 // rows within a call that makes an array: about fifty for a NumPy array

// The first fetch, at or after number `from`, that ends after a time. They are in order and
// disjoint.
static size_t fetch_at(const struct stk_marks *m, size_t from, int64_t t_ns)
{
    while (from < m->count && m->v[from].end_ns <= t_ns) {
        from++;
    }
    return from;
}

static void add_stretch(struct stk_facts *f, int64_t from_ns, int64_t to_ns, bool is_prep)
{
    int64_t ns = to_ns - from_ns;
    f->fetch_fine_ns += !is_prep && ns > 0 && ns < FINE_NS ? ns : 0;
}

// If both a loader's fetches and functions that process its output are recorded,
// the loader's are separated from these.
static bool is_loaders(const struct stk_analysis *a, const struct stk_mark *m)
{
    return (stk_class_of(a, m->event) & (STK_NAME_FETCH | STK_NAME_PY_NEXT)) != 0;
}

static bool has_loader(const struct stk_analysis *a)
{
    bool has = false;
    for (size_t i = 0; i < a->fetches.count && !has; i++) {
        has = is_loaders(a, &a->fetches.v[i]);
    }
    return has;
}

static bool draws(struct stk_str name)
{
    return stk_str_eq(name, STK_STR("aten::multinomial")) ||
           stk_str_eq(name, STK_STR("aten::randperm"));
}

// *drawn_ns: the end of the last counted draw. Drawing operators call themselves.
static void add_draw(struct stk_analysis *a, uint32_t event, int64_t *drawn_ns)
{
    if (a->t->start_ns[event] >= *drawn_ns && draws(stk_name_of(a->t, event))) {
        a->sum->facts.fetch_draw_ns += stk_dur_ns(a->t, event);
        *drawn_ns = stk_end_ns(a->t, event);
    }
}

static void add_call(struct stk_analysis *a, uint32_t event, bool is_prep)
{
    struct stk_facts *f = &a->sum->facts;
    uint32_t name = a->t->name[event];
    if (is_prep) {
        f->prep_ops += a->signs[name] == STK_SIGN_ATEN + 1;
        return;
    }
    f->fetch_calls++;
    if (a->signs[name] == STK_SIGN_ATEN + 1) {
        f->fetch_ops++;
        f->fetch_stacks += stk_str_eq(stk_name_of(a->t, event), STK_STR("aten::stack"));
    }
}

// The outermost open JAX call that makes an array, and its calls.
struct listing {
    struct stk_hands hands;
    uint32_t event, calls;
    int64_t end_ns;
};

static void close_listing(struct stk_analysis *a, struct listing *x)
{
    if (x->event != STK_NONE && x->calls >= LISTED) {
        a->sum->facts.list_handing_ns += stk_dur_ns(a->t, x->event);
    }
    x->event = STK_NONE;
}

static void look_for_lists(struct stk_analysis *a, struct listing *x, uint32_t event)
{
    int64_t start_ns = a->t->start_ns[event];
    if (x->event != STK_NONE && start_ns < x->end_ns) {
        x->calls++;
        return;
    }
    close_listing(a, x);
    if (stk_hands_over(&x->hands, event) &&
        stk_str_starts(stk_name_of(a->t, event), STK_STR("$"))) {
        x->event = event;
        x->calls = 0;
        x->end_ns = stk_end_ns(a->t, event);
    }
}

bool stk_fetch_calls_count(struct stk_analysis *a)
{
    const struct stk_marks *m = &a->fetches;
    if (m->count == 0 || a->driver == STK_NONE) {
        return true;
    }
    struct stk_facts *f = &a->sum->facts;
    bool loads = has_loader(a);
    struct stk_thread_events events;
    stk_thread_events_init(&events, a);
    struct listing lists = {.event = STK_NONE};
    bool ok = stk_hands_open(&lists.hands, a->t) &&
              stk_thread_events_begin(&events, a->threads[a->driver].root, NULL);
    size_t in = 0; // fetch that `at_ns` belongs to
    int64_t at_ns = m->v[0].start_ns, drawn_ns = INT64_MIN;
    for (uint32_t e; ok && (e = stk_thread_events_next(&events)) != STK_NONE;) {
        int64_t start_ns = a->t->start_ns[e];
        size_t now = fetch_at(m, in, start_ns);
        if (now != in) {
            add_stretch(f, at_ns, m->v[in].end_ns, loads && !is_loaders(a, &m->v[in]));
            in = now;
            at_ns = in < m->count ? m->v[in].start_ns : 0;
        }
        if (in == m->count) {
            break;
        }
        if (start_ns > m->v[in].start_ns) { // else it is around the fetch, or is the fetch
            bool is_prep = loads && !is_loaders(a, &m->v[in]);
            add_stretch(f, at_ns, start_ns, is_prep);
            add_call(a, e, is_prep);
            add_draw(a, e, &drawn_ns);
            look_for_lists(a, &lists, e);
            at_ns = start_ns;
        } else { // most events are in no fetch
            stk_thread_events_skip(&events, m->v[in].start_ns);
        }
    }
    if (ok && in < m->count) {
        add_stretch(f, at_ns, m->v[in].end_ns, loads && !is_loaders(a, &m->v[in]));
    }
    close_listing(a, &lists);
    stk_hands_close(&lists.hands);
    stk_thread_events_deinit(&events);
    return ok;
}
