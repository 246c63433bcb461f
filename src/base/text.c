// SPDX-License-Identifier: Apache-2.0
// Numbers, JSON strings, CSV fields, text on terminals. Floats use the C library's conversions with
// the thread's locale set to C, which affects no other thread and no global state.
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/utf8.h"

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); // if it fails the locale stays unchanged
}

static locale_t enter_c_locale(void)
{
    pthread_once(&c_locale_once, make_c_locale);
    return uselocale(c_locale);
}

int stk_text_vprintf(char *to, size_t size, const char *fmt, va_list args)
{
    locale_t before = enter_c_locale();
    int n = vsnprintf(to, size, fmt, args);
    uselocale(before);
    return n;
}

int stk_text_printf(char *to, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = stk_text_vprintf(to, size, fmt, args);
    va_end(args);
    return n;
}

double stk_text_to_real(const char *text, char **end)
{
    locale_t before = enter_c_locale();
    double v = strtod(text, end);
    uselocale(before);
    return v;
}

float stk_text_to_float(const char *text, char **end)
{
    locale_t before = enter_c_locale();
    float v = strtof(text, end);
    uselocale(before);
    return v;
}

// Two digits at a time.
static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "7475767778798081828384858687888990919293949596979899";

char *stk_text_digits(char *end, uint64_t v)
{
    while (v >= 100) {
        end -= 2;
        memcpy(end, pairs + v % 100 * 2, 2);
        v /= 100;
    }
    if (v >= 10) {
        end -= 2;
        memcpy(end, pairs + v * 2, 2);
    } else {
        *--end = (char)('0' + v);
    }
    return end;
}

static uint64_t size_of(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

// Moves what was written from p on, up to the end of the buffer, to its start.
static size_t to_front(char to[STK_TEXT_NUMBER_MAX], char *p, bool is_negative)
{
    if (is_negative) {
        *--p = '-';
    }
    size_t n = (size_t)(to + STK_TEXT_NUMBER_MAX - p);
    memmove(to, p, n);
    to[n] = 0;
    return n;
}

size_t stk_text_put_i64(char to[STK_TEXT_NUMBER_MAX], int64_t v)
{
    return to_front(to, stk_text_digits(to + STK_TEXT_NUMBER_MAX, size_of(v)), v < 0);
}

size_t stk_text_put_u64(char to[STK_TEXT_NUMBER_MAX], uint64_t v)
{
    return to_front(to, stk_text_digits(to + STK_TEXT_NUMBER_MAX, v), false);
}

size_t stk_text_put_us(char to[STK_TEXT_NUMBER_MAX], int64_t ns)
{
    uint64_t v = size_of(ns), rest = v % 1000;
    char *p = to + STK_TEXT_NUMBER_MAX - 4;
    p[0] = '.';
    p[1] = (char)('0' + rest / 100);
    memcpy(p + 2, pairs + rest % 100 * 2, 2);
    return to_front(to, stk_text_digits(p, v / 1000), ns < 0);
}

size_t stk_text_put_real(char to[STK_TEXT_NUMBER_MAX], double v)
{
    int n = 0;
    if (!isfinite(v)) {
        return 0;
    }
    locale_t before = enter_c_locale();
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(to, STK_TEXT_NUMBER_MAX, "%.*g", digits, v);
        if (strtod(to, NULL) == v) {
            break;
        }
    }
    uselocale(before);
    return (size_t)n;
}

size_t stk_text_put_share(char to[STK_TEXT_NUMBER_MAX], double v)
{
    STK_ASSERT(fabs(v) < 1e12);
    int64_t millionths = llround(v * 1e6);
    uint64_t size = size_of(millionths), rest = size % 1000000;
    char *p = to + STK_TEXT_NUMBER_MAX;
    int decimals = 6;
    for (; decimals > 1 && rest % 10 == 0; decimals--) {
        rest /= 10;
    }
    for (; decimals > 0; decimals--, rest /= 10) {
        *--p = (char)('0' + rest % 10);
    }
    *--p = '.';
    return to_front(to, stk_text_digits(p, size / 1000000), millionths < 0);
}

