// SPDX-License-Identifier: Apache-2.0
// Which Python functions take the host's time, and whose code is it? Functions by self time from
// the rows of a Python tracer: total_ns counts a nested call of the same function once; self_ns is
// without the Python functions nested inside; python_ns is also without the operators and runtime
// calls inside, and 0 for functions written in C: the interpreter's own time. step_share: self time
// inside used steps as a share of the steps' time, for the thread that drives them. The summary
// covers that thread, inside steps (its whole time if the profile has no host steps).
// Method: one pass over each row of each host thread with a stack of what is open; time goes to the
// innermost Python function, cut at the bounds of the steps. Linear. The driving thread's functions
// come first: other threads mostly sleep in Python. Limits: a tracer slows short functions down
// most. Functions that overlap without nesting have rows of their own and don't take each other's
// time. Whose code a file is:
// profile/model/threads/python_frame.h.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/sort.h"
#include "profile/model/threads/python_frame.h"
#include "profile/model/threads/thread_events.h"
#include "answers/passes/stats/stats.h"

#define MAX_DEPTH 1024
#define MAX_NAME_BYTES 1024

struct python_row {
    const char *name, *thread;
    uint64_t calls;
    int64_t total_ns, self_ns, python_ns, step_ns; // step_ns: self time inside steps
    int64_t covered_ns;                            // its calls reach up to here
    enum stk_python_owner owner;
    bool on_driver;
};
struct python_sums {
    struct python_row *rows;
    size_t count;
    int64_t base_ns; // time of the steps, or of the driver's thread
    int64_t driver_self_ns[STK_PYTHON_OWNERS], driver_python_ns; // inside it
    bool has_steps;
};

struct open_call {
    int64_t end_ns;
    uint32_t row;     // of the innermost function; STK_NONE: none
    bool is_function; // not an operator or a call of the runtime
};

struct sweep {
    const struct stk_analysis *view;
    struct python_sums *out;
    struct stk_vec rows;      // struct python_row
    uint32_t *slot;           // per string id: row + 1 on the current thread
    uint32_t *slot_thread;    // per string id: that thread
    uint32_t *shared_id;      // per string id: first one of the same function, + 1
    struct stk_map built_ins; // hash of a name without address -> string id
    struct stk_map scripts;   // hash of a file's name: the user's
    struct stk_arena *arena;
    struct stk_thread_events events;
    struct stk_spans selected, steps;
    size_t step; // cursor in steps
    uint32_t thread, driver;
    const char *thread_text;
    int64_t at_ns; // time before it is already assigned
    struct open_call stack[MAX_DEPTH];
    uint32_t depth;
};

// The string id that represents the function: the same for all objects of a method. STK_NONE: no
// memory.
static uint32_t function_of(struct sweep *s, uint32_t id)
{
    char text[MAX_NAME_BYTES];
    if (s->shared_id[id]) {
        return s->shared_id[id] - 1;
    }
    struct stk_str name = stk_strpool_get(&s->view->t->strings, id);
    uint32_t first = id;
    if (name.n && name.p[0] == '<') {
        size_t n = stk_python_frame_text(name, text, sizeof text);
        uint32_t *slot = stk_map_put(&s->built_ins, stk_hash_table_bytes(text, n), n, id, NULL);
        if (!slot) {
            return STK_NONE;
        }
        first = *slot;
    }
    s->shared_id[id] = first + 1;
    return first;
}

// A file without a folder is the user's if the driving thread starts in it: the script.
static enum stk_python_owner owner_of(const struct sweep *s, struct stk_str name)
{
    enum stk_python_owner owner = stk_python_frame_owner(name);
    struct stk_str file = stk_python_frame_parse(name).file;
    if (owner == STK_PYTHON_UNKNOWN && file.n &&
        stk_map_get(&s->scripts, stk_hash_table_bytes(file.p, file.n), file.n)) {
        owner = STK_PYTHON_USER;
    }
    return owner;
}

