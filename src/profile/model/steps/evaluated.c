// SPDX-License-Identifier: Apache-2.0
// Data that tf.data delivers to an evaluation or a prediction inside a step isn't the step's input.
// Two cases count: an iterator that is created only now and then, and data for another function
// after the step's own. A loader's data after a step's last optimizer call also belongs to an
// evaluation, if the step's own batch came before. The step still waits for it, so it is measured
// separately.
//
// Method: passes over the fetches in time order, together with the driving thread's calls of
// functions and of the optimizer. Limits: without an optimizer, in a step that fetches before its
// own function, a later evaluation's fetches count as the step's.
#include "base/alloc.h"
#include "profile/model/steps/evaluated.h"

uint32_t stk_step_at(const struct stk_analysis *a, int64_t t_ns, uint32_t *at)
{
    while (*at < a->step_count && a->steps[*at].end_ns <= t_ns) {
        (*at)++;
    }
    return *at < a->step_count && a->steps[*at].start_ns <= t_ns ? *at : STK_NONE;
}

// A tf.data iterator that is created once, or now and then for an evaluation, isn't the step's
// input.
static void drop_rare_iterators(struct stk_analysis *a)
{
    const uint32_t made = STK_NAME_PREP | STK_NAME_ITERATOR;
    size_t kept = 0;
    if (2 * a->sum->facts.signs[STK_SIGN_ITERATOR].count >= a->step_count) {
        return;
    }
    for (size_t i = 0; i < a->fetches.count; i++) {
        if ((stk_class_of(a, a->fetches.v[i].event) & made) != made) {
            a->fetches.v[kept++] = a->fetches.v[i];
        }
    }
    a->fetches.count = kept;
}

// The next outermost call of a tf.function that begins in [from_ns, until_ns); NULL: none. *at is a
// cursor that only goes forward.
static const struct stk_mark *next_function(const struct stk_analysis *a, size_t *at,
                                            int64_t from_ns, int64_t until_ns)
{
    const struct stk_marks *m = &a->step_events;
    while (*at < m->count &&
           (stk_track_of(a->t, m->v[*at].event) != a->driver || m->v[*at].start_ns < from_ns ||
            !(stk_class_of(a, m->v[*at].event) & STK_NAME_FUNCTION))) {
        (*at)++;
    }
    return *at < m->count && m->v[*at].start_ns < until_ns ? &m->v[*at] : NULL;
}

// In a step that fetched nothing before its function, the step's own data arrives inside that
// function. Data that tf.data delivers afterwards, from the fetch for another function on, belongs
// to an evaluation or a prediction.
static void drop_evaluated(struct stk_analysis *a)
{
    const uint32_t given = STK_NAME_ITERATOR | STK_NAME_GET_NEXT | STK_NAME_FETCH;
    struct stk_marks *m = &a->fetches;
    uint32_t step = 0;
    size_t kept = 0, at = 0, after = 0;
    bool leads = false, other = false;
    for (size_t i = 0, of = STK_NONE; i < m->count; i++) {
        struct stk_mark x = m->v[i];
        uint32_t k = stk_step_at(a, x.start_ns, &step);
        const struct stk_mark *first = NULL, *next = NULL;
        if (k != STK_NONE && (stk_class_of(a, x.event) & given)) {
            first = next_function(a, &at, a->steps[k].start_ns, a->steps[k].end_ns);
            leads = (k == of && leads) || (first && x.start_ns < first->start_ns);
            other &= k == of;
            of = k;
            after = after > at ? after : at;
            next = next_function(a, &after, x.end_ns, a->steps[k].end_ns);
        }
        if (first && next) {
            other = a->t->name[first->event] != a->t->name[next->event];
        }
        if (!first || !other || leads) {
            m->v[kept++] = x;
        }
    }
    m->count = kept;
}

// When each step's last optimizer call on the driving thread ends; INT64_MAX: it has none.
static void find_optimized(const struct stk_analysis *a, int64_t *end_ns)
{
    const struct stk_marks *m = &a->step_events;
    uint32_t step = 0, row = STK_NONE;
    for (uint32_t k = 0; k < a->step_count; k++) {
        end_ns[k] = INT64_MAX;
    }
    for (size_t i = 0; i < m->count; i++) {
        if (stk_thread_of(a, m->v[i].event) != a->threads[a->driver].root ||
            !(stk_class_of(a, m->v[i].event) & STK_NAME_OPTIMIZER)) {
            continue;
        }
        step = stk_track_of(a->t, m->v[i].event) == row ? step : 0; // in order on each row
        row = stk_track_of(a->t, m->v[i].event);
        uint32_t at = stk_step_at(a, m->v[i].start_ns, &step);
        if (at != STK_NONE && (end_ns[at] == INT64_MAX || m->v[i].end_ns > end_ns[at])) {
            end_ns[at] = m->v[i].end_ns;
        }
    }
}

// The time of fetches that an evaluation waits for after the step's optimizer.
static void measure_behind_optimizer(struct stk_analysis *a, const int64_t *end_ns)
{
    const struct stk_marks *m = &a->fetches;
    uint32_t step = 0, fed = STK_NONE;
    for (size_t i = 0; i < m->count; i++) {
        uint32_t k = stk_step_at(a, m->v[i].start_ns, &step);
        bool is_after = k != STK_NONE && m->v[i].start_ns >= end_ns[k];
        fed = k != STK_NONE && !is_after ? k : fed;
        if (is_after && fed == k && !a->steps[k].excluded) {
            a->sum->facts.evaluated_fetch_ns += m->v[i].end_ns - m->v[i].start_ns;
        }
    }
}

bool stk_evaluated_drop(struct stk_analysis *a)
{
    drop_rare_iterators(a);
    if (a->driver == STK_NONE) {
        return true;
    }
    drop_evaluated(a);
    int64_t *end_ns = stk_alloc_array((size_t)a->step_count + 1, sizeof *end_ns);
    if (end_ns) {
        find_optimized(a, end_ns);
        measure_behind_optimizer(a, end_ns);
    }
    stk_free(end_ns);
    return end_ns != NULL;
}
