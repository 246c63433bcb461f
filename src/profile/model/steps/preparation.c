// SPDX-License-Identifier: Apache-2.0
// Functions whose name says that they prepare data: which of them feed the step.
//
// Never an input wait, under any name:
//   - the function, or one that calls it, is named after something else (log_samples, save_batch);
//   - it runs after the step's last model operation, in a job whose steps begin with a fetch, or
//     with a function that prepares, before their first one: what feeds the step comes before it.
//
// An input wait even if no fetch is recorded: the user's functions that run before the step's first
// model operation in half of all steps, if their names mention data (feeds.def), or mention nothing
// but their calls make arrays from bytes or files. Without a device, if that is little of the
// steps' time, the first of these that takes a good part of it also prepares data:
//   - such functions whose names say nothing at all, where next to none of it is the framework's,
//   and
//     some of it is NumPy's or shows data otherwise: what computes numbers in plain Python is a
//     schedule, or a metric;
//   - what the loop does itself before it hands data over to the framework (own_batch.h);
//   - such functions after the step's work that make arrays of bytes or hand data over, and read
//     nothing back: the batch of the next step.
// A call that hands data over is no work of the step, nor are the operations inside of it.
// They may make tensors: operations inside of them are no work of the step while they are few of
// it. Where fetches are recorded, the same holds if all of them lie inside such functions and are
// the smaller part of these: what reads a file asks for its next line.
//
// If such a function is a coroutine, the whole run of its event loop is the wait: the loop waits
// for what the coroutine requested.
//
// Method: passes over the marks, which are disjoint and in order, and over the parts of the driving
// row that may prepare a step's data; the work of the steps is found before (step_work.h).
// Limits: preparation at the end of a step for the next one doesn't count in a job that also
// prepares at the beginning.
#include "base/alloc.h"
#include "profile/model/analysis.h"
#include "profile/model/steps/evaluated.h"
#include "profile/model/steps/inside.h"
#include "profile/model/steps/own_batch.h"
#include "profile/model/steps/step_work.h"
#include "profile/model/threads/frame_sense.h"
#include "profile/model/threads/thread_walk.h"

#define WORK_LITTLE 0.2 // of a function's time, at most, in the framework
#define GOOD_PART 0.15  // of the steps' time: an input wait on a host is reported from here on

static bool is_prep(const struct stk_analysis *a, const struct stk_mark *m)
{
    return (stk_class_of(a, m->event) & (STK_NAME_PREP | STK_NAME_FETCH)) == STK_NAME_PREP;
}

// Do half of the steps begin with a mark before their work?
static bool steps_lead(const struct stk_analysis *a, const struct stk_step_work *work)
{
    uint32_t step = 0, last = STK_NONE, lead = 0;
    for (size_t i = 0; i < a->fetches.count; i++) {
        uint32_t at = stk_step_at(a, a->fetches.v[i].start_ns, &step);
        if (at != STK_NONE && at != last && a->fetches.v[i].start_ns < work[at].first_ns) {
            lead++;
            last = at;
        }
    }
    return 2 * lead >= a->step_count;
}

// Is an open function named after something else? The step's loop may have any name: only frames
// without the step's work count.
static bool is_called_otherwise(struct stk_thread_cursor *c, int64_t start_ns, int64_t work_ns)
{
    stk_cursor_advance(c, start_ns);
    for (uint32_t i = 0; i < c->depth; i++) {
        const struct stk_open_event *frame = &c->stack[i];
        bool holds_work = c->a->t->start_ns[frame->event] <= work_ns && work_ns < frame->end_ns;
        struct stk_str name = stk_name_of(c->a->t, frame->event);
        if (!holds_work && stk_feed_of(stk_python_frame_parse(name).function) == STK_FEED_OTHER) {
            return true;
        }
    }
    return false;
}

static void drop(struct stk_analysis *a, const struct stk_step_work *work,
                 struct stk_thread_cursor *c, uint32_t row)
{
    bool lead = steps_lead(a, work);
    struct stk_marks *m = &a->fetches;
    uint32_t step = 0;
    size_t kept = 0;
    stk_cursor_init(c, a, row);
    for (size_t i = 0; i < m->count; i++) {
        struct stk_mark x = m->v[i];
        uint32_t at = stk_step_at(a, x.start_ns, &step);
        bool own = at != STK_NONE && work[at].last_ns > INT64_MIN && is_prep(a, &x) &&
                   stk_track_of(a->t, x.event) == row;
        bool trails = own && lead && x.start_ns > work[at].last_ns;
        if (!trails && !(own && is_called_otherwise(c, x.start_ns, work[at].first_ns))) {
            m->v[kept++] = x;
        }
    }
    m->count = kept;
}

