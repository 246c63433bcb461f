// SPDX-License-Identifier: Apache-2.0
// Faster, slower, equivalent or inconclusive?
// The typical step (median) and the average one (mean) are each judged by their own interval. There
// is a change if it is MARGIN or more and its interval excludes 0; the sides are equivalent if the
// whole interval is within EQUIVALENT (two one-sided tests: D. J. Schuirmann, J. Pharmacokinet.
// Biopharm. 15 (1987) 657-680); otherwise the steps vary too much. The median decides, unless only
// the mean shows a change, for example if every fourth step became long, or the median's interval
// is inconclusive; if they contradict each other, there is no conclusion. All computations use
// logarithms, so that exchanging the sides exactly exchanges faster and slower.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "answers/passes/diff/diff_impl.h"

#define MARGIN 0.02     // runs of one program differ by this much: clocks, autotuning, placement
#define EQUIVALENT 0.05 // a common limit in CI
#define FAR 0.10        // more than runs of one program differ
#define HIGH_FROM 0.15  // severities of a slowdown: those of findings
#define MEDIUM_FROM 0.05
#define MANY_STEPS 10

enum kind { FASTER, SLOWER, SAME, UNCLEAR };
static const char *const kind_keys[] = {"faster", "slower", "equivalent", "inconclusive"};

static bool same_steps(const struct stk_diff_steps *a, const struct stk_diff_steps *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++) {
        same = a->v[i].dur_ns == b->v[i].dur_ns;
    }
    return same;
}

static enum kind verdict_judge(const struct stk_diff_work *w, enum stk_center_kind basis)
{
    struct stk_log_ratio r = stk_samples_compare(&w->steps[0].sample, &w->steps[1].sample, basis);
    if (!r.has_interval) {
        return UNCLEAR;
    }
    if (r.low > 0 && r.expected >= log1p(MARGIN)) {
        return SLOWER;
    }
    if (r.high < 0 && -r.expected >= log1p(MARGIN)) {
        return FASTER;
    }
    return -r.low <= log1p(EQUIVALENT) && r.high <= log1p(EQUIVALENT) ? SAME : UNCLEAR;
}

static enum stk_level severity_of(double share)
{
    return share >= HIGH_FROM     ? STK_LEVEL_HIGH
           : share >= MEDIUM_FROM ? STK_LEVEL_MEDIUM
                                  : STK_LEVEL_LOW;
}

void stk_diff_verdict_decide(struct stk_diff_work *w)
{
    struct stk_diff_verdict *v = &w->out->verdict;
    enum kind median = verdict_judge(w, STK_CENTER_MEDIAN),
              mean = verdict_judge(w, STK_CENTER_MEAN);
    enum kind kind = median;
    w->basis = STK_CENTER_MEDIAN;
    if (same_steps(&w->steps[0], &w->steps[1])) {
        kind = SAME;
    } else if (median != mean && mean != UNCLEAR && (median == SAME || median == UNCLEAR)) {
        kind = mean;
        w->basis = STK_CENTER_MEAN;
    } else if ((median == FASTER && mean == SLOWER) || (median == SLOWER && mean == FASTER)) {
        kind = UNCLEAR;
    }
    v->kind = kind_keys[kind];
    v->basis = w->basis == STK_CENTER_MEDIAN ? "median" : "mean";
    v->severity = STK_LEVEL_NONE;
    if (kind == SLOWER) {
        v->severity = severity_of(w->basis == STK_CENTER_MEDIAN ? w->out->step.median.change_share
                                                                : w->out->step.mean.change_share);
    }
}

static const struct stk_diff_measure *measure_of(const struct stk_diff_work *w)
{
    return w->basis == STK_CENTER_MEDIAN ? &w->out->step.median : &w->out->step.mean;
}

static enum stk_level confidence_of(const struct stk_diff_work *w)
{
    const struct stk_diff_comparable *c = &w->out->comparable;
    const struct stk_diff_measure *m = measure_of(w);
    uint64_t few = w->out->a.used < w->out->b.used ? w->out->a.used : w->out->b.used;
    const struct stk_diff_reason *reason = c->reasons.items;
    bool cannot = false;
    for (size_t i = 0; i < c->reasons.count; i++) {
        cannot |=
            strcmp(reason[i].id, "few-steps") == 0 || strcmp(reason[i].id, "cannot-tell") == 0;
    }
    if (!w->out->is_compared || c->forced || cannot) {
        return STK_LEVEL_LOW;
    }
    if (same_steps(&w->steps[0], &w->steps[1])) {
        return STK_LEVEL_HIGH;
    }
    bool far = m->low_share > FAR || m->high_share < -FAR;
    return c->reasons.count == 0 && few >= MANY_STEPS && far ? STK_LEVEL_HIGH : STK_LEVEL_MEDIUM;
}

#define RATIO_FROM 1.1 // below it, a percentage reads better than a ratio

struct words {
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX], by[STK_HUMAN_MAX];
    char low[STK_HUMAN_MAX], high[STK_HUMAN_MAX];
};

// "+12%", "-0.4%", "0.0%".
static void say_share(double share, char *out)
{
    char digits[STK_HUMAN_MAX];
    double size = fabs(share) < 0.0005 ? 0 : fabs(share) < 0.001 ? 0.001 : fabs(share);
    snprintf(out, STK_HUMAN_MAX, "%s%.20s",
             size == 0   ? ""
             : share < 0 ? "-"
                         : "+",
             size == 0 ? "0.0%" : stk_human_share(size, digits));
}

