// SPDX-License-Identifier: Apache-2.0
// The first screen of `stoker why`: the answer, the step now and with the first fix, what to change
// and where, the next command, whether the profile can be trusted. At most LINES_MOST lines of 80
// columns; --verbose has the rest, with every figure. Wording may change; programs read the JSON.
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "results/evidence.h"
#include "results/print/figure.h"
#include "results/print/link.h"
#include "results/print/text_parts.h"

#define LINES_MOST 16
#define LINES_AFTER 2 // Then, Read
#define BODY 12       // where text after "Fix first" begins
#define FIX_LINES 2   // of an advice, if there is room
#define WORTH 0.03    // of the step: smaller savings aren't listed
#define NAME_LEAST 20 // columns of a name that is cut in the middle

static const struct stk_rep_finding *finding_at(const struct stk_report *r, size_t i)
{
    STK_ASSERT(i < r->findings.count);
    return (const struct stk_rep_finding *)r->findings.items + i;
}

// The first finding to show: the outlook's, else the first about the job, else the first.
static const struct stk_rep_finding *first_finding(const struct stk_report *r)
{
    const struct stk_rep_finding *first = NULL;
    for (size_t i = 0; i < r->findings.count; i++) {
        const struct stk_rep_finding *f = finding_at(r, i);
        if (r->has_outlook && strcmp(f->id, r->outlook.finding) == 0) {
            return f;
        }
        if (!first && f->kind == STK_TOPIC_JOB) {
            first = f;
        }
    }
    return first || r->findings.count == 0 ? first : finding_at(r, 0);
}

// Does the verdict begin with what the reason says? "No GPU events: the breakdown ..."
static bool is_said(const char *reason, const struct stk_rep_verdict *verdict)
{
    size_t n = strcspn(reason, ":");
    return verdict->kind != STK_VERDICT_CANNOT_TELL && reason[n] &&
           strncmp(verdict->sentence, reason, n) == 0;
}

// The worst fault of the recording, and the number of faults; NULL: none.
static const char *doubt(const struct stk_report *r, size_t *count)
{
    const struct stk_rep_finding *worst = NULL;
    const char *const *why = r->profile.health.why.items;
    size_t reasons = r->profile.health.why.count;
    *count = 0;
    for (size_t i = 0; i < r->findings.count; i++) {
        const struct stk_rep_finding *f = finding_at(r, i);
        if (f->kind == STK_TOPIC_RECORDING && f->severity < STK_LEVEL_INFO) {
            worst = worst ? worst : f;
            ++*count;
        }
    }
    bool is_news = reasons && !(worst && is_said(why[0], &r->verdict));
    const char *text = is_news ? why[0] : worst ? worst->title : NULL;
    *count = reasons > *count ? reasons : *count;
    return text && strcmp(text, r->verdict.sentence) == 0 ? NULL : text;
}

// The command that tries the first fix, estimates it, or looks further; false: none does. A command
// that is a fix's code comes first: it is what the advice asks for.
static bool next_command(const struct stk_term *t, const struct stk_report *r, char *out,
                         size_t size)
{
    const struct stk_rep_finding *f = first_finding(r);
    if (!f || f->fix.count == 0) {
        return false;
    }
    if (stk_text_given_command(r, ((const struct stk_rep_fix *)f->fix.items)->snippet, out, size)) {
        return true;
    }
    const char *word = stk_text_next_command(r, f, 0, out, size);
    if (word && strcmp(word, "try") != 0 && stk_term_width(out) > t->options->columns - BODY) {
        snprintf(out, size, "stoker whatif %.1200s", r->given ? r->given : "PROFILE");
    }
    return word != NULL;
}

// Lines left for what may be left out. A command counts as one: it isn't cut, so the terminal wraps
// it where the profile's path is long.
static int lines_left(const struct stk_term *t, const struct stk_report *r)
{
    char command[STK_TEXT_COMMAND_MAX];
    int next_lines = next_command(t, r, command, sizeof command) ? 2 : 1;
    return LINES_MOST - t->lines - LINES_AFTER - next_lines - (int)r->profile.selection.count;
}

// The same, where a doubt takes its line.
static int room_for(const struct stk_term *t, const struct stk_report *r)
{
    size_t count;
    return lines_left(t, r) - (doubt(r, &count) != NULL);
}

static void label(struct stk_term *t, const char *word)
{
    stk_term_styled(t, STK_STYLE_BOLD, word);
    stk_term_to_column(t, BODY);
}