// Marks inside an event loop of a row become that loop, once, unless the loop's caller is named
// after something else: a function that saves, and calls next() on its own lists, fetches nothing.
static void widen_to_loops(const struct stk_analysis *a, const struct stk_step_work *work,
                           struct stk_thread_cursor *c, uint32_t row, struct stk_marks *m)
{
    size_t kept = 0;
    uint32_t step = 0;
    stk_cursor_init(c, a, row);
    for (size_t i = 0; i < m->count; i++) {
        struct stk_mark x = m->v[i];
        uint32_t at = stk_step_at(a, x.start_ns, &step);
        bool own =
            stk_track_of(a->t, x.event) == row &&
            !is_called_otherwise(c, x.start_ns, at == STK_NONE ? INT64_MIN : work[at].first_ns);
        for (uint32_t k = 0; own && k < c->depth; k++) {
            const struct stk_open_event *frame = &c->stack[k];
            if (stk_python_frame_is_event_loop(stk_name_of(a->t, frame->event))) {
                x = (struct stk_mark){a->t->start_ns[frame->event], frame->end_ns, frame->event};
                break;
            }
        }
        if (kept == 0 || m->v[kept - 1].event != x.event || m->v[kept - 1].end_ns <= x.start_ns) {
            m->v[kept++] = x;
        }
    }
    m->count = kept;
    stk_marks_flatten(m);
}

// Ways to find preparation if no fetch is recorded, in this order.
enum way { NAMED, SILENT, OWN, AFTER, WAYS };

struct lead {
    struct stk_analysis *a;
    const struct stk_step_work *work;
    struct stk_hands *hands;
    struct stk_thread_cursor *cursor; // scratch
    struct stk_frame_senses senses;
    struct stk_inside inside; // of the driving thread's first row
    struct stk_vec marks;     // struct stk_mark
    uint32_t steps;           // that have one
    int64_t handing_ns;       // of OWN: in calls that hand data over
    enum way way;
};

// Library functions don't prepare the job's data.
static enum stk_feed says_of(struct lead *x, uint32_t event)
{
    const struct stk_frame_sense *s = stk_frame_sense_of(&x->senses, event);
    bool is_user = s->owner == STK_PYTHON_USER || s->owner == STK_PYTHON_UNKNOWN;
    return is_user ? (enum stk_feed)s->feed : STK_FEED_OTHER;
}

static bool speaks_of_data(struct lead *x, uint32_t event)
{
    enum stk_feed says = says_of(x, event);
    struct stk_inside_sum sum = stk_inside_of(&x->inside, event);
    if (x->way == AFTER) {
        return says != STK_FEED_OTHER && sum.brings > 0 && sum.takes == 0;
    }
    if (says != STK_FEED_UNKNOWN) {
        return says == STK_FEED_DATA;
    }
    struct stk_str name = stk_name_of(x->a->t, event);
    double share = WORK_LITTLE * (double)stk_dur_ns(x->a->t, event);
    return sum.brings > 0 ||
           (x->way == SILENT && !stk_feed_rules(stk_python_frame_parse(name).function) &&
            (double)sum.work_ns <= share &&
            (double)sum.data_ns >= STK_DATA_LEAST * (double)stk_dur_ns(x->a->t, event));
}

// Do a function's calls contain little of the step's work, with more to come afterwards?
static bool holds_little(const struct lead *x, uint32_t function, const struct stk_step_work *work)
{
    uint64_t held = stk_inside_of(&x->inside, function).works;
    return work->last_ns >= stk_end_ns(x->a->t, function) &&
           held * STK_BATCH_OPS_FEW <= work->count;
}

// Can a function that begins then be one of a step's leading ones? If not, *until_ns: none before
// that time can. If the work itself begins the step, they are after the previous step's work.
static bool may_lead(const struct lead *x, int64_t start_ns, uint32_t *step, int64_t *until_ns)
{
    uint32_t at = stk_step_at(x->a, start_ns, step);
    if (at == STK_NONE) {
        *until_ns = *step < x->a->step_count ? x->a->steps[*step].start_ns : INT64_MAX;
        return false;
    }
    const struct stk_host_step *s = &x->a->steps[at];
    const struct stk_step_work *work = &x->work[at];
    if (work->last_ns == INT64_MIN) {
        *until_ns = s->end_ns;
        return false;
    }
    bool begins_with_work = x->way == AFTER || work->first_ns <= s->start_ns;
    *until_ns = begins_with_work ? work->last_ns + 1 : s->end_ns;
    return begins_with_work ? start_ns > work->last_ns : start_ns <= work->first_ns;
}

