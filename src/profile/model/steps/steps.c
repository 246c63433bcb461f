// SPDX-License-Identifier: Apache-2.0
// Steps by the host's marks. The first of these that applies:
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
#include "profile/model/analysis.h"
#include "profile/model/steps/evaluated.h"
#include "profile/model/steps/main_calls.h"

#define MIN_FRAMEWORK 2
#define MIN_CALLS 3
#define STEP_SHARE 0.5  // of the time of jitted or traced calls must be in the steps' calls
#define AWAIT_NS STK_MS // a wait that begins this soon after the last step is for that step

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

// Start to start. The last step lasts to its own end. If the mark is only a step's beginning, it
// lasts to the end of the thread, and isn't used.
static bool steps_from_starts(struct stk_analysis *a, const struct stk_calls *c, bool mark_is_step,
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

// A step ends where the call ends. The first one's start isn't in the profile.
static bool steps_from_ends(struct stk_analysis *a, const struct stk_calls *c)
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

static void accept(struct stk_analysis *a, const struct stk_calls *c, enum stk_step_source source)
{
    a->driver = a->threads[c->thread].root;
    a->threads[a->driver].is_driver = true;
    a->sum->source = source;
    a->sum->confidence = source == STK_STEPS_ANNOTATED ? 1.0 : 0.9;
}

// A job that ended within its window of `stoker run`: the last mark holds what followed the loop,
// an evaluation, a checkpoint, the end of the loader's workers.
static void drop_behind(const struct stk_analysis *a, const struct stk_calls_filter *f,
                        struct stk_calls *c)
{
    int64_t whole = a->t->told.numbers[STK_TOLD_WHOLE_STEPS];
    if (f->marker && whole > 0 && (uint64_t)whole < c->marks.count) {
        c->marks.count = (size_t)whole;
    }
}

enum outcome { FOUND, NOT_FOUND, NO_MEMORY };

// Steps from the starts of events that pass the filter, if there are enough.
static enum outcome try_starts(struct stk_analysis *a, const struct stk_calls_filter *f,
                               size_t least, bool mark_is_step, enum stk_step_source source)
{
    struct stk_calls c;
    enum outcome result = stk_calls_choose(a, f, &c) ? NOT_FOUND : NO_MEMORY;
    drop_behind(a, f, &c);
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
    struct stk_calls opt, loader;
    struct stk_calls_filter by_opt = {.class = STK_NAME_OPTIMIZER},
                            by_loader = {.class = STK_NAME_LOADER_NEXT};
    enum outcome result = NOT_FOUND;
    bool ok = stk_calls_choose(a, &by_opt, &opt);
    if (!stk_calls_choose(a, &by_loader, &loader) || !ok) {
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

static enum outcome try_function(struct stk_analysis *a, struct stk_calls_filter *f)
{
    enum outcome result = stk_calls_main_function(a, f->class, STEP_SHARE, &f->name)
                              ? f->name != STK_NONE ? FOUND : NOT_FOUND
                              : NO_MEMORY;
    return result == FOUND ? try_starts(a, f, MIN_CALLS, true, STK_STEPS_FRAMEWORK) : result;
}

static enum outcome try_all(struct stk_analysis *a)
{
    bool has_device = false, is_linked = false;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        has_device |= a->sum->devices[d].analysed;
        is_linked |= a->sum->devices[d].analysed && a->lines[d].linked > 0;
    }
    struct stk_calls_filter f = {.marker = true};
    enum outcome result = try_starts(a, &f, 1, true, STK_STEPS_ANNOTATED);
    f = (struct stk_calls_filter){.class = STK_NAME_FW_STEP};
    if (result == NOT_FOUND) {
        result = try_starts(a, &f, MIN_FRAMEWORK, true, STK_STEPS_FRAMEWORK);
    }
    if (result == NOT_FOUND) {
        result = try_optimizer(a);
    }
    f = (struct stk_calls_filter){.class = STK_NAME_PJIT, .by_name = true};
    // Calls run ahead of the device: without launch links they don't show its time.
    if (result == NOT_FOUND && (is_linked || !has_device)) {
        result = try_function(a, &f);
    }
    if (has_device) {
        return result;
    }
    static const uint32_t fetches[] = {STK_NAME_GET_NEXT, STK_NAME_ITER_NEXT};
    for (int i = 0; i < 2 && result == NOT_FOUND; i++) {
        f = (struct stk_calls_filter){.class = fetches[i]};
        result = try_starts(a, &f, MIN_CALLS, false, STK_STEPS_FRAMEWORK);
    }
    f = (struct stk_calls_filter){.class = STK_NAME_FUNCTION, .by_name = true};
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
// TensorFlow's IteratorGetNext is the exception, it runs on any thread. If nothing better is
// recorded, Python's next() counts as a fetch. An evaluation's fetches aren't the step's. Called
// once the driver is known. False: no memory.
static bool select_fetches(struct stk_analysis *a, bool has_kernels)
{
    keep_training(a, &a->fetches, STK_NAME_GET_NEXT);
    if (a->fetches.count == 0) {
        keep_training(a, &a->nexts, 0);
        struct stk_marks swap = a->fetches;
        a->fetches = a->nexts;
        a->nexts = swap;
    }
    if (!stk_evaluated_drop(a)) {
        return false;
    }
    if (!has_kernels) {
        stk_eager_nexts_widen(a);
    }
    for (size_t i = 0; i < a->fetches.count; i++) {
        uint32_t class = stk_class_of(a, a->fetches.v[i].event);
        if (class & (STK_NAME_FETCH | STK_NAME_PY_NEXT)) {
            a->sum->facts.loader_fetches++;
            a->sum->facts.batch_fetches += (class & STK_NAME_FETCH) != 0;
            a->sum->facts.loader_fetch_ns += a->fetches.v[i].end_ns - a->fetches.v[i].start_ns;
        }
    }
    return true;
}

// Without a device, the last step's work ends when the driver has waited for it: JAX launches work
// and runs ahead, and a loop that never reads a result waits only after the last step.
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
    bool has_kernels = false;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        has_kernels |= a->sum->devices[d].kernels > 0;
    }
    if (!select_fetches(a, has_kernels) || !stk_preparation_check(a) || !stk_block_ends_find(a) ||
        !stk_copied_batches_find(a) || !stk_fetch_calls_count(a) || !stk_eager_rounds_count(a) ||
        !stk_eager_work_find(a)) {
        return stk_err_nomem(err);
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