// Moves to where a text of this width ends at the right edge, on a new line if necessary.
static void to_right(struct stk_term *t, int width)
{
    int at = t->options->columns - width;
    if (t->column + 2 > at) {
        stk_term_line_end(t);
        at = at < BODY ? BODY : at;
    }
    stk_term_to_column(t, at);
}

static void at_right(struct stk_term *t, const char *text)
{
    if (*text) {
        to_right(t, stk_term_width(text));
        stk_term_text(t, text);
    }
}

static void place_text(const struct stk_rep_finding *f, char *out, size_t size)
{
    const char *slash = strrchr(f->source.file, '/');
    snprintf(out, size, "%.60s:%lld", slash && slash[1] ? slash + 1 : f->source.file,
             (long long)f->source.line);
}

// Evidence that names where the time goes, the most telling first.
static const char *const naming[] = {"stage_limits", "in_name", "most_in_kernel",
                                     "emptiest_kernel"};

// What names the place in the program, or else the operation; NULL: nothing does.
static const struct stk_rep_evidence *evidence_of(const struct stk_rep_finding *f,
                                                  const char *place)
{
    const struct stk_rep_evidence *e = f->evidence.items;
    for (size_t i = 0; *place && i < f->evidence.count; i++) {
        if (strstr(e[i].text, place)) {
            return &e[i];
        }
    }
    for (size_t k = 0; !*place && k < sizeof naming / sizeof *naming; k++) {
        for (size_t i = 0; i < f->evidence.count; i++) {
            if (e[i].id && strcmp(e[i].id, naming[k]) == 0) {
                return &e[i];
            }
        }
    }
    return NULL;
}

// Where the longest name of a sentence begins; NULL: it has none.
static const char *name_in(const struct stk_rep_evidence *e, size_t *length)
{
    const struct stk_value *v = e->values.items;
    const char *found = NULL;
    *length = 0;
    for (size_t i = 0; i < e->values.count; i++) {
        const char *at = v[i].unit == STK_UNIT_TEXT ? strstr(e->text, v[i].is.text) : NULL;
        if (at && strlen(v[i].is.text) > *length) {
            *length = strlen(v[i].is.text);
            found = at;
        }
    }
    return found;
}

// One line: where it is too long, first what follows the statement is left out (a count in
// brackets, further figures), then the middle of the name.
static void evidence_line(struct stk_term *t, const struct stk_rep_evidence *e)
{
    size_t length;
    int room = t->options->columns - BODY;
    const char *name = name_in(e, &length);
    stk_term_to_column(t, BODY);
    if (!name || stk_term_width(e->text) <= room) {
        stk_term_head(t, e->text, room);
        stk_term_line_end(t);
        return;
    }
    const char *after = name + length;
    size_t kept = strcspn(after, "(,:");
    kept -= kept > 0 && after[kept] == '(' ? 1 : 0; // and the blank before it
    char text[800], tail[200];
    snprintf(text, sizeof text, "%.*s", (int)(after + kept - e->text), e->text);
    snprintf(tail, sizeof tail, "%.*s", (int)kept, after);
    int rest = stk_term_width(text) - (int)length;
    if (kept == 0 || stk_term_width(text) <= room || room - rest < NAME_LEAST) {
        stk_term_head(t, text, room);
    } else {
        stk_term_printf(t, "%.*s", (int)(name - e->text), e->text);
        snprintf(text, sizeof text, "%.*s", (int)length, name);
        stk_term_cut(t, text, room - rest);
        stk_term_text(t, tail);
    }
    stk_term_line_end(t);
}

static void levels(struct stk_term *t, const struct stk_rep_finding *f)
{
    const struct stk_rep_level *level = f->levels.items;
    if (f->levels.count < 2 || !level->has_step) {
        return;
    }
    char text[400];
    int used = 0;
    for (size_t i = 0; i < f->levels.count && used < (int)sizeof text - 100; i++) {
        if (i > 0 && level[i].step_ns + level[i].step_ns / 50 >= level[i - 1].step_ns) {
            break; // more effort without more saving
        }
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%.60s: %.30s", i ? "; " : "",
                         level[i].text, stk_figure_ns(level[i].step_ns).text);
    }
    stk_term_to_column(t, BODY);
    stk_term_wrap(t, BODY, text);
    stk_term_line_end(t);
}

// The first line that isn't an import or empty.
static const char *telling_line(const char *code)
{
    const char *line = code;
    while (strncmp(line, "import ", 7) == 0 || strncmp(line, "from ", 5) == 0 || *line == '\n') {
        const char *end = strchr(line, '\n');
        if (!end || !end[1]) {
            return code;
        }
        line = end + 1;
    }
    return line;
}