static struct words verdict_say(const struct stk_diff_measure *m)
{
    struct words w;
    stk_human_ns(m->a_ns, w.a);
    stk_human_ns(m->b_ns, w.b);
    stk_human_share(fabs(m->change_share), w.by);
    say_share(m->low_share, w.low);
    say_share(m->high_share, w.high);
    // "-69% to -69%" is no interval: digits until its ends differ.
    for (int digits = 1; digits <= 2 && strcmp(w.low, w.high) == 0; digits++) {
        if (fabs(m->high_share - m->low_share) < 1e-6) {
            break;
        }
        snprintf(w.low, sizeof w.low, "%+.*f%%", digits, 100 * m->low_share);
        snprintf(w.high, sizeof w.high, "%+.*f%%", digits, 100 * m->high_share);
    }
    return w;
}

// ", mostly input (-58.1 ms)": the part that changed most in the direction of the total, if it is
// at least half of it.
static const char *largest_part(const struct stk_diff_work *w, int64_t change_ns)
{
    const struct stk_diff_part *p = w->out->parts.items, *best = NULL;
    char ns[STK_HUMAN_MAX];
    for (size_t i = 0; i < w->out->parts.count; i++) {
        if ((p[i].change_ns < 0) == (change_ns < 0) && p[i].beyond_noise &&
            (!best || llabs(p[i].change_ns) > llabs(best->change_ns))) {
            best = &p[i];
        }
    }
    if (!best || llabs(best->change_ns) < llabs(change_ns) / 2) {
        return "";
    }
    return stk_arena_printf(w->arena, ", mostly %s (%s%s)", best->label,
                            best->change_ns > 0 ? "+" : "", stk_human_ns(best->change_ns, ns));
}

static const char *say_refusal(const struct stk_diff_work *w)
{
    const struct stk_diff_reason *r = w->out->comparable.reasons.items;
    size_t i = 0;
    while (i + 1 < w->out->comparable.reasons.count && !r[i].refuses) {
        i++;
    }
    return r[i].a && r[i].b ? stk_arena_printf(w->arena, "Not comparable: %s (A: %s, B: %s)",
                                               r[i].text, r[i].a, r[i].b)
                            : stk_arena_printf(w->arena, "Not comparable: %s", r[i].text);
}

static const char *say_unclear(const struct stk_diff_work *w, const struct words *t)
{
    const struct stk_diff_measure *m = measure_of(w);
    if (!m->has_interval) {
        return stk_arena_printf(w->arena,
                                "Cannot tell: steps take %s and %s, but there are too few for a "
                                "confidence interval",
                                t->a, t->b);
    }
    const struct stk_diff_measure *mean = &w->out->step.mean, *median = &w->out->step.median;
    bool crossed = verdict_judge(w, STK_CENTER_MEDIAN) != UNCLEAR;
    if (crossed) {
        return stk_arena_printf(w->arena, "Cannot tell: the median step got %s, the mean step %s",
                                median->change_ns < 0 ? "shorter" : "longer",
                                mean->change_ns < 0 ? "shorter" : "longer");
    }
    return stk_arena_printf(
        w->arena,
        "Cannot tell: steps take %s in A and %s in B, but vary so much that the "
        "change is between %s and %s",
        t->a, t->b, t->low, t->high);
}

static const char *say_change(const struct stk_diff_work *w, bool slower, const struct words *t)
{
    const struct stk_diff_measure *m = measure_of(w);
    const char *part = largest_part(w, m->change_ns);
    if (!part) {
        return NULL;
    }
    const char *step = w->basis == STK_CENTER_MEAN ? "mean step" : "step";
    double ratio = slower ? (double)m->b_ns / (double)m->a_ns : (double)m->a_ns / (double)m->b_ns;
    if (!(ratio >= RATIO_FROM && ratio < 1e6)) {
        return stk_arena_printf(w->arena,
                                "B's %s takes %s %s time: %s → %s (95%% interval %s to %s)%s", step,
                                t->by, slower ? "more" : "less", t->a, t->b, t->low, t->high, part);
    }
    return stk_arena_printf(
        w->arena, "B's %s is %.*f× %s: %s → %s (95%% interval of the change %s to %s)%s", step,
        ratio < 10 ? 1 : 0, ratio, slower ? "slower" : "faster", t->a, t->b, t->low, t->high, part);
}

static const char *say_same(const struct stk_diff_work *w, const struct words *t)
{
    if (same_steps(&w->steps[0], &w->steps[1])) {
        return stk_arena_printf(w->arena, "No change: every step takes %s in both A and B", t->a);
    }
    return stk_arena_printf(w->arena,
                            "No change beyond run-to-run noise: %s → %s (95%% interval %s to %s)",
                            t->a, t->b, t->low, t->high);
}

bool stk_diff_verdict_word(struct stk_diff_work *w)
{
    struct stk_diff_verdict *v = &w->out->verdict;
    v->margin_share = MARGIN;
    v->equivalent_share = EQUIVALENT;
    v->confidence = confidence_of(w);
    if (!w->out->is_compared) {
        v->kind = kind_keys[UNCLEAR];
        v->severity = STK_LEVEL_NONE;
        v->sentence = say_refusal(w);
        return v->sentence != NULL;
    }
    struct words t = verdict_say(measure_of(w));
    if (strcmp(v->kind, kind_keys[UNCLEAR]) == 0) {
        v->sentence = say_unclear(w, &t);
    } else if (strcmp(v->kind, kind_keys[SAME]) == 0) {
        v->sentence = say_same(w, &t);
    } else {
        v->sentence = say_change(w, strcmp(v->kind, kind_keys[SLOWER]) == 0, &t);
    }
    return v->sentence != NULL;
}
