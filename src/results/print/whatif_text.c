// SPDX-License-Identifier: Apache-2.0
// Estimates on a terminal: the current step, how far the replay can be trusted, then a line for
// each scenario, or the list of what-ifs. Wording may change; programs read the JSON.
#include "results/print/figure.h"
#include "results/print/term.h"
#include "results/print/text_parts.h"
#include "results/print/out.h"
#include "results/whatif.h"

static void texts(struct stk_term *t, const char *label, const struct stk_list *list)
{
    const char *const *text = list->items;
    for (size_t i = 0; i < list->count; i++) {
        stk_text_label(t, i == 0 ? label : "");
        stk_term_wrap(t, STK_TEXT_BODY, text[i]);
        stk_term_line_end(t);
    }
}

static void base(struct stk_term *t, const struct stk_whatif *w)
{
    char line[400];
    stk_text_label(t, "step");
    stk_term_printf(t, "%s on average, %s replayed unchanged",
                    stk_figure_ns(w->base.measured_ns).text,
                    stk_figure_ns(w->base.replayed_ns).text);
    stk_term_line_end(t);
    snprintf(line, sizeof line,
             "off by %s (worst step %s); %s of the wait unexplained; %s of dependencies inferred",
             stk_figure_share(w->gate.replay_error_share).text,
             stk_figure_share(w->gate.worst_error_share).text,
             stk_figure_share(w->gate.unexplained_share).text,
             stk_figure_share(w->gate.inferred_share).text);
    stk_text_label(t, "replay");
    stk_term_wrap(t, STK_TEXT_BODY, line);
    stk_term_line_end(t);
    if (w->gate.profiler_share >= 0.001) {
        snprintf(line, sizeof line,
                 "profiling adds about %s: without it, a step takes %s (%s to %s), the base of all "
                 "estimates",
                 stk_figure_share(w->gate.profiler_share).text,
                 stk_figure_ns(w->base.unprofiled_ns).text,
                 stk_figure_ns(w->base.unprofiled_low_ns).text,
                 stk_figure_ns(w->base.unprofiled_high_ns).text);
        stk_text_label(t, "");
        stk_term_wrap(t, STK_TEXT_BODY, line);
        stk_term_line_end(t);
    }
    if (w->gate.has_transplant) {
        stk_text_label(t, "");
        stk_term_printf(t, "predicting a step from its neighbor is off by %s",
                        stk_figure_share(w->gate.transplant_error_share).text);
        stk_term_line_end(t);
    }
}

// "a + b".
static void names(struct stk_term *t, const struct stk_list *list)
{
    const char *const *name = list->items;
    for (size_t i = 0; i < list->count; i++) {
        stk_term_text(t, i ? " + " : "");
        stk_term_styled(t, STK_STYLE_BOLD, name[i]);
    }
}

// The remaining time of a step, from its expected length without the profiler. The uncertainty of
// that length is shown with it, once.
static int64_t left_ns(const struct stk_whatif *w, const struct stk_whatif_scenario *s,
                       double saving)
{
    return (int64_t)((double)w->base.unprofiled_ns * s->work * (1 - saving));
}

static void scenario(struct stk_term *t, const struct stk_whatif *w,
                     const struct stk_whatif_scenario *s)
{
    stk_term_to_column(t, STK_TEXT_INDENT);
    names(t, &s->fix);
    stk_term_to_column(t, 28);
    stk_term_printf(t, "%s per step", stk_figure_ns(s->expected_ns).text);
    if (t->options->verbosity > 0) {
        stk_term_printf(t, " (%s to %s)", stk_figure_ns(left_ns(w, s, s->saving.high_share)).text,
                        stk_figure_ns(left_ns(w, s, s->saving.low_share)).text);
        stk_term_line_end(t);
        stk_term_to_column(t, 28);
    } else {
        stk_term_to_column(t, 45);
    }
    const char *of = s->work > 1 ? " per sample" : "";
    if (s->saving.expected_share < 0) {
        stk_term_printf(t, "%.3g× slower%s (%.3g–%.3g×)", 1 - s->saving.expected_share, of,
                        1 - s->saving.high_share, 1 - s->saving.low_share);
    } else {
        stk_term_printf(t, "saves %s%s (%s)", stk_figure_share(s->saving.expected_share).text, of,
                        s->saving.low_share < 0
                            ? stk_figure_range(0, s->saving.high_share).text
                            : stk_figure_range(s->saving.low_share, s->saving.high_share).text);
    }
    stk_term_printf(t, ", then %s", s->next_bottleneck ? s->next_bottleneck : "unknown");
    stk_term_line_end(t);
    if (t->options->verbosity > 0) {
        texts(t, "assumes", &s->assumes);
    }
}