// The line that does something, cut where it must be; a comment at its end goes first.
static void code_line(struct stk_term *t, const char *snippet)
{
    const char *code = telling_line(snippet), *more = "-v for the code";
    int room = t->options->columns - BODY;
    size_t n = strcspn(code, "\n");
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)(n < 200 ? n : 200), code);
    bool is_whole = strlen(snippet) == strlen(line) && stk_term_width(line) <= room;
    room -= is_whole ? 0 : stk_term_width(more) + 2;
    char *comment = strstr(line, " # ");
    if (comment && stk_term_width(line) > room) {
        line[strcspn(line, "#")] = 0;
        for (size_t end = strlen(line); end && line[end - 1] == ' '; end--) {
            line[end - 1] = 0;
        }
    }
    stk_term_to_column(t, BODY);
    stk_term_head(t, line, room);
    at_right(t, is_whole ? "" : more);
    stk_term_line_end(t);
}

// Is it a change, not only advice to look further?
static bool is_fix(const struct stk_rep_finding *f)
{
    return f->severity < STK_LEVEL_INFO || f->saving.has_high;
}

static void fix_first(struct stk_term *t, const struct stk_report *r,
                      const struct stk_rep_finding *f)
{
    const struct stk_rep_fix *fix = f->fix.items;
    char place[96] = "", command[STK_TEXT_COMMAND_MAX];
    label(t, is_fix(f) ? "Fix first" : "Look at");
    stk_term_styled(t, STK_STYLE_BOLD, f->title);
    if (f->has_source) {
        place_text(f, place, sizeof place);
        to_right(t, stk_term_width(place));
        stk_term_place(t, &f->source, place);
    }
    stk_term_line_end(t);
    const struct stk_rep_evidence *evidence = evidence_of(f, place);
    if (evidence && room_for(t, r) >= 3) {
        evidence_line(t, evidence);
    }
    if (f->fix.count) {
        stk_term_to_column(t, BODY);
        int lines = room_for(t, r) - 1;
        stk_term_wrap_sentences(t, BODY, fix->text, lines < FIX_LINES ? 1 : FIX_LINES);
        stk_term_line_end(t);
        if (f->levels.count > 1) {
            levels(t, f);
        } else if (fix->snippet &&
                   !stk_text_given_command(r, fix->snippet, command, sizeof command)) {
            code_line(t, fix->snippet);
        }
    }
}

static bool is_listed(const struct stk_rep_finding *f)
{
    bool saves = f->saving.has_high && f->saving.high_share >= WORTH;
    return f->kind == STK_TOPIC_JOB && (f->severity < STK_LEVEL_INFO || saves);
}

static void then_line(struct stk_term *t, const struct stk_rep_finding *f)
{
    char saving[120], place[96] = "";
    stk_saving_text(f, saving, sizeof saving);
    if (f->has_source) {
        place_text(f, place, sizeof place);
    }
    int between = *saving && *place ? 2 : 0;
    int width = stk_term_width(saving) + between + stk_term_width(place);
    stk_term_wrap_lines(t, BODY, f->title, 1, width + 2);
    if (width) {
        to_right(t, width);
        stk_term_printf(t, "%s%*s", saving, between, "");
        stk_term_place(t, &f->source, place);
    }
    stk_term_line_end(t);
}

// Other findings about the job, one line each, as many as fit.
static void then(struct stk_term *t, const struct stk_report *r,
                 const struct stk_rep_finding *first, int room)
{
    size_t others = 0;
    for (size_t i = 0; i < r->findings.count; i++) {
        others += finding_at(r, i) != first && is_listed(finding_at(r, i));
    }
    if (!first || r->verdict.kind == STK_VERDICT_CANNOT_TELL) {
        return;
    }
    label(t, "Then");
    if (others == 0) {
        stk_term_printf(t, "no %sfix saves more than %.0f%%", is_fix(first) ? "other " : "",
                        100 * WORTH);
        stk_term_line_end(t);
        return;
    }
    int shown = 0, most = room < 1 ? 1 : room;
    for (size_t i = 0; i < r->findings.count && shown < most; i++) {
        const struct stk_rep_finding *f = finding_at(r, i);
        if (f == first || !is_listed(f)) {
            continue;
        }
        if (shown++ > 0) {
            stk_term_to_column(t, BODY);
        }
        if (shown > 1 && shown == most && (size_t)shown < others) {
            stk_term_printf(t, "%zu more with -v", others - (size_t)shown + 1);
            stk_term_line_end(t);
            return;
        }
        then_line(t, f);
    }
}

