// SPDX-License-Identifier: Apache-2.0
// The one writer of numbers, JSON strings, CSV fields, and of text that others chose on a terminal.
// Nothing here follows the locale of the program that the library is part of: a decimal comma would
// be no JSON, and another column of CSV. All write into memory of the caller's and allocate
// nothing.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attribute.h"
#include "base/str.h"

#define STK_TEXT_NUMBER_MAX 32 // bytes of any number below, with its end

// As vsnprintf and snprintf, with a decimal point.
int stk_text_vprintf(char *to, size_t size, const char *fmt, va_list args);
int stk_text_printf(char *to, size_t size, const char *fmt, ...) STK_PRINTF(3, 4);
// As strtod, where a decimal point is expected.
double stk_text_to_real(const char *text, char **end);
float stk_text_to_float(const char *text, char **end); // rounded once

// Decimal digits of v that end before `end`, up to 20: returns where they begin.
char *stk_text_digits(char *end, uint64_t v);
// Each returns how many bytes it wrote; a NUL follows them.
size_t stk_text_put_i64(char to[STK_TEXT_NUMBER_MAX], int64_t v);
size_t stk_text_put_u64(char to[STK_TEXT_NUMBER_MAX], uint64_t v);
// Nanoseconds as decimal microseconds, exactly: 1234567 -> 1234.567
size_t stk_text_put_us(char to[STK_TEXT_NUMBER_MAX], int64_t ns);
// The fewest digits, from 15 on, that read back as the same number; 0 bytes if it is not finite.
size_t stk_text_put_real(char to[STK_TEXT_NUMBER_MAX], double v);
// Up to six decimals, at least one, of a finite number below 1e12.
size_t stk_text_put_share(char to[STK_TEXT_NUMBER_MAX], double v);

// A text in another notation comes piece by piece: what stands for the next bytes of it, `taken` of
// them. `text` points into the text where it stays as it is, else into `own`: do not copy the
// struct.
struct stk_text_piece {
    const char *text;
    size_t n, taken;
    char own[8];
};
// What changes a terminal, or what stands next to it there: C0, DEL, C1; the line ends U+2028 and
// U+2029; marks that turn the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066
// to U+2069).
bool stk_text_is_control(uint32_t code);
// The next character of s, which is not empty, for people to see: "?" for such controls and for a
// byte that is no UTF-8. Where `is_ascii`, µ × – → become u x - -> and all else beyond ASCII "?".
void stk_text_shown(struct stk_text_piece *piece, struct stk_str s, bool is_ascii);
// Inside of a JSON string (RFC 8259); s is not empty. Only controls as above, quote and backslash
// are escaped; each byte that is no UTF-8 becomes U+FFFD, since a parser would refuse all of it.
void stk_text_json(struct stk_text_piece *piece, struct stk_str s);
// Whether a field of CSV (RFC 4180) needs quotes around it: for a comma, a quote, a line's end, or
// a space at either end. Lines end in STK_TEXT_CSV_END.
bool stk_text_csv_is_quoted(struct stk_str s);
// Inside of such quotes; s is not empty.
void stk_text_csv(struct stk_text_piece *piece, struct stk_str s);
#define STK_TEXT_CSV_END "\r\n"
// What stands before a field that a spreadsheet would take for a formula, and run: one that begins
// with = + - @, a tab or a line's end and is no number.
#define STK_TEXT_CSV_GUARD "'"
bool stk_text_csv_is_formula(struct stk_str s);
// A whole field, with its quotes and, where it is guarded, the guard, by calls of put(to, ...).
void stk_text_csv_field(struct stk_str s, bool is_guarded,
                        void (*put)(void *to, const char *text, size_t n), void *to);
