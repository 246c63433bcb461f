// SPDX-License-Identifier: Apache-2.0
// Steps as the host marks them. First that applies:
//   annotated   step markers (ProfilerStep#N, annotations with a step number), at least one
//   framework   Keras step calls (2 or more); calls of Optimizer.step (3 or more: a step ends where
//               the call ends); fetches from a DataLoader (3 or more, start to start); one jitted
//               JAX function that takes most of all jitted time (3 or more, start to start);
//               without a device also IteratorGetNext, an iterator's __next__, and the
//               tf.function that takes most of all such calls' time (3 or more, start to start)
//   derived     the profiler's own steps of each device (steps_derived.c)
//   otherwise   the device operations decide (period.c)
// A step lasts from its start to the start of the next, the last one to its own end: what happens
// between two markers belongs to a step. Only the thread with the most markers counts, and there
// only the outermost, since markers nest and other threads repeat them.
//
// Limits: with several optimizers per iteration and no loader, each optimizer's call is a step.
#include <string.h>

#include "base/alloc.h"
#include "model/analysis.h"

#define MIN_FRAMEWORK 2
#define MIN_CALLS 3
#define AWAIT_NS STK_MS // a wait that begins this soon after the last step is for that step

// The marks of one class on one thread, outermost only.
struct choice {
    struct stk_vec marks; // struct stk_mark
    uint32_t thread;
};

struct filter {
    uint32_t class; // any of these bits, or 0
    bool marker;    // STK_EXT_STEP or STK_NAME_STEP instead
    bool by_name;   // only events named `name`, whatever the number of the trace
    uint32_t name;
};

// "EagerLocalExecute: __inference_train_step_1234": each trace of a function has a number.
static struct stk_str without_number(struct stk_str name)
{
    while (name.n && name.p[name.n - 1] >= '0' && name.p[name.n - 1] <= '9') {
        name.n--;
    }
    return name;
}

static bool is_named(const struct stk_analysis *a, uint32_t event, uint32_t name)
{
    return a->t->name[event] == name ||
           stk_str_eq(without_number(stk_name_of(a->t, event)),
                      without_number(stk_strpool_get(&a->t->strings, name)));
}

static bool passes(const struct stk_analysis *a, const struct filter *f, uint32_t event)
{
    uint32_t class = stk_class_of(a, event);
    if (f->by_name && !is_named(a, event, f->name)) {
        return false;
    }
    return f->marker ? stk_is_step_mark(a, event) : (class & f->class) != 0;
}

// Outermost events that pass, counted per thread; the thread with the most is chosen (ties: first).
static bool choose(struct stk_analysis *a, const struct filter *f, struct choice *out)
{
    stk_vec_init(&out->marks, sizeof(struct stk_mark), UINT32_MAX);
    out->thread = STK_NONE;
    uint32_t *counts = stk_alloc_zero((size_t)a->t->track_count + 1, sizeof *counts);
    if (!counts) {
        return false;
    }
    for (int pass = 0; pass < 2; pass++) {
        uint32_t track = STK_NONE, best = 0;
        int64_t end_ns = INT64_MIN;
        for (size_t i = 0; i < a->step_events.count; i++) {
            const struct stk_mark *m = &a->step_events.v[i];
            if (!passes(a, f, m->event)) {
                continue;
            }
            uint32_t at = stk_track_of(a->t, m->event);
            end_ns = at == track ? end_ns : INT64_MIN;
            track = at;
            if (m->start_ns < end_ns) {
                continue;
            }
            end_ns = m->end_ns;
            if (pass == 0) {
                counts[at]++;
            } else if (at == out->thread) {
                struct stk_mark *slot = stk_vec_push(&out->marks);
                if (!slot) {
                    stk_free(counts);
                    return false;
                }
                *slot = *m;
            }
        }
        for (uint32_t k = 0; pass == 0 && k < a->t->track_count; k++) {
            if (counts[k] > best) {
                best = counts[k];
                out->thread = k;
            }
        }
    }
    stk_free(counts);
    return true;
}

