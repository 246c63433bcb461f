// SPDX-License-Identifier: Apache-2.0
// When threads of tf.data's are at work (input_work.h): the innermost event that is open on one of
// them is an operation of a function, or a stage that does its own work. The call of a stage with
// workers of its own waits for them, as does a function's call whose operations run elsewhere.
// Of the model's threads every event counts: the executor works on operations that leave none.
// Limit: a function of Python's that sleeps counts as work, its thread does not say that it sleeps.
#include "profile/model/input/input_work.h"

#include "base/alloc.h"
#include "profile/model/input/input_kinds.h"
#include "profile/model/threads/thread_walk.h"

enum { NOT_ASKED, WORKS, WAITS };

struct finding {
    const struct stk_analysis *a;
    struct stk_input_work *work;
    uint8_t *does; // per string id
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

static bool is_work(struct finding *f, const struct stk_open_event *top)
{
    uint8_t kind = f->a->t->kind[top->event];
    return (kind == STK_KIND_HOST_OP || kind == STK_KIND_INPUT) && !does_wait(f, top->event);
}

// Stretches of a row follow each other: one that goes on makes the last one longer.
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

static bool see_row(struct finding *f, struct stk_thread_cursor *c, uint32_t row)
{
    const struct stk_trace *t = f->a->t;
    const struct stk_track *k = &t->tracks[row];
    size_t first = f->work->any.count;
    stk_cursor_init(c, f->a, row);
    for (int64_t at = k->count ? t->start_ns[k->first] : 0; c->next < c->end || c->depth;) {
        stk_cursor_advance(c, at);
        const struct stk_open_event *top = stk_cursor_top(c);
        int64_t end = stk_cursor_stretch(c, at, INT64_MAX);
        if (end == INT64_MAX) {
            break;
        }
        if (top && is_work(f, top) && !add(&f->work->any, first, at, end)) {
            return false;
        }
        f->work->calls_python |= top && f->a->signs[t->name[top->event]] == STK_SIGN_PY_FUNC + 1;
        at = end;
    }
    return true;
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
    struct stk_thread_cursor *c = stk_cursor_new(STK_WALK_DEPTH);
    f.does = stk_alloc_zero((size_t)a->t->strings.count + 1, sizeof *f.does);
    bool ok = c && f.does;
    for (uint32_t k = 0; k < a->t->track_count && ok; k++) {
        const struct stk_thread_info *th = &a->threads[k];
        if (th->in_rank && th->root != a->driver) {
            ok = a->threads[th->root].is_loader ? see_row(&f, c, k) : see_events(&f, k);
        }
    }
    stk_spans_normalize(&work->any);
    stk_spans_normalize(&work->model);
    stk_free(f.does);
    stk_free(c);
    return ok;
}
