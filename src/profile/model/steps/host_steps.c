// SPDX-License-Identifier: Apache-2.0
// Parts of steps in a profile without a device: training on a CPU, or device rows that are missing.
// Per moment, first match:
//   compile                compilation wherever it runs, inside a model operation too
//   compute                a model operation runs, on the thread that drives the steps or on one
//                          that works for it; not on threads of the input pipeline, nor nested in
//                          it, nor for a fetch (fetch_work.h)
//   communication_exposed  a host collective
//   input_wait             the training thread fetches its next batch; or a step that TensorFlow
//                          runs is idle while threads of tf.data's work, or its call from
//                          Python waits for the lock of the Python that makes elements
//   host_sync, host_wait   as on a device; waiting for the model where there is no accelerator's
//                          runtime is compute
//   host_compute           any other event of the driving thread (Python, callbacks), and pieces
//                          under 200 us between its events
//   idle_unknown           no event
//
// Method: each class is a list of disjoint marks. The lists are swept together, and time without a
// mark is looked up on the driving thread. A step that TensorFlow runs is idle if its call is open
// and none of its threads is in an event for 200 us or more: the next operation or the call's
// return is due, but no CPU core is free. If the call fetches its batch itself (Keras), tf.data's
// threads took the core, so that time is input wait. In a loop that fetches before the call, the
// wait is in the fetch. With collectives, which run outside of their operations' events, this isn't
// known. Limits: a step marker isn't an event, it only shows that the step is running. Work of the
// input pipeline that TensorFlow runs on the model's thread pool counts as the model's.
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/analysis.h"
#include "profile/model/idle/causes.h"
#include "profile/model/input/input_work.h"
#include "profile/model/steps/fetch_work.h"
#include "profile/model/threads/thread_segments.h"

#define SHORT_PIECE_NS (200 * STK_US)
#define LOCK_PIECE_NS (50 * STK_US) // a TensorFlow call ends in 3 to 15 us on average
#define AWAITS (STK_NAME_XLA_RUN | STK_NAME_WAIT_HOST)
#define INPUT_CLASSES (STK_NAME_FETCH | STK_NAME_PREP | STK_NAME_ITERATOR)

// AWAITED: compiled code waits for its other threads, which run the model or Python that it calls.
enum { COMPILE, COMPUTE, COLLECTIVE, FETCH, ASIDE, AWAITED, LISTS };
static const enum stk_part list_part[LISTS] = {STK_PART_COMPILE,       STK_PART_COMPUTE,
                                               STK_PART_COMMUNICATION, STK_PART_INPUT,
                                               STK_PART_HOST,          STK_PART_COMPUTE};

struct host {
    struct stk_analysis *a;
    struct stk_thread_segments segments;
    struct stk_fetch_work fetching;
    struct stk_marks list[LISTS];
    size_t at[LISTS];
    struct stk_vec compute, aside, awaited; // struct stk_mark
    struct stk_spans communication;
    struct stk_input_work input_work; // of tf.data's threads, if a step may wait for it
    int64_t covered_ns, total_ns;     // of used windows
    bool used;
    bool sees_operations; // operations are TensorFlow's only, all on this thread
    bool fetches_inside;  // a TensorFlow call that fetches its batch itself was seen
    bool failed;
};

static uint64_t seen(const struct host *h, enum stk_sign sign)
{
    return h->a->sum->facts.signs[sign].count;
}

static bool is_aside(int sign)
{
    return sign == STK_SIGN_CALLBACK || sign == STK_SIGN_PY_FUNC || sign == STK_SIGN_CHECKPOINT ||
           sign == STK_SIGN_WRITING;
}

// The open operation that isn't the model's work, even if the model runs inside it: Python called
// by compiled code, a checkpoint or a file that TensorFlow writes. STK_NONE: none.
static uint32_t open_aside(const struct host *h, const struct stk_thread_cursor *c)
{
    const struct stk_trace *t = h->a->t;
    bool any = seen(h, STK_SIGN_CALLBACK) || seen(h, STK_SIGN_PY_FUNC) ||
               seen(h, STK_SIGN_CHECKPOINT) || seen(h, STK_SIGN_WRITING);
    for (uint32_t i = 0; i < c->depth && any; i++) {
        uint32_t event = c->stack[i].event;
        int sign = h->a->signs[t->name[event]] - 1;
        if (t->kind[event] != STK_KIND_PYTHON && is_aside(sign)) {
            return event;
        }
    }
    return STK_NONE;
}

static bool extend(struct stk_vec *marks, int64_t start, int64_t end, uint32_t event)
{
    struct stk_mark *m = marks->count ? stk_vec_at(marks, marks->count - 1) : NULL;
    if (m && m->event == event && m->end_ns == start) {
        m->end_ns = end;
        return true;
    }
    m = stk_vec_push(marks);
    if (m) {
        *m = (struct stk_mark){start, end, event};
    }
    return m != NULL;
}