static int64_t number_of(const struct stk_analysis *a, uint32_t event, int64_t otherwise)
{
    const struct stk_ext *x = stk_ext_of(a->t, event);
    if (x && (x->flags & STK_EXT_STEP) && (x->flags & STK_EXT_VALUE)) {
        return x->value;
    }
    struct stk_str name = stk_name_of(a->t, event);
    size_t digits = name.n;
    while (digits > 0 && name.p[digits - 1] >= '0' && name.p[digits - 1] <= '9') {
        digits--;
    }
    int64_t number;
    struct stk_str tail = {name.p + digits, name.n - digits};
    return digits > 0 && name.p[digits - 1] == '#' && stk_str_to_i64(tail, &number) ? number
                                                                                    : otherwise;
}

static struct stk_host_step *reserve_steps(struct stk_analysis *a, size_t count)
{
    a->steps = stk_arena_array(&a->scratch, count + 1, sizeof *a->steps);
    return a->steps;
}

// Start to start; the last one to its own end, or, where the mark is only the step's beginning, to
// the end of the thread, and then it is not used.
static bool steps_from_starts(struct stk_analysis *a, const struct choice *c, bool mark_is_step,
                              bool numbered)
{
    const struct stk_mark *m = c->marks.items;
    size_t n = c->marks.count;
    struct stk_host_step *s = reserve_steps(a, n);
    if (!s) {
        return false;
    }
    uint32_t root = a->threads[c->thread].root;
    for (size_t i = 0; i < n; i++) {
        bool last = i + 1 == n;
        int64_t thread_end =
            a->threads[root].last_ns < a->to_ns ? a->threads[root].last_ns : a->to_ns;
        int64_t end = !last ? m[i + 1].start_ns : mark_is_step ? m[i].end_ns : thread_end;
        s[i] = (struct stk_host_step){.number = numbered ? number_of(a, m[i].event, (int64_t)i)
                                                         : (int64_t)i,
                                      .start_ns = m[i].start_ns,
                                      .end_ns = end > m[i].end_ns ? end : m[i].end_ns,
                                      .mark = m[i].event};
        if (last && !mark_is_step) {
            s[i].excluded = "its end is not in the profile";
        }
        if (!last && s[i].end_ns > m[i + 1].start_ns) {
            s[i].end_ns = m[i + 1].start_ns;
        }
    }
    a->step_count = (uint32_t)n;
    return true;
}

// A step ends where the call ends; the start of the first one is not in the profile.
static bool steps_from_ends(struct stk_analysis *a, const struct choice *c)
{
    const struct stk_mark *m = c->marks.items;
    struct stk_host_step *s = reserve_steps(a, c->marks.count);
    if (!s) {
        return false;
    }
    int64_t start = a->threads[a->threads[c->thread].root].first_ns;
    start = start > a->from_ns ? start : a->from_ns;
    for (size_t i = 0; i < c->marks.count; i++) {
        s[i] = (struct stk_host_step){.number = (int64_t)i,
                                      .start_ns = start < m[i].end_ns ? start : m[i].end_ns,
                                      .end_ns = m[i].end_ns,
                                      .mark = m[i].event};
        start = m[i].end_ns;
    }
    s[0].excluded = "its start is not in the profile";
    a->step_count = (uint32_t)c->marks.count;
    return true;
}

static void accept(struct stk_analysis *a, const struct choice *c, enum stk_step_source source)
{
    a->driver = a->threads[c->thread].root;
    a->threads[a->driver].is_driver = true;
    a->sum->source = source;
    a->sum->confidence = source == STK_STEPS_ANNOTATED ? 1.0 : 0.9;
}

enum outcome { FOUND, NOT_FOUND, NO_MEMORY };

