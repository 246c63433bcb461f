// SPDX-License-Identifier: Apache-2.0
// One pass over the host's events finds the threads, which of them launch work, blocking calls, the
// intervals of fetching, compiling and profiler overhead, and the counts of stk_facts.
//
// Method: every event's name class is one table look-up; only events of the few interesting classes
// are kept. Marks of one kind are made disjoint afterwards: the one that began first keeps the
// time. Limits: overhead is known only if the profiler records it (CUPTI's overhead activity).
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/analysis.h"
#include "profile/model/median.h"
#include "profile/model/threads/operator_time.h"
#include "profile/model/thresholds.h"

#define BLOCKED_COPY_NS (20 * STK_US) // a copy call this long that outlives its copy has blocked

#define OPEN_NEXTS 16              // deeper ones aren't kept
#define MIN_WAIT_NS (200 * STK_US) // briefer waits need no explanation

struct scan {
    struct stk_analysis *a;
    struct stk_facts *f;
    struct stk_vec calls, fetches, compiles, overheads, steps, collectives, nexts, waits, lets_go,
        launch_durs;
    // Calls of next() that are open on the thread being scanned: index into nexts.
    size_t open[OPEN_NEXTS];
    uint32_t open_count;
    struct stk_vec next_work; // uint32_t: operations of the model inside of each of nexts
    uint64_t work;            // operations of the model on the thread being scanned
    bool captures;     // the thread being scanned captures a graph: its launches don't run work yet
    bool after_launch; // its previous runtime call was a launch
    // On the thread being scanned, per sign: the end of the last outermost event, and the last
    // event of all, which is a leaf unless the next one begins inside it.
    int64_t sign_end_ns[STK_SIGN_COUNT], leaf_end_ns[STK_SIGN_COUNT], leaf_ns[STK_SIGN_COUNT];
    struct stk_operators operators; // of PyTorch's, that are open
    int64_t fetch_end_ns;           // of the loader's last fetch on this thread
    int64_t wait_end_ns;            // of its last outermost wait
    bool failed;
};

// CUPTI's and Nsight Systems' names. CUPTI also lists "Command Buffer Full" as overhead, but there
// the launching thread waits for room in the queue: the device is late, the profiler does nothing.
static bool is_overhead_name(struct stk_str name)
{
    static const char *const names[] = {
        "Instrumentation", "Activity Buffer Request",   "Buffer Flush",
        "BUFFER_FLUSH",    "INSTRUMENTATION",           "RESOURCE",
        "Resource",        "CUDA profiling data flush",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (stk_str_eq(name, stk_str_from(names[i]))) {
            return true;
        }
    }
    return stk_str_starts(name, STK_STR("CUPTI: ")) ||
           stk_str_ends(name, STK_STR(" profiling initialization"));
}

// CUPTI lists module loading as overhead, but it is the program's own first use.
static bool is_loading_name(struct stk_str name)
{
    return stk_str_eq(name, STK_STR("Runtime Triggered Module Loading")) ||
           stk_str_eq(name, STK_STR("Lazy Function Loading")) ||
           stk_str_eq(name, STK_STR("COMPILER"));
}

static void push_mark(struct scan *s, struct stk_vec *v, uint32_t event)
{
    struct stk_mark *m = stk_vec_push_raw(v);
    if (m) {
        *m = (struct stk_mark){s->a->t->start_ns[event], stk_end_ns(s->a->t, event), event};
    } else {
        s->failed = true;
    }
}

// An asynchronous copy call that returned only after its copy was done has blocked its thread.
bool stk_copy_call_blocked(const struct stk_trace *t, uint32_t event)
{
    STK_ASSERT(event < t->count && t->kind[event] == STK_KIND_RUNTIME);
    uint32_t op = t->ref[event];
    return op != STK_NONE && stk_dur_ns(t, event) >= BLOCKED_COPY_NS &&
           t->kind[op] == STK_KIND_MEMCPY && stk_end_ns(t, op) <= stk_end_ns(t, event) &&
           t->start_ns[op] >= t->start_ns[event];
}

// Between these two calls a thread's launches become nodes of a graph. A recording that begins in
// between counts them as launches without work.
static void follow_capture(struct scan *s, struct stk_str name)
{
    if (stk_str_contains(name, STK_STR("StreamBeginCapture"))) {
        s->captures = true;
    } else if (stk_str_contains(name, STK_STR("StreamEndCapture"))) {
        s->captures = false;
    }
}

