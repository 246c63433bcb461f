// SPDX-License-Identifier: Apache-2.0
// A rank's work before its steady pace: compilation and related work (as in the breakdown's part
// `compile`: profile/store/names.def, profile/model/sum/first_use.c), by the event's name; calls
// that allocate; copies to the device. Method: one pass over the marks of compilation, one over the
// rows of the host up to that time, one over the operations of the devices up to it. Limits: time
// is summed per thread, and nested compilations count once, even across threads. Allocations from a
// framework's own pool aren't calls.
#include <string.h>

#include "base/sort.h"
#include "base/assert.h"
#include "base/str.h"
#include "answers/passes/stats/stats_startup.h"

const char *stk_startup_work_key(enum stk_startup_work work)
{
    STK_ASSERT((unsigned)work < STK_STARTUP_WORKS);
    static const char *const keys[STK_STARTUP_WORKS] = {
        "model_building", "tracing",    "compilation", "autotuning",        "module_load",
        "capture",        "first_call", "allocation",  "weights_to_device", "copy_to_device"};
    return keys[work];
}

bool stk_startup_is_recorded(enum stk_startup_work work, const struct stk_facts *facts)
{
    STK_ASSERT((unsigned)work < STK_STARTUP_WORKS);
    bool tf = facts->frameworks & 1u << STK_FW_TENSORFLOW;
    bool jax = facts->frameworks & 1u << STK_FW_JAX;
    switch (work) {
    case STK_STARTUP_BUILD:
        return facts->has_python || (tf && facts->has_host_rows);
    case STK_STARTUP_TRACING:
    case STK_STARTUP_COMPILATION:
        return facts->has_python || ((tf || jax) && facts->has_host_rows);
    case STK_STARTUP_MODULE_LOAD:
    case STK_STARTUP_CAPTURE:
    case STK_STARTUP_FIRST_CALL:
    case STK_STARTUP_ALLOCATION:
        return facts->has_runtime;
    case STK_STARTUP_WEIGHTS:
    case STK_STARTUP_COPY:
        return facts->has_device_rows;
    default:
        return facts->has_host_rows;
    }
}

static bool has_any(struct stk_str name, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (memmem(name.p, name.n, parts[i], strlen(parts[i]))) {
            return true;
        }
    }
    return false;
}

static enum stk_startup_work work_of(const struct stk_analysis *view, uint32_t event)
{
    static const char *const tracing[] = {"trace_to_jaxpr",   "func_graph_from_py_func",
                                          "lower_jaxpr",      "lower_sharding",
                                          "_cached_lowering", "TraceToJaxpr",
                                          "graph_building"};
    static const char *const tuning[] = {"utotun", "do_bench", "benchmark_all_configs", "AUTOTUN"};
    static const char *const loading[] = {"ModuleLoad",   "LibraryLoad",      "Module Loading",
                                          "LoadProgram",  "Function Loading", "ActualLoad",
                                          "LinkComplete", "ModuleGetFunction"};
    static const char *const capture[] = {"apture", "GraphInstantiate", "GraphExecUpdate"};
    struct stk_str name = stk_name_of(view->t, event);
    if (name.n && has_any(name, tracing, sizeof tracing / sizeof tracing[0])) {
        return STK_STARTUP_TRACING;
    }
    if (name.n && has_any(name, tuning, sizeof tuning / sizeof tuning[0])) {
        return STK_STARTUP_AUTOTUNING;
    }
    if (name.n && has_any(name, loading, sizeof loading / sizeof loading[0])) {
        return STK_STARTUP_MODULE_LOAD;
    }
    if (name.n && has_any(name, capture, sizeof capture / sizeof capture[0])) {
        return STK_STARTUP_CAPTURE;
    }
    return stk_class_of(view, event) & STK_NAME_COMPILE ? STK_STARTUP_COMPILATION
                                                        : STK_STARTUP_FIRST_CALL;
}

struct longest {
    uint32_t event[STK_STARTUP_WORKS]; // STK_NONE: none
};

static void startup_add(struct stk_startup_sums *out, struct longest *longest,
                        enum stk_startup_work work, uint32_t event, int64_t start_ns,
                        int64_t dur_ns)
{
    struct stk_startup_row *row = &out->rows[work];
    row->first_ns = row->count == 0 || start_ns < row->first_ns ? start_ns : row->first_ns;
    row->count++;
    row->total_ns = stk_add_ns(row->total_ns, dur_ns);
    if (longest->event[work] == STK_NONE || dur_ns > row->longest_ns) {
        row->longest_ns = dur_ns;
        longest->event[work] = event;
    }
}