static bool leads(struct lead *x, uint32_t event, uint32_t at)
{
    const struct stk_host_step *s = &x->a->steps[at];
    int64_t end_ns = stk_end_ns(x->a->t, event);
    if (x->way == AFTER || x->work[at].first_ns <= s->start_ns) {
        return end_ns <= s->end_ns && speaks_of_data(x, event);
    }
    return (end_ns <= x->work[at].first_ns || holds_little(x, event, &x->work[at])) &&
           speaks_of_data(x, event);
}

// Outermost functions of one row between a step's beginning and its first work.
static bool find_leading(struct lead *x, uint32_t row)
{
    const struct stk_trace *t = x->a->t;
    uint32_t step = 0, last = STK_NONE, e = t->tracks[row].first, end = e + t->tracks[row].count;
    while (e < end) {
        int64_t until_ns = INT64_MIN;
        if (!may_lead(x, t->start_ns[e], &step, &until_ns)) {
            e = stk_row_seek(t, e, end, until_ns);
            continue;
        }
        if (t->kind[e] != STK_KIND_PYTHON || !leads(x, e, step)) {
            e++;
            continue;
        }
        struct stk_mark *m = stk_vec_push(&x->marks);
        if (!m) {
            return false;
        }
        *m = (struct stk_mark){t->start_ns[e], stk_end_ns(t, e), e};
        x->steps += step != last;
        last = step;
        e = stk_row_seek(t, e + 1, end, m->end_ns);
    }
    return true;
}

static int64_t total_ns(const struct stk_vec *functions)
{
    int64_t ns = 0;
    for (size_t i = 0; i < functions->count; i++) {
        const struct stk_mark *m = stk_vec_at(functions, i);
        ns = stk_add_ns(ns, m->end_ns - m->start_ns);
    }
    return ns;
}

// Do the functions contain all fetches, which take at most half of their time?
static bool holds_fetches(const struct stk_analysis *a, const struct stk_vec *functions)
{
    int64_t inner_ns = 0;
    size_t at = 0;
    for (size_t i = 0; i < functions->count; i++) {
        const struct stk_mark *m = stk_vec_at(functions, i);
        for (; at < a->fetches.count && a->fetches.v[at].start_ns >= m->start_ns &&
               a->fetches.v[at].end_ns <= m->end_ns;
             at++) {
            inner_ns = stk_add_ns(inner_ns, a->fetches.v[at].end_ns - a->fetches.v[at].start_ns);
        }
    }
    return at == a->fetches.count && inner_ns <= total_ns(functions) / 2;
}

// Do the functions occur in half of the steps, and contain all fetches?
static bool feeds_steps(const struct lead *x)
{
    return x->steps > 0 && 2 * x->steps >= x->a->step_count && holds_fetches(x->a, &x->marks);
}

static bool is_good_part(const struct lead *x)
{
    const struct stk_analysis *a = x->a;
    int64_t steps_ns = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        steps_ns = stk_add_ns(steps_ns, a->steps[i].end_ns - a->steps[i].start_ns);
    }
    return (double)total_ns(&x->marks) >= GOOD_PART * (double)steps_ns;
}

static bool has_kernels(const struct stk_analysis *a)
{
    bool has = false;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        has |= a->sum->devices[d].kernels > 0;
    }
    return has;
}

static bool find_own(struct lead *x)
{
    const struct stk_analysis *a = x->a;
    struct stk_own_step *of_step = stk_alloc_array((size_t)a->step_count + 1, sizeof *of_step);
    for (uint32_t k = 0; of_step && k < a->step_count; k++) {
        of_step[k] = (struct stk_own_step){a->steps[k].start_ns, x->work[k].first_ns};
    }
    struct stk_own_batches own = {.marks = &x->marks, .inside = &x->inside};
    bool ok = of_step && stk_own_batches_find(a, a->driver, x->hands, of_step, x->cursor, &own);
    bool has_data = (double)own.data_ns >= STK_DATA_LEAST * (double)total_ns(&x->marks);
    x->steps = has_data ? own.steps : 0;
    x->handing_ns = own.handing_ns;
    stk_free(of_step);
    return ok;
}

