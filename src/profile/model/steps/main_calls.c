// SPDX-License-Identifier: Apache-2.0
// The calls that mark steps (main_calls.h): one pass over the marks of the host's scan for
// each question.
#include "profile/model/steps/main_calls.h"

#include "base/alloc.h"
#include "profile/model/threads/python_frame.h"

#define ONCE 1.25       // calls a step, at most: the recording may cut steps off
#define MAIN_SHARE 0.33 // of the time of all calls of the class
#define MOST_BACK 64    // events before a call that are searched for its caller

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

static bool passes(const struct stk_analysis *a, const struct stk_calls_filter *f, uint32_t event)
{
    uint32_t class = stk_class_of(a, event);
    if (f->by_name && !is_named(a, event, f->name)) {
        return false;
    }
    return f->marker ? stk_is_step_mark(a, event) : (class & f->class) != 0;
}

bool stk_calls_choose(const struct stk_analysis *a, const struct stk_calls_filter *f,
                      struct stk_calls *out)
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

bool stk_calls_main_function(const struct stk_analysis *a, uint32_t class, double least,
                             uint32_t *name)
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
    bool found = ok && *name != STK_NONE && (double)totals[*name] >= least * (double)all_ns;
    stk_map_deinit(&first);
    stk_free(totals);
    *name = found ? *name : STK_NONE;
    return ok;
}

bool stk_call_is_alone(const struct stk_analysis *a, uint32_t event)
{
    const struct stk_trace *t = a->t;
    uint32_t first = t->tracks[stk_track_of(t, event)].first;
    uint8_t depth = t->depth[event];
    for (uint32_t e = event, n = 0; e-- > first && n < MOST_BACK && depth > 0; n++) {
        if (t->depth[e] >= depth) {
            continue;
        }
        depth = t->depth[e];
        if (t->kind[e] == STK_KIND_PYTHON) {
            struct stk_str called = stk_python_frame_called(stk_name_of(t, e));
            return stk_str_eq(called, STK_STR("apply_primitive"));
        }
    }
    return false;
}

struct once {
    int64_t ns, end_ns;
    uint32_t count;
    bool is_alone;
};

// Of the names with calls for at least half of all steps, and at most `most` calls a step, the one
// whose calls take longest.
static uint32_t longest_once(const struct stk_analysis *a, const struct once *by_name, double most,
                             bool is_alone)
{
    int64_t most_ns = 0;
    uint32_t name = STK_NONE;
    for (uint32_t id = 0; id < a->t->strings.count; id++) {
        const struct once *x = &by_name[id];
        bool fits = 2 * x->count >= a->step_count && x->count <= most * a->step_count;
        if (fits && x->is_alone == is_alone && x->ns > most_ns) {
            most_ns = x->ns;
            name = id;
        }
    }
    return name;
}

bool stk_calls_once_a_step(const struct stk_analysis *a, uint32_t class, uint32_t *name)
{
    struct once *by_name = stk_alloc_zero((size_t)a->t->strings.count + 1, sizeof *by_name);
    *name = STK_NONE;
    for (size_t i = 0; by_name && i < a->step_events.count; i++) {
        const struct stk_mark *m = &a->step_events.v[i];
        struct once *x = &by_name[a->t->name[m->event]];
        if ((stk_class_of(a, m->event) & class) && stk_track_of(a->t, m->event) == a->driver &&
            m->start_ns >= x->end_ns) { // else it is nested in a call of that name
            x->ns = stk_add_ns(x->ns, m->end_ns - m->start_ns);
            x->end_ns = m->end_ns;
            x->is_alone = x->count++ ? x->is_alone : stk_call_is_alone(a, m->event);
        }
    }
    // A call returns quickly, for any computation. So one that is made twice a step (by an
    // optimizer outside of the jitted step) may take longer than the step's own, and so may an
    // operation that runs alone.
    static const double most[] = {ONCE, 2, ONCE, 2};
    for (int i = 0; by_name && i < 4 && *name == STK_NONE; i++) {
        *name = longest_once(a, by_name, most[i], i >= 2);
    }
    stk_free(by_name);
    return by_name != NULL;
}

bool stk_main_calls_find(const struct stk_analysis *a, struct stk_vec *marks, uint32_t *class)
{
    static const uint32_t classes[] = {STK_NAME_OPTIMIZER, STK_NAME_PJIT, STK_NAME_FUNCTION};
    stk_vec_init(marks, sizeof(struct stk_mark), UINT32_MAX);
    *class = 0;
    for (int i = 0; i < 3; i++) {
        struct stk_calls_filter f = {.class = classes[i],
                                     .by_name = classes[i] != STK_NAME_OPTIMIZER};
        struct stk_calls c;
        if (f.by_name && !stk_calls_main_function(a, f.class, MAIN_SHARE, &f.name)) {
            return false;
        }
        if (f.by_name && f.name == STK_NONE) {
            continue;
        }
        bool ok = stk_calls_choose(a, &f, &c);
        if (!ok || c.marks.count) {
            *marks = c.marks;
            *class = f.class;
            return ok;
        }
        stk_vec_deinit(&c.marks);
    }
    return true;
}
