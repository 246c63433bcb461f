// SPDX-License-Identifier: Apache-2.0
// The walk that finds the stages of the input pipeline: see input_stages.h.
//
// Method: two walks over the events of each host thread with a stack of what is open. The first
// learns the stages, which functions they started (tf.data records a number with the start and with
// each piece of the function, on any thread) and which run on several threads; the second adds
// up. Time belongs to the innermost open stage. In a call of a stage with workers, it is waiting.
// In its workers ("...Produce", functions), it is the stage's own work. The work of a function's
// operation (DecodeJpeg) is also counted by kind, and stays work of its stage. Limits: tf.data
// pipelines whose operators have the same names count as one. A call counts where it starts; one
// that had not ended when recording stopped is not in the profile. If functions aren't numbered
// (older files), a parallel map's work is its caller's waiting less the work of the stages that
// feed it.
#include "profile/model/input/input_walk.h"

#include "base/alloc.h"
#include "base/hash.h"

#define MAX_PATH_BYTES 1024

static uint32_t new_stage(struct stk_input_walk *w, const char *text, size_t n,
                          struct stk_input_name name)
{
    struct stk_input_growing *g = stk_vec_push(&w->stages);
    const char *copy = g ? stk_arena_strndup(w->arena, text, n) : NULL;
    if (!copy) {
        w->failed = true;
        return STK_NONE;
    }
    *g = (struct stk_input_growing){.sum = {.name = copy,
                                            .kind = (enum stk_input_kind)name.kind,
                                            .is_pipeline = name.is_pipeline,
                                            .is_async = name.is_async,
                                            .parent = STK_NONE,
                                            .parallelism_set = -1,
                                            .buffer_limit = -1,
                                            .is_autotuned = -1},
                                    .last_thread = STK_NONE,
                                    .covered_thread = STK_NONE};
    stk_spans_init(&g->spans);
    return (uint32_t)w->stages.count - 1;
}

#define STAGES_MAX (1u << 16) // stages with a text of their own; all others share one

// The stage with this text; created if missing.
static uint32_t stage_of_text(struct stk_input_walk *w, struct stk_str text,
                              struct stk_input_name what, uint32_t above)
{
    int created = 0;
    uint64_t hash = stk_hash_table_bytes(text.p, text.n);
    if (w->stages.count >= STAGES_MAX && !stk_map_get(&w->texts, hash, text.n)) {
        text = STK_STR("further stages");
        hash = stk_hash_table_bytes(text.p, text.n);
        above = STK_NONE;
    }
    uint32_t *slot = stk_map_put(&w->texts, hash, text.n, 0, &created);
    if (!slot) {
        w->failed = true;
        return STK_NONE;
    }
    if (!created) {
        return *slot;
    }
    *slot = new_stage(w, text.p, text.n, what);
    if (*slot == STK_NONE || above == STK_NONE) {
        return *slot;
    }
    stk_input_stage_at(w, *slot)->sum.parent = above;
    stk_input_stage_at(w, above)->has_children = true;
    return *slot;
}

// The stage of a path, and those downstream of it; each calls the next.
static uint32_t pipeline_stage(struct stk_input_walk *w, struct stk_str path)
{
    uint32_t above = STK_NONE;
    for (size_t end = sizeof "Iterator::"; end <= path.n && !w->failed; end++) {
        struct stk_str rest = {path.p + end, path.n - end}, part = {path.p, end};
        if (rest.n && !stk_str_starts(rest, STK_STR("::"))) {
            continue;
        }
        above = stage_of_text(
            w, part, stk_input_classify(part, STK_KIND_INPUT, STK_NAME_ITERATOR, false), above);
    }
    return above;
}

static uint32_t stage_of_name(struct stk_input_walk *w, uint32_t id)
{
    if (w->stage_of[id]) {
        return w->stage_of[id] - 1;
    }
    char buffer[MAX_PATH_BYTES];
    struct stk_str text = {buffer, stk_input_stage_text(stk_strpool_get(&w->view->t->strings, id),
                                                        w->names[id], buffer, sizeof buffer)};
    uint32_t stage = w->names[id].is_pipeline ? pipeline_stage(w, text)
                                              : stage_of_text(w, text, w->names[id], STK_NONE);
    if (stage != STK_NONE) {
        w->stage_of[id] = stage + 1;
    }
    return stage;
}