// Extends the marks, without what runs for a fetch: that isn't the model's work.
static bool extend_outside(struct host *h, struct stk_vec *marks, int64_t start, int64_t end,
                           uint32_t event)
{
    int64_t from = stk_fetch_work_until(&h->fetching, event, start);
    return from >= end || extend(marks, from, end, event);
}

// Stretches of one row in which a model operation is open and no event of the input pipeline is,
// and stretches of work aside.
static bool collect_model_time(struct host *h, struct stk_thread_cursor *c, uint32_t row)
{
    const struct stk_trace *t = h->a->t;
    const struct stk_track *k = &t->tracks[row];
    stk_cursor_init(c, h->a, row);
    if (k->count == 0) {
        return true;
    }
    int64_t at = t->start_ns[k->first];
    while (c->next < c->end || c->depth) {
        stk_cursor_advance(c, at);
        const struct stk_open_event *top = stk_cursor_top(c);
        int64_t end = stk_cursor_stretch(c, at, INT64_MAX);
        if (top && !(top->inherited & INPUT_CLASSES)) {
            uint32_t aside = open_aside(h, c);
            bool is_model = aside == STK_NONE && (top->inherited & STK_NAME_MODEL_OP);
            bool awaits = (stk_class_of(h->a, top->event) & AWAITS) == AWAITS;
            struct stk_vec *model = awaits ? &h->awaited : &h->compute;
            if (aside != STK_NONE && !extend(&h->aside, at, end, aside)) {
                return false;
            }
            if (is_model &&
                !extend_outside(h, model, at, end, stk_cursor_outermost(c, STK_NAME_MODEL_OP))) {
                return false;
            }
        }
        if (end == INT64_MAX) {
            break;
        }
        at = end;
    }
    return true;
}

static bool find_model_time(struct host *h)
{
    const struct stk_analysis *a = h->a;
    struct stk_thread_cursor *c = stk_cursor_new(STK_WALK_DEPTH);
    bool ok = c != NULL;
    for (uint32_t k = 0; k < a->t->track_count && ok; k++) {
        const struct stk_thread_info *th = &a->threads[k];
        if (th->in_rank && !a->threads[th->root].is_loader) {
            ok = collect_model_time(h, c, k);
        }
    }
    stk_free(c);
    h->list[COMPUTE] = (struct stk_marks){h->compute.items, h->compute.count};
    h->list[ASIDE] = (struct stk_marks){h->aside.items, h->aside.count};
    h->list[AWAITED] = (struct stk_marks){h->awaited.items, h->awaited.count};
    stk_marks_flatten(&h->list[COMPUTE]);
    stk_marks_flatten(&h->list[AWAITED]);
    stk_marks_flatten(&h->list[ASIDE]);
    h->list[COLLECTIVE] = a->host_collectives;
    h->list[FETCH] = a->fetches;
    h->list[COMPILE] = a->compiles;
    return ok;
}

static void add(struct host *h, int64_t start, int64_t end, enum stk_part part, uint32_t event,
                uint32_t around)
{
    if (start >= end) {
        return;
    }
    if (h->used && part != STK_PART_UNKNOWN) {
        h->covered_ns += end - start;
    }
    struct stk_spans *comm = &h->communication;
    if (part == STK_PART_COMMUNICATION && stk_spans_reserve(comm, comm->count + 1)) {
        comm->v[comm->count++] = (struct stk_span){start, end};
    }
    struct stk_gap_piece *piece = h->a->keeps_ribbon ? stk_vec_push_raw(&h->a->host_pieces) : NULL;
    if (piece) {
        *piece = (struct stk_gap_piece){start, end, STK_NONE, event, around, (uint8_t)part};
    }
    h->failed |= h->a->keeps_ribbon && !piece;
    if (!stk_causes_add(h->a->causes, start, end, part, event, around)) {
        h->failed = true;
    }
}

// Is it the call that runs the model's nodes on other threads, while this one only waits?
static bool awaits_model(const struct stk_analysis *a, const struct stk_segment *s)
{
    return s->doing == STK_DOING_OTHER && (stk_class_of(a, s->event) & STK_NAME_WAIT_HOST);
}

static enum stk_part part_of(const struct stk_analysis *a, const struct stk_segment *s)
{
    // Without an accelerator's runtime the driver waits for computing on other threads.
    if (s->doing == STK_DOING_BLOCKED || awaits_model(a, s)) {
        return a->sum->facts.runtime_calls ? STK_PART_SYNC : STK_PART_COMPUTE;
    }
    if (s->doing == STK_DOING_ALLOC) {
        return STK_PART_ALLOC;
    }
    if (s->doing == STK_DOING_NOTHING) {
        return STK_PART_UNKNOWN;
    }
    return s->doing == STK_DOING_WAITING ? STK_PART_WAIT : STK_PART_HOST;
}

