// SPDX-License-Identifier: Apache-2.0
// When tf.data's threads are at work (input_work.h): the innermost open event on one of them is an
// operation of a function, or a stage that does its own work. A call of a stage with workers only
// waits for them, and so does a function's call whose operations run elsewhere. On the model's
// threads every event counts, because some of the executor's operations leave no event.
// Limit: a Python function that sleeps counts as work, because its thread doesn't show the sleep.
#include "profile/model/input/input_work.h"

#include "base/alloc.h"
#include "profile/model/input/input_kinds.h"

enum { NOT_ASKED, WORKS, WAITS };
enum { DEPTH_MAX = 512 }; // deeper events count as their ancestors

struct open_event {
    int64_t end_ns;
    uint32_t event;
};

struct finding {
    const struct stk_analysis *a;
    struct stk_input_work *work;
    uint8_t *does; // per string id
    size_t first;  // in work->any: of the row that is walked
    int64_t at_ns; // added up to here
    uint32_t depth;
    struct open_event open[DEPTH_MAX];
};

static bool does_wait(struct finding *f, uint32_t event)
{
    const struct stk_trace *t = f->a->t;
    uint32_t id = t->name[event], classes = f->a->classes[id];
    if (f->does[id] == NOT_ASKED) {
        struct stk_input_name name =
            stk_input_classify(stk_strpool_get(&t->strings, id), t->kind[event], classes, false);
        bool waits = (classes & (STK_NAME_FETCH | STK_NAME_WAIT_HOST)) || name.is_async;
        f->does[id] = waits ? WAITS : WORKS;
    }
    return f->does[id] == WAITS;
}

static bool is_work(struct finding *f, uint32_t event)
{
    uint8_t kind = f->a->t->kind[event];
    return (kind == STK_KIND_HOST_OP || kind == STK_KIND_INPUT) && !does_wait(f, event);
}

// Stretches of a row come in order: one that continues the last extends it.
static bool add(struct stk_spans *s, size_t first, int64_t start_ns, int64_t end_ns)
{
    if (s->count > first && s->v[s->count - 1].end_ns == start_ns) {
        s->v[s->count - 1].end_ns = end_ns;
        return true;
    }
    if (s->count == s->capacity && !stk_spans_reserve(s, s->capacity ? 2 * s->capacity : 64)) {
        return false;
    }
    s->v[s->count++] = (struct stk_span){start_ns, end_ns};
    return true;
}

// Adds the innermost event, open until `to`.
static bool see_until(struct finding *f, int64_t to_ns)
{
    int64_t from_ns = f->at_ns;
    f->at_ns = to_ns;
    if (!f->depth || from_ns >= to_ns) {
        return true;
    }
    uint32_t event = f->open[f->depth - 1].event;
    f->work->calls_python |= f->a->signs[f->a->t->name[event]] == STK_SIGN_PY_FUNC + 1;
    return !is_work(f, event) || add(&f->work->any, f->first, from_ns, to_ns);
}

static bool close_until(struct finding *f, int64_t to_ns)
{
    bool ok = true;
    while (ok && f->depth && f->open[f->depth - 1].end_ns <= to_ns) {
        ok = see_until(f, f->open[f->depth - 1].end_ns);
        f->depth--;
    }
    return ok;
}

static bool see_row(struct finding *f, uint32_t row)
{
    const struct stk_trace *t = f->a->t;
    const struct stk_track *k = &t->tracks[row];
    bool ok = true;
    f->first = f->work->any.count;
    f->at_ns = INT64_MIN;
    for (uint32_t e = k->first; ok && e < k->first + k->count; e++) {
        int64_t start_ns = t->start_ns[e], end_ns = stk_end_ns(t, e);
        ok = close_until(f, start_ns) && see_until(f, start_ns);
        if (f->depth < DEPTH_MAX && end_ns > start_ns) {
            f->open[f->depth++] = (struct open_event){end_ns, e};
        }
    }
    return ok && close_until(f, INT64_MAX);
}

// Outermost events of a row, as spans.
static bool see_events(struct finding *f, uint32_t row)
{
    const struct stk_trace *t = f->a->t;
    const struct stk_track *k = &t->tracks[row];
    size_t first = f->work->model.count;
    for (uint32_t e = k->first; e < k->first + k->count; e++) {
        bool counts = t->depth[e] == 0 && !(stk_class_of(f->a, e) & STK_NAME_WAIT_HOST);
        if (counts && !add(&f->work->model, first, t->start_ns[e], stk_end_ns(t, e))) {
            return false;
        }
    }
    return true;
}

bool stk_input_work_find(const struct stk_analysis *a, struct stk_input_work *work)
{
    struct finding f = {.a = a, .work = work};
    f.does = stk_alloc_zero((size_t)a->t->strings.count + 1, sizeof *f.does);
    bool ok = f.does != NULL;
    for (uint32_t k = 0; k < a->t->track_count && ok; k++) {
        const struct stk_thread_info *th = &a->threads[k];
        if (th->in_rank && th->root != a->driver) {
            ok = a->threads[th->root].is_loader ? see_row(&f, k) : see_events(&f, k);
        }
    }
    stk_spans_normalize(&work->any);
    stk_spans_normalize(&work->model);
    stk_free(f.does);
    return ok;
}