static const struct stk_input_name *name_of(struct stk_input_walk *w, uint32_t event)
{
    const struct stk_trace *t = w->view->t;
    uint32_t id = t->name[event];
    if (!w->asked[id]) {
        uint32_t classes = w->view->classes[id];
        w->asked[id] = 1;
        w->names[id] = stk_input_classify(stk_strpool_get(&t->strings, id), t->kind[event], classes,
                                          (classes & STK_NAME_PY_NEXT) != 0);
    }
    return &w->names[id];
}

static bool find_detail(const struct stk_trace *t, uint32_t event, enum stk_detail_key key,
                        int64_t *value)
{
    const struct stk_detail *d = stk_detail_find(t, event, key);
    *value = d ? d->number : *value;
    return d;
}

// Time on the current thread, and how many threads a stage has.
static void add_where(struct stk_input_walk *w, uint32_t stage, int64_t ns)
{
    struct stk_input_growing *g = stk_input_stage_at(w, stage);
    if (g->last_thread != w->thread) {
        int created = 0;
        uint32_t *slot =
            stk_map_put(&w->where_index, stage, w->thread, (uint32_t)w->wheres.count, &created);
        struct stk_input_where *new = slot &&created ? stk_vec_push(&w->wheres) : NULL;
        if (!slot || (created && !new)) {
            w->failed = true;
            return;
        }
        if (new) {
            *new = (struct stk_input_where){stage, w->thread, 0};
        }
        g->sum.threads += created != 0;
        g->last_thread = w->thread;
        g->last_where = *slot;
    }
    struct stk_input_where *at = stk_vec_at(&w->wheres, g->last_where);
    at->ns = stk_add_ns(at->ns, ns);
}

static void add_span(struct stk_input_walk *w, struct stk_input_growing *g, int64_t start_ns,
                     int64_t end_ns)
{
    struct stk_spans *s = &g->spans;
    if (end_ns <= start_ns) {
        return;
    }
    if (s->count == s->capacity && !stk_spans_reserve(s, s->capacity ? 2 * s->capacity : 64)) {
        w->failed = true;
        return;
    }
    s->v[s->count++] = (struct stk_span){start_ns, end_ns};
    g->spans_ns = stk_add_ns(g->spans_ns, end_ns - start_ns);
}

static void add_recorded(struct stk_input_walk *w, struct stk_input_growing *g, uint32_t event)
{
    int64_t value, limit;
    const struct stk_trace *t = w->view->t;
    if (find_detail(t, event, STK_DETAIL_PARALLELISM, &value)) {
        g->sum.parallelism_set = value;
    }
    if (find_detail(t, event, STK_DETAIL_AUTOTUNE, &value)) {
        g->sum.is_autotuned = value != 0;
    }
    if (!find_detail(t, event, STK_DETAIL_ELEMENTS, &value)) {
        value = 1;
    }
    bool is_known = value >= 0 && g->sum.elements >= 0 && value <= INT64_MAX - g->sum.elements;
    g->sum.elements = is_known ? g->sum.elements + value : -1;
    if (!find_detail(t, event, STK_DETAIL_BUFFER_LIMIT, &limit) || limit <= 0) {
        return;
    }
    g->sum.buffer_limit = limit;
    // tf.data records how many elements are ready only where there are any.
    if (!find_detail(t, event, STK_DETAIL_BUFFERED, &value)) {
        value = 0;
    }
    g->fill_sum += value >= limit ? 1 : value <= 0 ? 0 : (double)value / (double)limit;
    g->fill_count++;
}

void stk_input_add_kind(struct stk_input_walk *w, enum stk_input_kind kind, int64_t ns,
                        uint64_t calls)
{
    w->out->kind_ns[kind] = stk_add_ns(w->out->kind_ns[kind], ns);
    w->out->kind_calls[kind] += calls;
}

