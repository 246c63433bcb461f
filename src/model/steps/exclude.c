// SPDX-License-Identifier: Apache-2.0
// Steps that would distort the breakdown are named and not used: a step longer than twice the
// median of the others (warm-up, evaluation, checkpoint, a pause of the collector), unless such
// steps recur at a regular distance or hold more than 40 % of the time, since then they are the
// job; and what the user did not select.
//
// A step's length is that of its window on the busiest device: a host that runs ahead is no
// outlier.
//
// Limits: with fewer than three steps nothing stands out, and all are used.
#include "base/alloc.h"
#include "model/analysis.h"
#include "model/median.h"

#define OUTLIER 2       // times the median of the others
#define KEEP_PERCENT 40 // of the time: outliers that hold more stay
#define MIN_STEPS 3
#define EVAL_PERCENT 10 // of a long step spent in evaluation or a checkpoint explains it

static void exclude_unselected(struct stk_analysis *a)
{
    const struct stk_select *sel = a->select;
    for (uint32_t i = 0; i < a->step_count; i++) {
        struct stk_host_step *s = &a->steps[i];
        if (sel->has_steps && (s->number < sel->step_first || s->number > sel->step_last)) {
            s->excluded = STK_EXCLUDED_UNSELECTED;
        } else if ((sel->has_from && s->start_ns < a->from_ns) ||
                   (sel->has_to && s->end_ns > a->to_ns)) {
            s->excluded = "not wholly in the selected time";
        }
    }
}

// Indices of outliers, in order; returns their number. `durs` is room for the candidates' lengths.
static uint32_t find_outliers(struct stk_analysis *a, const int64_t *length_ns, int64_t *durs,
                              uint32_t *at, int64_t *total_ns, int64_t *held_ns)
{
    uint32_t n = 0, found = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!a->steps[i].excluded) {
            durs[n++] = length_ns[i];
            *total_ns += length_ns[i];
        }
    }
    if (n < MIN_STEPS) {
        return 0;
    }
    // Without one long step the lower median of the rest is this value of all.
    int64_t median = stk_nth_value(durs, n, (n - 2) / 2);
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!a->steps[i].excluded && length_ns[i] / OUTLIER > median) {
            at[found++] = i;
            *held_ns += length_ns[i];
        }
    }
    return found;
}

// Outliers at one distance, as far as the profile reaches: every k-th step saves, logs, evaluates.
static bool recurs(const uint32_t *at, uint32_t n, uint32_t step_count)
{
    if (n > 0 && at[0] == 0) { // the first step has reasons of its own
        at++;
        n--;
    }
    if (n < 2) {
        return false;
    }
    uint32_t distance = at[1] - at[0];
    for (uint32_t i = 1; i < n; i++) {
        if (at[i] - at[i - 1] != distance) {
            return false;
        }
    }
    return n > 2 || (at[0] < distance && at[1] + distance >= step_count);
}

static const char *reason(const struct stk_analysis *a, uint32_t index,
                          const struct stk_spans *evals)
{
    const struct stk_host_step *s = &a->steps[index];
    if (stk_spans_overlap(evals, s->start_ns, s->end_ns) >=
            (s->end_ns - s->start_ns) / 100 * EVAL_PERCENT &&
        evals->count) {
        return "evaluation or checkpoint: longer than twice the median of the others";
    }
    return index == 0 ? "first step, longer than twice the median of the others"
                      : "longer than twice the median of the others";
}

static bool collect_evals(const struct stk_analysis *a, struct stk_spans *evals)
{
    const struct stk_trace *t = a->t;
    if (a->driver == STK_NONE) {
        return true;
    }
    for (uint32_t row = a->driver; row != STK_NONE; row = a->threads[row].next_row) {
        const struct stk_track *k = &t->tracks[row];
        for (uint32_t e = k->first; e < k->first + k->count; e++) {
            if (!(stk_class_of(a, e) & STK_NAME_EVAL)) {
                continue;
            }
            if (!stk_spans_reserve(evals, evals->count + 1)) {
                return false;
            }
            evals->v[evals->count++] = (struct stk_span){t->start_ns[e], stk_end_ns(t, e)};
        }
    }
    stk_spans_normalize(evals);
    return true;
}

bool stk_steps_exclude(struct stk_analysis *a, const int64_t *length_ns)
{
    exclude_unselected(a);
    if (a->step_count < MIN_STEPS) {
        return true;
    }
    struct stk_spans evals;
    stk_spans_init(&evals);
    int64_t total_ns = 0, held_ns = 0;
    int64_t *durs = stk_alloc_array(a->step_count, sizeof *durs);
    uint32_t *at = stk_alloc_array(a->step_count, sizeof *at);
    bool ok = durs && at;
    if (ok) {
        uint32_t n = find_outliers(a, length_ns, durs, at, &total_ns, &held_ns);
        bool keep = recurs(at, n, a->step_count) || held_ns > total_ns / 100 * KEEP_PERCENT;
        ok = n == 0 || keep || collect_evals(a, &evals);
        for (uint32_t i = 0; i < n && ok && !keep; i++) {
            a->steps[at[i]].excluded = reason(a, at[i], &evals);
        }
    }
    stk_spans_deinit(&evals);
    stk_free(durs);
    stk_free(at);
    return ok;
}