// The function of a class (jitted, traced) with the largest total over all its traces, if that is
// most of all time of the class. *name is a name of it.
static enum outcome main_function(const struct stk_analysis *a, uint32_t class, uint32_t *name)
{
    int64_t *totals = stk_alloc_zero((size_t)a->t->strings.count + 1, sizeof *totals);
    int64_t all_ns = 0;
    struct stk_map first; // of a function's traces, by the name without its number
    stk_map_init(&first, UINT32_MAX - 1);
    bool ok = totals != NULL;
    *name = STK_NONE;
    for (size_t i = 0; i < a->step_events.count && ok; i++) {
        const struct stk_mark *m = &a->step_events.v[i];
        if (!(stk_class_of(a, m->event) & class)) {
            continue;
        }
        struct stk_str stem = without_number(stk_name_of(a->t, m->event));
        int created;
        uint32_t *id = stk_map_put(&first, stk_hash_bytes(stem.p, stem.n), class,
                                   a->t->name[m->event], &created);
        ok = id != NULL;
        if (!ok) {
            break;
        }
        all_ns = stk_add_ns(all_ns, m->end_ns - m->start_ns);
        totals[*id] = stk_add_ns(totals[*id], m->end_ns - m->start_ns);
        if (*name == STK_NONE || totals[*id] > totals[*name]) {
            *name = *id;
        }
    }
    bool found = ok && *name != STK_NONE && totals[*name] >= all_ns / 2;
    stk_map_deinit(&first);
    stk_free(totals);
    return !ok ? NO_MEMORY : found ? FOUND : NOT_FOUND;
}

// Steps from the starts of events that pass the filter, if there are enough.
static enum outcome try_starts(struct stk_analysis *a, const struct filter *f, size_t least,
                               bool mark_is_step, enum stk_step_source source)
{
    struct choice c;
    enum outcome result = choose(a, f, &c) ? NOT_FOUND : NO_MEMORY;
    if (result == NOT_FOUND && c.marks.count >= least) {
        accept(a, &c, source);
        result = steps_from_starts(a, &c, mark_is_step, source == STK_STEPS_ANNOTATED) ? FOUND
                                                                                       : NO_MEMORY;
    }
    stk_vec_deinit(&c.marks);
    return result;
}

// Ends of Optimizer.step, unless a loader's fetches are clearly fewer (several optimizers a step).
static enum outcome try_optimizer(struct stk_analysis *a)
{
    struct choice opt, loader;
    struct filter by_opt = {.class = STK_NAME_OPTIMIZER},
                  by_loader = {.class = STK_NAME_LOADER_NEXT};
    enum outcome result = NOT_FOUND;
    bool ok = choose(a, &by_opt, &opt);
    if (!choose(a, &by_loader, &loader) || !ok) {
        result = NO_MEMORY;
    } else if (opt.marks.count >= MIN_CALLS &&
               (loader.marks.count < MIN_CALLS || opt.marks.count * 2 <= loader.marks.count * 3)) {
        accept(a, &opt, STK_STEPS_FRAMEWORK);
        result = steps_from_ends(a, &opt) ? FOUND : NO_MEMORY;
    } else if (loader.marks.count >= MIN_CALLS) {
        accept(a, &loader, STK_STEPS_FRAMEWORK);
        result = steps_from_starts(a, &loader, false, false) ? FOUND : NO_MEMORY;
    }
    stk_vec_deinit(&opt.marks);
    stk_vec_deinit(&loader.marks);
    return result;
}

static enum outcome try_function(struct stk_analysis *a, struct filter *f)
{
    enum outcome result = main_function(a, f->class, &f->name);
    return result == FOUND ? try_starts(a, f, MIN_CALLS, true, STK_STEPS_FRAMEWORK) : result;
}

static enum outcome try_all(struct stk_analysis *a)
{
    bool has_device = false, is_linked = false;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        has_device |= a->sum->devices[d].analysed;
        is_linked |= a->sum->devices[d].analysed && a->lines[d].linked > 0;
    }
    struct filter f = {.marker = true};
    enum outcome result = try_starts(a, &f, 1, true, STK_STEPS_ANNOTATED);
    f = (struct filter){.class = STK_NAME_FW_STEP};
    if (result == NOT_FOUND) {
        result = try_starts(a, &f, MIN_FRAMEWORK, true, STK_STEPS_FRAMEWORK);
    }
    if (result == NOT_FOUND) {
        result = try_optimizer(a);
    }
    f = (struct filter){.class = STK_NAME_PJIT, .by_name = true};
    // Calls run ahead of the device: without launch links they say nothing about its time.
    if (result == NOT_FOUND && (is_linked || !has_device)) {
        result = try_function(a, &f);
    }
    if (has_device) {
        return result;
    }
    static const uint32_t fetches[] = {STK_NAME_GET_NEXT, STK_NAME_ITER_NEXT};
    for (int i = 0; i < 2 && result == NOT_FOUND; i++) {
        f = (struct filter){.class = fetches[i]};
        result = try_starts(a, &f, MIN_CALLS, false, STK_STEPS_FRAMEWORK);
    }
    f = (struct filter){.class = STK_NAME_FUNCTION, .by_name = true};
    return result == NOT_FOUND ? try_function(a, &f) : result;
}

