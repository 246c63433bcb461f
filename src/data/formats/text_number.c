// SPDX-License-Identifier: Apache-2.0
// Up to 19 digits make an integer, which a power of ten up to 10^22 scales exactly rounded: one
// multiplication or division (W. D. Clinger, How to Read Floating Point Numbers Accurately, 1990).
// A float comes from that double, unless the double lies on the border between two floats. All
// else is for strtod, which decides in every case of doubt.
#include "data/formats/text_number.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST 1100 // characters; no double needs more to be told from its neighbours

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void strip(const uint8_t **p, size_t *n)
{
    while (*n && is_space(**p)) {
        ++*p;
        --*n;
    }
    while (*n && is_space((*p)[*n - 1])) {
        --*n;
    }
}

bool stk_text_i64(const uint8_t *p, size_t n, int64_t *out)
{
    strip(&p, &n);
    bool is_negative = n && *p == '-';
    size_t i = n && (*p == '-' || *p == '+');
    uint64_t v = 0, most = (uint64_t)INT64_MAX + is_negative;
    if (i == n) {
        return false;
    }
    for (size_t short_end = n < 18 ? n : 18; i < short_end; i++) { // cannot overflow
        unsigned digit = (unsigned)p[i] - '0';
        if (digit > 9) {
            return false;
        }
        v = v * 10 + digit;
    }
    for (; i < n; i++) {
        unsigned digit = (unsigned)p[i] - '0';
        if (digit > 9 || v > (most - digit) / 10) {
            return false;
        }
        v = v * 10 + digit;
    }
    *out = (int64_t)(is_negative ? 0 - v : v);
    return true;
}

bool stk_text_i32(const uint8_t *p, size_t n, int32_t *out)
{
    int64_t v;
    if (!stk_text_i64(p, n, &v) || v < INT32_MIN || v > INT32_MAX) {
        return false;
    }
    *out = (int32_t)v;
    return true;
}

// digits[.digits][e[sign]digits] as an integer times a power of ten. False: not of that form, or
// more than fits; the slow way knows.
static bool split_decimal(const uint8_t *p, size_t n, uint64_t *mantissa, int *exponent)
{
    uint64_t m = 0;
    size_t i = 0, digits, point = n;
    for (; i < n && (unsigned)p[i] - '0' <= 9; i++) {
        m = m * 10 + (unsigned)(p[i] - '0');
    }
    digits = i;
    if (i < n && p[i] == '.') {
        point = ++i;
        for (; i < n && (unsigned)p[i] - '0' <= 9; i++) {
            m = m * 10 + (unsigned)(p[i] - '0');
        }
        digits += i - point;
    }
    int e = point < n ? -(int)(i - point) : 0;
    if (digits == 0 || digits > 19) {
        return false;
    }
    if (i < n && (p[i] | 0x20) == 'e') {
        bool is_negative = ++i < n && p[i] == '-';
        i += i < n && (p[i] == '-' || p[i] == '+');
        int power = 0;
        size_t first = i;
        for (; i < n && i < first + 4 && (unsigned)p[i] - '0' <= 9; i++) {
            power = power * 10 + (p[i] - '0');
        }
        if (i == first) {
            return false;
        }
        e += is_negative ? -power : power;
    }
    *mantissa = m;
    *exponent = e;
    return i == n;
}

static bool exact(uint64_t m, int e, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (m > (uint64_t)1 << 53 || e < -22 || e > 22) {
        return false;
    }
    *out = e < 0 ? (double)m / powers[-e] : (double)m * powers[e];
    return true;
}

static bool quick(const uint8_t *p, size_t n, double *out)
{
    uint64_t m;
    int e;
    bool is_negative = n && *p == '-';
    size_t sign = n && (*p == '-' || *p == '+');
    if (!split_decimal(p + sign, n - sign, &m, &e) || !exact(m, e, out)) {
        return false;
    }
    *out = is_negative ? -*out : *out;
    return true;
}

// The text with an end, for strtod. False: empty, too long, or it holds white space or a zero byte.
static bool copy(char text[LONGEST + 1], const uint8_t *p, size_t n)
{
    if (n == 0 || n > LONGEST || memchr(p, 0, n) || is_space(*p)) {
        return false;
    }
    memcpy(text, p, n);
    text[n] = 0;
    return true;
}

bool stk_text_f64(const uint8_t *p, size_t n, double *out)
{
    char text[LONGEST + 1], *end;
    strip(&p, &n);
    if (quick(p, n, out)) {
        return true;
    }
    if (!copy(text, p, n)) {
        return false;
    }
    *out = strtod(text, &end);
    return *end == 0;
}

// Whether the double lies so that rounding it again could go the wrong way, or beyond the floats.
static bool is_doubtful(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    double size = v < 0 ? -v : v;
    return (bits & 0x1fffffff) == 0x10000000 || (size != 0 && size < 0x1p-126) || size > 0x1p127;
}

bool stk_text_f32(const uint8_t *p, size_t n, float *out)
{
    char text[LONGEST + 1], *end;
    double v;
    strip(&p, &n);
    if (quick(p, n, &v) && !is_doubtful(v)) {
        *out = (float)v;
        return true;
    }
    if (!copy(text, p, n)) {
        return false;
    }
    *out = strtof(text, &end);
    return *end == 0;
}
