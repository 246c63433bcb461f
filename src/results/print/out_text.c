// SPDX-License-Identifier: Apache-2.0
// The report as text: the verdict's sentence alone with --quiet, the first screen (text_screen.c),
// or with --verbose everything: the verdict, where a step's time goes, what to change; whether it
// can be trusted: what was read, issues, remarks about the recording; every device, step and check.
// Wording may change; programs read the JSON.
#include <stdio.h>
#include <string.h>

#include "results/print/bar.h"
#include "results/print/figure.h"
#include "results/print/text_parts.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void input_line(struct stk_term *t, const struct stk_rep_input *in)
{
    char facts[160];
    snprintf(facts, sizeof facts, "%s%s%s%.60s",
             in->has_bytes ? stk_figure_bytes(in->bytes).text : "",
             in->has_bytes && in->format ? ", " : "", in->format ? in->format : "",
             in->format || in->has_bytes ? "" : "could not be read");
    int capacity = t->options->columns - STK_TEXT_BODY - stk_term_width(facts) - 3;
    stk_term_cut(t, base_name(in->path), capacity > 16 ? capacity : 16);
    stk_term_printf(t, "  %s", facts);
    if (in->producer) {
        stk_term_printf(t, " (%.120s)", in->producer);
    }
    stk_term_line_end(t);
}

static void rank_line(struct stk_term *t, const struct stk_list *inputs_list)
{
    const struct stk_rep_input *in = inputs_list->items;
    int64_t low = INT64_MAX, high = INT64_MIN;
    size_t count = 0;
    for (size_t i = 0; i < inputs_list->count; i++) {
        for (size_t k = 0; k < in[i].ranks.count; k++, count++) {
            int64_t rank = ((const int64_t *)in[i].ranks.items)[k];
            low = rank < low ? rank : low;
            high = rank > high ? rank : high;
        }
    }
    if (count < 2) {
        return;
    }
    stk_text_label(t, "");
    stk_term_printf(t, "%zu ranks, %lld to %lld", count, (long long)low, (long long)high);
    stk_term_line_end(t);
}

static void inputs(struct stk_term *t, const struct stk_rep_profile *p)
{
    const struct stk_rep_input *in = p->inputs.items;
    for (size_t i = 0; i < p->inputs.count; i++) {
        stk_text_label(t, i == 0 ? "read" : "");
        input_line(t, &in[i]);
    }
    rank_line(t, &p->inputs);
    stk_text_label(t, "");
    stk_term_printf(t, "%s events, %s dropped; capture %s", stk_figure_count(p->events.read).text,
                    stk_figure_count(p->events.dropped).text, p->health.status);
    stk_term_line_end(t);
}

static void selection(struct stk_term *t, const struct stk_list *list)
{
    const char *const *text = list->items;
    for (size_t i = 0; i < list->count; i++) {
        stk_text_label(t, i == 0 ? "only" : "");
        stk_term_wrap(t, STK_TEXT_BODY, text[i]);
        stk_term_line_end(t);
    }
}

// Reasons that appear below, as issues with their remedy or as the verdict, aren't repeated.
static bool said_below(const struct stk_report *r, const char *reason)
{
    const struct stk_rep_profile *p = &r->profile;
    const struct stk_rep_issue *issue = p->issues.items;
    if (strcmp(reason, r->verdict.sentence) == 0) {
        return true;
    }
    for (size_t i = 0; i < p->issues.count; i++) {
        if (issue[i].severity != STK_SEVERITY_INFO &&
            strncmp(reason, issue[i].meaning, strlen(issue[i].meaning)) == 0) {
            return true;
        }
    }
    return false;
}

static void health(struct stk_term *t, const struct stk_report *r)
{
    const char *const *why = r->profile.health.why.items;
    bool first = true;
    for (size_t i = 0; i < r->profile.health.why.count; i++) {
        if (said_below(r, why[i])) {
            continue;
        }
        stk_text_label(t, first ? "but" : "");
        stk_term_wrap(t, STK_TEXT_BODY, why[i]);
        stk_term_line_end(t);
        first = false;
    }
}

