// SPDX-License-Identifier: Apache-2.0
// The stacked bar. Each cause has its own fill, so color never carries the meaning alone. Each
// segment is labeled directly under its start. Labels without room there come after "also". Widths
// are the largest-remainder shares of the columns: they always fill the bar exactly.
#include "results/print/bar.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "results/print/figure.h"

#define MAX_SEGMENTS 16
#define LABEL_LINES 2
#define TINY 0.01 // a smaller share without room in the bar is named only with --verbose

struct segment {
    const struct stk_rep_part *part;
    int start, width; // columns of the bar
    char label[48];
    int line, label_at; // where the label stands; line 0: it has no room
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
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
        if (group && strcmp(fills[i].group, group) == 0) {
            return i;
        }
    }
    return sizeof fills / sizeof fills[0] - 1;
}

static int bar_collect(const struct stk_list *parts, struct segment *segments)
{
    int n = 0;
    const struct stk_rep_part *p = parts->items;
    for (size_t i = 0; i < parts->count && n < MAX_SEGMENTS; i++) {
        if (p[i].ns <= 0) {
            continue;
        }
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
        for (int i = 1; i < n; i++) {
            if (rest[i] > rest[best]) {
                best = i;
            }
        }
        segments[best].width++;
        rest[best] = -1;
    }
    for (int i = 0, at = 0; i < n; at += segments[i].width, i++) {
        segments[i].start = at;
    }
}

// Columns of one fill. `divided`: the previous one has the same fill, so this one begins with a
// line.
static void put_fill(struct stk_term *t, size_t fill, const char *colour, int columns, bool divided)
{
    STK_ASSERT(fill < sizeof fills / sizeof fills[0] && columns >= 0);
    bool is_coloured = t->options->colour && columns > 0;
    const char *block = t->options->ascii ? fills[fill].plain : fills[fill].block;
    stk_sink_text(t->sink, is_coloured ? colour : "");
    for (int i = 0; i < columns; i++) {
        stk_sink_text(t->sink, i > 0 || !divided ? block : t->options->ascii ? "|" : "│");
    }
    stk_sink_text(t->sink, is_coloured ? "\033[0m" : "");
    t->column += columns;
}

// Whether a label fits at `at` next to those already on this line (line > 0 marks them).
static bool bar_fits(const struct segment *segments, int n, int line, int at, int width)
{
    for (int i = 0; i < n; i++) {
        const struct segment *s = &segments[i];
        if (s->line == line && at < s->label_at + stk_term_width(s->label) + 2 &&
            s->label_at < at + width + 2) {
            return false;
        }
    }
    return true;
}

// Give labels to one line, the widest segments first; a label may not leave the bar to the right.
static void place_labels(struct segment *segments, int n, int line, int columns)
{
    for (;;) {
        struct segment *best = NULL;
        for (int i = 0; i < n; i++) {
            struct segment *s = &segments[i];
            int width = stk_term_width(s->label);
            int at = s->start + width > columns ? columns - width : s->start;
            if (s->line || s->width == 0 || at < 0 || !bar_fits(segments, n, line, at, width)) {
                continue;
            }
            if (!best || s->part->ns > best->part->ns) {
                best = s;
                best->label_at = at;
            }
        }
        if (!best) {
            return;
        }
        best->line = line;
    }
}

static void draw_labels(struct stk_term *t, int indent, const struct segment *segments, int n,
                        int line)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        if (segments[i].line != line) {
            continue;
        }
        stk_term_to_column(t, indent + segments[i].label_at);
        stk_term_text(t, segments[i].label);
        any = true;
    }
    if (any) {
        stk_term_line_end(t);
    }
}

static void draw_rest(struct stk_term *t, int indent, const struct segment *segments, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        bool is_tiny = segments[i].part->share < TINY && t->options->verbosity <= 0;
        if (segments[i].line || is_tiny) {
            continue;
        }
        if (!any) {
            stk_term_to_column(t, indent);
        }
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
    if (any) {
        stk_term_line_end(t);
    }
}

static void draw_fills(struct stk_term *t, const struct segment *segments, int n)
{
    size_t last = SIZE_MAX;
    for (int i = 0; i < n; i++) {
        size_t fill = fill_of(segments[i].part->group);
        put_fill(t, fill, fills[fill].colour, segments[i].width, fill == last);
        last = segments[i].width ? fill : last;
    }
}

void stk_bar_fill(struct stk_term *t, int columns, const struct stk_list *parts)
{
    struct segment segments[MAX_SEGMENTS];
    int n = bar_collect(parts, segments);
    if (n > 0) {
        set_widths(segments, n, columns);
        draw_fills(t, segments, n);
    }
}

void stk_bar_solid(struct stk_term *t, int columns)
{
    put_fill(t, 0, "\033[1;32m", columns, false);
}

void stk_bar_key(struct stk_term *t, const char *group)
{
    size_t fill = fill_of(group);
    put_fill(t, fill, fills[fill].colour, 1, false);
}

void stk_bar_draw(struct stk_term *t, int indent, const struct stk_list *parts)
{
    struct segment segments[MAX_SEGMENTS];
    int n = bar_collect(parts, segments);
    int columns = t->options->columns - 2 * indent;
    if (n == 0 || columns < 10) {
        return;
    }
    set_widths(segments, n, columns);
    stk_term_to_column(t, indent);
    draw_fills(t, segments, n);
    stk_term_line_end(t);
    for (int line = 1; line <= LABEL_LINES; line++) {
        place_labels(segments, n, line, columns);
        draw_labels(t, indent, segments, n, line);
    }
    draw_rest(t, indent, segments, n);
}
