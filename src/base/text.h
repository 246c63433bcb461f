// SPDX-License-Identifier: Apache-2.0
// The only writer of numbers, JSON strings, CSV fields, and foreign text on a terminal. Nothing
// here follows the locale of the program that uses the library: a decimal comma would break JSON
// and add a CSV column. All functions write to the caller's memory and allocate nothing.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attribute.h"
#include "base/str.h"

#define STK_TEXT_NUMBER_MAX 32 // bytes of any number below, with its terminator

// Like vsnprintf and snprintf, with a decimal point.
int stk_text_vprintf(char *to, size_t size, const char *fmt, va_list args);
int stk_text_printf(char *to, size_t size, const char *fmt, ...) STK_PRINTF(3, 4);
// Like strtod, with a decimal point.
double stk_text_to_real(const char *text, char **end);
float stk_text_to_float(const char *text, char **end); // rounded once

// Writes the decimal digits of v, up to 20, ending before `end`; returns where they start.
char *stk_text_digits(char *end, uint64_t v);
// Each returns how many bytes it wrote; a NUL follows.
size_t stk_text_put_i64(char to[STK_TEXT_NUMBER_MAX], int64_t v);
size_t stk_text_put_u64(char to[STK_TEXT_NUMBER_MAX], uint64_t v);
// Nanoseconds as decimal microseconds, exactly: 1234567 -> 1234.567
size_t stk_text_put_us(char to[STK_TEXT_NUMBER_MAX], int64_t ns);
// The fewest digits, from 15 on, that read back as the same number; 0 bytes if it isn't finite.
size_t stk_text_put_real(char to[STK_TEXT_NUMBER_MAX], double v);
// Up to six decimals, at least one, of a finite number below 1e12.
size_t stk_text_put_share(char to[STK_TEXT_NUMBER_MAX], double v);

// Converts a text piece by piece: `text` is the output for its next `taken` bytes. It points into
// the source if unchanged, else into `own`: don't copy the struct.
struct stk_text_piece {
    const char *text;
    size_t n, taken;
    char own[8];
};
// Characters that control a terminal or disturb it: C0, DEL, C1; the line separators U+2028 and
// U+2029; marks that change the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066
// to U+2069).
bool stk_text_is_control(uint32_t code);
// The next character of s, which isn't empty, for people: "?" for such controls and for invalid
// UTF-8. With `is_ascii`, µ × – → become u x - -> and everything else beyond ASCII "?".
void stk_text_shown(struct stk_text_piece *piece, struct stk_str s, bool is_ascii);
// Inside a JSON string (RFC 8259); s isn't empty. Only controls as above, quote and backslash are
// escaped; each invalid UTF-8 byte becomes U+FFFD, since a parser would reject the whole text.
void stk_text_json(struct stk_text_piece *piece, struct stk_str s);
// Does a CSV field (RFC 4180) need quotes: for a comma, a quote, a line end, or a space at either
// end? Lines end in STK_TEXT_CSV_END.
bool stk_text_csv_is_quoted(struct stk_str s);
// Inside such quotes; s isn't empty.
void stk_text_csv(struct stk_text_piece *piece, struct stk_str s);
#define STK_TEXT_CSV_END "\r\n"
// Put before a field that a spreadsheet would run as a formula: one that starts with = + - @, a tab
// or a line end and isn't a number.
#define STK_TEXT_CSV_GUARD "'"
bool stk_text_csv_is_formula(struct stk_str s);
// A whole field, with its quotes and, if guarded, the guard, by calls of put(to, ...).
void stk_text_csv_field(struct stk_str s, bool is_guarded,
                        void (*put)(void *to, const char *text, size_t n), void *to);