static void scan_runtime(struct scan *s, uint32_t event, uint32_t class, uint32_t thread)
{
    const struct stk_trace *t = s->a->t;
    int64_t dur = stk_dur_ns(t, event);
    s->f->runtime_calls++;
    if (class & STK_NAME_COMPILE) {
        follow_capture(s, stk_name_of(t, event));
    }
    if (t->ref[event] != STK_NONE) {
        s->a->threads[thread].launches = true;
    }
    if (class & STK_NAME_ALLOC) {
        s->f->alloc_calls++;
        s->f->alloc_call_ns = stk_add_ns(s->f->alloc_call_ns, dur);
    }
    if (class & STK_NAME_LAUNCH) {
        int64_t *d = stk_vec_push(&s->launch_durs);
        if (d) {
            *d = dur;
        } else {
            s->failed = true;
        }
        s->f->launches++;
        s->f->launch_call_ns = stk_add_ns(s->f->launch_call_ns, dur);
        s->f->graph_launches += (class & STK_NAME_GRAPH_LAUNCH) != 0;
        s->f->launches_without_work += t->ref[event] == STK_NONE && !s->captures;
    }
    if ((class & (STK_NAME_SYNC | STK_NAME_BLOCKING_COPY)) ||
        ((class & STK_NAME_COPY_CALL) && stk_copy_call_blocked(t, event))) {
        struct stk_blocking_call *c = stk_vec_push(&s->calls);
        if (c) {
            *c = (struct stk_blocking_call){.start_ns = t->start_ns[event],
                                            .end_ns = t->start_ns[event] + dur,
                                            .event = event,
                                            .thread = thread};
        } else {
            s->failed = true;
        }
    }
}

// Events that may mark steps: markers, and framework calls made once a step.
static bool is_step_event(const struct stk_analysis *a, uint32_t event, uint32_t class)
{
    if (class & (STK_NAME_FW_STEP | STK_NAME_OPTIMIZER | STK_NAME_PJIT | STK_NAME_FUNCTION |
                 STK_NAME_LOADER_NEXT | STK_NAME_GET_NEXT | STK_NAME_ITER_NEXT)) {
        return true;
    }
    return stk_is_step_mark(a, event);
}

// next() enters and leaves a context manager that is written as a generator.
static bool is_of_context(const struct stk_trace *t, uint32_t event)
{
    return t->depth[event] > 0 && t->depth[event - 1] + 1 == t->depth[event] &&
           stk_str_contains(stk_name_of(t, event - 1), STK_STR("contextlib.py"));
}

// Python's next() may be a fetch, or a pipeline object that runs the whole model: see
// drop_working_nexts.
static void track_next(struct scan *s, uint32_t event, uint32_t class)
{
    const struct stk_trace *t = s->a->t;
    while (s->open_count) {
        struct stk_mark *m = stk_vec_at(&s->nexts, s->open[s->open_count - 1]);
        if (m->event != STK_NONE && stk_end_ns(t, m->event) > t->start_ns[event]) {
            break;
        }
        s->open_count--;
    }
    if (class & (STK_NAME_MODEL_OP | STK_NAME_PJIT | STK_NAME_LAUNCH)) {
        s->work++;
        for (uint32_t i = 0; i < s->open_count; i++) {
            ++*(uint32_t *)stk_vec_at(&s->next_work, s->open[i]);
        }
    }
    if ((class & STK_NAME_PY_NEXT) && t->kind[event] == STK_KIND_PYTHON &&
        s->open_count < OPEN_NEXTS && !is_of_context(t, event)) {
        uint32_t *work = stk_vec_push(&s->next_work);
        if (!work) {
            s->failed = true;
            return;
        }
        *work = 0;
        s->open[s->open_count++] = s->nexts.count;
        push_mark(s, &s->nexts, event);
    }
}

// A fetch makes tensors from its data, which takes few operations; a pipeline object runs the
// model. Of a thread's next() calls, from number `first` on, those with few of the thread's
// operations are kept. (Other threads may run operations for several calls at a time.) A rejected
// call gets no length.
static void drop_working_nexts(struct scan *s, size_t first)
{
    uint64_t count = s->nexts.count - first;
    for (size_t i = first; i < s->nexts.count && i < s->next_work.count; i++) {
        uint64_t held = *(uint32_t *)stk_vec_at(&s->next_work, i);
        if (held * STK_BATCH_OPS_FEW * count > s->work) {
            struct stk_mark *m = stk_vec_at(&s->nexts, i);
            m->end_ns = m->start_ns;
        }
    }
}

