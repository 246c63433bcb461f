// SPDX-License-Identifier: Apache-2.0
// Lines for a terminal: styles, wrapping, and text from a profile made harmless (control characters
// would move the cursor, bytes that are not UTF-8 would garble the line).
#pragma once

#include "results/print/out.h"

enum stk_style {
    STK_STYLE_PLAIN,
    STK_STYLE_BOLD,
    STK_STYLE_DIM,
    STK_STYLE_RED,
    STK_STYLE_YELLOW,
    STK_STYLE_CYAN,
    STK_STYLE_GREEN
};

struct stk_term {
    struct stk_sink *sink;
    const struct stk_out_options *options;
    int column; // where the next character goes
    int lines;  // that ended
};

void stk_term_text(struct stk_term *t, const char *text);
void stk_term_printf(struct stk_term *t, const char *fmt, ...)
    STK_PRINTF(2, 3); // 1023 bytes at most
void stk_term_styled(struct stk_term *t, enum stk_style style, const char *text);
void stk_term_line_end(struct stk_term *t);
// Spaces up to a column; at least one if the line is past it.
void stk_term_to_column(struct stk_term *t, int column);
// Words of the text, broken at the width; further lines begin at `indent`.
void stk_term_wrap(struct stk_term *t, int indent, const char *text);
// The same with at most `lines`: the last one ends in "..." if there is more, and leaves `room`
// columns free.
void stk_term_wrap_lines(struct stk_term *t, int indent, const char *text, int lines, int room);
// The same with whole sentences, if at least one fits.
void stk_term_wrap_sentences(struct stk_term *t, int indent, const char *text, int lines);
// Unwrapped text, cut to the end of the line with "..." in the middle (paths).
void stk_term_cut(struct stk_term *t, const char *text, int width);
// The beginning of the text, with "..." if it is wider.
void stk_term_head(struct stk_term *t, const char *text, int width);
// Width of the text in columns.
int stk_term_width(const char *text);