static uint32_t python_row_of(struct sweep *s, uint32_t function)
{
    if (s->slot[function] && s->slot_thread[function] == s->thread) {
        return s->slot[function] - 1;
    }
    struct stk_str name = stk_strpool_get(&s->view->t->strings, function);
    char text[MAX_NAME_BYTES];
    size_t n = stk_python_frame_text(name, text, sizeof text);
    struct python_row *row = stk_vec_push(&s->rows);
    const char *copy = row ? stk_arena_strndup(s->arena, text, n) : NULL;
    if (!copy) {
        return STK_NONE;
    }
    *row = (struct python_row){.name = copy,
                               .covered_ns = INT64_MIN,
                               .thread = s->thread_text,
                               .owner = owner_of(s, name),
                               .on_driver = s->thread == s->driver};
    s->slot[function] = (uint32_t)s->rows.count;
    s->slot_thread[function] = s->thread;
    return s->slot[function] - 1;
}

static int64_t inside_steps(struct sweep *s, int64_t from_ns, int64_t to_ns)
{
    int64_t ns = 0;
    while (s->step < s->steps.count && s->steps.v[s->step].end_ns <= from_ns) {
        s->step++;
    }
    for (size_t i = s->step; i < s->steps.count && s->steps.v[i].start_ns < to_ns; i++) {
        int64_t start = s->steps.v[i].start_ns, end = s->steps.v[i].end_ns;
        start = start > from_ns ? start : from_ns;
        end = end < to_ns ? end : to_ns;
        ns += end > start ? end - start : 0;
    }
    return ns;
}

// Time since the last change of the stack goes to the innermost function.
static void give_out(struct sweep *s, int64_t to_ns)
{
    const struct open_call *top = s->depth ? &s->stack[s->depth - 1] : NULL;
    int64_t from_ns = s->at_ns, ns = to_ns - from_ns;
    if (ns <= 0) { // the overlapping event already ended it
        return;
    }
    s->at_ns = to_ns;
    if (!top || top->row == STK_NONE) {
        return;
    }
    struct python_row *row = stk_vec_at(&s->rows, top->row);
    int64_t step_ns = inside_steps(s, from_ns, to_ns);
    bool is_python = top->is_function && row->owner != STK_PYTHON_BUILTIN;
    row->self_ns += ns;
    row->step_ns += step_ns;
    row->python_ns += is_python ? ns : 0;
    if (s->thread != s->driver) {
        return;
    }
    s->out->driver_self_ns[row->owner] += step_ns;
    s->out->driver_python_ns += is_python ? step_ns : 0;
}

static void python_close_ended(struct sweep *s, int64_t t_ns)
{
    while (s->depth && s->stack[s->depth - 1].end_ns <= t_ns) {
        give_out(s, s->stack[s->depth - 1].end_ns);
        s->depth--;
    }
    if (s->at_ns < t_ns && s->depth) {
        give_out(s, t_ns);
    }
    s->at_ns = t_ns;
}

// The part of a call's time that isn't already counted for other calls of the function.
static int64_t uncovered_ns(struct python_row *row, int64_t start_ns, int64_t end_ns)
{
    if (start_ns < row->covered_ns) {
        start_ns = row->covered_ns;
    }
    if (end_ns <= start_ns) {
        return 0;
    }
    row->covered_ns = end_ns;
    return end_ns - start_ns;
}

static bool open_event(struct sweep *s, uint32_t event)
{
    const struct stk_trace *t = s->view->t;
    const struct open_call *around = s->depth ? &s->stack[s->depth - 1] : NULL;
    struct open_call call = {.end_ns = stk_end_ns(t, event),
                             .row = around ? around->row : STK_NONE,
                             .is_function = t->kind[event] == STK_KIND_PYTHON};
    if (call.is_function) {
        uint32_t function = function_of(s, t->name[event]);
        call.row = function == STK_NONE ? STK_NONE : python_row_of(s, function);
        if (call.row == STK_NONE) {
            return false;
        }
        struct python_row *row = stk_vec_at(&s->rows, call.row);
        row->calls++;
        row->total_ns =
            stk_add_ns(row->total_ns, uncovered_ns(row, t->start_ns[event], call.end_ns));
    } else if (around && around->end_ns < call.end_ns) {
        call.end_ns = around->end_ns; // it takes time of the function around it, no more
    }
    if (s->depth < MAX_DEPTH) { // deeper calls count as their ancestors'
        s->stack[s->depth++] = call;
    }
    return true;
}