// Waits nest (a queue's get, a condition's wait, a lock's acquire). The outermost shows what is
// waited for.
static void keep_wait(struct scan *s, uint32_t event)
{
    int64_t start_ns = s->a->t->start_ns[event];
    if (start_ns >= s->wait_end_ns && stk_dur_ns(s->a->t, event) >= MIN_WAIT_NS) {
        push_mark(s, &s->waits, event);
        s->wait_end_ns = stk_end_ns(s->a->t, event);
    }
}

// The part of an operation that isn't call overhead: all of a long one without nested calls.
static int64_t work_of_leaf(int64_t dur_ns)
{
    return (double)dur_ns < stk_threshold_value(STK_T_TINY_CALL_US) * 1e3 ? 0 : dur_ns;
}

// Adds the event as a leaf. If it is inside the previous one, that one is removed.
static void count_leaf(struct scan *s, uint32_t event, int sign)
{
    struct stk_sign_sum *sum = &s->f->signs[sign];
    if (s->a->t->start_ns[event] < s->leaf_end_ns[sign]) {
        sum->work_ns -= s->leaf_ns[sign];
    }
    s->leaf_ns[sign] = work_of_leaf(stk_dur_ns(s->a->t, event));
    s->leaf_end_ns[sign] = stk_end_ns(s->a->t, event);
    sum->work_ns = stk_add_ns(sum->work_ns, s->leaf_ns[sign]);
}

static void count_sign(struct scan *s, uint32_t event, int sign)
{
    struct stk_sign_sum *sum = &s->f->signs[sign];
    int64_t end_ns = stk_end_ns(s->a->t, event);
    bool is_tfs = sign == STK_SIGN_CONSTANT || sign == STK_SIGN_EAGER_OP;
    if (is_tfs && end_ns <= s->sign_end_ns[STK_SIGN_PY_FUNC]) {
        return; // Python that the graph calls, not the loop
    }
    bool is_torchs = sign == STK_SIGN_ATEN || sign == STK_SIGN_RECURRENT;
    if (is_torchs && end_ns <= s->fetch_end_ns) {
        return; // calls that make a batch are input; these counts are of the model's calls
    }
    sum->count++;
    if (end_ns > s->sign_end_ns[sign]) { // else it is inside the last one
        sum->outer++;
        sum->ns = stk_add_ns(sum->ns, stk_dur_ns(s->a->t, event));
        s->sign_end_ns[sign] = end_ns;
    }
    count_leaf(s, event, sign);
    if (is_torchs) {
        stk_operators_open(&s->operators, s->a->t->start_ns[event], end_ns,
                           &s->f->signs[STK_SIGN_ATEN]);
    }
}

// What a thread's scan starts with.
static void begin_thread(struct scan *s)
{
    s->open_count = 0;
    s->operators.count = 0;
    s->work = 0;
    s->captures = s->after_launch = false;
    s->wait_end_ns = s->fetch_end_ns = INT64_MIN;
    memset(s->sign_end_ns, 0x80, sizeof s->sign_end_ns); // before all times
    memset(s->leaf_end_ns, 0x80, sizeof s->leaf_end_ns);
}

// An event that counts as more than one of its thread's.
static void scan_event(struct scan *s, uint32_t e, uint32_t class, uint32_t root)
{
    const struct stk_trace *t = s->a->t;
    uint8_t kind = t->kind[e];
    if (kind == STK_KIND_RUNTIME) {
        scan_runtime(s, e, class, root);
        s->f->serialized_launches += s->after_launch && (class & STK_NAME_SYNC);
        s->after_launch = (class & STK_NAME_LAUNCH) != 0;
    }
    track_next(s, e, class);
    if (class & STK_NAME_BLOCKED) {
        keep_wait(s, e);
    }
    if (class & STK_NAME_LETS_GO) {
        push_mark(s, &s->lets_go, e);
    }
    if ((class & STK_NAME_FETCH) && stk_end_ns(t, e) > s->fetch_end_ns) {
        s->fetch_end_ns = stk_end_ns(t, e);
    }
    if (s->a->signs[t->name[e]]) {
        count_sign(s, e, s->a->signs[t->name[e]] - 1);
    }
    if (is_step_event(s->a, e, class)) {
        push_mark(s, &s->steps, e);
    }
    if (class & (STK_NAME_FETCH | STK_NAME_PREP)) {
        push_mark(s, &s->fetches, e);
    } else if (class & STK_NAME_COMPILE) {
        push_mark(s, &s->compiles, e);
    } else if (class & STK_NAME_HOST_COLL) {
        push_mark(s, &s->collectives, e);
    } else if (kind == STK_KIND_OTHER && is_overhead_name(stk_name_of(t, e))) {
        push_mark(s, &s->overheads, e);
    }
    s->f->has_iterators |= (class & STK_NAME_ITERATOR) != 0;
}

