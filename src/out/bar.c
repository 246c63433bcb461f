// SPDX-License-Identifier: Apache-2.0
// The stacked bar. Each cause has a fill of its own, so that colour is never the only carrier; each
// segment is labelled directly under its start, and what has no room there is named after "also".
// Widths are the largest-remainder shares of the columns: they always fill the bar exactly.
#include "out/bar.h"

#include <stdio.h>
#include <string.h>

#include "out/figure.h"

#define MAX_SEGMENTS 16

struct segment {
    const struct stk_rep_part *part;
    int start, width;
    char label[48];
    bool labelled;
};

static const struct {
    const char *group, *block, *plain;
    const char *colour;
} fills[] = {
    {"compute", "█", "#", "\033[32m"},  {"communication", "▓", "=", "\033[35m"},
    {"transfer", "▒", ">", "\033[36m"}, {"input", "░", ".", "\033[33m"},
    {"cold", "▚", "x", "\033[34m"},     {"sync", "▀", "!", "\033[31m"},
    {"host", "▄", "-", "\033[34m"},     {"unknown", "_", "?", "\033[37m"},
};

static size_t fill_of(const char *group)
{
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++)
        if (group && strcmp(fills[i].group, group) == 0)
            return i;
    return sizeof fills / sizeof fills[0] - 1;
}

static int collect(const struct stk_list *parts, struct segment *segments)
{
    int n = 0;
    const struct stk_rep_part *p = parts->items;
    for (size_t i = 0; i < parts->count && n < MAX_SEGMENTS; i++) {
        if (p[i].ns <= 0)
            continue;
        segments[n] = (struct segment){.part = &p[i]};
        snprintf(segments[n].label, sizeof segments[n].label, "%.20s %.20s",
                 p[i].label ? p[i].label : p[i].id, stk_figure_share(p[i].share).text);
        n++;
    }
    return n;
}

// Largest remainder: floor everywhere, then one more column to the largest fractions.
static void set_widths(struct segment *segments, int n, int columns)
{
    double rest[MAX_SEGMENTS];
    int used = 0;
    for (int i = 0; i < n; i++) {
        double exact = segments[i].part->share * columns;
        segments[i].width = exact > 0 && exact <= columns ? (int)exact : 0;
        rest[i] = exact - segments[i].width;
        used += segments[i].width;
    }
    for (; used < columns; used++) {
        int best = 0;
        for (int i = 1; i < n; i++)
            if (rest[i] > rest[best])
                best = i;
        segments[best].width++;
        rest[best] = -1;
    }
    for (int i = 0, at = 0; i < n; at += segments[i].width, i++)
        segments[i].start = at;
}

static void draw_fill(struct stk_term *t, const struct segment *s)
{
    size_t f = fill_of(s->part->group);
    if (t->options->colour && s->width)
        stk_sink_text(t->sink, fills[f].colour);
    for (int i = 0; i < s->width; i++)
        stk_sink_text(t->sink, t->options->ascii ? fills[f].plain : fills[f].block);
    if (t->options->colour && s->width)
        stk_sink_text(t->sink, "\033[0m");
    t->column += s->width;
}

// One line of labels: every one that does not run into the next placed one or past the bar.
static bool draw_labels(struct stk_term *t, int indent, struct segment *segments, int n, int columns)
{
    int end = -2;
    bool any = false;
    for (int i = 0; i < n; i++) {
        struct segment *s = &segments[i];
        int width = stk_term_width(s->label);
        if (s->labelled || s->width == 0 || s->start < end + 2 || s->start + width > columns)
            continue;
        stk_term_to_column(t, indent + s->start);
        stk_term_text(t, s->label);
        s->labelled = any = true;
        end = s->start + width;
    }
    if (any)
        stk_term_line_end(t);
    return any;
}

static void draw_rest(struct stk_term *t, int indent, const struct segment *segments, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        if (segments[i].labelled)
            continue;
        if (!any)
            stk_term_to_column(t, indent);
        int width = stk_term_width(segments[i].label) + 2;
        if (any && t->column + width > t->options->columns) {
            stk_term_text(t, ",");
            stk_term_line_end(t);
            stk_term_to_column(t, indent + 6);
        } else {
            stk_term_text(t, any ? ", " : "also: ");
        }
        stk_term_text(t, segments[i].label);
        any = true;
    }
    if (any)
        stk_term_line_end(t);
}

void stk_bar_draw(struct stk_term *t, int indent, const struct stk_list *parts)
{
    struct segment segments[MAX_SEGMENTS];
    int n = collect(parts, segments);
    int columns = t->options->columns - 2 * indent;
    if (n == 0 || columns < 10)
        return;
    set_widths(segments, n, columns);
    stk_term_to_column(t, indent);
    for (int i = 0; i < n; i++)
        draw_fill(t, &segments[i]);
    stk_term_line_end(t);
    if (draw_labels(t, indent, segments, n, columns))
        draw_labels(t, indent, segments, n, columns);
    draw_rest(t, indent, segments, n);
}
