// SPDX-License-Identifier: Apache-2.0
// Findings as numbered blocks, for --verbose: what, how much, how stoker knows, what to change,
// where to read more. Then every rule's result in one line, and what couldn't be checked.
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/bound.h"
#include "results/print/figure.h"
#include "results/print/link.h"
#include "results/print/text_parts.h"

static const enum stk_style severity_styles[] = {[STK_LEVEL_HIGH] = STK_STYLE_RED,
                                                 [STK_LEVEL_MEDIUM] = STK_STYLE_YELLOW,
                                                 [STK_LEVEL_LOW] = STK_STYLE_CYAN,
                                                 [STK_LEVEL_INFO] = STK_STYLE_CYAN};

void stk_saving_text(const struct stk_rep_finding *f, char *out, size_t size)
{
    out[0] = 0;
    if (f->saving.has_low && f->saving.has_high && f->saving.low_share > 0) {
        snprintf(out, size, "saves %s",
                 stk_figure_range(f->saving.low_share, f->saving.high_share).text);
    } else if (f->saving.has_high) {
        bool is_bound = strcmp(f->saving.basis, "bound") == 0;
        bool tells = !is_bound || f->saving.high_share <= STK_BOUND_TELLS;
        snprintf(out, size, tells ? "saves up to %s" : "takes up to %s of the time",
                 stk_figure_share(f->saving.high_share).text);
    } else if (f->saving.has_expected) {
        snprintf(out, size, "saves about %s", stk_figure_share(f->saving.expected_share).text);
    }
}

// "saves about 69% (0–76%)" if a replay gives a figure.
static void expected_text(const struct stk_rep_finding *f, char *out, size_t size)
{
    const struct stk_rep_saving *s = &f->saving;
    if (s->has_expected && s->has_low && s->has_high) {
        snprintf(out, size, "saves about %s (%s)", stk_figure_share(s->expected_share).text,
                 stk_figure_range(s->low_share, s->high_share).text);
    } else {
        stk_saving_text(f, out, size);
    }
}

static void heading(struct stk_term *t, const struct stk_rep_finding *f, size_t number)
{
    char lead[24], saving[200], tail[240];
    snprintf(lead, sizeof lead, "%2zu  ", number);
    expected_text(f, saving, sizeof saving);
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
    if (e->has_time) {
        struct stk_figure dur = stk_figure_ns(e->dur_ns);
        bool is_said = strstr(e->text, dur.text) != NULL;
        char place[300];
        snprintf(place, sizeof place, "(at %s%s%s%s%.60s)", stk_figure_ns(e->start_ns).text,
                 is_said ? "" : ", ", is_said ? "" : dur.text, e->track ? ", " : "",
                 e->track ? e->track : "");
        stk_term_text(t, " ");
        stk_term_wrap(t, 5, place);
    }
    stk_term_line_end(t);
}

static void evidence(struct stk_term *t, const struct stk_list *list)
{
    const struct stk_rep_evidence *e = list->items;
    for (size_t i = 0; i < list->count; i++) {
        evidence_line(t, &e[i]);
    }
}

// The what-if of a fix. Of a fix that comes in levels: the one that the outlook shows, or else the
// one that saves most; the fix's own stands for the least effort.
static const char *price_of(const struct stk_report *r, const struct stk_rep_finding *f,
                            size_t number)
{
    const struct stk_rep_level *level = f->levels.items;
    const struct stk_rep_fix *fix = (const struct stk_rep_fix *)f->fix.items + number;
    bool is_first = r->has_outlook && r->outlook.has_step && strcmp(r->outlook.finding, f->id) == 0;
    if (number > 0 || f->levels.count < 2) {
        return fix->id;
    }
    const char *price = level[f->levels.count - 1].price;
    for (size_t i = 0; is_first && i < f->levels.count; i++) {
        if (level[i].has_step && level[i].step_ns == r->outlook.step_ns) {
            price = level[i].price;
        }
    }
    return fix->price && strcmp(price, fix->price) == 0 ? fix->id : price;
}

const char *stk_text_next_command(const struct stk_report *r, const struct stk_rep_finding *f,
                                  size_t number, char *out, size_t size)
{
    STK_ASSERT(number < f->fix.count);
    const struct stk_rep_fix *fix = (const struct stk_rep_fix *)f->fix.items + number;
    if (fix->tries) {
        snprintf(out, size, "stoker tune --fix %.100s%s -- %.1200s", fix->tries,
                 fix->changes == STK_CHANGES_NUMERICS ? " --allow numerics" : "",
                 r->command ? r->command : "python train.py");
        return "try";
    }
    snprintf(out, size, "stoker whatif %.1200s --fix %.100s", r->given ? r->given : "PROFILE",
             price_of(r, f, number));
    return number < 64 && (f->priced >> number & 1) ? "gain" : NULL;
}