static bool is_stage_frame(const struct stk_input_frame *f)
{
    return f->name.role != STK_ROLE_OPERATION && f->name.role != STK_ROLE_RUN_HERE;
}

// Adds a thread's time to a stage. In a call of an asynchronous stage, it is waiting.
static void add_time(struct stk_input_walk *w, const struct stk_input_frame *f, int64_t ns)
{
    struct stk_input_stage *s = &stk_input_stage_at(w, f->stage)->sum;
    bool is_call = f->name.role == STK_ROLE_STAGE;
    add_where(w, f->stage, ns);
    if (is_call && s->is_async) {
        s->wait_ns = stk_add_ns(s->wait_ns, ns);
    } else {
        s->self_ns = stk_add_ns(s->self_ns, ns);
    }
    if (!is_call) { // calls were counted at their beginning
        s->total_ns = stk_add_ns(s->total_ns, ns);
    }
}

// The innermost frame's work by kind, for all stages. If a function's starter waits for it, its
// operations were counted there, as the stage's.
static void add_what(struct stk_input_walk *w, const struct stk_input_frame *top,
                     const struct stk_input_frame *below, int64_t ns)
{
    if (top->name.role == STK_ROLE_OPERATION) {
        stk_input_add_kind(w, (enum stk_input_kind)top->name.kind, ns, 0);
        if (below && below->name.role == STK_ROLE_RUN_HERE) {
            w->out->kind_ns[stk_input_stage_at(w, below->stage)->sum.kind] -= ns;
        }
        return;
    }
    if (!is_stage_frame(top) || top->stage == STK_NONE) {
        return;
    }
    const struct stk_input_stage *s = &stk_input_stage_at(w, top->stage)->sum;
    if (top->name.role != STK_ROLE_STAGE || !s->is_async) {
        stk_input_add_kind(w, s->kind, ns, 0);
    }
}

// The innermost open frame among the outer `depth` frames that isn't an operation.
static struct stk_input_frame *frame_below(struct stk_input_walk *w, uint32_t depth)
{
    for (uint32_t i = depth; i-- > 0;) {
        if (w->stack[i].name.role != STK_ROLE_OPERATION && w->stack[i].end_ns > w->at_ns) {
            return &w->stack[i];
        }
    }
    return NULL;
}

// Gives the time since the last change to the innermost open frame.
static void give_out(struct stk_input_walk *w, int64_t to_ns)
{
    int64_t ns = to_ns - w->at_ns;
    if (ns <= 0) {
        return;
    }
    if (w->depth && !w->is_first && !w->failed) {
        const struct stk_input_frame *top = &w->stack[w->depth - 1];
        struct stk_input_frame *below = frame_below(w, w->depth);
        add_what(w, top, below, ns);
        if (below && is_stage_frame(below) && below->stage == STK_NONE) {
            below->pending_ns += ns;
        } else if (below && is_stage_frame(below)) {
            add_time(w, below, ns);
        }
    }
    w->at_ns = to_ns;
}

static void close_ended(struct stk_input_walk *w, int64_t t_ns)
{
    while (w->depth && w->stack[w->depth - 1].end_ns <= t_ns) {
        give_out(w, w->stack[w->depth - 1].end_ns);
        w->depth--;
    }
    if (w->depth) {
        give_out(w, t_ns);
    }
    w->at_ns = t_ns;
}

static void push(struct stk_input_walk *w, struct stk_input_name name, uint32_t stage,
                 uint32_t event)
{
    const struct stk_trace *t = w->view->t;
    if (w->depth == STK_INPUT_DEPTH) {
        return; // deeper calls count as their ancestors'
    }
    struct stk_input_frame f = {.end_ns = stk_end_ns(t, event), .stage = stage, .name = name};
    const struct stk_input_frame *below = frame_below(w, w->depth);
    if (name.role == STK_ROLE_OPERATION && below && below->end_ns < f.end_ns) {
        f.end_ns = below->end_ns; // it only takes time of the enclosing stage
    }
    w->stack[w->depth++] = f;
    if (w->is_first) {
        return;
    }
    if (name.role == STK_ROLE_OPERATION) {
        stk_input_add_kind(w, (enum stk_input_kind)name.kind, 0, 1);
    }
    if (name.role == STK_ROLE_FUNCTION) {
        struct stk_input_growing *g = stk_input_stage_at(w, stage);
        g->has_functions = true;
        add_span(w, g, t->start_ns[event], stk_end_ns(t, event));
    }
}

