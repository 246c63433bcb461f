// SPDX-License-Identifier: Apache-2.0
// Excludes the steps that would distort the breakdown, each with a reason. A step longer than twice
// the median of the others is an outlier. One of the first two is warm-up and excluded. Later
// outliers (evaluation, checkpoint, a pause of the garbage collector) are excluded if all of them
// together take less than a tenth of the time. If they take more, they are how the job runs: they
// are used, and those that recur get their cause, if it is known. Steps outside the selection, and
// steps that may lack rows because the file is cut, are excluded too.
//
// A step that evaluates isn't warm-up, even if it is one of the first two. If the loop runs ahead
// of its work (ahead.h), no step is an outlier, unless a long step evaluates or saves.
//
// A step is as long as its window on the busiest device, so a host that runs ahead makes no
// outlier.
//
// Limits: with fewer than three steps, all are used.
#include "base/alloc.h"
#include "profile/model/analysis.h"
#include "profile/model/median.h"
#include "profile/model/steps/ahead.h"
#include "profile/model/steps/evaluation.h"
#include "profile/model/thresholds.h"

#define OUTLIER 2 // times the median of the others
#define MIN_STEPS 3
#define WARM_UP 2        // so many first steps may be warm-up
#define ALIKE_PERCENT 67 // of the longest: recurring steps have about the same length
#define EVAL_PERCENT 10  // of a long step spent in evaluation or a checkpoint explains it

static void exclude_outside(struct stk_analysis *a)
{
    const struct stk_select *sel = a->select;
    for (uint32_t i = 0; i < a->step_count; i++) {
        struct stk_host_step *s = &a->steps[i];
        if (s->end_ns > a->whole_until_ns) {
            s->excluded = STK_EXCLUDED_CUT;
        }
        if (sel->has_steps && (s->number < sel->step_first || s->number > sel->step_last)) {
            s->excluded = STK_EXCLUDED_UNSELECTED;
        } else if ((sel->has_from && s->start_ns < a->from_ns) ||
                   (sel->has_to && s->end_ns > a->to_ns)) {
            s->excluded = "not wholly in the selected time";
        }
    }
}

// One of the first two steps; each device may have steps of its own.
static bool is_first(const struct stk_analysis *a, uint32_t index)
{
    for (uint32_t i = 0; i < WARM_UP; i++) {
        if (index < i + 1 ||
            (a->steps_per_device && a->steps[index - i - 1].line != a->steps[index].line)) {
            return true;
        }
    }
    return false;
}

struct outliers {
    bool *evaluates; // by step: a long one that runs the model forward more often than others
    bool *says_so;   // by step: a long one with events named after evaluation or a checkpoint
    uint32_t *at;    // indices, in order
    uint32_t *room;  // scratch space for as many
    uint32_t count, first_periodic;
    bool is_twice;    // the period comes from only two outliers
    int64_t usual_ns; // the median of the candidates
    int64_t total_ns; // of all candidates
    int64_t later_ns; // of the outliers after the first two steps, and of those that evaluate
};

// `durs` is room for the candidates' lengths.
static void find_outliers(const struct stk_analysis *a, const int64_t *length_ns, int64_t *durs,
                          struct outliers *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!a->steps[i].excluded) {
            durs[n++] = length_ns[i];
            out->total_ns = stk_add_ns(out->total_ns, length_ns[i]);
        }
    }
    if (n < MIN_STEPS) {
        return;
    }
    // For each long step, the lower median of the other n - 1 is this value of all n.
    int64_t median = stk_nth_value(durs, n, (n - 2) / 2);
    out->usual_ns = median;
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!a->steps[i].excluded && length_ns[i] / OUTLIER > median) {
            out->at[out->count++] = i;
        }
    }
}

// The period of outliers at equal distances: every k-th step saves, logs or evaluates. 0: fewer
// than three outliers, or unequal distances.
static uint32_t distance_of(const uint32_t *at, uint32_t n)
{
    if (n < 3) {
        return 0;
    }
    uint32_t distance = at[1] - at[0];
    for (uint32_t i = 1; i < n; i++) {
        if (at[i] - at[i - 1] != distance) {
            return 0;
        }
    }
    return distance > 1 ? distance : 0;
}

// The same, but leading outliers among the first steps needn't fit.
static uint32_t distance_after_start(struct outliers *o, const uint32_t *at, uint32_t n)
{
    for (uint32_t skip = 0; skip <= WARM_UP && skip < n; skip++) {
        uint32_t distance = distance_of(at + skip, n - skip);
        if (distance) {
            o->first_periodic = at[skip];
            return distance;
        }
        if (at[skip] >= WARM_UP) {
            break;
        }
    }
    return 0;
}

// Two outliers may be a coincidence. They count as periodic only if a third is missing neither
// before nor after them. One extra step is allowed at the end, because the last step ends before
// what follows it.
static uint32_t distance_of_two(struct outliers *o, const uint32_t *at, uint32_t n, uint32_t steps)
{
    uint32_t distance = n == 2 ? at[1] - at[0] : 0;
    if (distance < 2 || at[0] < WARM_UP || at[0] >= distance || at[1] + distance + 1 < steps) {
        return 0;
    }
    o->first_periodic = at[0];
    o->is_twice = true;
    return distance;
}

// The period of all outliers, else of those about as long as the longest after the first steps:
// shorter ones in between don't matter. The first steps are long for other reasons, so they needn't
// fit. 0: the outliers don't recur, and all of them count.
static uint32_t keep_periodic(struct outliers *o, const int64_t *length_ns, uint32_t steps)
{
    uint32_t *at = o->at, n = 0;
    int64_t longest_ns = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        if (at[i] >= WARM_UP && length_ns[at[i]] > longest_ns) {
            longest_ns = length_ns[at[i]];
        }
    }
    uint32_t *alike = o->room;
    for (uint32_t i = 0; i < o->count; i++) {
        if (length_ns[at[i]] >= longest_ns / 100 * ALIKE_PERCENT) {
            alike[n++] = at[i];
        }
    }
    uint32_t distance = distance_after_start(o, at, o->count);
    distance = distance ? distance : distance_after_start(o, alike, n);
    return distance ? distance : distance_of_two(o, alike, n, steps);
}