static bool find_by(struct lead *x, enum way way)
{
    x->way = way;
    x->steps = 0;
    x->marks.count = 0;
    return way == OWN ? find_own(x) : find_leading(x, x->a->driver);
}

// The first way that finds a good part of the steps' time; else names decide. False: no memory.
static bool find_any(struct lead *x, bool *found)
{
    enum way ways = has_kernels(x->a) ? SILENT : WAYS;
    for (enum way way = NAMED; way < ways; way++) {
        if (!find_by(x, way)) {
            return false;
        }
        *found = feeds_steps(x);
        if (*found && is_good_part(x)) {
            return true;
        }
    }
    bool ok = ways == SILENT || find_by(x, NAMED);
    *found = ok && feeds_steps(x);
    return ok;
}

static void take_leading(struct lead *x)
{
    struct stk_analysis *a = x->a;
    a->sum->facts.loader_fetch_ns = 0;
    stk_free(a->fetches.v);
    a->fetches = (struct stk_marks){x->marks.items, x->marks.count};
    widen_to_loops(a, x->work, x->cursor, a->driver, &a->fetches);
    a->sum->facts.loader_fetches = x->steps; // a step's helpers make one batch
    a->sum->facts.own_batches = x->way == OWN ? x->steps : 0;
    a->sum->facts.own_handing_ns = x->way == OWN ? x->handing_ns : 0;
    for (size_t i = 0; i < a->fetches.count; i++) {
        const struct stk_mark *m = &a->fetches.v[i];
        a->sum->facts.loader_fetch_ns += m->end_ns - m->start_ns;
    }
}

// Adds such functions if no fetch is recorded outside of them. False: no memory.
static bool add_leading(struct stk_analysis *a, const struct stk_step_work *work,
                        struct stk_notable *notable, struct stk_thread_cursor *c)
{
    struct stk_hands hands;
    struct lead x = {.a = a, .work = work, .hands = &hands, .cursor = c};
    const struct stk_vec *notes = a->driver == STK_NONE ? NULL : stk_notable_of(notable, a->driver);
    if (!notes) {
        return a->driver == STK_NONE;
    }
    stk_vec_init(&x.marks, sizeof(struct stk_mark), UINT32_MAX);
    bool found = false;
    bool ok = stk_hands_open(&hands, a->t) && stk_frame_senses_open(&x.senses, a->t) &&
              stk_inside_open(&x.inside, a, a->driver, notes) && find_any(&x, &found);
    if (ok && found) {
        take_leading(&x);
    } else {
        stk_vec_deinit(&x.marks);
    }
    stk_inside_close(&x.inside);
    stk_frame_senses_close(&x.senses);
    stk_hands_close(&hands);
    return ok;
}

static bool has_python(const struct stk_analysis *a)
{
    return a->sum->facts.python_events > 0 && a->step_count > 0;
}

// Drops and widens the recorded marks on the threads that do the step's work.
static void check_marks(struct stk_analysis *a, const struct stk_step_work *work,
                        struct stk_thread_cursor *c, bool drops, bool widens)
{
    for (uint32_t k = 0; k < a->t->track_count; k++) {
        const struct stk_thread_info *th = &a->threads[a->threads[k].root];
        if (!a->threads[k].in_rank || !(th->launches || th->is_driver)) {
            continue;
        }
        if (drops) {
            drop(a, work, c, k);
        }
        if (widens) {
            widen_to_loops(a, work, c, k, &a->fetches);
        }
    }
}

bool stk_preparation_check(struct stk_analysis *a)
{
    bool any = false, functions = false;
    for (size_t i = 0; i < a->fetches.count; i++) {
        any |= is_prep(a, &a->fetches.v[i]);
        functions |= a->t->kind[a->fetches.v[i].event] == STK_KIND_PYTHON;
    }
    if (!any && !functions && !has_python(a)) {
        return true;
    }
    struct stk_step_work *work = stk_alloc_array((size_t)a->step_count + 1, sizeof *work);
    struct stk_thread_cursor *c = stk_cursor_new(STK_WALK_DEPTH);
    struct stk_notable notable;
    bool ok = stk_notable_open(&notable, a) && work && c;
    ok = ok && stk_step_work_find(a, &notable, work);
    if (ok) {
        check_marks(a, work, c, any, functions);
    }
    ok = ok && (!has_python(a) || (stk_step_work_begin_with_main(a, &notable, work) &&
                                   add_leading(a, work, &notable, c)));
    stk_notable_close(&notable);
    stk_free(work);
    stk_free(c);
    return ok;
}