// Most events only count: Python functions and operations with names that mean nothing here, and
// without values.
static void scan_thread(struct scan *s, uint32_t track)
{
    const struct stk_trace *t = s->a->t;
    const struct stk_track *k = &t->tracks[track];
    uint32_t root = s->a->threads[track].root, end = k->first + k->count;
    size_t first_next = s->nexts.count;
    bool is_whole =
        k->count && t->start_ns[k->first] >= s->a->from_ns && t->start_ns[end - 1] < s->a->to_ns;
    const uint32_t *classes = s->a->classes, *names = t->name, *refs = t->ref;
    const uint8_t *kinds = t->kind, *signs = s->a->signs;
    uint64_t events = 0, python = 0;
    begin_thread(s);
    for (uint32_t e = k->first; e < end && !s->failed; e++) {
        if (!is_whole && (t->start_ns[e] >= s->a->to_ns || stk_end_ns(t, e) < s->a->from_ns)) {
            continue;
        }
        uint32_t name = names[e], class = classes[name];
        uint8_t kind = kinds[e];
        events++;
        python += kind == STK_KIND_PYTHON;
        if (class || signs[name] || refs[e] != STK_NONE || kind == STK_KIND_RUNTIME ||
            kind == STK_KIND_OTHER) {
            scan_event(s, e, class, root);
        }
    }
    s->f->host_events += events;
    s->f->python_events += python;
    stk_operators_close(&s->operators, INT64_MAX, &s->f->signs[STK_SIGN_ATEN]);
    drop_working_nexts(s, first_next);
}

// The profiler's own row.
static void scan_overhead(struct scan *s, uint32_t track)
{
    const struct stk_trace *t = s->a->t;
    const struct stk_track *k = &t->tracks[track];
    for (uint32_t e = k->first; e < k->first + k->count && !s->failed; e++) {
        push_mark(s, is_loading_name(stk_name_of(t, e)) ? &s->compiles : &s->overheads, e);
    }
}

static bool is_loader_name(struct stk_str name)
{
    return stk_str_starts(name, STK_STR("tf_data")) ||
           stk_str_contains_nocase(name, STK_STR("dataloader")) ||
           stk_str_contains_nocase(name, STK_STR("pin_memory"));
}

static bool find_threads(struct stk_analysis *a)
{
    const struct stk_trace *t = a->t;
    a->threads = stk_arena_array(&a->scratch, (size_t)t->track_count + 1, sizeof *a->threads);
    if (!a->threads) {
        return false;
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        struct stk_thread_info *th = &a->threads[k];
        const struct stk_track *track = &t->tracks[k];
        th->root = k;
        th->next_row = STK_NONE;
        th->in_rank = track->kind == STK_TRACK_THREAD && a->in_rank[track->process];
        th->is_loader = is_loader_name(stk_strpool_get(&t->strings, track->name));
        th->first_ns = INT64_MAX;
        th->last_ns = INT64_MIN;
        if (track->count && a->in_rank[track->process]) {
            // Outermost events follow each other: the last one ends last.
            uint32_t e = track->first + track->count - 1;
            while (e > track->first && t->depth[e] > 0) {
                e--;
            }
            th->first_ns = t->start_ns[track->first];
            th->last_ns = stk_end_ns(t, e);
        }
    }
    for (uint32_t k = t->track_count; k-- > 0;) {
        uint32_t root = k;
        for (uint32_t hops = 0; t->tracks[root].parent < t->track_count && hops < 1024; hops++) {
            root = t->tracks[root].parent;
        }
        if (root == k) {
            continue;
        }
        struct stk_thread_info *row = &a->threads[k], *first = &a->threads[root];
        row->root = root;
        row->next_row = first->next_row;
        first->next_row = k;
        first->first_ns = row->first_ns < first->first_ns ? row->first_ns : first->first_ns;
        first->last_ns = row->last_ns > first->last_ns ? row->last_ns : first->last_ns;
    }
    return true;
}

STK_ORDER(compare_calls, struct stk_blocking_call, STK_UP(thread) STK_UP(start_ns) STK_UP(event))