// Whether an event takes a function's time without being Python: not step markers, nor other
// ranges.
static bool counts(const struct stk_analysis *view, uint32_t event)
{
    switch (view->t->kind[event]) {
    case STK_KIND_PYTHON:
        return true;
    case STK_KIND_HOST_OP:
    case STK_KIND_RUNTIME:
    case STK_KIND_INPUT:
        return !stk_is_step_mark(view, event);
    default:
        return false;
    }
}

static bool sweep_thread(struct sweep *s)
{
    const struct stk_trace *t = s->view->t;
    struct stk_view_cursor cursor = {&s->selected, 0};
    uint32_t e;
    s->step = 0;
    s->at_ns = INT64_MIN;
    if (!stk_thread_events_begin(&s->events, s->thread, NULL)) {
        return false;
    }
    while ((e = stk_thread_events_next(&s->events)) != STK_NONE) {
        if (!counts(s->view, e)) {
            continue;
        }
        python_close_ended(s, t->start_ns[e]);
        if (stk_view_in(&cursor, t->start_ns[e]) && !open_event(s, e)) {
            return false;
        }
    }
    python_close_ended(s, INT64_MAX);
    return true;
}

static bool name_thread(struct sweep *s, uint32_t root)
{
    const struct stk_track *k = &s->view->t->tracks[root];
    struct stk_str name = stk_strpool_get(&s->view->t->strings, k->name);
    s->thread = root;
    s->thread_text = name.n ? stk_arena_strndup(s->arena, name.p, name.n)
                            : stk_arena_printf(s->arena, "thread %lld", (long long)k->id);
    return s->thread_text != NULL;
}

static uint64_t python_events(const struct stk_analysis *v, uint32_t root)
{
    uint64_t n = 0;
    for (uint32_t k = root; k != STK_NONE; k = v->threads[k].next_row) {
        const struct stk_track *track = &v->t->tracks[k];
        for (uint32_t e = track->first; e < track->first + track->count; e++) {
            n += v->t->kind[e] == STK_KIND_PYTHON;
        }
    }
    return n;
}

static bool is_thread(const struct stk_analysis *v, uint32_t track)
{
    return v->threads[track].in_rank && v->threads[track].root == track;
}

// The thread that drives the steps; where none does, the one with most Python events.
static void find_driver(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    uint64_t most = 0;
    s->driver = v->driver;
    for (uint32_t k = 0; k < v->t->track_count && v->driver == STK_NONE; k++) {
        uint64_t n = is_thread(v, k) ? python_events(v, k) : 0;
        if (n > most) {
            most = n;
            s->driver = k;
        }
    }
}

static bool find_scripts(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    const struct stk_track *k = s->driver == STK_NONE ? NULL : &v->t->tracks[s->driver];
    for (uint32_t e = k ? k->first : 0; k && e < k->first + k->count; e++) {
        struct stk_str name = stk_name_of(v->t, e);
        if (v->t->depth[e] || v->t->kind[e] != STK_KIND_PYTHON ||
            stk_python_frame_owner(name) != STK_PYTHON_UNKNOWN) {
            continue;
        }
        struct stk_str file = stk_python_frame_parse(name).file;
        if (!stk_map_put(&s->scripts, stk_hash_table_bytes(file.p, file.n), file.n, 1, NULL)) {
            return false;
        }
    }
    return true;
}

