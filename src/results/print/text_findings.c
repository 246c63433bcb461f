// SPDX-License-Identifier: Apache-2.0
// Findings as numbered blocks: what, how much, how stoker knows, what to change, where to read on.
// The first is whole, the second is its advice, the rest are titles: --verbose shows all of each.
// Then where to read on.
#include <stdio.h>
#include <string.h>

#include "results/print/figure.h"
#include "results/print/text_parts.h"

static const enum stk_style severity_styles[] = {[STK_LEVEL_HIGH] = STK_STYLE_RED,
                                                 [STK_LEVEL_MEDIUM] = STK_STYLE_YELLOW,
                                                 [STK_LEVEL_LOW] = STK_STYLE_CYAN,
                                                 [STK_LEVEL_INFO] = STK_STYLE_CYAN};
// Without --verbose: findings that say more than their title, and the sentences of the first.
#define FINDINGS_TOLD 2
#define EVIDENCE_LINES 2

// "saves 15-24%", "saves up to 24%" where only a bound is known, "" where nothing is.
static void saving_text(const struct stk_rep_finding *f, char *out, size_t size)
{
    out[0] = 0;
    if (f->saving.has_low && f->saving.has_high && f->saving.low_share > 0) {
        snprintf(out, size, "saves %s",
                 stk_figure_range(f->saving.low_share, f->saving.high_share).text);
    } else if (f->saving.has_high) {
        snprintf(out, size, "saves up to %s", stk_figure_share(f->saving.high_share).text);
    } else if (f->saving.has_expected) {
        snprintf(out, size, "saves about %s", stk_figure_share(f->saving.expected_share).text);
    }
}

static void heading(struct stk_term *t, const struct stk_rep_finding *f, size_t number)
{
    char lead[24], saving[120], tail[160];
    snprintf(lead, sizeof lead, "%2zu  ", number);
    saving_text(f, saving, sizeof saving);
    snprintf(tail, sizeof tail, "%s%s%s", saving, *saving ? "  " : "", stk_level_key(f->severity));
    stk_term_to_column(t, 1);
    stk_term_styled(t, STK_STYLE_BOLD, lead);
    stk_term_styled(t, STK_STYLE_BOLD, f->title);
    int at = t->options->columns - STK_TEXT_INDENT - stk_term_width(tail);
    if (t->column + 2 > at) {
        stk_term_line_end(t);
        stk_term_to_column(t, 5);
    } else {
        stk_term_to_column(t, at);
    }
    stk_term_text(t, saving);
    if (*saving) {
        stk_term_text(t, "  ");
    }
    stk_term_styled(t, severity_styles[f->severity], stk_level_key(f->severity));
    stk_term_line_end(t);
}

static void evidence_line(struct stk_term *t, const struct stk_rep_evidence *e)
{
    stk_term_to_column(t, 5);
    stk_term_wrap(t, 5, e->text);
    if (e->has_time && t->options->verbosity > 0) {
        stk_term_printf(t, " (at %s, %s%s%.60s)", stk_figure_ns(e->start_ns).text,
                        stk_figure_ns(e->dur_ns).text, e->track ? ", " : "",
                        e->track ? e->track : "");
    }
    stk_term_line_end(t);
}

static void evidence(struct stk_term *t, const struct stk_list *list, size_t lines)
{
    const struct stk_rep_evidence *e = list->items;
    for (size_t i = 0; i < list->count && i < lines; i++) {
        evidence_line(t, &e[i]);
    }
}

static void snippet(struct stk_term *t, const char *code)
{
    while (*code) {
        size_t n = strcspn(code, "\n");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), code);
        stk_term_to_column(t, 13);
        stk_term_text(t, line);
        stk_term_line_end(t);
        code += n + (code[n] == '\n');
    }
}

// "try   stoker tune --fix ID -- python train.py", on one line, to be pasted: what would make the
// change without editing the job, or else what says its worth.
static void next_command(struct stk_term *t, const struct stk_report *r,
                         const struct stk_rep_fix *fix, bool is_priced)
{
    if (!fix->tries && !is_priced) {
        return;
    }
    stk_term_to_column(t, 5);
    stk_term_styled(t, STK_STYLE_BOLD, fix->tries ? "try" : "check");
    stk_term_to_column(t, 11);
    if (fix->tries) {
        stk_term_printf(t, "stoker tune --fix %s%s -- ", fix->tries,
                        fix->changes == STK_CHANGES_NUMERICS ? " --allow numerics" : "");
        stk_term_text(t, r->command ? r->command : "python train.py");
    } else {
        stk_term_text(t, "stoker whatif ");
        stk_term_text(t, r->given ? r->given : "PROFILE");
        stk_term_printf(t, " --fix %s", fix->id);
    }
    stk_term_line_end(t);
}

static void fixes(struct stk_term *t, const struct stk_report *r, const struct stk_rep_finding *f,
                  bool is_first)
{
    const struct stk_rep_fix *fix = f->fix.items;
    size_t shown = t->options->verbosity > 0 ? f->fix.count : f->fix.count ? 1 : 0;
    for (size_t i = 0; i < shown; i++) {
        stk_term_to_column(t, 5);
        stk_term_styled(t, STK_STYLE_BOLD, "fix");
        stk_term_to_column(t, 11);
        if (fix[i].framework != STK_FW_ANY && t->options->verbosity > 0) {
            stk_term_printf(t, "%s: ", stk_framework_key(fix[i].framework));
        }
        stk_term_wrap(t, 11, fix[i].text);
        stk_term_line_end(t);
        if (fix[i].snippet && (is_first || t->options->verbosity > 0)) {
            snippet(t, fix[i].snippet);
        }
        if (is_first || t->options->verbosity > 0) {
            next_command(t, r, &fix[i], i < 64 && (f->priced >> i & 1));
        }
    }
}