static const char *capital(const char *text, char *out, size_t size)
{
    snprintf(out, size, "%s", text);
    out[0] = (char)(out[0] >= 'a' && out[0] <= 'z' ? out[0] - 32 : out[0]);
    return out;
}

static void trust(struct stk_term *t, const struct stk_report *r)
{
    size_t count;
    const char *text = doubt(r, &count);
    char more[48] = "", first[400];
    int room = lines_left(t, r);
    if (!text) {
        return;
    }
    if (count > 1) {
        snprintf(more, sizeof more, "%zu more with -v", count - 1);
    }
    label(t, "Trust");
    stk_term_wrap_lines(t, BODY, capital(text, first, sizeof first), room < 1 ? 1 : 2,
                        *more ? stk_term_width(more) + 2 : 0);
    if (*more) {
        at_right(t, more);
    }
    stk_term_line_end(t);
}

// The selection, so that nobody mistakes a part for the whole.
static void only(struct stk_term *t, const struct stk_list *selection)
{
    const char *const *text = selection->items;
    for (size_t i = 0; i < selection->count; i++) {
        label(t, i == 0 ? "Only" : "");
        stk_term_wrap(t, BODY, text[i]);
        stk_term_line_end(t);
    }
}

static size_t rank_count(const struct stk_list *inputs)
{
    const struct stk_rep_input *in = inputs->items;
    size_t count = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        count += in[i].ranks.count;
    }
    return count;
}

// "4 of 5 steps"; brief: "5 steps" if all are used.
static void steps_text(const struct stk_rep_steps *s, bool is_brief, char *out, size_t size)
{
    const char *plural = s->count == 1 ? "" : "s";
    struct stk_figure used = stk_figure_count(s->used), all = stk_figure_count(s->count);
    if (s->count == 0) {
        snprintf(out, size, "no steps");
    } else if (is_brief && s->used == s->count) {
        snprintf(out, size, "%s step%s", all.text, plural);
    } else {
        snprintf(out, size, "%s of %s step%s", used.text, all.text, plural);
    }
}

static void footer_text(const struct stk_report *r, bool is_brief, char *out, size_t size)
{
    char begin[48] = "", steps[4 * STK_HUMAN_MAX + 32];
    size_t ranks = rank_count(&r->profile.inputs), problems = 0;
    size_t checks = stk_text_count_rules(r, "fired") + stk_text_count_rules(r, "passed");
    uint64_t dropped = r->profile.events.dropped;
    for (size_t i = 0; i < r->findings.count; i++) {
        problems += finding_at(r, i)->severity < STK_LEVEL_INFO;
    }
    if (ranks > 1) {
        snprintf(begin, sizeof begin, "%zu ranks, ", ranks);
    }
    steps_text(&r->steps, is_brief, steps, sizeof steps);
    snprintf(out, size, "%s%s, %s events, %s lost; %zu checks, %zu problem%s", begin, steps,
             stk_figure_count(r->profile.events.read).text,
             dropped ? stk_figure_count(dropped).text : "none", checks, problems,
             problems == 1 ? "" : "s");
}

static void footer(struct stk_term *t, const struct stk_report *r)
{
    char text[600];
    footer_text(r, false, text, sizeof text);
    if (stk_term_width(text) > t->options->columns - BODY) {
        footer_text(r, true, text, sizeof text);
    }
    label(t, "Read");
    stk_term_wrap(t, BODY, text);
    stk_term_line_end(t);
}

// The next commands: one that tries or estimates the fix, then the one with all details.
static void next(struct stk_term *t, const struct stk_report *r)
{
    const char *given = r->given ? r->given : "PROFILE";
    char command[STK_TEXT_COMMAND_MAX];
    label(t, "Next");
    if (next_command(t, r, command, sizeof command)) {
        stk_term_text(t, command);
        stk_term_line_end(t);
        stk_term_to_column(t, BODY);
    }
    stk_term_printf(t, "stoker why -v %.400s", given);
    if (t->column + 15 + stk_term_width(given) <= t->options->columns) {
        stk_term_printf(t, "   stoker view %.400s", given);
    }
    stk_term_line_end(t);
}

void stk_text_screen(struct stk_term *t, const struct stk_report *r)
{
    const struct stk_rep_finding *first = first_finding(r);
    stk_text_answer(t, r);
    if (stk_text_has_breakdown(r)) {
        stk_term_line_end(t);
        stk_text_bars(t, r);
    }
    stk_term_line_end(t);
    if (first) {
        fix_first(t, r, first);
    }
    then(t, r, first, room_for(t, r) + 1);
    trust(t, r);
    only(t, &r->profile.selection);
    footer(t, r);
    next(t, r);
}
