// SPDX-License-Identifier: Apache-2.0
// Batches that the training thread makes with PyTorch operators on the CPU right before it copies
// them to the device: shuffled, cropped, stacked, drawn at random. No fetch and no name marks them,
// and Python may not have been recorded. The copy right after them does.
//
// Method: a stretch lasts from the thread's last device call (launch, copy, synchronization), the
// step's start, or the end of a fetch, up to a copy of data to the device. If operators without
// device calls fill half of it, it belongs to the batch from the first of them on. After a fetch,
// if a tensor is made in it, all of it does: the batch is made from the loader's data.
// Limits: work on data read from the device isn't a batch (a layer on the CPU). Without a fetch,
// unrecorded Python before the first operator counts as the host's.
#include "base/alloc.h"
#include "base/vec.h"
#include "profile/model/analysis.h"
#include "profile/model/threads/thread_events.h"

#define COPY_BYTES (4 << 10)  // smaller copies are schedules, weights of classes, a flag
#define READ_BYTES (64 << 10) // a larger device-to-host copy is data that the host works on
#define LEAST_NS (50 * STK_US)
#define OPS_PART 0.5
#define WORTH 0.03 // of the steps' time: less changes nothing in the report

struct making {
    struct stk_analysis *a;
    struct stk_vec marks; // struct stk_mark
    uint32_t step;        // first that ends after the examined time
    size_t fetch;         // first fetch that does
    int64_t from_ns;      // the stretch begins
    int64_t first_ns;     // its first operator; INT64_MAX: none
    int64_t ops_ns;       // in its operators, without the open one
    int64_t longest_ns;
    uint32_t longest;             // of its operators
    int64_t open_ns, open_end_ns; // outermost operator
    uint32_t open;
    bool open_calls; // the open operator calls the device
    bool is_made, is_fetched,
        is_read; // a tensor is made in it; it begins after a fetch; after a copy to the host
};

static void begin(struct making *x, int64_t from_ns, bool is_fetched)
{
    x->from_ns = from_ns;
    x->first_ns = INT64_MAX;
    x->ops_ns = x->longest_ns = 0;
    x->is_made = x->is_read = false;
    x->is_fetched = is_fetched;
}

static void close_operator(struct making *x)
{
    int64_t ns = x->open_end_ns - x->open_ns;
    if (x->open != STK_NONE && !x->open_calls && x->open_ns >= x->from_ns) {
        x->ops_ns += ns;
        x->first_ns = x->open_ns < x->first_ns ? x->open_ns : x->first_ns;
        if (ns >= x->longest_ns) {
            x->longest_ns = ns;
            x->longest = x->open;
        }
    }
    x->open = STK_NONE;
}

static bool makes_tensor(struct stk_str name)
{
    return stk_str_eq(name, STK_STR("aten::lift_fresh")) ||
           stk_str_eq(name, STK_STR("aten::stack")) || stk_str_eq(name, STK_STR("aten::cat"));
}

// If a step begins or a fetch ends before t, the stretch begins again.
static void pass(struct making *x, int64_t t_ns)
{
    const struct stk_analysis *a = x->a;
    while (x->step < a->step_count && a->steps[x->step].start_ns <= t_ns) {
        close_operator(x);
        begin(x, a->steps[x->step++].start_ns, false);
    }
    while (x->fetch < a->fetches.count && a->fetches.v[x->fetch].end_ns <= t_ns) {
        int64_t end_ns = a->fetches.v[x->fetch++].end_ns;
        if (end_ns >= x->from_ns) {
            close_operator(x);
            begin(x, end_ns, true);
        }
    }
}

// Bytes of the copy that a call asks for, in that direction; 0: no copy, or unknown.
static int64_t copied(const struct stk_trace *t, uint32_t call, enum stk_dir dir)
{
    uint32_t op = stk_link_of(t, call);
    const struct stk_ext *x = op == STK_NONE ? NULL : stk_ext_of(t, op);
    bool is = x && t->kind[op] == STK_KIND_MEMCPY && x->dir == dir && (x->flags & STK_EXT_VALUE);
    return is ? x->value : 0;
}

static bool is_made_here(const struct making *x, int64_t from_ns, int64_t to_ns)
{
    bool of_ops = (double)x->ops_ns >= OPS_PART * (double)(to_ns - from_ns);
    return !x->is_read && x->first_ns < to_ns && to_ns - from_ns >= LEAST_NS &&
           (of_ops || (x->is_fetched && x->is_made));
}

