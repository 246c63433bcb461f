// SPDX-License-Identifier: Apache-2.0
// A comparison on a terminal: the verdict, the sides, why they may not be comparable, a step's time
// by cause, then findings, kernels and operations that changed. With --verbose also every step and
// small changes. Wording may change; programs read the JSON.
#include <stdio.h>
#include <string.h>

#include "results/print/diff_lines.h"
#include "results/print/figure.h"
#include "results/print/term.h"
#include "results/print/text_parts.h"

#define NAME_COLUMN 33 // of kernels and operations

static void sentence(struct stk_term *t, const struct stk_diff *d)
{
    stk_term_to_column(t, STK_TEXT_INDENT);
    if (t->options->colour) {
        stk_sink_text(t->sink, "\033[1m");
    }
    stk_term_wrap(t, STK_TEXT_INDENT, d->verdict.sentence);
    if (t->options->colour) {
        stk_sink_text(t->sink, "\033[0m");
    }
    stk_term_line_end(t);
    stk_term_to_column(t, STK_TEXT_INDENT);
    stk_term_printf(t, "%s, confidence %s", d->verdict.kind, stk_level_key(d->verdict.confidence));
    stk_term_line_end(t);
}

static void files(struct stk_term *t, const struct stk_rep_profile *p)
{
    const struct stk_rep_input *in = p->inputs.items;
    if (p->inputs.count == 0) {
        return;
    }
    const char *slash = strrchr(in[0].path, '/');
    char more[48] = "";
    if (p->inputs.count > 1) {
        snprintf(more, sizeof more, " and %zu more files", p->inputs.count - 1);
    }
    stk_term_cut(t, slash && slash[1] ? slash + 1 : in[0].path,
                 t->options->columns - STK_TEXT_BODY - (int)strlen(more));
    stk_term_text(t, more);
    stk_term_line_end(t);
}

static void side(struct stk_term *t, const char *label, const struct stk_diff_side *s)
{
    char text[600], devices[220] = "";
    stk_text_label(t, label);
    files(t, &s->profile);
    stk_text_label(t, "");
    if (s->devices && s->device) {
        snprintf(devices, sizeof devices, "%llu× %.180s, ", (unsigned long long)s->devices,
                 s->device);
    } else if (s->devices) {
        snprintf(devices, sizeof devices, "%llu device%s, ", (unsigned long long)s->devices,
                 s->devices == 1 ? "" : "s");
    }
    snprintf(text, sizeof text, "%s%llu of %llu %s steps%s%s, capture %s", devices,
             (unsigned long long)s->used, (unsigned long long)s->steps,
             strcmp(s->source, "none") == 0 ? "" : s->source, s->framework ? ", " : "",
             s->framework ? s->framework : "", s->profile.health.status);
    stk_term_wrap(t, STK_TEXT_BODY, text);
    stk_term_line_end(t);
    const char *const *only = s->profile.selection.items;
    for (size_t i = 0; i < s->profile.selection.count; i++) {
        stk_text_label(t, "");
        stk_term_text(t, "only ");
        stk_term_wrap(t, STK_TEXT_BODY + 2, only[i]);
        stk_term_line_end(t);
    }
}

static void reasons(struct stk_term *t, const struct stk_diff_comparable *c)
{
    const struct stk_diff_reason *r = c->reasons.items;
    for (size_t i = 0; i < c->reasons.count; i++) {
        char text[900];
        snprintf(text, sizeof text, "%s%s%.300s%s%.300s%s", r[i].text, r[i].a ? " (A: " : "",
                 r[i].a ? r[i].a : "", r[i].b ? ", B: " : "", r[i].b ? r[i].b : "",
                 r[i].a || r[i].b ? ")" : "");
        stk_text_label(t, i == 0 ? "but" : "");
        stk_term_wrap(t, STK_TEXT_BODY, text);
        stk_term_line_end(t);
    }
}

static void to_the_right(struct stk_term *t, int end, const char *text)
{
    stk_term_to_column(t, end - stk_term_width(text));
    stk_term_text(t, text);
}

static void text_causes(struct stk_term *t, const struct stk_diff *d)
{
    struct stk_diff_line lines[STK_DIFF_LINES];
    size_t n = stk_diff_lines(d, lines);
    bool noise = false;
    stk_term_line_end(t);
    stk_term_styled(t, STK_STYLE_DIM,
                    "  in a step                A           B        change   of A's step");
    stk_term_line_end(t);
    for (size_t i = 0; i < n; i++) {
        stk_term_to_column(t, lines[i].is_part ? 4 : STK_TEXT_INDENT);
        stk_term_styled(t, i == 0 ? STK_STYLE_BOLD : STK_STYLE_PLAIN, lines[i].label);
        to_the_right(t, 28, lines[i].a);
        to_the_right(t, 40, lines[i].b);
        to_the_right(t, 54, lines[i].change);
        if (lines[i].share[0]) {
            to_the_right(t, 64, lines[i].share);
        }
        if (lines[i].is_noise) {
            stk_term_text(t, "  ~");
        }
        noise |= lines[i].is_noise;
        stk_term_line_end(t);
    }
    if (noise) {
        stk_term_styled(t, STK_STYLE_DIM, "  ~ within the noise");
        stk_term_line_end(t);
    }
}