static bool find_steps(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    if (!stk_view_host_steps(v, true, &s->steps)) {
        return false;
    }
    s->out->has_steps = s->steps.count > 0;
    if (!s->out->has_steps && s->driver != STK_NONE) {
        const struct stk_thread_info *th = &v->threads[s->driver];
        int64_t from = th->first_ns > v->from_ns ? th->first_ns : v->from_ns;
        int64_t to = th->last_ns < v->to_ns ? th->last_ns : v->to_ns;
        if (!stk_spans_add(&s->steps, from, to > from ? to : from)) {
            return false;
        }
    }
    s->out->base_ns = stk_spans_total(&s->steps);
    return true;
}

static bool python_sweep_all(struct sweep *s)
{
    const struct stk_analysis *v = s->view;
    if (!stk_view_selected_host(v, &s->selected)) {
        return false;
    }
    find_driver(s);
    if (!find_scripts(s) || !find_steps(s)) {
        return false;
    }
    for (uint32_t k = 0; k < v->t->track_count; k++) {
        if (is_thread(v, k) && python_events(v, k) > 0 &&
            (!name_thread(s, k) || !sweep_thread(s))) {
            return false;
        }
    }
    s->out->rows = stk_arena_items(s->arena, &s->rows);
    s->out->count = s->rows.count;
    return s->out->rows != NULL;
}

static enum stoker_status python_see(const struct stk_analysis *view, struct stk_arena *arena,
                                     void **partial, struct stoker_err *err)
{
    size_t strings = (size_t)view->t->strings.count + 1;
    struct sweep *s = stk_alloc_zero(1, sizeof *s);
    if (!s) {
        return stk_err_nomem(err);
    }
    s->view = view;
    stk_vec_init(&s->rows, sizeof(struct python_row), UINT32_MAX - 1);
    s->arena = arena;
    stk_map_init(&s->built_ins, UINT32_MAX - 1);
    stk_map_init(&s->scripts, UINT32_MAX - 1);
    stk_thread_events_init(&s->events, view);
    stk_spans_init(&s->selected);
    stk_spans_init(&s->steps);
    s->slot = stk_alloc_zero(strings, sizeof *s->slot);
    s->slot_thread = stk_alloc_zero(strings, sizeof *s->slot_thread);
    s->shared_id = stk_alloc_zero(strings, sizeof *s->shared_id);
    *partial = s->out = stk_arena_alloc(arena, sizeof *s->out);
    bool ok = s->slot && s->slot_thread && s->shared_id && s->out;
    if (ok) {
        *s->out = (struct python_sums){.count = 0};
        ok = python_sweep_all(s);
    }
    stk_free(s->slot);
    stk_free(s->slot_thread);
    stk_free(s->shared_id);
    stk_vec_deinit(&s->rows);
    stk_map_deinit(&s->built_ins);
    stk_map_deinit(&s->scripts);
    stk_thread_events_deinit(&s->events);
    stk_spans_deinit(&s->selected);
    stk_spans_deinit(&s->steps);
    stk_free(s);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

#define FUNCTIONS_COLUMNS(C, R)                                                                    \
    C(R, function, TEXT, "Python function, with file and line as recorded", .is_name = true,       \
      .is_path = true)                                                                             \
    C(R, code, TEXT, "whose code: user, framework, library, builtin, unknown")                     \
    C(R, calls, COUNT, "how often it was called on this thread")                                   \
    C(R, total_ns, NS, "durations, summed; a nested call of the same function counts once")        \
    C(R, self_ns, NS, "time without the Python functions nested inside")                           \
    C(R, step_share, SHARE,                                                                        \
      "self time in the used steps as a share of their time, on the thread that drives them")      \
    C(R, python_ns, NS,                                                                            \
      "self time without operators and runtime calls inside: the interpreter's own; 0 for "        \
      "C functions",                                                                               \
      .is_detail = true)                                                                           \
    C(R, thread, TEXT, "thread that runs it", .is_name = true, .is_detail = true)                  \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)
STK_TABLE(functions, "Python functions by self time", FUNCTIONS_COLUMNS)