// Whether the event already counts as a slow first call.
static bool is_marked(const struct stk_marks *marks, int64_t start_ns, uint32_t event)
{
    size_t low = 0, high = marks->count;
    STK_BISECT(low, high, mid, marks->v[mid].end_ns <= start_ns); // the first that ends after it
    return low < marks->count && marks->v[low].event == event;
}

// Sums calls that allocate, and events that build the model: only the outermost of nested ones.
static void sum_thread(const struct stk_analysis *view, const struct stk_track *track,
                       int64_t end_ns, struct stk_startup_sums *out, struct longest *longest)
{
    const struct stk_trace *t = view->t;
    int64_t alloc_end_ns = INT64_MIN, build_end_ns = INT64_MIN;
    for (uint32_t e = track->first; e < track->first + track->count && t->start_ns[e] < end_ns;
         e++) {
        bool runtime = t->kind[e] == STK_KIND_RUNTIME;
        if (runtime && t->start_ns[e] >= alloc_end_ns && (stk_class_of(view, e) & STK_NAME_ALLOC)) {
            alloc_end_ns = stk_end_ns(t, e);
            if (!is_marked(&view->compiles, t->start_ns[e], e)) {
                startup_add(out, longest, STK_STARTUP_ALLOCATION, e, t->start_ns[e],
                            stk_dur_ns(t, e));
            }
        } else if (!runtime && t->start_ns[e] >= build_end_ns &&
                   view->signs[t->name[e]] == STK_SIGN_BUILD + 1) {
            build_end_ns = stk_end_ns(t, e);
            startup_add(out, longest, STK_STARTUP_BUILD, e, t->start_ns[e], stk_dur_ns(t, e));
        }
    }
}

static void add_copy(struct stk_startup_sums *out, struct longest *longest,
                     const struct stk_trace *t, const struct stk_device_op *op, int64_t steps_ns)
{
    enum stk_startup_work work = op->start_ns < steps_ns ? STK_STARTUP_WEIGHTS : STK_STARTUP_COPY;
    const struct stk_ext *x = stk_ext_of(t, op->event);
    startup_add(out, longest, work, op->event, op->start_ns, op->end_ns - op->start_ns);
    if (x && (x->flags & STK_EXT_VALUE) && x->value >= 0) {
        out->rows[work].sized++;
        out->rows[work].bytes = stk_add_ns(out->rows[work].bytes, x->value);
    }
}

bool stk_startup_sum(const struct stk_analysis *view, int64_t steps_ns, int64_t end_ns,
                     struct stk_arena *arena, struct stk_startup_sums *out)
{
    const struct stk_trace *t = view->t;
    struct longest longest;
    for (int w = 0; w < STK_STARTUP_WORKS; w++) {
        longest.event[w] = STK_NONE;
    }
    for (size_t i = 0; i < view->compiles.count; i++) {
        const struct stk_mark *m = &view->compiles.v[i];
        if (m->start_ns < end_ns && m->event != STK_NONE) {
            startup_add(out, &longest, work_of(view, m->event), m->event, m->start_ns,
                        m->end_ns - m->start_ns);
        }
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        if (t->tracks[k].kind == STK_TRACK_THREAD && view->in_rank[t->tracks[k].process]) {
            sum_thread(view, &t->tracks[k], end_ns, out, &longest);
        }
    }
    for (uint32_t d = 0; d < view->sum->device_count; d++) {
        const struct stk_device_line *l = &view->lines[d];
        for (uint32_t i = 0; i < l->op_count && l->ops[i].start_ns < end_ns; i++) {
            if (l->ops[i].part == STK_PART_H2D) {
                add_copy(out, &longest, t, &l->ops[i], steps_ns);
            }
        }
    }
    for (int w = 0; w < STK_STARTUP_WORKS; w++) {
        if (longest.event[w] == STK_NONE) {
            continue;
        }
        struct stk_str name = stk_name_of(t, longest.event[w]);
        if (!(out->rows[w].longest = stk_arena_strndup(arena, name.p, name.n))) {
            return false;
        }
    }
    return true;
}