static void source(struct stk_term *t, const struct stk_rep_finding *f)
{
    if (f->has_source) {
        stk_term_to_column(t, 5);
        stk_term_printf(t, "at    %.400s:%lld", f->source.file, (long long)f->source.line);
        stk_term_line_end(t);
    }
}

static void whole_finding(struct stk_term *t, const struct stk_report *r,
                          const struct stk_rep_finding *f, size_t number)
{
    evidence(t, &f->evidence, t->options->verbosity > 0 ? SIZE_MAX : EVIDENCE_LINES);
    source(t, f);
    fixes(t, r, f, number == 1);
    if (t->options->verbosity > 0) {
        stk_term_to_column(t, 5);
        stk_term_text(t, "why");
        stk_term_to_column(t, 11);
        stk_term_text(t, f->explain);
        stk_term_line_end(t);
    }
}

// What only informs (a healthy job, a capture that could hold more) is its title, unless it is the
// first, which always says what to do next.
static bool is_told(const struct stk_term *t, const struct stk_list *findings, size_t number)
{
    const struct stk_rep_finding *f = (const struct stk_rep_finding *)findings->items + number - 1;
    return number == 1 || t->options->verbosity > 0 ||
           (number <= FINDINGS_TOLD && f->severity != STK_LEVEL_INFO);
}

static void finding(struct stk_term *t, const struct stk_report *r, size_t number)
{
    const struct stk_rep_finding *f =
        (const struct stk_rep_finding *)r->findings.items + number - 1;
    bool told = is_told(t, &r->findings, number);
    if (told || is_told(t, &r->findings, number - 1)) {
        stk_term_line_end(t);
    }
    heading(t, f, number);
    if (number == 1 || t->options->verbosity > 0) {
        whole_finding(t, r, f, number);
    } else if (told) {
        source(t, f);
        fixes(t, r, f, false);
    }
}

void stk_text_findings(struct stk_term *t, const struct stk_report *r)
{
    for (size_t i = 0; i < r->findings.count; i++) {
        finding(t, r, i + 1);
    }
}

static size_t count_state(const struct stk_report *r, const char *state)
{
    const struct stk_rep_rule *rules = r->rules.items;
    size_t n = 0;
    for (size_t i = 0; i < r->rules.count; i++) {
        n += strcmp(rules[i].state, state) == 0;
    }
    return n;
}

static const char *reason(const struct stk_rep_rule *rule)
{
    return rule->why && *rule->why ? rule->why : "no reason given";
}

// Rules that share a state and a reason stand together: "skipped (no device rows): a, b, c".
static void rules_in_state(struct stk_term *t, const struct stk_report *r, const char *state,
                           const char *word)
{
    const struct stk_rep_rule *rules = r->rules.items;
    for (size_t i = 0; i < r->rules.count; i++) {
        bool said = strcmp(rules[i].state, state) != 0;
        for (size_t k = 0; k < i && !said; k++) {
            said = strcmp(rules[k].state, state) == 0 &&
                   strcmp(reason(&rules[k]), reason(&rules[i])) == 0;
        }
        if (said) {
            continue;
        }
        char text[800];
        int used = snprintf(text, sizeof text, "%s (%.300s):", word, reason(&rules[i]));
        for (size_t k = i; k < r->rules.count && used < (int)sizeof text - 80; k++) {
            if (strcmp(rules[k].state, state) == 0 &&
                strcmp(reason(&rules[k]), reason(&rules[i])) == 0) {
                used += snprintf(text + used, sizeof text - (size_t)used, "%s %.60s",
                                 k == i ? "" : ",", rules[k].id);
            }
        }
        stk_text_label(t, "");
        stk_term_wrap(t, STK_TEXT_BODY + 2, text);
        stk_term_line_end(t);
    }
}

// "-v (all 3 findings, 1 check skipped), stoker explain input-wait".
static void further_reading(struct stk_term *t, const struct stk_report *r)
{
    const struct stk_rep_finding *f = r->findings.items;
    size_t skipped = count_state(r, "skipped");
    stk_text_label(t, "more");
    if (r->findings.count == 0) {
        stk_term_printf(t, "-v (%zu checks, no findings)", r->rules.count - skipped);
        stk_term_line_end(t);
        return;
    }
    stk_term_printf(t, "-v (%zu finding%s", r->findings.count, r->findings.count == 1 ? "" : "s");
    if (skipped) {
        stk_term_printf(t, ", %zu check%s skipped", skipped, skipped == 1 ? "" : "s");
    }
    stk_term_text(t, "), ");
    stk_term_text(t, f->explain);
    stk_term_line_end(t);
}

void stk_text_rules(struct stk_term *t, const struct stk_report *r)
{
    if (r->rules.count == 0) {
        return;
    }
    stk_term_line_end(t);
    if (t->options->verbosity <= 0) {
        further_reading(t, r);
        return;
    }
    stk_text_label(t, "checks");
    stk_term_printf(t, "%zu fired, %zu passed, %zu not applicable, %zu skipped",
                    count_state(r, "fired"), count_state(r, "passed"),
                    count_state(r, "not_applicable"), count_state(r, "skipped"));
    stk_term_line_end(t);
    rules_in_state(t, r, "skipped", "skipped");
    rules_in_state(t, r, "not_applicable", "not applicable");
    rules_in_state(t, r, "passed", "passed");
}