#define CODE_COLUMNS(C, R)                                                                         \
    C(R, code, TEXT, "whose code: user, framework, library, builtin, unknown")                     \
    C(R, functions, COUNT, "its functions, counted per thread")                                    \
    C(R, calls, COUNT, "their calls")                                                              \
    C(R, self_ns, NS, "their self time, summed over all threads")                                  \
    C(R, step_share, SHARE,                                                                        \
      "its self time inside steps on the main thread, as a share of the steps' time")
STK_TABLE(code, "Whose code", CODE_COLUMNS)

struct code_sum {
    uint64_t functions, calls;
    int64_t self_ns, driver_ns;
};

static void count_codes(const struct python_sums *p, struct code_sum *codes)
{
    for (size_t i = 0; i < p->count; i++) {
        struct code_sum *c = &codes[p->rows[i].owner];
        c->functions++;
        c->calls += p->rows[i].calls;
        c->self_ns = stk_add_ns(c->self_ns, p->rows[i].self_ns);
    }
    for (int o = 0; o < STK_PYTHON_OWNERS; o++) {
        codes[o].driver_ns += p->driver_self_ns[o];
    }
}

struct listed {
    const struct python_row *row;
    const struct python_sums *sums;
    int32_t rank;
};

// The driving thread's functions first: other threads mostly sleep in Python.
static int by_self(const void *pa, const void *pb)
{
    const struct listed *a = pa, *b = pb;
    if (a->row->on_driver != b->row->on_driver) {
        return a->row->on_driver ? -1 : 1;
    }
    if (a->row->self_ns != b->row->self_ns) {
        return a->row->self_ns > b->row->self_ns ? -1 : 1;
    }
    int names = strcmp(a->row->name, b->row->name);
    return names ? names : a->rank < b->rank ? -1 : a->rank > b->rank;
}

static bool fill_functions(struct stk_table *table, const struct stk_run_sum *run)
{
    struct stk_vec list;
    stk_vec_init(&list, sizeof(struct listed), UINT32_MAX);
    bool ok = true;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct python_sums *p = run->ranks[r]->partial;
        struct listed *place = p && p->count ? stk_vec_push_n(&list, p->count) : NULL;
        ok &= !p || !p->count || place;
        for (size_t i = 0; place && i < p->count; i++) {
            place[i] = (struct listed){&p->rows[i], p, run->ranks[r]->rank};
        }
    }
    stk_sort(list.items, list.count, sizeof(struct listed), by_self);
    for (size_t i = 0; i < list.count && ok; i++) {
        const struct listed *at = stk_vec_at(&list, i);
        const struct python_row *f = at->row;
        const struct functions_row row = {
            .function = stk_cell_text(f->name),
            .code = stk_cell_text(stk_python_owner_key(f->owner)),
            .calls = stk_cell_number((int64_t)f->calls),
            .total_ns = stk_cell_number(f->total_ns),
            .self_ns = stk_cell_number(f->self_ns),
            .step_share = f->on_driver ? stk_cell_share_of(f->step_ns, at->sums->base_ns)
                                       : stk_cell_unknown(),
            .python_ns = stk_cell_number(f->python_ns),
            .thread = stk_cell_text(f->thread),
            .rank = stk_cell_number(at->rank),
        };
        stk_table_put(table, &row);
    }
    stk_vec_deinit(&list);
    return ok;
}

static void fill_codes(struct stk_table *table, const struct code_sum *codes, int64_t base_ns)
{
    for (int o = 0; o < STK_PYTHON_OWNERS; o++) {
        if (!codes[o].calls) {
            continue;
        }
        const struct code_row row = {
            .code = stk_cell_text(stk_python_owner_key((enum stk_python_owner)o)),
            .functions = stk_cell_number((int64_t)codes[o].functions),
            .calls = stk_cell_number((int64_t)codes[o].calls),
            .self_ns = stk_cell_number(codes[o].self_ns),
            .step_share = stk_cell_share_of(codes[o].driver_ns, base_ns),
        };
        stk_table_put(table, &row);
    }
}

