// SPDX-License-Identifier: Apache-2.0
// Reads digits eight at a time, as the bytes of one word. Up to 19 digits make an integer, which a
// power of ten up to 10^22 scales with exact rounding: one multiplication or division (W. D.
// Clinger, How to Read Floating Point Numbers Accurately, 1990). A float comes from that double,
// unless the double is on the border between two floats. strtod decides all other cases.
#include "engine/formats/text_number.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define ZEROS 0x3030303030303030u // eight times '0'
#define HIGHS 0x8080808080808080u
#define LONGEST 1100 // characters; no double needs more to be distinct from its neighbors

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline void strip(const uint8_t **p, size_t *n, size_t *spare)
{
    if (*n && **p > ' ' && (*p)[*n - 1] > ' ') {
        return;
    }
    while (*n && is_space(**p)) {
        ++*p;
        --*n;
    }
    while (*n && is_space((*p)[*n - 1])) {
        --*n;
        ++*spare;
    }
}

// Loads eight characters from p on, the first one lowest; only the first n count.
static inline uint64_t load(const uint8_t *p, size_t n, size_t spare)
{
    uint64_t v = 0;
    if (n + spare < 8) {
        for (size_t i = 0; i < n; i++) {
            v |= (uint64_t)p[i] << (8 * i);
        }
        return v;
    }
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

// The high bit of each byte that isn't a digit, for a word xored with '0's.
static inline uint64_t no_digit(uint64_t v)
{
    return (((v & ~HIGHS) + 0x7676767676767676u) | v) & HIGHS;
}

// The number made of eight digits, 0 to 9, first digit in the lowest byte: joins neighbors to
// pairs, fours and all eight.
static inline uint64_t join(uint64_t v)
{
    v = (v * (1 + (10 << 8))) >> 8;
    v = ((v & 0x00ff00ff00ff00ffu) * (1 + (100 << 16))) >> 16;
    return ((v & 0x0000ffff0000ffffu) * (1 + ((uint64_t)10000 << 32))) >> 32;
}

// Exactly n digits, 1 to 8. False: other characters.
static inline bool take_all(const uint8_t *p, size_t n, size_t spare, uint64_t *out)
{
    uint64_t v = (load(p, n, spare) ^ ZEROS) << (64 - 8 * n);
    *out = join(v);
    return no_digit(v) == 0;
}

bool stk_text_i64(const uint8_t *p, size_t n, size_t spare, int64_t *out)
{
    strip(&p, &n, &spare);
    bool is_negative = n && *p == '-';
    size_t i = n && (*p == '-' || *p == '+'), first = (n - i - 1) % 8 + 1;
    uint64_t v, more, most = (uint64_t)INT64_MAX + is_negative;
    if (i == n || !take_all(p + i, first, n - i - first + spare, &v)) {
        return false;
    }
    for (i += first; i < n; i += 8) {
        if (!take_all(p + i, 8, 0, &more) || v > (most - more) / 100000000) {
            return false;
        }
        v = v * 100000000 + more;
    }
    *out = (int64_t)(is_negative ? 0 - v : v);
    return true;
}

bool stk_text_i32(const uint8_t *p, size_t n, size_t spare, int32_t *out)
{
    int64_t v;
    if (!stk_text_i64(p, n, spare, &v) || v < INT32_MIN || v > INT32_MAX) {
        return false;
    }
    *out = (int32_t)v;
    return true;
}

static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// Appends the digits from p[i] on to *m; returns the position after them. Past 19 digits *m is
// undefined.
static size_t take_digits(const uint8_t *p, size_t i, size_t n, size_t spare, uint64_t *m)
{
    for (;;) {
        size_t left = n - i;
        uint64_t v = load(p + i, left < 8 ? left : 8, left < 8 ? spare : 0) ^ ZEROS;
        uint64_t ends = no_digit(v);
        size_t k = ends ? (size_t)__builtin_ctzll(ends) / 8 : 8;
        k = k < left ? k : left;
        if (k == 0) {
            return i;
        }
        *m = *m * tens[k] + join(v << (64 - 8 * k));
        i += k;
        if (k < 8) {
            return i;
        }
    }
}

// Parses digits[.digits][e[sign]digits] as an integer times a power of ten. False: another form, or
// too long; strtod handles those.
static bool split_decimal(const uint8_t *p, size_t n, size_t spare, uint64_t *mantissa,
                          int *exponent)
{
    uint64_t m = 0;
    size_t i = take_digits(p, 0, n, spare, &m), digits = i, point = n;
    if (i < n && p[i] == '.') {
        point = ++i;
        i = take_digits(p, i, n, spare, &m);
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

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline bool exact(uint64_t m, int e, double *out)
{
    if (m > (uint64_t)1 << 53 || e < -22 || e > 22) {
        return false;
    }
    *out = e < 0 ? (double)(int64_t)m / powers[-e] : (double)(int64_t)m * powers[e];
    return true;
}

// One to seven digits, a point and one to eight digits, filling p[0..n): the usual column, parsed
// without a loop. 16 bytes from p on are readable. False: another form.
static inline bool take_short(const uint8_t *p, size_t n, uint64_t *mantissa, int *exponent)
{
    uint64_t whole = load(p, 8, 0) ^ ZEROS, ends = no_digit(whole);
    size_t k = ends ? (size_t)__builtin_ctzll(ends) / 8 : 8, left = n - k - 1;
    if (k - 1 >= 7 || left - 1 >= 8 || p[k] != '.') {
        return false;
    }
    uint64_t part = (load(p + k + 1, 8, 0) ^ ZEROS) << (64 - 8 * left);
    *mantissa = join(whole << (64 - 8 * k)) * tens[left] + join(part);
    *exponent = -(int)left;
    return no_digit(part) == 0;
}

static inline bool quick(const uint8_t *p, size_t n, size_t spare, double *out)
{
    uint64_t m, bits;
    int e;
    if (n == 0) {
        return false;
    }
    bool is_negative = *p == '-';
    size_t sign = (size_t)is_negative | (*p == '+');
    p += sign;
    n -= sign;
    if (n + spare >= 16 && take_short(p, n, &m, &e)) {
        *out = (double)(int64_t)m / powers[-e];
    } else if (!split_decimal(p, n, spare, &m, &e) || !exact(m, e, out)) {
        return false;
    }
    memcpy(&bits, out, sizeof bits);
    bits |= (uint64_t)is_negative << 63;
    memcpy(out, &bits, sizeof bits);
    return true;
}

// A terminated copy of the text for strtod. False: empty, too long, or with white space or a zero
// byte.
static bool copy(char text[LONGEST + 1], const uint8_t *p, size_t n)
{
    if (n == 0 || n > LONGEST || memchr(p, 0, n) || is_space(*p)) {
        return false;
    }
    memcpy(text, p, n);
    text[n] = 0;
    return true;
}

bool stk_text_f64(const uint8_t *p, size_t n, size_t spare, double *out)
{
    char text[LONGEST + 1], *end;
    strip(&p, &n, &spare);
    if (quick(p, n, spare, out)) {
        return true;
    }
    if (!copy(text, p, n)) {
        return false;
    }
    *out = stk_text_to_real(text, &end);
    return *end == 0;
}

// Could rounding the double again go wrong, or is it outside the range of floats?
static inline bool is_doubtful(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint64_t exponent = bits >> 52 & 0x7ff; // plus 1023; floats have -126 to 127
    return (bits & 0x1fffffff) == 0x10000000 || (exponent - 897 >= 253 && bits << 1 != 0);
}

bool stk_text_f32(const uint8_t *p, size_t n, size_t spare, float *out)
{
    char text[LONGEST + 1], *end;
    double v;
    strip(&p, &n, &spare);
    if (quick(p, n, spare, &v) && !is_doubtful(v)) {
        *out = (float)v;
        return true;
    }
    if (!copy(text, p, n)) {
        return false;
    }
    *out = stk_text_to_float(text, &end);
    return *end == 0;
}
