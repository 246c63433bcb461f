// SPDX-License-Identifier: Apache-2.0
// The answer: the verdict's sentence, the step now, the step with the first fix. Bars have one
// scale. If the fix was replayed, its time has a range. If only a bound is known, it says "at
// best". Shared by the first screen and --verbose.
#include <stdio.h>
#include <string.h>

#include "results/print/bar.h"
#include "results/print/figure.h"
#include "results/print/text_parts.h"

#define BAR_LABEL 9    // where a bar begins
#define BAR_AFTER 44   // columns of the times next to the bar
#define BAR_LEAST 10   // columns of a bar
#define LEGEND_PARTS 4 // and no part below LEGEND_LEAST
#define LEGEND_LEAST 0.01

void stk_text_answer(struct stk_term *t, const struct stk_report *r)
{
    char tail[80];
    snprintf(tail, sizeof tail, "%s, %s confidence", stk_verdict_key(r->verdict.kind),
             stk_level_key(r->verdict.confidence));
    if (t->options->colour) {
        stk_sink_text(t->sink, "\033[1m");
    }
    stk_term_wrap(t, 0, r->verdict.sentence);
    if (t->options->colour) {
        stk_sink_text(t->sink, "\033[0m");
    }
    int at = t->options->columns - stk_term_width(tail);
    if (t->column + 2 > at) {
        stk_term_line_end(t);
    }
    stk_term_to_column(t, at);
    stk_term_styled(t, STK_STYLE_DIM, tail);
    stk_term_line_end(t);
}

// "3.2x faster", or "12% less" for small gains.
static void times_text(const struct stk_term *t, double share, char *out, size_t size)
{
    const char *sign = t->options->ascii ? "x" : "×";
    double times = share > 0 ? 1 / share : 0;
    if (times >= 1.2 || times <= 0) {
        snprintf(out, size, times <= 0 ? "no time left" : "%.*f%s faster", times >= 10 ? 0 : 1,
                 times, sign);
    } else {
        snprintf(out, size, "%s less", stk_figure_share(1 - share).text);
    }
}

static int bar_columns(const struct stk_term *t)
{
    int columns = t->options->columns - BAR_LABEL - BAR_AFTER;
    return columns < BAR_LEAST ? BAR_LEAST : columns;
}

static void now_line(struct stk_term *t, const struct stk_report *r)
{
    int columns = bar_columns(t);
    stk_term_to_column(t, 2);
    stk_term_text(t, "now");
    stk_term_to_column(t, BAR_LABEL);
    stk_bar_fill(t, columns, &r->breakdown.parts);
    if (r->has_outlook && r->outlook.has_step) {
        stk_term_to_column(t, BAR_LABEL + columns + 2);
        stk_term_text(t, stk_figure_ns(r->outlook.now_ns).text);
    } else if (r->steps.has_times) {
        stk_term_to_column(t, BAR_LABEL + columns + 2);
        stk_term_printf(t, "%s per step", stk_figure_ns(r->steps.mean_ns).text);
    }
    stk_term_line_end(t);
}

// "(39.3–60.5 ms)".
static void range_text(const struct stk_rep_outlook *o, char *out, size_t size)
{
    if (o->has_step) {
        struct stk_figure low = stk_figure_ns(o->low_ns), high = stk_figure_ns(o->high_ns);
        char *unit = strchr(low.text, ' ');
        if (unit && strchr(high.text, ' ') && strcmp(unit, strchr(high.text, ' ')) == 0) {
            *unit = 0;
        }
        snprintf(out, size, "(%s–%s)", low.text, high.text);
    } else {
        snprintf(out, size, "(%s of the time)", stk_figure_range(o->low_share, o->high_share).text);
    }
}

// "49.9 ms 3.2× faster (39.3–60.5 ms)"; "at best" if only a bound is known.
static void fixed_text(struct stk_term *t, const struct stk_rep_outlook *o)
{
    bool is_bound = strcmp(o->basis, "bound") == 0;
    char times[120], range[200];
    times_text(t, o->share, times, sizeof times);
    range_text(o, range, sizeof range);
    if (o->has_step) {
        stk_term_styled(t, STK_STYLE_GREEN, stk_figure_ns(o->step_ns).text);
        stk_term_text(t, "  ");
    }
    stk_term_printf(t, "%s%s%s%s", is_bound ? "at best, " : "", times, is_bound ? "" : " ",
                    is_bound ? "" : range);
}

static void fixed_line(struct stk_term *t, const struct stk_rep_outlook *o)
{
    int columns = bar_columns(t);
    stk_term_to_column(t, 2);
    stk_term_text(t, "fixed");
    stk_term_to_column(t, BAR_LABEL);
    stk_bar_solid(t, (int)(o->share * columns + 0.5));
    stk_term_to_column(t, BAR_LABEL + columns + 2);
    fixed_text(t, o);
    stk_term_line_end(t);
}

static const struct stk_rep_part *next_part(const struct stk_list *parts,
                                            const struct stk_rep_part *before)
{
    const struct stk_rep_part *p = parts->items, *best = NULL;
    for (size_t i = 0; i < parts->count; i++) {
        bool smaller = !before || p[i].ns < before->ns || (p[i].ns == before->ns && &p[i] > before);
        if (smaller && (!best || p[i].ns > best->ns)) {
            best = &p[i];
        }
    }
    return best;
}

static void legend(struct stk_term *t, const struct stk_list *parts)
{
    const struct stk_rep_part *p = NULL;
    stk_term_to_column(t, BAR_LABEL);
    for (int i = 0; i < LEGEND_PARTS; i++) {
        p = next_part(parts, p);
        if (!p || (i > 0 && p->share < LEGEND_LEAST)) {
            break;
        }
        if (i > 0) {
            stk_term_text(t, "  ");
        }
        stk_bar_key(t, p->group);
        stk_term_printf(t, " %s %s", p->label ? p->label : p->id, stk_figure_share(p->share).text);
    }
    stk_term_line_end(t);
}

void stk_text_bars(struct stk_term *t, const struct stk_report *r)
{
    now_line(t, r);
    if (r->has_outlook) {
        fixed_line(t, &r->outlook);
    }
    legend(t, &r->breakdown.parts);
}

void stk_text_outlook(struct stk_term *t, const struct stk_report *r)
{
    if (!r->has_outlook || !stk_text_has_breakdown(r)) {
        return;
    }
    stk_term_line_end(t);
    stk_term_to_column(t, STK_TEXT_INDENT);
    if (r->outlook.has_step) {
        stk_term_printf(t, "now %s, fixed ", stk_figure_ns(r->outlook.now_ns).text);
    } else {
        stk_term_text(t, "fixed: ");
    }
    fixed_text(t, &r->outlook);
    stk_term_line_end(t);
}

bool stk_text_has_breakdown(const struct stk_report *r)
{
    return strcmp(r->profile.health.status, "unusable") != 0 && r->breakdown.scope &&
           r->breakdown.parts.count > 0;
}