// The part of a call that no other call of the stage on this thread covers.
static void add_call(struct stk_input_walk *w, struct stk_input_growing *g, uint32_t event)
{
    int64_t start_ns = w->view->t->start_ns[event], end_ns = stk_end_ns(w->view->t, event);
    g->sum.calls++;
    stk_input_add_kind(w, g->sum.kind, 0, 1);
    add_recorded(w, g, event);
    if (g->covered_thread == w->thread && start_ns < g->covered_ns) {
        start_ns = g->covered_ns;
    }
    if (end_ns <= start_ns) {
        return;
    }
    g->covered_ns = end_ns;
    g->covered_thread = w->thread;
    g->sum.total_ns = stk_add_ns(g->sum.total_ns, end_ns - start_ns);
    if (g->is_shared && !g->sum.is_async) {
        add_span(w, g, start_ns, end_ns);
    }
}

static void open_call(struct stk_input_walk *w, uint32_t event, struct stk_input_name name)
{
    uint32_t stage = stage_of_name(w, w->view->t->name[event]);
    if (stage == STK_NONE) {
        return;
    }
    struct stk_input_frame *around = w->depth ? &w->stack[w->depth - 1] : NULL;
    struct stk_input_growing *g = stk_input_stage_at(w, stage);
    if (around && around->name.role == STK_ROLE_PRODUCE && around->stage == STK_NONE &&
        g->sum.parent != STK_NONE) {
        around->stage = g->sum.parent;
        if (!w->is_first) {
            add_time(w, around, around->pending_ns);
        }
    }
    name.role = STK_ROLE_STAGE;
    if (around && around->stage != STK_NONE) {
        stk_input_stage_at(w, around->stage)->has_nested = true;
    }
    push(w, name, stage, event);
    if (w->is_first) {
        g->is_shared |= g->last_thread != STK_NONE && g->last_thread != w->thread;
        g->last_thread = w->thread;
        return;
    }
    add_where(w, stage, 0); // the thread is known from the first call on
    add_call(w, g, event);
}

static uint32_t stage_around(const struct stk_input_walk *w)
{
    for (uint32_t i = w->depth; i-- > 0;) {
        if (w->stack[i].stage != STK_NONE && w->stack[i].end_ns > w->at_ns) {
            return w->stack[i].stage;
        }
    }
    return STK_NONE;
}

static void open_start(struct stk_input_walk *w, uint32_t event, struct stk_input_name name)
{
    uint32_t stage = stage_around(w);
    int64_t number;
    if (stage == STK_NONE) {
        return;
    }
    if (w->is_first && find_detail(w->view->t, event, STK_DETAIL_FUNCTION, &number)) {
        uint32_t value = stage | (name.role == STK_ROLE_RUN_HERE ? STK_INPUT_RUNS_HERE : 0);
        uint32_t *slot = stk_map_put(&w->functions, (uint64_t)number, 0, value, NULL);
        w->failed |= !slot;
    }
    if (name.role == STK_ROLE_RUN_AWAY) {
        push(w, name, stage, event);
    }
}

static void open_function(struct stk_input_walk *w, uint32_t event, struct stk_input_name name)
{
    int64_t number;
    if (w->is_first || !find_detail(w->view->t, event, STK_DETAIL_FUNCTION, &number)) {
        return;
    }
    const uint32_t *stage = stk_map_get(&w->functions, (uint64_t)number, 0);
    if (!stage) {
        return;
    }
    if (*stage & STK_INPUT_RUNS_HERE) {
        name.role = STK_ROLE_RUN_HERE;
        if (w->depth) {
            return; // on its starter's own thread
        }
    }
    push(w, name, *stage & ~STK_INPUT_RUNS_HERE, event);
}