static void text_findings(struct stk_term *t, const struct stk_list *list)
{
    const struct stk_diff_finding *f = list->items;
    bool first = true;
    for (size_t i = 0; i < list->count; i++) {
        const char *a = stk_level_key(f[i].a_severity), *b = stk_level_key(f[i].b_severity);
        bool same = f[i].a_severity == f[i].b_severity;
        if (same && t->options->verbosity <= 0) {
            continue;
        }
        if (first) {
            stk_term_line_end(t);
        }
        first = false;
        stk_term_to_column(t, STK_TEXT_INDENT);
        stk_term_printf(t, "%-5s ", strcmp(f[i].state, "both") == 0 ? "still" : f[i].state);
        stk_term_styled(t, STK_STYLE_BOLD, f[i].id);
        stk_term_printf(t, " (%s%s%s): ", a ? a : "", a && b && !same ? " → " : "",
                        b && !same ? b : "");
        stk_term_wrap(t, 8, f[i].title);
        stk_term_line_end(t);
    }
}

static void names(struct stk_term *t, const char *title, const struct stk_list *list)
{
    const struct stk_diff_name *row = list->items;
    size_t n = stk_diff_names_shown(list, t->options);
    char text[STK_HUMAN_MAX];
    if (n == 0) {
        return;
    }
    stk_term_line_end(t);
    stk_term_printf(t, "  %s", title);
    stk_term_line_end(t);
    stk_term_styled(t, STK_STYLE_DIM, "         A         B     change  a step");
    stk_term_line_end(t);
    for (size_t i = 0; i < n; i++) {
        to_the_right(t, 10, row[i].in_a ? stk_figure_ns(row[i].a_ns).text : "new");
        to_the_right(t, 20, row[i].in_b ? stk_figure_ns(row[i].b_ns).text : "gone");
        stk_diff_ns_text(row[i].change_ns, text);
        to_the_right(t, 31, text);
        stk_term_to_column(t, NAME_COLUMN);
        if (row[i].placement) {
            stk_term_printf(t, "%s ", row[i].placement);
        }
        stk_term_cut(t, stk_human_name(row[i].name), t->options->columns - t->column);
        stk_term_line_end(t);
    }
    size_t more = list->count - n + list->left_out;
    if (more) {
        stk_term_styled(t, STK_STYLE_DIM, "  ");
        stk_term_printf(t, "%s more changed less: -v --limit 0 shows all",
                        stk_figure_count(more).text);
        stk_term_line_end(t);
    }
}

static void pairs(struct stk_term *t, const struct stk_list *list)
{
    const struct stk_diff_pair *p = list->items;
    stk_term_line_end(t);
    stk_term_styled(t, STK_STYLE_DIM, "  step of A              step of B");
    stk_term_line_end(t);
    for (size_t i = 0; i < list->count; i++) {
        stk_term_to_column(t, STK_TEXT_INDENT);
        if (p[i].in_a) {
            stk_term_printf(t, "%lld: %s", (long long)p[i].a_number, stk_figure_ns(p[i].a_ns).text);
        }
        stk_term_to_column(t, 25);
        if (p[i].in_b) {
            stk_term_printf(t, "%lld: %s", (long long)p[i].b_number, stk_figure_ns(p[i].b_ns).text);
        }
        stk_term_line_end(t);
    }
    if (list->left_out) {
        stk_term_printf(t, "  %zu more: --limit 0 shows all", list->left_out);
        stk_term_line_end(t);
    }
}

static void write_text(const void *object, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    const struct stk_diff *d = object;
    struct stk_term term = {.sink = sink, .options = options}, *t = &term;
    if (options->verbosity < 0) {
        stk_term_text(t, d->verdict.sentence);
        stk_term_line_end(t);
        return;
    }
    sentence(t, d);
    stk_term_line_end(t);
    side(t, "A", &d->a);
    side(t, "B", &d->b);
    reasons(t, &d->comparable);
    if (d->is_compared) {
        text_causes(t, d);
        text_findings(t, &d->findings);
        names(t, "Kernels that changed most", &d->kernels);
        names(t, "Operations that changed most (self time)", &d->ops);
        if (options->verbosity > 0) {
            pairs(t, &d->steps);
            stk_term_line_end(t);
            stk_term_to_column(t, STK_TEXT_INDENT);
            stk_term_wrap(t, STK_TEXT_INDENT, d->step.method);
            stk_term_line_end(t);
        }
    } else if (d->a.used && d->b.used) {
        stk_term_line_end(t);
        stk_term_to_column(t, STK_TEXT_INDENT);
        stk_term_wrap(t, STK_TEXT_INDENT, "--force compares the figures anyway.");
        stk_term_line_end(t);
    }
}

const struct stk_out stk_out_diff_text = {.write = write_text};