static inline bool is_plain_json(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void own_piece(struct stk_text_piece *piece, const char *text, size_t n, size_t taken)
{
    memcpy(piece->own, text, n);
    piece->text = piece->own;
    piece->n = n;
    piece->taken = taken;
}

bool stk_text_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

// The ASCII form of the signs that stoker's own sentences use; NULL: none.
static const char *plain_form(uint32_t code)
{
    switch (code) {
    case 0xb5: // µ
        return "u";
    case 0xd7: // ×
        return "x";
    case 0x2013: // –
        return "-";
    case 0x2192: // →
        return "->";
    default:
        return NULL;
    }
}

void stk_text_shown(struct stk_text_piece *piece, struct stk_str s, bool is_ascii)
{
    STK_ASSERT(s.p && s.n > 0);
    size_t n;
    uint32_t code = stk_utf8_next_of(s.p, s.n, &n);
    const char *plain = is_ascii ? plain_form(code) : NULL;
    if (plain) {
        own_piece(piece, plain, strlen(plain), n);
    } else if (code == STK_UTF8_INVALID || stk_text_is_control(code) || (is_ascii && code > 0x7f)) {
        own_piece(piece, "?", 1, n);
    } else {
        piece->text = s.p;
        piece->n = piece->taken = n;
    }
}

void stk_text_json(struct stk_text_piece *piece, struct stk_str s)
{
    STK_ASSERT(s.p && s.n > 0);
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;
    while (n < s.n && is_plain_json((unsigned char)s.p[n])) {
        n++;
    }
    if (n > 0) {
        piece->text = s.p;
        piece->n = piece->taken = n;
        return;
    }
    uint32_t c = stk_utf8_next_of(s.p, s.n, &n);
    if (c == STK_UTF8_INVALID) {
        own_piece(piece, "\xef\xbf\xbd", 3, 1);
    } else if (c == '"' || c == '\\' || c == '\n' || c == '\t') {
        own_piece(piece, (char[]){'\\', (char)(c == '\n' ? 'n' : c == '\t' ? 't' : c)}, 2, 1);
    } else if (stk_text_is_control(c)) { // none is beyond 16 bits
        own_piece(
            piece,
            (char[]){'\\', 'u', hex[c >> 12], hex[c >> 8 & 15], hex[c >> 4 & 15], hex[c & 15]}, 6,
            n);
    } else {
        piece->text = s.p;
        piece->n = piece->taken = n;
    }
}

bool stk_text_csv_is_quoted(struct stk_str s)
{
    bool is_quoted = s.n && (s.p[0] == ' ' || s.p[s.n - 1] == ' ');
    for (size_t i = 0; i < s.n && !is_quoted; i++) {
        is_quoted = s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r';
    }
    return is_quoted;
}

static bool is_number(struct stk_str s)
{
    char text[64], *end;
    size_t sign = s.p[0] == '-' || s.p[0] == '+';
    if (s.n == sign || s.n >= sizeof text ||
        !(s.p[sign] == '.' || (s.p[sign] >= '0' && s.p[sign] <= '9'))) {
        return false; // for a spreadsheet, infinity isn't a number either
    }
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    (void)stk_text_to_real(text, &end);
    return end == text + s.n;
}

bool stk_text_csv_is_formula(struct stk_str s)
{
    static const char begins[] = {'=', '+', '-', '@', '\t', '\r', '\n'};
    return s.n && memchr(begins, s.p[0], sizeof begins) && !is_number(s);
}

void stk_text_csv(struct stk_text_piece *piece, struct stk_str s)
{
    STK_ASSERT(s.p && s.n > 0);
    const char *quote = memchr(s.p, '"', s.n);
    if (quote == s.p) {
        own_piece(piece, "\"\"", 2, 1);
    } else {
        piece->text = s.p;
        piece->n = piece->taken = quote ? (size_t)(quote - s.p) : s.n;
    }
}

void stk_text_csv_field(struct stk_str s, bool is_guarded,
                        void (*put)(void *to, const char *text, size_t n), void *to)
{
    struct stk_text_piece piece;
    bool is_quoted = stk_text_csv_is_quoted(s);
    if (is_quoted) {
        put(to, "\"", 1);
    }
    if (is_guarded && stk_text_csv_is_formula(s)) {
        put(to, STK_TEXT_CSV_GUARD, sizeof STK_TEXT_CSV_GUARD - 1);
    }
    for (; is_quoted && s.n; s.p += piece.taken, s.n -= piece.taken) {
        stk_text_csv(&piece, s);
        put(to, piece.text, piece.n);
    }
    if (is_quoted) {
        put(to, "\"", 1);
    } else if (s.n) {
        put(to, s.p, s.n);
    }
}