static void open_event(struct stk_input_walk *w, uint32_t event, struct stk_input_name name)
{
    switch (name.role) {
    case STK_ROLE_INSIDE:
        if (!w->depth && !w->view->threads[w->thread].is_loader) {
            return;
        }
        open_call(w, event, name);
        break;
    case STK_ROLE_NEXT:
        if (!stk_map_get(&w->nexts, event, 0)) {
            return;
        }
        // fall through
    case STK_ROLE_STAGE:
        open_call(w, event, name);
        break;
    case STK_ROLE_RUN_AWAY:
    case STK_ROLE_RUN_HERE:
        open_start(w, event, name);
        break;
    case STK_ROLE_FUNCTION:
        open_function(w, event, name);
        break;
    default:
        push(w, name, STK_NONE, event);
    }
}

static void walk_thread(struct stk_input_walk *w, uint32_t root)
{
    const struct stk_trace *t = w->view->t;
    struct stk_view_cursor cursor = {&w->selected, 0};
    uint32_t e;
    w->thread = root;
    w->at_ns = INT64_MIN;
    w->failed |= !stk_thread_events_begin(&w->events, root, w->rows);
    while (!w->failed && (e = stk_thread_events_next(&w->events)) != STK_NONE) {
        const struct stk_input_name *name = &w->names[t->name[e]];
        if (name->role == STK_ROLE_NONE) {
            continue;
        }
        close_ended(w, t->start_ns[e]);
        if (stk_view_in(&cursor, t->start_ns[e])) {
            open_event(w, e, *name);
        }
    }
    close_ended(w, INT64_MAX);
}

// What a row has. Most rows have nothing of the input pipeline; an executor's rows have no calls.
enum { HOLDS_WORK = 1, HOLDS_CALLS = 2 };

static uint8_t holds(struct stk_input_walk *w, const struct stk_track *row)
{
    uint8_t bits = 0;
    for (uint32_t e = row->first; e < row->first + row->count; e++) {
        enum stk_input_role role = (enum stk_input_role)name_of(w, e)->role;
        bits |= role == STK_ROLE_NONE                                     ? 0
                : role == STK_ROLE_FUNCTION || role == STK_ROLE_OPERATION ? HOLDS_WORK
                                                                          : HOLDS_CALLS;
    }
    return bits;
}

static void find_rows(struct stk_input_walk *w)
{
    const struct stk_analysis *v = w->view;
    for (uint32_t k = 0; k < v->t->track_count; k++) {
        w->rows[k] = v->threads[k].in_rank ? holds(w, &v->t->tracks[k]) : 0;
    }
}

static uint8_t thread_holds(const struct stk_input_walk *w, uint32_t root)
{
    uint8_t bits = 0;
    for (uint32_t k = root; k != STK_NONE; k = w->view->threads[k].next_row) {
        bits |= w->rows[k];
    }
    return bits;
}

// The first walk learns from calls and the events around them.
static void walk_once(struct stk_input_walk *w, bool is_first)
{
    uint8_t needs = is_first ? HOLDS_CALLS : HOLDS_CALLS | HOLDS_WORK;
    const struct stk_analysis *v = w->view;
    w->is_first = is_first;
    for (size_t i = 0; i < w->stages.count; i++) {
        stk_input_stage_at(w, (uint32_t)i)->last_thread = STK_NONE;
    }
    for (uint32_t k = 0; k < v->t->track_count && !w->failed; k++) {
        if (v->threads[k].in_rank && v->threads[k].root == k && thread_holds(w, k) & needs) {
            walk_thread(w, k);
        }
    }
}

static void find_nexts(struct stk_input_walk *w)
{
    const struct stk_marks *f = &w->view->fetches;
    for (size_t i = 0; i < f->count && !w->failed; i++) {
        if (stk_class_of(w->view, f->v[i].event) & STK_NAME_PY_NEXT) {
            w->failed |= !stk_map_put(&w->nexts, f->v[i].event, 0, 1, NULL);
        }
    }
}

void stk_input_walk_all(struct stk_input_walk *w)
{
    find_nexts(w);
    find_rows(w);
    walk_once(w, true);
    walk_once(w, false);
}