static void issues(struct stk_term *t, const struct stk_rep_profile *p)
{
    const struct stk_rep_issue *issue = p->issues.items;
    bool first = true;
    for (size_t i = 0; i < p->issues.count; i++) {
        stk_text_label(t, first ? "issues" : "");
        first = false;
        char text[1200];
        bool excerpt = issue[i].example && *issue[i].example;
        snprintf(text, sizeof text, "%s (%s): %s%s%.400s%s; %s", issue[i].id,
                 stk_figure_count(issue[i].count).text, issue[i].meaning, excerpt ? " [" : "",
                 excerpt ? issue[i].example : "", excerpt ? "]" : "", issue[i].remedy);
        stk_term_wrap(t, STK_TEXT_BODY, text);
        stk_term_line_end(t);
    }
}

static void excluded(struct stk_term *t, const struct stk_rep_steps *s)
{
    const struct stk_rep_excluded *e = s->excluded.items;
    for (size_t i = 0; i < s->excluded.count; i++) {
        stk_text_label(t, "");
        stk_term_printf(t, "without step %lld: ", (long long)e[i].step);
        stk_term_wrap(t, STK_TEXT_BODY + 2, e[i].why);
        stk_term_line_end(t);
    }
}

static void steps(struct stk_term *t, const struct stk_rep_steps *s)
{
    stk_text_label(t, "steps");
    if (s->count == 0) {
        stk_term_text(t, "none found");
        stk_term_line_end(t);
        return;
    }
    stk_term_printf(t, "%s of %s used", stk_figure_count(s->used).text,
                    stk_figure_count(s->count).text);
    stk_term_printf(t, " (%s)", s->source);
    if (s->has_times) {
        stk_term_printf(t, "; median %s, p95 %s", stk_figure_ns(s->median_ns).text,
                        stk_figure_ns(s->p95_ns).text);
    }
    stk_term_line_end(t);
    if (s->has_batches) {
        stk_term_to_column(t, STK_TEXT_INDENT);
        stk_term_printf(t, "each is %s batches", stk_figure_count(s->batches).text);
        stk_term_line_end(t);
    }
    excluded(t, s);
}

// What the answer is based on, and what may be wrong with it.
static void trusted(struct stk_term *t, const struct stk_report *r)
{
    stk_term_line_end(t);
    stk_term_to_column(t, STK_TEXT_INDENT);
    stk_term_styled(t, STK_STYLE_BOLD, "Can this be trusted?");
    stk_term_line_end(t);
    inputs(t, &r->profile);
    selection(t, &r->profile.selection);
    health(t, r);
    issues(t, &r->profile);
    steps(t, &r->steps);
    stk_text_findings(t, r, STK_TOPIC_RECORDING);
}

static void verdict(struct stk_term *t, const struct stk_report *r)
{
    stk_term_to_column(t, STK_TEXT_INDENT);
    if (t->options->colour) {
        stk_sink_text(t->sink, "\033[1m");
    }
    stk_term_wrap(t, STK_TEXT_INDENT, r->verdict.sentence);
    if (t->options->colour) {
        stk_sink_text(t->sink, "\033[0m");
    }
    stk_term_line_end(t);
    stk_term_to_column(t, STK_TEXT_INDENT);
    stk_term_printf(t, "%s, %s confidence", stk_verdict_key(r->verdict.kind),
                    stk_level_key(r->verdict.confidence));
    stk_term_line_end(t);
}

#define LEFT_OUT_SHOWN 16 // devices

static void text_breakdown(struct stk_term *t, const struct stk_rep_breakdown *b)
{
    if (!b->scope || b->parts.count == 0) {
        return;
    }
    stk_term_line_end(t);
    stk_bar_draw(t, STK_TEXT_INDENT, &b->parts);
    const struct stk_rep_left_out *left = b->devices_left_out.items;
    for (size_t i = 0; i < b->devices_left_out.count; i++) {
        stk_term_to_column(t, STK_TEXT_INDENT);
        if (i == LEFT_OUT_SHOWN) {
            stk_term_printf(t, "and without %zu more devices", b->devices_left_out.count - i);
            stk_term_line_end(t);
            break;
        }
        stk_term_printf(t, "without device %s: ", left[i].id);
        stk_term_wrap(t, STK_TEXT_INDENT + 2, left[i].why);
        stk_term_line_end(t);
    }
}

