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
#include "base/alloc.h"
#include "profile/model/analysis.h"
#include "profile/model/threads/feed_words.h"
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

static int64_t fine_ns(int64_t from_ns, int64_t to_ns)
{
    return to_ns > from_ns && to_ns - from_ns < FINE_NS ? to_ns - from_ns : 0;
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

// What a name tells about a call; found once per name.
enum tells {
    ASKED = 1,
    IS_OP = 2,
    STACKS = 4,
    DRAWS = 8,
    LISTS = 16 // JAX's tracer: may make an array from a list
};

struct names {
    const struct stk_analysis *a;
    uint8_t *tells; // per string id
};

static uint8_t ask(const struct names *n, uint32_t id)
{
    struct stk_str name = stk_strpool_get(&n->a->t->strings, id);
    bool is_op = n->a->signs[id] == STK_SIGN_ATEN + 1;
    bool draws = stk_str_eq(name, STK_STR("aten::multinomial")) ||
                 stk_str_eq(name, STK_STR("aten::randperm"));
    bool lists = stk_str_starts(name, STK_STR("$")) && stk_feed_hands_over(name);
    n->tells[id] =
        (uint8_t)(ASKED | (is_op ? IS_OP : 0) | (draws ? DRAWS : 0) |
                  (stk_str_eq(name, STK_STR("aten::stack")) ? STACKS : 0) | (lists ? LISTS : 0));
    return n->tells[id];
}

static inline uint8_t tells_of(const struct names *n, uint32_t event)
{
    uint32_t id = n->a->t->name[event];
    return n->tells[id] ? n->tells[id] : ask(n, id);
}

// *drawn_ns: the end of the last counted draw. Drawing operators call themselves.
static void add_draw(struct stk_analysis *a, uint32_t event, int64_t *drawn_ns)
{
    if (a->t->start_ns[event] >= *drawn_ns) {
        a->sum->facts.fetch_draw_ns += stk_dur_ns(a->t, event);
        *drawn_ns = stk_end_ns(a->t, event);
    }
}

// The outermost open JAX call that makes an array, and its calls.
struct listing {
    uint32_t event, calls;
    int64_t end_ns;
};

static void close_listing(struct stk_analysis *a, struct listing *x)
{
    if (x->event != STK_NONE && x->calls >= LISTED) {
        a->sum->facts.list_handing_ns += stk_dur_ns(a->t, x->event);
    }
    x->event = STK_NONE;
    x->end_ns = INT64_MIN;
}

// An event outside of the open call: ends it, and may be the next.
static void open_listing(struct stk_analysis *a, struct listing *x, uint32_t event, uint8_t tells)
{
    close_listing(a, x);
    if ((tells & LISTS) && a->t->kind[event] == STK_KIND_PYTHON) {
        x->event = event;
        x->calls = 0;
        x->end_ns = stk_end_ns(a->t, event);
    }
}

struct counting {
    struct stk_analysis *a;
    struct names names;
    struct listing lists;
    bool loads; // a loader's fetches are recorded
    int64_t drawn_ns;
};

// What one fetch contains.
struct inside {
    int64_t fine_ns;
    uint64_t calls, ops, stacks;
};

static void add_operator(struct counting *c, struct inside *in, uint32_t event, uint8_t tells)
{
    in->ops += (tells & IS_OP) != 0;
    in->stacks += (tells & STACKS) != 0 && (tells & IS_OP) != 0;
    if (tells & DRAWS) {
        add_draw(c->a, event, &c->drawn_ns);
    }
}

static void add_fetch(struct counting *c, const struct stk_mark *m, const struct inside *in)
{
    struct stk_facts *f = &c->a->sum->facts;
    if (c->loads && !is_loaders(c->a, m)) { // it processes what the loader fetched
        f->prep_ops += in->ops;
        return;
    }
    f->fetch_fine_ns += in->fine_ns;
    f->fetch_calls += in->calls;
    f->fetch_ops += in->ops;
    f->fetch_stacks += in->stacks;
}

// Counts the events from `e` on that begin in the fetch; returns the first that begins after it.
static uint32_t count_fetch(struct counting *c, struct stk_thread_events *events, uint32_t e,
                            const struct stk_mark *m)
{
    const int64_t *starts = c->a->t->start_ns;
    int64_t at_ns = m->start_ns, end_ns = m->end_ns;
    struct inside in = {0};
    for (; e != STK_NONE && starts[e] < end_ns; e = stk_thread_events_next(events)) {
        int64_t start_ns = starts[e];
        if (start_ns <= m->start_ns) { // around the fetch, or the fetch
            stk_thread_events_skip(events, m->start_ns);
            continue;
        }
        uint8_t tells = tells_of(&c->names, e);
        in.calls++;
        in.fine_ns += fine_ns(at_ns, start_ns);
        at_ns = start_ns;
        if (tells & (IS_OP | STACKS | DRAWS)) {
            add_operator(c, &in, e, tells);
        }
        if (start_ns < c->lists.end_ns) {
            c->lists.calls++;
        } else if (c->lists.event != STK_NONE || (tells & LISTS)) {
            open_listing(c->a, &c->lists, e, tells);
        }
    }
    in.fine_ns += fine_ns(at_ns, end_ns);
    add_fetch(c, m, &in);
    return e;
}

static void count_calls(struct counting *c, struct stk_thread_events *events)
{
    const struct stk_marks *m = &c->a->fetches;
    uint32_t e = stk_thread_events_next(events);
    for (size_t at = 0; at < m->count; at = fetch_at(m, at + 1, c->a->t->start_ns[e])) {
        e = count_fetch(c, events, e, &m->v[at]);
        if (e == STK_NONE) {
            break;
        }
    }
}

bool stk_fetch_calls_count(struct stk_analysis *a)
{
    if (a->fetches.count == 0 || a->driver == STK_NONE) {
        return true;
    }
    struct counting c = {.a = a,
                         .names = {a, stk_alloc_zero((size_t)a->t->strings.count + 1, 1)},
                         .lists = {.event = STK_NONE, .end_ns = INT64_MIN},
                         .loads = has_loader(a),
                         .drawn_ns = INT64_MIN};
    struct stk_thread_events events;
    stk_thread_events_init(&events, a);
    bool ok = c.names.tells && stk_thread_events_begin(&events, a->threads[a->driver].root, NULL);
    if (ok) {
        count_calls(&c, &events);
        close_listing(a, &c.lists);
    }
    stk_free(c.names.tells);
    stk_thread_events_deinit(&events);
    return ok;
}