// Does the driver wait in a TensorFlow call for its executor on other threads?
static bool awaits_executor(const struct stk_analysis *a, const struct stk_segment *s)
{
    static const char *const calls[] = {"FunctionRun", "KernelAndDeviceFunc::Run", "SessionRun",
                                        "RunGraph"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls && awaits_model(a, s); i++) {
        if (stk_str_eq(stk_name_of(a->t, s->event), stk_str_from(calls[i]))) {
            return true;
        }
    }
    return false;
}

// Does the call fetch its batch itself? In a loop that fetches before the call, the wait is in the
// fetch.
static bool fetches_inside(const struct stk_analysis *a, uint32_t event)
{
    const struct stk_marks *m = &a->fetches;
    size_t low = 0, high = m->count;
    while (low < high) { // first that begins in the call, or after it
        size_t mid = low + (high - low) / 2;
        if (m->v[mid].start_ns < a->t->start_ns[event]) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < m->count && m->v[low].start_ns < stk_end_ns(a->t, event);
}

// Is it the end of a TensorFlow call from Python, where it has to take Python's lock again?
static bool awaits_lock(const struct host *h, const struct stk_segment *s)
{
    const struct stk_trace *t = h->a->t;
    return s->doing == STK_DOING_OTHER && s->end_ns - s->start_ns >= LOCK_PIECE_NS &&
           s->start_ns > t->start_ns[s->event] && s->end_ns == stk_end_ns(t, s->event) &&
           stk_str_starts(stk_name_of(t, s->event), STK_STR("TFE_Py_"));
}

// A piece of a segment in which the step is blocked: its overlap with the pipeline's work is input
// if the call fetches its batch.
static void add_standstill(struct host *h, const struct stk_segment *s, int64_t at, int64_t end)
{
    const struct stk_spans *work = &h->input_work.any;
    size_t i = fetches_inside(h->a, s->event) ? stk_spans_find(work, at) : work->count;
    int64_t input_ns = 0, whole_ns = end - at;
    for (; i < work->count && at < end; i++) {
        int64_t from = work->v[i].start_ns, to = work->v[i].end_ns;
        from = from < at ? at : from > end ? end : from;
        to = to > end ? end : to;
        add(h, at, from, STK_PART_COMPUTE, s->event, s->around);
        add(h, from, to, STK_PART_INPUT, s->event, s->around);
        input_ns += from < to ? to - from : 0;
        at = to > from ? to : from;
    }
    add(h, at, end, STK_PART_COMPUTE, s->event, s->around);
    h->a->sum->facts.standstill_ns += h->used ? input_ns : 0;
    h->a->sum->facts.standstill_rest_ns += h->used ? whole_ns - input_ns : 0;
}

// The driver waits for the step that TensorFlow runs. The step is idle while the model's threads
// are in no event for a while.
static void add_awaited(struct host *h, const struct stk_segment *s)
{
    const struct stk_spans *model = &h->input_work.model;
    int64_t at = s->start_ns;
    for (size_t i = stk_spans_find(model, at); at < s->end_ns; i++) {
        int64_t from = i < model->count ? model->v[i].start_ns : s->end_ns;
        int64_t to = i < model->count ? model->v[i].end_ns : s->end_ns;
        from = from < at ? at : from > s->end_ns ? s->end_ns : from;
        to = to > s->end_ns ? s->end_ns : to;
        if (from - at >= SHORT_PIECE_NS) {
            add_standstill(h, s, at, from);
        } else {
            add(h, at, from, STK_PART_COMPUTE, s->event, s->around);
        }
        add(h, from, to, STK_PART_COMPUTE, s->event, s->around);
        at = to > from ? to : from;
    }
}

// Handles time in which the step competes with the input pipeline for cores or Python's lock.
// False: it doesn't.
static bool add_shared(struct host *h, const struct stk_segment *s, enum stk_part part)
{
    struct stk_facts *facts = &h->a->sum->facts;
    if (h->sees_operations && part == STK_PART_COMPUTE && awaits_executor(h->a, s)) {
        h->fetches_inside = h->fetches_inside || fetches_inside(h->a, s->event);
        add_awaited(h, s);
        return true;
    }
    if (h->fetches_inside && h->input_work.calls_python && awaits_lock(h, s)) {
        add(h, s->start_ns, s->end_ns, STK_PART_INPUT, s->event, s->around);
        facts->lock_ns += h->used ? s->end_ns - s->start_ns : 0;
        return true;
    }
    return false;
}

// Assigns time without a mark by the driving thread.
static void attribute_driver(struct host *h, int64_t from, int64_t to)
{
    if (h->a->driver == STK_NONE) {
        add(h, from, to, STK_PART_UNKNOWN, STK_NONE, STK_NONE);
        return;
    }
    if (!stk_segments_collect(&h->segments, h->a->driver, from, to)) {
        h->failed = true;
        return;
    }
    const struct stk_segment *s = h->segments.list.items;
    for (size_t i = 0; i < h->segments.list.count; i++) {
        enum stk_part part = part_of(h->a, &s[i]);
        uint32_t event = part == STK_PART_UNKNOWN ? STK_NONE : s[i].event;
        bool is_short = part == STK_PART_UNKNOWN && s[i].end_ns - s[i].start_ns < SHORT_PIECE_NS;
        if (add_shared(h, &s[i], part)) {
            continue;
        }
        add(h, s[i].start_ns, s[i].end_ns, is_short ? STK_PART_HOST : part, event, s[i].around);
    }
}

static void attribute_window(struct host *h, int64_t from, int64_t to)
{
    for (int64_t at = from; at < to && !h->failed;) {
        int64_t end = to;
        int found = -1;
        for (int i = 0; i < LISTS && found < 0; i++) {
            const struct stk_marks *m = &h->list[i];
            while (h->at[i] < m->count && m->v[h->at[i]].end_ns <= at) {
                h->at[i]++;
            }
            if (h->at[i] == m->count) {
                continue;
            }
            const struct stk_mark *mark = &m->v[h->at[i]];
            if (mark->start_ns <= at) {
                found = i;
            }
            int64_t bound = mark->start_ns <= at ? mark->end_ns : mark->start_ns;
            end = bound < end ? bound : end;
        }
        if (found >= 0) {
            add(h, at, end, list_part[found], h->list[found].v[h->at[found]].event, STK_NONE);
        } else {
            attribute_driver(h, at, end);
        }
        at = end;
    }
}

static bool find_input_work(struct host *h)
{
    const struct stk_analysis *a = h->a;
    h->sees_operations = h->list[COMPUTE].count > 0 && a->host_collectives.count == 0;
    return !h->sees_operations || stk_input_work_find(a, &h->input_work);
}

static void sum_collectives(struct host *h, const struct stk_window *w, uint32_t count)
{
    const struct stk_marks *m = &h->a->host_collectives;
    for (size_t i = 0; i < m->count && count; i++) {
        int64_t start = m->v[i].start_ns, end = m->v[i].end_ns;
        start = start > w[0].start_ns ? start : w[0].start_ns;
        end = end < w[count - 1].end_ns ? end : w[count - 1].end_ns;
        if (start < end) {
            h->a->sum->facts.host_collective_ns += end - start;
        }
    }
}

enum stoker_status stk_host_steps_attribute(struct stk_analysis *a, struct stk_window *w,
                                            uint32_t count, struct stoker_err *err)
{
    STK_ASSERT(count == 0 || w);
    struct host h = {.a = a};
    stk_vec_init(&h.compute, sizeof(struct stk_mark), UINT32_MAX - 1);
    stk_vec_init(&h.aside, sizeof(struct stk_mark), UINT32_MAX - 1);
    stk_vec_init(&h.awaited, sizeof(struct stk_mark), UINT32_MAX - 1);
    stk_spans_init(&h.communication);
    stk_spans_init(&h.input_work.any);
    stk_spans_init(&h.input_work.model);
    h.failed = !stk_fetch_work_open(&h.fetching, a) || !stk_segments_init(&h.segments, a) ||
               !find_model_time(&h) || !find_input_work(&h);
    for (uint32_t i = 0; i < count && !h.failed; i++) {
        h.used = w[i].used;
        h.total_ns += w[i].used ? w[i].end_ns - w[i].start_ns : 0;
        attribute_window(&h, w[i].start_ns, w[i].end_ns);
    }
    sum_collectives(&h, w, count);
    stk_spans_normalize(&h.communication);
    h.failed |= !stk_host_collectives_list(a, &h.communication);
    if (h.total_ns > 0) {
        a->sum->facts.host_event_fill = (double)h.covered_ns / (double)h.total_ns;
    }
    stk_segments_deinit(&h.segments);
    stk_vec_deinit(&h.compute);
    stk_vec_deinit(&h.aside);
    stk_vec_deinit(&h.awaited);
    stk_spans_deinit(&h.communication);
    stk_spans_deinit(&h.input_work.any);
    stk_spans_deinit(&h.input_work.model);
    return h.failed ? stk_err_nomem(err) : STOKER_OK;
}