// Keep the marks of threads that train; `anywhere` are classes that count on any thread.
static void keep_training(const struct stk_analysis *a, struct stk_marks *m, uint32_t anywhere)
{
    bool any_known = a->driver != STK_NONE;
    for (uint32_t k = 0; k < a->t->track_count; k++) {
        any_known |= a->threads[k].in_rank && a->threads[k].launches;
    }
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct stk_thread_info *th = &a->threads[stk_thread_of(a, m->v[i].event)];
        bool trains = th->launches || th->is_driver || !any_known;
        if (trains || (stk_class_of(a, m->v[i].event) & anywhere)) {
            m->v[n++] = m->v[i];
        }
    }
    m->count = n;
    stk_marks_flatten(m);
}

// A fetch holds up the training only in the thread that trains: a loader's own threads fetch too.
// TensorFlow's IteratorGetNext is the exception, it runs on any thread. Where nothing better is
// recorded, Python's next() is taken for a fetch. Called when the driver is known.
static void select_fetches(struct stk_analysis *a)
{
    keep_training(a, &a->fetches, STK_NAME_GET_NEXT);
    if (a->fetches.count == 0) {
        keep_training(a, &a->nexts, 0);
        struct stk_marks swap = a->fetches;
        a->fetches = a->nexts;
        a->nexts = swap;
    }
    for (size_t i = 0; i < a->fetches.count; i++) {
        uint32_t class = stk_class_of(a, a->fetches.v[i].event);
        if (class & (STK_NAME_FETCH | STK_NAME_PY_NEXT)) {
            a->sum->facts.loader_fetches++;
            a->sum->facts.loader_fetch_ns += a->fetches.v[i].end_ns - a->fetches.v[i].start_ns;
        }
    }
}

// Without a device the last step's own work ends where the driver has awaited it: JAX hands work
// over and runs ahead, and a loop that never reads a result does all its waiting after the last
// step.
static void await_last_step(struct stk_analysis *a)
{
    if (a->step_count == 0 || a->driver == STK_NONE) {
        return;
    }
    const struct stk_trace *t = a->t;
    struct stk_host_step *last = &a->steps[a->step_count - 1];
    for (uint32_t row = a->driver; row != STK_NONE; row = a->threads[row].next_row) {
        const struct stk_track *k = &t->tracks[row];
        for (uint32_t e = k->first; e < k->first + k->count; e++) {
            if ((stk_class_of(a, e) & STK_NAME_SYNC) && t->start_ns[e] >= last->start_ns &&
                t->start_ns[e] <= last->end_ns + AWAIT_NS && stk_end_ns(t, e) > last->end_ns) {
                last->end_ns = stk_end_ns(t, e);
            }
        }
    }
    last->end_ns = last->end_ns < a->to_ns ? last->end_ns : a->to_ns;
}

enum stoker_status stk_steps_find(struct stk_analysis *a, struct stoker_err *err)
{
    a->driver = STK_NONE;
    a->sum->source = STK_STEPS_NONE;
    enum outcome result = a->step_events.count ? try_all(a) : NOT_FOUND;
    if (result == NO_MEMORY) {
        return stk_err_nomem(err);
    }
    select_fetches(a);
    if (!stk_preparation_check(a) || !stk_block_ends_find(a)) {
        return stk_err_nomem(err);
    }
    bool has_kernels = false;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        has_kernels |= a->sum->devices[d].kernels > 0;
    }
    if (!has_kernels) {
        await_last_step(a);
    }
    if (result == FOUND) {
        return STOKER_OK;
    }
    enum stoker_status status = stk_steps_from_derived(a, err);
    return status != STOKER_OK || a->step_count ? status : stk_steps_infer(a, err);
}
