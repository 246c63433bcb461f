// SPDX-License-Identifier: Apache-2.0
// Lines for a terminal. A code point counts as one column: wide East Asian characters in a kernel's
// or a file's name make a line longer than planned, which is harmless.
#include "results/print/term.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "base/utf8.h"

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

// Whether the "us" of "7.13 us" is at p.
static bool is_microseconds(const char *text, const char *p)
{
    char after = p[0] == 'u' && p[1] == 's' ? p[2] : 'x';
    return p - text >= 2 && p[-1] == ' ' && digit(p[-2]) && !digit(after) && after != '_' &&
           !((after | 32) >= 'a' && (after | 32) <= 'z');
}

static void put_char(struct stk_term *t, const char *text, const char *p, size_t *length)
{
    struct stk_text_piece piece;
    if (!t->options->ascii && is_microseconds(text, p)) {
        stk_sink_text(t->sink, "µ");
        *length = 1;
        t->column++;
        return;
    }
    stk_text_shown(&piece, (struct stk_str){p, strnlen(p, STK_UTF8_MAX)}, t->options->ascii);
    stk_sink_put(t->sink, piece.text, piece.n);
    *length = piece.taken;
    t->column += piece.text == piece.own ? (int)piece.n : 1;
}

// The first n code points.
static void put_chars(struct stk_term *t, const char *text, int n)
{
    size_t length;
    for (const char *p = text; *p && n > 0; p += length, n--) {
        put_char(t, text, p, &length);
    }
}

void stk_term_text(struct stk_term *t, const char *text)
{
    put_chars(t, text, INT32_MAX);
}

void stk_term_printf(struct stk_term *t, const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    stk_text_vprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    stk_term_text(t, line);
}

void stk_term_styled(struct stk_term *t, enum stk_style style, const char *text)
{
    static const char *const codes[] = {
        [STK_STYLE_PLAIN] = "",
        [STK_STYLE_BOLD] = "\033[1m",
        [STK_STYLE_DIM] = "\033[2m",
        [STK_STYLE_RED] = "\033[1;31m",
        [STK_STYLE_YELLOW] = "\033[1;33m",
        [STK_STYLE_CYAN] = "\033[1;36m",
        [STK_STYLE_GREEN] = "\033[1;32m",
    };
    bool on = t->options->colour && style != STK_STYLE_PLAIN;
    if (on) {
        stk_sink_text(t->sink, codes[style]);
    }
    stk_term_text(t, text);
    if (on) {
        stk_sink_text(t->sink, "\033[0m");
    }
}

void stk_term_line_end(struct stk_term *t)
{
    stk_sink_text(t->sink, "\n");
    t->column = 0;
    t->lines++;
}

void stk_term_to_column(struct stk_term *t, int column)
{
    STK_ASSERT(column >= 0);
    if (t->column >= column && t->column > 0) {
        column = t->column + 1;
    }
    while (t->column < column) {
        stk_sink_text(t->sink, " ");
        t->column++;
    }
}

int stk_term_width(const char *text)
{
    int width = 0;
    size_t length;
    for (const char *p = text; *p; p += length, width++) {
        stk_utf8_next(p, &length);
    }
    return width;
}

// Bytes of the next word. A figure isn't separated from its unit, or within its thousands: "4 812
// 330", "12 ms".
static size_t word_bytes(const char *text)
{
    size_t n = strcspn(text, " \n");
    while (n > 0 && digit(text[n - 1]) && text[n] == ' ') {
        static const char *const units[] = {"ns", "us", "ms", "s", "min", "B", "kB", "MB", "GB"};
        const char *next = text + n + 1;
        size_t length = strcspn(next, " \n,;:.)");
        bool joined = length == 3 && digit(next[0]) && digit(next[1]) && digit(next[2]);
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            joined |= strlen(units[i]) == length && strncmp(next, units[i], length) == 0;
        }
        if (!joined) {
            break;
        }
        n += 1 + strcspn(next, " \n");
    }
    return n;
}

void stk_term_wrap(struct stk_term *t, int indent, const char *text)
{
    stk_term_wrap_lines(t, indent, text, INT32_MAX, 0);
}

void stk_term_wrap_lines(struct stk_term *t, int indent, const char *text, int lines, int room)
{
    STK_ASSERT(indent >= 0 && lines > 0);
    bool first = true;
    int last = lines == INT32_MAX ? INT32_MAX : t->lines + lines - 1;
    while (*text == ' ') {
        text++;
    }
    while (*text) {
        size_t bytes = word_bytes(text);
        char word[512];
        size_t kept = bytes < sizeof word ? bytes : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = 0;
        int dots = t->lines == last ? room + (text[kept] ? 4 : 0) : 0;
        if (!first && t->column + 1 + stk_term_width(word) + dots > t->options->columns) {
            if (t->lines == last) {
                stk_term_text(t, " ...");
                return;
            }
            stk_term_line_end(t);
            stk_term_to_column(t, indent);
        } else if (!first) {
            stk_term_text(t, " ");
        }
        stk_term_cut(t, word, t->options->columns - indent);
        first = false;
        text += kept;
        while (*text == ' ' || *text == '\n') {
            text++;
        }
    }
}

// Number of lines for the first n bytes of the text between `indent` and the width.
static int lines_of(const struct stk_term *t, int indent, const char *text, size_t n)
{
    int lines = 1, column = indent;
    for (const char *end = text + n; text < end;) {
        char word[512];
        size_t bytes = word_bytes(text), kept = bytes < sizeof word ? bytes : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = 0;
        int width = stk_term_width(word);
        if (column > indent && column + 1 + width > t->options->columns) {
            lines++;
            column = indent;
        }
        column += (column > indent) + width;
        text += kept ? kept : 1;
        text += strspn(text, " \n");
    }
    return lines;
}

void stk_term_wrap_sentences(struct stk_term *t, int indent, const char *text, int lines)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, ". ")); p += 2) {
        bool ends = p[2] >= 'A' && p[2] <= 'Z';
        size_t whole = (size_t)(p - text) + 1;
        n = ends && lines_of(t, indent, text, whole) <= lines ? whole : n;
    }
    bool is_short = lines_of(t, indent, text, strlen(text)) <= lines;
    char head[1200];
    if (is_short || n == 0 || n >= sizeof head) {
        stk_term_wrap_lines(t, indent, text, lines, 0);
        return;
    }
    memcpy(head, text, n);
    head[n] = 0;
    stk_term_wrap(t, indent, head);
}

void stk_term_head(struct stk_term *t, const char *text, int width)
{
    STK_ASSERT(width > 4);
    bool is_cut = stk_term_width(text) > width;
    put_chars(t, text, is_cut ? width - 4 : width);
    stk_term_text(t, is_cut ? " ..." : "");
}

void stk_term_cut(struct stk_term *t, const char *text, int width)
{
    int whole = stk_term_width(text);
    if (whole <= width || width < 8) {
        stk_term_text(t, text);
        return;
    }
    int head = (width - 3) / 3, tail = width - 3 - head;
    put_chars(t, text, head);
    stk_term_text(t, "...");
    size_t length;
    const char *p = text;
    for (int i = 0; i < whole - tail; i++) {
        stk_utf8_next(p, &length);
        p += length;
    }
    stk_term_text(t, p);
}