static void list(struct stk_term *t, const struct stk_whatif *w)
{
    const struct stk_whatif_fix *f = w->fixes.items;
    bool some_asked = false;
    for (size_t i = 0; i < w->fixes.count; i++) {
        some_asked |= f[i].is_asked;
    }
    stk_term_line_end(t);
    for (size_t i = 0; i < w->fixes.count; i++) {
        if (some_asked && !f[i].is_asked) {
            continue;
        }
        stk_term_to_column(t, STK_TEXT_INDENT);
        stk_term_styled(t, f[i].applies ? STK_STYLE_BOLD : STK_STYLE_DIM, f[i].fix);
        stk_term_to_column(t, 28);
        stk_term_wrap(t, 28, f[i].what);
        stk_term_line_end(t);
        if (f[i].why) {
            stk_term_to_column(t, 28);
            stk_term_text(t, "not here: ");
            stk_term_wrap(t, 28, f[i].why);
            stk_term_line_end(t);
        }
    }
}

static void target(struct stk_term *t, const struct stk_whatif_target *x)
{
    stk_term_line_end(t);
    stk_term_to_column(t, STK_TEXT_INDENT);
    stk_term_printf(t, "%s %s: ", stk_figure_ns(x->target_ns).text,
                    x->reached ? "is reached" : "is not reached");
    if (x->fix.count) {
        names(t, &x->fix);
        stk_term_printf(t, ", expected %s", stk_figure_ns(x->expected_ns).text);
    } else {
        stk_term_text(t, x->reached ? "by the step as it is" : "no fix here saves enough");
    }
    stk_term_line_end(t);
}

// A row of the path: share, time, how often, what.
static void path_rows(struct stk_term *t, const char *label, const struct stk_list *list,
                      bool is_beside)
{
    const struct stk_whatif_path_row *r = list->items;
    stk_term_line_end(t);
    for (size_t i = 0; i < list->count; i++) {
        const char *name = r[i].name[0] ? stk_human_name(r[i].name) : "(nothing recorded)";
        stk_text_label(t, i == 0 ? label : "");
        stk_term_printf(t, "%s", stk_figure_ns(r[i].ns).text);
        stk_term_to_column(t, 26);
        stk_term_printf(t, "%s",
                        is_beside ? stk_figure_ns(r[i].slack_ns).text
                                  : stk_figure_share(r[i].share).text);
        stk_term_to_column(t, 38);
        stk_term_printf(t, "%s", r[i].kind);
        stk_term_to_column(t, 54);
        stk_term_printf(t, "%.4g x ", r[i].count);
        stk_term_wrap(t, 54, name);
        stk_term_line_end(t);
    }
}

static void kind_rows(struct stk_term *t, const struct stk_list *list)
{
    const struct stk_whatif_path_row *r = list->items;
    stk_term_line_end(t);
    for (size_t i = 0; i < list->count; i++) {
        stk_text_label(t, i == 0 ? "path" : "");
        stk_term_printf(t, "%s", stk_figure_ns(r[i].ns).text);
        stk_term_to_column(t, 26);
        stk_term_printf(t, "%s", stk_figure_share(r[i].share).text);
        stk_term_to_column(t, 38);
        stk_term_styled(t, STK_STYLE_BOLD, r[i].kind);
        stk_term_line_end(t);
    }
}

static void critical(struct stk_term *t, const struct stk_whatif_critical *c)
{
    kind_rows(t, &c->kinds);
    path_rows(t, "names", &c->names, false);
    if (c->beside.count) {
        stk_term_line_end(t);
        stk_text_label(t, "beside");
        stk_term_text(t, "time, slack, kind, name");
        stk_term_line_end(t);
        path_rows(t, "", &c->beside, true);
    }
}

static void pairs(struct stk_term *t, const struct stk_whatif *w)
{
    const struct stk_whatif_scenario *s = w->pairs.items;
    stk_term_line_end(t);
    stk_text_label(t, "pairs");
    stk_term_text(t, w->pairs.count ? "two fixes together"
                                    : "no two fixes save more together than the best one alone");
    stk_term_line_end(t);
    for (size_t i = 0; i < w->pairs.count; i++) {
        scenario(t, w, &s[i]);
    }
}

static void write_text(const void *object, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    const struct stk_whatif *w = object;
    struct stk_term t = {.sink = sink, .options = options};
    const struct stk_whatif_scenario *s = w->scenarios.items;
    if (w->has_base) {
        base(&t, w);
    }
    texts(&t, w->gate.ok ? "note" : "but", &w->gate.why);
    if (w->scenarios.count) {
        stk_term_line_end(&t);
    }
    for (size_t i = 0; i < w->scenarios.count; i++) {
        scenario(&t, w, &s[i]);
    }
    if (w->has_pairs && w->scenarios.count) {
        pairs(&t, w);
    }
    if (w->has_target) {
        target(&t, &w->target);
    }
    if (w->has_critical) {
        critical(&t, &w->critical);
    } else if (!w->scenarios.count && !w->has_target) {
        list(&t, w);
    }
}

const struct stk_out stk_out_whatif_text = {.write = write_text};