static struct stk_cell share_of_code(const struct code_sum *code, int64_t base_ns)
{
    return code->calls ? stk_cell_share_of(code->driver_ns, base_ns) : stk_cell_unknown();
}

#define PYTHON_FIGURES(C, R)                                                                       \
    C(R, traced_share, SHARE,                                                                      \
      "share of the used steps' time on the main thread (its whole time without steps) in "        \
      "any Python function",                                                                       \
      .label = "time in Python functions")                                                         \
    C(R, python_self_share, SHARE,                                                                 \
      "share of the same time that is the interpreter's own: no operator, runtime call or "        \
      "C function",                                                                                \
      .label = "time in the interpreter itself")                                                   \
    C(R, user_share, SHARE, "share of the same time in your own code",                             \
      .label = "time in your code")                                                                \
    C(R, framework_share, SHARE, "share of the same time in the framework's Python code",          \
      .label = "time in framework code")                                                           \
    C(R, library_share, SHARE, "share of the same time in other libraries",                        \
      .label = "time in libraries")                                                                \
    C(R, builtin_share, SHARE, "share of the same time in C functions",                            \
      .label = "time in C functions")                                                              \
    C(R, unknown_share, SHARE, "share of the same time in code of unknown owner",                  \
      .label = "time in code of unknown owner")
STK_SUMMARY(python, PYTHON_FIGURES)

static const struct stk_missing no_tracer = {
    "Python functions", "no Python tracer was on",
    "PyTorch: with_stack=True in torch.profiler.profile; JAX: ProfileOptions() with "
    "python_tracer_level = 1; TensorFlow: ProfilerOptions(python_tracer_level=1), which has no "
    "effect in 2.21; nsys: --python-functions-trace, or your own ranges with --trace=nvtx"};

static void python_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *functions = stk_table_add(doc, &functions_table);
    struct stk_table *code = stk_table_add(doc, &code_table);
    struct code_sum codes[STK_PYTHON_OWNERS] = {{0}};
    int64_t base_ns = 0, self_ns = 0, python_ns = 0;
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        const struct python_sums *p = ctx->run->ranks[r]->partial;
        if (p) {
            count_codes(p, codes);
        }
        base_ns += p && p->count ? p->base_ns : 0;
        python_ns += p ? p->driver_python_ns : 0;
    }
    doc->ran_out |= !fill_functions(functions, ctx->run);
    fill_codes(code, codes, base_ns);
    stk_table_sort(code, "self_ns");
    if (functions->row_count == 0) {
        stk_table_lacks(doc, &no_tracer);
        doc->inconclusive = true;
        return;
    }
    for (int o = 0; o < STK_PYTHON_OWNERS; o++) {
        self_ns += codes[o].driver_ns;
    }
    const struct python_summary summary = {
        .traced_share = stk_cell_share_of(self_ns, base_ns),
        .python_self_share = stk_cell_share_of(python_ns, base_ns),
        .user_share = share_of_code(&codes[STK_PYTHON_USER], base_ns),
        .framework_share = share_of_code(&codes[STK_PYTHON_FRAMEWORK], base_ns),
        .library_share = share_of_code(&codes[STK_PYTHON_LIBRARY], base_ns),
        .builtin_share = share_of_code(&codes[STK_PYTHON_BUILTIN], base_ns),
        .unknown_share = share_of_code(&codes[STK_PYTHON_UNKNOWN], base_ns),
    };
    stk_table_summarize(doc, &python_summary_info, &summary);
}

const struct stk_stats stk_stats_python = {
    .name = "python",
    .question = "Which Python functions take the CPU's time, and whose code are they?",
    .needs = "events of a Python tracer",
    .tables = {&functions_table, &code_table},
    .summary = &python_summary_info,
    .missing = {&no_tracer},
    .hook = {.see = python_see},
    .describe = python_describe,
};