static bool call_device(struct making *x, uint32_t call)
{
    const struct stk_trace *t = x->a->t;
    int64_t start_ns = t->start_ns[call], end_ns = stk_end_ns(t, call);
    bool in_operator = x->open != STK_NONE && x->open_end_ns > start_ns;
    int64_t to_ns = in_operator ? x->open_ns : start_ns;
    if (!in_operator) {
        close_operator(x);
    }
    int64_t from_ns = x->is_fetched && x->is_made ? x->from_ns : x->first_ns;
    x->open_calls |= in_operator;
    if (copied(t, call, STK_DIR_H2D) >= COPY_BYTES && from_ns < to_ns &&
        is_made_here(x, from_ns, to_ns)) {
        struct stk_mark *m = stk_vec_push(&x->marks);
        if (!m) {
            return false;
        }
        *m = (struct stk_mark){from_ns, to_ns, x->longest};
    }
    begin(x, end_ns, false);
    x->is_read = copied(t, call, STK_DIR_D2H) >= READ_BYTES;
    return true;
}

static bool look_at(struct making *x, uint32_t event)
{
    const uint32_t device = STK_NAME_LAUNCH | STK_NAME_COPY_CALL | STK_NAME_SYNC;
    const struct stk_trace *t = x->a->t;
    pass(x, t->start_ns[event]);
    if (t->kind[event] == STK_KIND_RUNTIME && (stk_class_of(x->a, event) & device)) {
        return call_device(x, event);
    }
    if (t->kind[event] != STK_KIND_HOST_OP || x->a->signs[t->name[event]] != STK_SIGN_ATEN + 1) {
        return true;
    }
    x->is_made |= makes_tensor(stk_name_of(t, event));
    if (x->open != STK_NONE && t->start_ns[event] < x->open_end_ns) {
        return true;
    }
    close_operator(x);
    x->open = event;
    x->open_ns = t->start_ns[event];
    x->open_end_ns = stk_end_ns(t, event);
    x->open_calls = false;
    return true;
}

static int64_t total_ns(const struct stk_mark *v, size_t count)
{
    int64_t ns = 0;
    for (size_t i = 0; i < count; i++) {
        ns = stk_add_ns(ns, v[i].end_ns - v[i].start_ns);
    }
    return ns;
}

// The marks become fetches. If they have most of the fetches' time, the loop makes its own batches.
static bool take(struct stk_analysis *a, const struct stk_vec *marks)
{
    struct stk_facts *f = &a->sum->facts;
    int64_t made_ns = total_ns(marks->items, marks->count), steps_ns = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        steps_ns = stk_add_ns(steps_ns, a->steps[i].end_ns - a->steps[i].start_ns);
    }
    if (marks->count == 0 || (double)made_ns < WORTH * (double)steps_ns) {
        return true;
    }
    struct stk_mark *v =
        stk_realloc_array(a->fetches.v, a->fetches.count + marks->count, sizeof *v);
    if (!v) {
        return false;
    }
    if (made_ns > f->loader_fetch_ns) {
        f->own_batches = a->step_count;
        f->loader_fetches = a->step_count;
    }
    f->loader_fetch_ns = stk_add_ns(f->loader_fetch_ns, made_ns);
    for (size_t i = 0; i < marks->count; i++) {
        v[a->fetches.count + i] = *(const struct stk_mark *)stk_vec_at(marks, i);
    }
    a->fetches = (struct stk_marks){v, a->fetches.count + marks->count};
    stk_marks_flatten(&a->fetches);
    return true;
}

// Is any event named like a PyTorch operator?
static bool has_operators(const struct stk_analysis *a)
{
    return memchr(a->signs, STK_SIGN_ATEN + 1, a->t->strings.count) != NULL;
}

bool stk_copied_batches_find(struct stk_analysis *a)
{
    if (a->driver == STK_NONE || a->step_count == 0 || a->steps_on_device ||
        a->sum->facts.signs[STK_SIGN_ENGINE].count > 0 || !has_operators(a)) {
        return true;
    }
    struct making x = {
        .a = a, .open = STK_NONE, .longest = STK_NONE, .from_ns = INT64_MAX, .first_ns = INT64_MAX};
    struct stk_thread_events events;
    stk_thread_events_init(&events, a);
    stk_vec_init(&x.marks, sizeof(struct stk_mark), UINT32_MAX);
    bool ok = stk_thread_events_begin(&events, a->threads[a->driver].root, NULL);
    for (uint32_t e; ok && (e = stk_thread_events_next(&events)) != STK_NONE;) {
        ok = look_at(&x, e);
    }
    ok = ok && take(a, &x.marks);
    stk_vec_deinit(&x.marks);
    stk_thread_events_deinit(&events);
    return ok;
}
