// SPDX-License-Identifier: Apache-2.0
// The first screen of `stoker why`: the answer, the step now and with the first fix, what to change
// and where, what comes next, whether the profile can be trusted. At most LINES_MOST lines of 80
// columns: what has no room is in --verbose, which has every figure. Wording may change; programs
// read the JSON.
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "results/print/bar.h"
#include "results/print/figure.h"
#include "results/print/text_parts.h"

#define LINES_MOST 16
#define LINES_AFTER 4  // Then, Read and Next
#define BODY 12        // where text after "Fix first" begins
#define BAR_LABEL 9    // where a bar begins
#define BAR_AFTER 44   // columns that times take beside the bar
#define BAR_LEAST 10   // columns of a bar
#define FIX_LINES 2    // of an advice, where there is room
#define WORTH 0.03     // of the step: a saving that is listed
#define LEGEND_PARTS 4 // and no part below LEGEND_LEAST
#define LEGEND_LEAST 0.01

static const struct stk_rep_finding *finding_at(const struct stk_report *r, size_t i)
{
    STK_ASSERT(i < r->findings.count);
    return (const struct stk_rep_finding *)r->findings.items + i;
}

// The finding to begin with: the one that the outlook is of, else the first about the job, else the
// first.
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

// The worst fault of the recording, and how many there are; NULL: none.
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
    const char *text = reasons ? why[0] : worst ? worst->title : NULL;
    *count = reasons > *count ? reasons : *count;
    return text && strcmp(text, r->verdict.sentence) == 0 ? NULL : text;
}

// Lines that are left when those that must come have come.
static int room_for(const struct stk_term *t, const struct stk_report *r)
{
    size_t count;
    return LINES_MOST - t->lines - LINES_AFTER - (doubt(r, &count) != NULL) -
           (int)r->profile.selection.count;
}

static void answer(struct stk_term *t, const struct stk_report *r)
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

// "3.2x faster", "12% less time" where that says more.
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

// "39.3-60.5 ms".
static void range_text(const struct stk_rep_outlook *o, char *out, size_t size)
{
    if (o->has_step) {
        struct stk_figure low = stk_figure_ns(o->low_ns), high = stk_figure_ns(o->high_ns);
        char *unit = strchr(low.text, ' ');
        if (unit && strchr(high.text, ' ') && strcmp(unit, strchr(high.text, ' ')) == 0) {
            *unit = 0;
        }
        snprintf(out, size, "(%s-%s)", low.text, high.text);
    } else {
        snprintf(out, size, "(%s of the time)", stk_figure_range(o->low_share, o->high_share).text);
    }
}

static void fixed_line(struct stk_term *t, const struct stk_rep_outlook *o)
{
    int columns = bar_columns(t);
    bool is_bound = strcmp(o->basis, "bound") == 0;
    char times[120], range[200];
    times_text(t, o->share, times, sizeof times);
    range_text(o, range, sizeof range);
    stk_term_to_column(t, 2);
    stk_term_text(t, "fixed");
    stk_term_to_column(t, BAR_LABEL);
    stk_bar_solid(t, (int)(o->share * columns + 0.5));
    stk_term_to_column(t, BAR_LABEL + columns + 2);
    if (o->has_step) {
        stk_term_styled(t, STK_STYLE_GREEN, stk_figure_ns(o->step_ns).text);
        stk_term_text(t, "  ");
    }
    stk_term_printf(t, "%s%s%s%s", is_bound ? "at best, " : "", times, is_bound ? "" : " ",
                    is_bound ? "" : range);
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

static void label(struct stk_term *t, const char *word)
{
    stk_term_styled(t, STK_STYLE_BOLD, word);
    stk_term_to_column(t, BODY);
}

// The text at the right edge of the line, or on a line of its own.
static void at_right(struct stk_term *t, const char *text)
{
    int at = t->options->columns - stk_term_width(text);
    if (!*text) {
        return;
    }
    if (t->column + 2 > at) {
        stk_term_line_end(t);
        at = at < BODY ? BODY : at;
    }
    stk_term_to_column(t, at);
    stk_term_text(t, text);
}

static void place_text(const struct stk_rep_finding *f, char *out, size_t size)
{
    const char *slash = strrchr(f->source.file, '/');
    snprintf(out, size, "%.60s:%lld", slash && slash[1] ? slash + 1 : f->source.file,
             (long long)f->source.line);
}

// The line of evidence that names the place; NULL: none does.
static const char *evidence_of(const struct stk_rep_finding *f, const char *place)
{
    const struct stk_rep_evidence *e = f->evidence.items;
    for (size_t i = 0; *place && i < f->evidence.count; i++) {
        if (strstr(e[i].text, place)) {
            return e[i].text;
        }
    }
    return NULL;
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
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%.60s: %.30s", i ? "; " : "",
                         level[i].text, stk_figure_ns(level[i].step_ns).text);
    }
    stk_term_to_column(t, BODY);
    stk_term_wrap(t, BODY, text);
    stk_term_line_end(t);
}

// The first line that does something.
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

