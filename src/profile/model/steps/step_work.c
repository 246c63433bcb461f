// SPDX-License-Identifier: Apache-2.0
// Where the work of each step is (step_work.h). Method: passes over the notable events of the rows
// (notable.h) and over the marks, which are disjoint and in order.
#include "profile/model/steps/step_work.h"

#include "base/alloc.h"
#include "profile/model/steps/evaluated.h"
#include "profile/model/steps/jitted.h"
#include "profile/model/steps/main_calls.h"

static void find_work(const struct stk_analysis *a, const struct stk_vec *notes,
                      struct stk_step_work *work)
{
    const struct stk_trace *t = a->t;
    const struct stk_marks *m = &a->fetches;
    uint32_t step = 0;
    size_t mark = 0;
    int64_t handed_ns = INT64_MIN;
    for (size_t i = 0; i < notes->count; i++) {
        const struct stk_note *x = stk_vec_at(notes, i);
        int64_t start_ns = t->start_ns[x->event];
        if (x->is & STK_NOTE_HANDS) {
            handed_ns = stk_end_ns(t, x->event);
        }
        if (!(x->is & STK_NOTE_WORK) || start_ns < handed_ns) {
            continue;
        }
        while (mark < m->count && m->v[mark].end_ns <= start_ns) {
            mark++;
        }
        bool inside = mark < m->count && m->v[mark].start_ns <= start_ns;
        uint32_t at = inside ? STK_NONE : stk_step_at(a, start_ns, &step);
        if (at == STK_NONE) {
            continue;
        }
        struct stk_step_work *w = &work[at];
        w->first_ns = start_ns < w->first_ns ? start_ns : w->first_ns;
        w->last_ns = start_ns > w->last_ns ? start_ns : w->last_ns;
        w->count++;
    }
}

// Are the calls with most of the time operations that run one by one?
static bool runs_one_by_one(const struct stk_analysis *a, const struct stk_vec *calls)
{
    const struct stk_mark *first = stk_vec_at(calls, 0);
    return calls->count > 2 * (size_t)a->step_count || stk_call_is_alone(a, first->event);
}

// Calls of the jitted function that represents the step, if operations that run one by one take
// most of the time.
static bool find_once_a_step(const struct stk_analysis *a, struct stk_vec *calls)
{
    struct stk_calls_filter f = {.class = STK_NAME_PJIT, .by_name = true};
    struct stk_calls c;
    if (!stk_calls_once_a_step(a, f.class, &f.name)) {
        return false;
    }
    if (f.name == STK_NONE) {
        return true;
    }
    bool ok = stk_calls_choose(a, &f, &c);
    stk_vec_deinit(calls);
    *calls = c.marks;
    return ok;
}

// A call that computes gradients is the step's work, even if many of them precede the call that
// uses them (micro-batches, a gradient per sample). They don't make a batch. Moves first[] of a
// step to its first such call. False: no memory.
static bool begin_with_gradients(const struct stk_analysis *a, struct stk_notable *notable,
                                 int64_t *first)
{
    enum { UNASKED, NO, YES };
    const struct stk_trace *t = a->t;
    if (a->driver == STK_NONE || t->program_count == 0) {
        return true;
    }
    uint8_t *by_name = stk_alloc_zero((size_t)t->strings.count + 1, 1);
    const struct stk_vec *notes = stk_notable_of(notable, a->driver);
    uint32_t step = 0;
    for (size_t i = 0; by_name && notes && i < notes->count; i++) {
        uint32_t e = ((const struct stk_note *)stk_vec_at(notes, i))->event;
        if (!(stk_class_of(a, e) & STK_NAME_PJIT)) {
            continue;
        }
        uint8_t *known = &by_name[t->name[e]];
        if (*known == UNASKED) {
            *known = stk_jitted_differentiates(t, stk_name_of(t, e)) ? YES : NO;
        }
        uint32_t at = *known == YES ? stk_step_at(a, t->start_ns[e], &step) : STK_NONE;
        if (at != STK_NONE && first[at] != INT64_MAX && t->start_ns[e] < first[at]) {
            first[at] = t->start_ns[e];
        }
    }
    bool ok = by_name && notes;
    stk_free(by_name);
    return ok;
}

bool stk_step_work_begin_with_main(const struct stk_analysis *a, struct stk_notable *notable,
                                   struct stk_step_work *work)
{
    struct stk_vec calls;
    uint32_t class, step = 0;
    bool ok = stk_main_calls_find(a, &calls, &class);
    if (ok && (class == 0 || (class == STK_NAME_PJIT && runs_one_by_one(a, &calls)))) {
        ok = find_once_a_step(a, &calls);
    }
    int64_t *first = stk_alloc_array((size_t)a->step_count + 1, sizeof *first);
    for (uint32_t k = 0; first && k < a->step_count; k++) {
        first[k] = INT64_MAX;
    }
    for (size_t i = 0; ok && first && i < calls.count; i++) {
        const struct stk_mark *m = stk_vec_at(&calls, i);
        uint32_t at = stk_step_at(a, m->start_ns, &step);
        if (at != STK_NONE && m->start_ns < first[at]) {
            first[at] = m->start_ns;
        }
    }
    ok = ok && first && begin_with_gradients(a, notable, first);
    for (uint32_t k = 0; ok && class != STK_NAME_OPTIMIZER && k < a->step_count; k++) {
        work[k].first_ns = first[k] == INT64_MAX ? work[k].first_ns : first[k];
    }
    stk_vec_deinit(&calls);
    stk_free(first);
    return ok;
}

// The driving row comes last, so that its notable events are still known.
bool stk_step_work_find(const struct stk_analysis *a, struct stk_notable *notable,
                        struct stk_step_work *work)
{
    for (uint32_t i = 0; i < a->step_count; i++) {
        work[i] = (struct stk_step_work){INT64_MAX, INT64_MIN, 0};
    }
    for (uint32_t k = 0; k <= a->t->track_count; k++) {
        uint32_t row = k == a->t->track_count ? a->driver : k;
        if (row == STK_NONE || (k == a->driver && k < a->t->track_count) ||
            !a->threads[row].in_rank || a->threads[a->threads[row].root].is_loader) {
            continue;
        }
        const struct stk_vec *notes = stk_notable_of(notable, row);
        if (!notes) {
            return false;
        }
        find_work(a, notes, work);
    }
    return true;
}