static void index_calls(struct stk_analysis *a)
{
    stk_sort(a->calls, a->call_count, sizeof *a->calls, compare_calls);
    for (uint32_t i = 0; i < a->call_count; i++) {
        struct stk_blocking_call *call = &a->calls[i];
        struct stk_thread_info *th = &a->threads[call->thread];
        call->reach_ns = call->end_ns;
        if (th->call_count++ == 0) {
            th->first_call = i;
        } else if (call[-1].reach_ns > call->reach_ns) {
            call->reach_ns = call[-1].reach_ns;
        }
    }
}

STK_ORDER(compare_marks, struct stk_mark, STK_UP(start_ns) STK_DOWN(end_ns) STK_UP(event))

void stk_marks_flatten(struct stk_marks *m)
{
    if (m->count == 0) {
        return;
    }
    stk_sort(m->v, m->count, sizeof *m->v, compare_marks);
    size_t n = 0;
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < m->count; i++) {
        struct stk_mark x = m->v[i];
        if (x.start_ns < end) {
            x.start_ns = end;
        }
        if (x.end_ns <= x.start_ns) {
            continue;
        }
        end = x.end_ns;
        m->v[n++] = x;
    }
    m->count = n;
}

static struct stk_marks take_marks(struct stk_vec *v)
{
    struct stk_marks m = {v->items, v->count};
    stk_vec_init(v, sizeof(struct stk_mark), SIZE_MAX);
    return m;
}

enum stoker_status stk_host_scan(struct stk_analysis *a, struct stoker_err *err)
{
    struct scan s = {.a = a, .f = &a->sum->facts};
    stk_vec_init(&s.calls, sizeof(struct stk_blocking_call), UINT32_MAX - 1);
    stk_vec_init(&s.fetches, sizeof(struct stk_mark), UINT32_MAX);
    stk_vec_init(&s.compiles, sizeof(struct stk_mark), UINT32_MAX);
    stk_vec_init(&s.overheads, sizeof(struct stk_mark), UINT32_MAX);
    stk_vec_init(&s.steps, sizeof(struct stk_mark), UINT32_MAX);
    stk_vec_init(&s.collectives, sizeof(struct stk_mark), UINT32_MAX);
    stk_vec_init(&s.nexts, sizeof(struct stk_mark), UINT32_MAX);
    stk_vec_init(&s.next_work, sizeof(uint32_t), UINT32_MAX);
    stk_vec_init(&s.waits, sizeof(struct stk_mark), UINT32_MAX);
    stk_vec_init(&s.lets_go, sizeof(struct stk_mark), UINT32_MAX);
    stk_vec_init(&s.launch_durs, sizeof(int64_t), UINT32_MAX);
    a->signs = stk_signs_classify(a->t, &a->scratch);
    s.failed = !a->signs || !find_threads(a);
    for (uint32_t k = 0; k < a->t->track_count && !s.failed; k++) {
        const struct stk_track *track = &a->t->tracks[k];
        if (!a->in_rank[track->process] || track->kind == STK_TRACK_STREAM ||
            track->kind == STK_TRACK_COUNTER) {
            continue;
        }
        if (stk_str_contains_nocase(stk_strpool_get(&a->t->strings, track->name),
                                    STK_STR("overhead"))) {
            scan_overhead(&s, k);
        } else if (track->kind == STK_TRACK_THREAD) {
            scan_thread(&s, k);
        }
    }
    if (s.launch_durs.count) {
        s.f->launch_call_median_ns = stk_median_low(s.launch_durs.items, s.launch_durs.count);
    }
    stk_vec_deinit(&s.launch_durs);
    stk_vec_deinit(&s.next_work);
    a->calls = s.calls.items; // freed by stk_analysis_deinit
    a->call_count = (uint32_t)s.calls.count;
    a->fetches = take_marks(&s.fetches);
    a->compiles = take_marks(&s.compiles);
    a->overheads = take_marks(&s.overheads);
    a->host_collectives = take_marks(&s.collectives);
    a->nexts = take_marks(&s.nexts);
    a->waits = take_marks(&s.waits);
    a->lets_go = take_marks(&s.lets_go);
    a->step_events = take_marks(&s.steps);
    if (s.failed) {
        return stk_err_nomem(err);
    }
    index_calls(a);
    stk_marks_flatten(&a->overheads);
    stk_marks_flatten(&a->host_collectives);
    return STOKER_OK;
}