static bool is_warm_up(const struct stk_analysis *a, const struct outliers *o, uint32_t index)
{
    return is_first(a, index) && !o->evaluates[index];
}

static const char *reason(const struct outliers *o, uint32_t index)
{
    if (o->evaluates[index]) {
        return "evaluation: longer than twice the median of the others";
    }
    if (o->says_so[index]) {
        return "evaluation or checkpoint: longer than twice the median of the others";
    }
    return index == 0 ? "first step, longer than twice the median of the others"
                      : "longer than twice the median of the others";
}

// How much longer the steps that evaluate are than the mean of the others.
static void sum_evaluations(struct stk_analysis *a, const int64_t *length_ns,
                            const struct outliers *o)
{
    struct stk_facts *f = &a->sum->facts;
    int64_t others_ns = 0, evaluating_ns = 0, all_ns = 0;
    uint32_t others = 0, evaluating = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (a->steps[i].excluded) {
            continue;
        }
        all_ns = stk_add_ns(all_ns, length_ns[i]);
        if (o->evaluates[i]) {
            evaluating++;
            evaluating_ns = stk_add_ns(evaluating_ns, length_ns[i]);
        } else if (!a->steps[i].long_why) {
            others++;
            others_ns = stk_add_ns(others_ns, length_ns[i]);
        }
    }
    if (others > 0 && evaluating > 0) {
        f->evaluations = evaluating;
        f->evaluation_ns = evaluating_ns - others_ns / others * evaluating;
        f->evaluation_of_ns = all_ns;
    }
}

static void settle(struct stk_analysis *a, const int64_t *length_ns, struct outliers *o)
{
    for (uint32_t i = 0; i < o->count; i++) {
        o->later_ns = stk_add_ns(o->later_ns, is_warm_up(a, o, o->at[i]) ? 0 : length_ns[o->at[i]]);
    }
    double share = o->total_ns > 0 ? (double)o->later_ns / (double)o->total_ns : 0;
    bool counts = share >= stk_threshold_value(STK_T_LONG_STEPS);
    uint32_t period = counts ? keep_periodic(o, length_ns, a->step_count) : 0;
    for (uint32_t i = 0; i < o->count; i++) {
        struct stk_host_step *s = &a->steps[o->at[i]];
        bool returns =
            period && o->at[i] >= o->first_periodic && (o->at[i] - o->first_periodic) % period == 0;
        s->is_warm_up = !returns && is_warm_up(a, o, o->at[i]);
        if (s->is_warm_up || !counts) {
            s->excluded = reason(o, o->at[i]);
        } else if (returns || !period) {
            s->long_why = o->evaluates[o->at[i]] ? "evaluation"
                          : o->says_so[o->at[i]] ? "evaluation or checkpoint"
                                                 : "";
        }
    }
    a->sum->facts.long_period = period;
    a->sum->facts.long_twice = o->is_twice;
    sum_evaluations(a, length_ns, o);
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

// Finds the outliers that evaluate, by their forward passes and by the names of their events.
static bool find_evaluations(const struct stk_analysis *a, struct outliers *o)
{
    struct stk_spans named;
    stk_spans_init(&named);
    for (uint32_t i = 0; i < o->count; i++) {
        o->evaluates[o->at[i]] = a->driver != STK_NONE;
    }
    bool ok = collect_evals(a, &named) &&
              (a->driver == STK_NONE || stk_evaluating_steps(a, o->usual_ns, o->evaluates));
    for (uint32_t i = 0; i < o->count && ok; i++) {
        const struct stk_host_step *s = &a->steps[o->at[i]];
        o->says_so[o->at[i]] = named.count && stk_spans_overlap(&named, s->start_ns, s->end_ns) >=
                                                  (s->end_ns - s->start_ns) / 100 * EVAL_PERCENT;
    }
    stk_spans_deinit(&named);
    return ok;
}

// Is one of the outliers long because it evaluates or saves?
static bool has_reason(const struct outliers *o)
{
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->evaluates[o->at[i]] || o->says_so[o->at[i]]) {
            return true;
        }
    }
    return false;
}

bool stk_steps_exclude(struct stk_analysis *a, const int64_t *length_ns)
{
    exclude_outside(a);
    if (a->step_count < MIN_STEPS) {
        return true;
    }
    int64_t *durs = stk_alloc_array(a->step_count, sizeof *durs);
    struct outliers o = {.evaluates = stk_alloc_zero(a->step_count, sizeof *o.evaluates),
                         .says_so = stk_alloc_zero(a->step_count, sizeof *o.says_so),
                         .at = stk_alloc_array(a->step_count, sizeof *o.at),
                         .room = stk_alloc_array(a->step_count, sizeof *o.at)};
    bool ok = durs && o.evaluates && o.says_so && o.at && o.room;
    if (ok) {
        find_outliers(a, length_ns, durs, &o);
        ok = o.count == 0 || find_evaluations(a, &o);
    }
    bool ahead = false;
    ok = ok && (has_reason(&o) || stk_steps_run_ahead(a, o.at, o.count, &ahead));
    if (ok && !ahead) {
        settle(a, length_ns, &o);
    }
    stk_free(durs);
    stk_free(o.evaluates);
    stk_free(o.says_so);
    stk_free(o.at);
    stk_free(o.room);
    return ok;
}