static void code_line(struct stk_term *t, const char *snippet)
{
    const char *code = telling_line(snippet);
    const char *more = "-v for the code";
    size_t n = strcspn(code, "\n");
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)(n < 200 ? n : 200), code);
    stk_term_to_column(t, BODY);
    stk_term_wrap_lines(t, BODY, line, 1, (int)strlen(more) + 2);
    at_right(t, more);
    stk_term_line_end(t);
}

static void fix_first(struct stk_term *t, const struct stk_report *r,
                      const struct stk_rep_finding *f)
{
    const struct stk_rep_fix *fix = f->fix.items;
    char place[96] = "";
    label(t, "Fix first");
    stk_term_styled(t, STK_STYLE_BOLD, f->title);
    if (f->has_source) {
        place_text(f, place, sizeof place);
        at_right(t, place);
    }
    stk_term_line_end(t);
    const char *evidence = evidence_of(f, place);
    if (evidence) {
        stk_term_to_column(t, BODY);
        stk_term_wrap_lines(t, BODY, evidence, 1, 0);
        stk_term_line_end(t);
    }
    if (f->fix.count) {
        stk_term_to_column(t, BODY);
        int lines = room_for(t, r) - 1;
        stk_term_wrap_lines(t, BODY, fix->text, lines < FIX_LINES ? 1 : FIX_LINES, 0);
        stk_term_line_end(t);
        if (f->levels.count > 1) {
            levels(t, f);
        } else if (fix->snippet) {
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
    char saving[120], place[96] = "", tail[240];
    stk_saving_text(f, saving, sizeof saving);
    if (f->has_source) {
        place_text(f, place, sizeof place);
    }
    snprintf(tail, sizeof tail, "%s%s%s", saving, *saving && *place ? "  " : "", place);
    stk_term_wrap_lines(t, BODY, f->title, 1, stk_term_width(tail) + 2);
    at_right(t, tail);
    stk_term_line_end(t);
}

// Other findings about the job, a line each, as many as there is room for.
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
        stk_term_printf(t, "nothing else above %s", stk_figure_share(WORTH).text);
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
        if (shown == most && (size_t)shown < others) {
            stk_term_printf(t, "%zu more with -v", others - (size_t)shown + 1);
            stk_term_line_end(t);
            return;
        }
        then_line(t, f);
    }
}

static void trust(struct stk_term *t, const struct stk_report *r)
{
    size_t count;
    const char *text = doubt(r, &count);
    char more[48] = "";
    if (!text) {
        return;
    }
    if (count > 1) {
        snprintf(more, sizeof more, "%zu more with -v", count - 1);
    }
    label(t, "Trust");
    stk_term_wrap_lines(t, BODY, text, 1, *more ? stk_term_width(more) + 2 : 0);
    if (*more) {
        at_right(t, more);
    }
    stk_term_line_end(t);
}

// What was left out on purpose, so that nobody takes a part for the whole.
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

static void footer(struct stk_term *t, const struct stk_report *r)
{
    label(t, "Read");
    size_t ranks = rank_count(&r->profile.inputs), problems = 0;
    uint64_t dropped = r->profile.events.dropped;
    char text[600], begin[48] = "";
    for (size_t i = 0; i < r->findings.count; i++) {
        problems += finding_at(r, i)->severity < STK_LEVEL_INFO;
    }
    if (ranks > 1) {
        snprintf(begin, sizeof begin, "%zu ranks, ", ranks);
    }
    size_t checks = stk_text_count_rules(r, "fired") + stk_text_count_rules(r, "passed");
    snprintf(text, sizeof text, "%s%s of %s steps, %s events, %s lost; %zu checks, %zu problem%s",
             begin, stk_figure_count(r->steps.used).text, stk_figure_count(r->steps.count).text,
             stk_figure_count(r->profile.events.read).text,
             dropped ? stk_figure_count(dropped).text : "none", checks, problems,
             problems == 1 ? "" : "s");
    stk_term_wrap(t, BODY, text);
    stk_term_line_end(t);
}

// What to type next: what makes the change or prices it, then where the rest is.
static void next(struct stk_term *t, const struct stk_report *r, const struct stk_rep_finding *f)
{
    const char *given = r->given ? r->given : "PROFILE";
    char command[STK_TEXT_COMMAND_MAX];
    const char *word = f && f->fix.count ? stk_text_next_command(r, f->fix.items, f->priced & 1,
                                                                 command, sizeof command)
                                         : NULL;
    label(t, "Next");
    if (word) {
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
    bool has_bar = strcmp(r->profile.health.status, "unusable") != 0 && r->breakdown.scope &&
                   r->breakdown.parts.count > 0;
    answer(t, r);
    if (has_bar) {
        stk_term_line_end(t);
        now_line(t, r);
        if (r->has_outlook) {
            fixed_line(t, &r->outlook);
        }
        legend(t, &r->breakdown.parts);
    }
    stk_term_line_end(t);
    if (first) {
        fix_first(t, r, first);
    }
    then(t, r, first, room_for(t, r) + 1);
    trust(t, r);
    only(t, &r->profile.selection);
    footer(t, r);
    next(t, r, first);
}