bool stk_text_given_command(const struct stk_report *r, const char *code, char *out, size_t size)
{
    static const char *const places[] = {" PROFILE", " DIR"};
    const char *given = r->given ? r->given : "PROFILE";
    size_t n = code ? strcspn(code, "\n#") : 0; // without a comment
    while (n > 0 && code[n - 1] == ' ') {
        n--;
    }
    if (n < 8 || memcmp(code, "stoker ", 7) != 0 || strncmp(code, "stoker why ", 11) == 0) {
        return false; // `why` is for a profile that is yet to be recorded
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *at = strstr(code, places[i]);
        size_t length = strlen(places[i]);
        if (at && at + length <= code + n) {
            snprintf(out, size, "%.*s %.1200s%.*s", (int)(at - code), code, given,
                     (int)(code + n - at - length), at + length);
            return true;
        }
    }
    return false;
}

static void next_command(struct stk_term *t, const struct stk_report *r,
                         const struct stk_rep_finding *f, size_t number)
{
    char command[STK_TEXT_COMMAND_MAX];
    const char *label = stk_text_next_command(r, f, number, command, sizeof command);
    if (!label) {
        return;
    }
    stk_term_to_column(t, 5);
    stk_term_styled(t, STK_STYLE_BOLD, label);
    stk_term_to_column(t, 11);
    stk_term_text(t, command);
    stk_term_line_end(t);
}

// Commands of stoker on the profile are those on this one: they can be pasted.
static void snippet(struct stk_term *t, const struct stk_report *r, const char *code)
{
    while (*code) {
        size_t n = strcspn(code, "\n");
        char line[STK_TEXT_COMMAND_MAX];
        if (!stk_text_given_command(r, code, line, sizeof line)) {
            snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), code);
        }
        stk_term_to_column(t, 13);
        stk_term_text(t, line);
        stk_term_line_end(t);
        code += n + (code[n] == '\n');
    }
}

static void fixes(struct stk_term *t, const struct stk_report *r, const struct stk_rep_finding *f)
{
    const struct stk_rep_fix *fix = f->fix.items;
    for (size_t i = 0; i < f->fix.count; i++) {
        stk_term_to_column(t, 5);
        stk_term_styled(t, STK_STYLE_BOLD, "fix");
        stk_term_to_column(t, 11);
        if (fix[i].framework != STK_FW_ANY) {
            stk_term_printf(t, "%s: ", stk_framework_key(fix[i].framework));
        }
        stk_term_wrap(t, 11, fix[i].text);
        stk_term_line_end(t);
        if (fix[i].snippet) {
            snippet(t, r, fix[i].snippet);
        }
        next_command(t, r, f, i);
    }
}

static void finding(struct stk_term *t, const struct stk_report *r, size_t number)
{
    const struct stk_rep_finding *f =
        (const struct stk_rep_finding *)r->findings.items + number - 1;
    stk_term_line_end(t);
    heading(t, f, number);
    evidence(t, &f->evidence);
    if (f->has_source) {
        stk_term_to_column(t, 5);
        char place[460];
        snprintf(place, sizeof place, "%.400s:%lld", f->source.file, (long long)f->source.line);
        stk_term_text(t, "at    ");
        stk_term_place(t, &f->source, place);
        stk_term_line_end(t);
    }
    fixes(t, r, f);
    stk_term_to_column(t, 5);
    stk_term_text(t, "why");
    stk_term_to_column(t, 11);
    stk_term_text(t, f->explain);
    stk_term_line_end(t);
}

void stk_text_findings(struct stk_term *t, const struct stk_report *r, enum stk_topic topic)
{
    const struct stk_rep_finding *f = r->findings.items;
    for (size_t i = 0; i < r->findings.count; i++) {
        if (f[i].kind == topic) {
            finding(t, r, i + 1);
        }
    }
}

size_t stk_text_count_rules(const struct stk_report *r, const char *state)
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

// Rules with the same state and reason are listed together: "skipped (no device rows): a, b, c".
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

void stk_text_rules(struct stk_term *t, const struct stk_report *r)
{
    if (r->rules.count == 0) {
        return;
    }
    stk_term_line_end(t);
    stk_text_label(t, "checks");
    size_t fired = stk_text_count_rules(r, "fired"), passed = stk_text_count_rules(r, "passed");
    stk_term_printf(t, "%zu made: %zu with a finding, %zu passed; %zu don't apply, %zu skipped",
                    fired + passed, fired, passed, stk_text_count_rules(r, "not_applicable"),
                    stk_text_count_rules(r, "skipped"));
    stk_term_line_end(t);
    rules_in_state(t, r, "skipped", "skipped");
    rules_in_state(t, r, "not_applicable", "doesn't apply");
    rules_in_state(t, r, "passed", "passed");
}