static void device_table(struct stk_term *t, const struct stk_report *r)
{
    const struct stk_rep_device *d = r->devices.items;
    if (r->devices.count == 0) {
        return;
    }
    stk_term_line_end(t);
    stk_term_text(t, "  device     busy       idle       kernels    under 10 us  name");
    stk_term_line_end(t);
    for (size_t i = 0; i < r->devices.count; i++) {
        stk_term_printf(t, "  %s", d[i].id);
        stk_term_to_column(t, 13);
        stk_term_text(t, stk_figure_ns(d[i].busy_ns).text);
        stk_term_to_column(t, 24);
        stk_term_text(t, d[i].has_span ? stk_figure_ns(d[i].idle_ns).text : "-");
        stk_term_to_column(t, 35);
        stk_term_text(t, stk_figure_count(d[i].kernels).text);
        stk_term_to_column(t, 46);
        stk_term_text(t, stk_figure_count(d[i].short_kernels).text);
        stk_term_to_column(t, 59);
        stk_term_text(t, d[i].name ? d[i].name : "-");
        stk_term_line_end(t);
    }
}

// The breakdown's label of a part; its key if it has none.
static const char *part_label(const struct stk_list *parts, const char *key)
{
    const struct stk_rep_part *p = parts->items;
    for (size_t i = 0; i < parts->count; i++) {
        if (strcmp(p[i].id, key) == 0 && p[i].label) {
            return p[i].label;
        }
    }
    return key;
}

// The largest parts of a step, as "compute 120 ms, input 40 ms".
static void step_parts(struct stk_term *t, const struct stk_list *parts,
                       const struct stk_list *labels)
{
    const struct stk_entry *p = parts->items;
    for (int shown = 0; shown < 3; shown++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < parts->count; i++) {
            size_t larger = 0; // larger parts
            for (size_t k = 0; k < parts->count; k++) {
                larger += p[k].ns > p[i].ns || (p[k].ns == p[i].ns && k < i);
            }
            if (larger == (size_t)shown) {
                best = i;
            }
        }
        if (best == SIZE_MAX) {
            return;
        }
        stk_term_printf(t, "%s%s %s", shown ? ", " : "", part_label(labels, p[best].key),
                        stk_figure_ns(p[best].ns).text);
    }
}

static void step_table(struct stk_term *t, const struct stk_rep_steps *s,
                       const struct stk_list *labels)
{
    const struct stk_rep_step *step = s->list.items;
    if (s->list.count == 0) {
        return;
    }
    stk_term_line_end(t);
    stk_term_text(t, "  step       device   start      length     largest parts");
    stk_term_line_end(t);
    for (size_t i = 0; i < s->list.count; i++) {
        stk_term_printf(t, "  %lld", (long long)step[i].number);
        stk_term_to_column(t, 13);
        stk_term_text(t, step[i].device ? step[i].device : "host");
        stk_term_to_column(t, 22);
        stk_term_text(t, stk_figure_ns(step[i].start_ns).text);
        stk_term_to_column(t, 33);
        stk_term_text(t, stk_figure_ns(step[i].dur_ns).text);
        stk_term_to_column(t, 44);
        step_parts(t, &step[i].parts, labels);
        stk_term_line_end(t);
    }
    if (s->list.left_out) {
        stk_term_printf(t, "  %s more rows: --limit 0 shows all",
                        stk_figure_count(s->list.left_out).text);
        stk_term_line_end(t);
    }
}

static void write_text(const void *object, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    const struct stk_report *r = object;
    struct stk_term term = {.sink = sink, .options = options}, *t = &term;
    if (options->verbosity < 0) {
        stk_term_text(t, r->verdict.sentence);
        stk_term_line_end(t);
        return;
    }
    if (options->verbosity == 0) {
        stk_text_screen(t, r);
        return;
    }
    verdict(t, r);
    if (stk_text_has_breakdown(r)) {
        text_breakdown(t, &r->breakdown);
    }
    stk_text_outlook(t, r);
    stk_text_findings(t, r, STK_TOPIC_JOB);
    trusted(t, r);
    device_table(t, r);
    step_table(t, &r->steps, &r->breakdown.parts);
    stk_text_rules(t, r);
}

const struct stk_out stk_out_report_text = {.write = write_text};
