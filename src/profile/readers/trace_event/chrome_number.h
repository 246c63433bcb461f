// SPDX-License-Identifier: Apache-2.0
// Numbers of a trace, read by hand: times are decimal microseconds and must not go through a
// double: its 53 bits can't hold an epoch time to the nanosecond. All functions read up to 8 bytes
// beyond the digits, so the text must be padded (STK_CHROME_PAD).
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// ns + ps / 1000, with 0 <= ps < 1000, so that sums can be rounded once.
struct stk_chrome_time {
    int64_t ns;
    int32_t ps;
};

// Times beyond this (year 2116 as an epoch) are invalid; sums and differences of two cannot
// overflow.
#define STK_CHROME_TIME_MAX_NS INT64_C(4600000000000000000)

// The next 8 bytes are digits?
static inline bool stk_chrome_eight_digits(uint64_t v)
{
    return ((v & (v + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u) == 0x3030303030303030u;
}

// Reads digits at p, at most 19 of them; *end is the first byte after them.
static inline uint64_t stk_chrome_digits(const char *p, const char **end)
{
    uint64_t value = 0;
    int n = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; n < 16; n += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        if (!stk_chrome_eight_digits(v)) {
            break;
        }
        v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
        v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
        v = (v & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
        value = value * 100000000 + v;
        p += 8;
    }
#endif
    while (n < 19 && (unsigned char)(*p - '0') < 10) {
        value = value * 10 + (uint64_t)(*p++ - '0');
        n++;
    }
    *end = p;
    return value;
}

// Plain decimal microseconds ("1234", "-12.345678"): the usual case. Returns the byte after, or
// NULL if it is something else (exponent, too large, no digits): ask stk_chrome_time_slow.
static inline const char *stk_chrome_time_fast(const char *p, struct stk_chrome_time *t)
{
    bool negative = *p == '-';
    p += negative;
    const char *start = p, *end;
    uint64_t us = stk_chrome_digits(p, &end);
    if (end == start || us > STK_CHROME_TIME_MAX_NS / 1000) {
        return NULL;
    }
    uint32_t fraction = 0; // picoseconds
    if (*end == '.') {
        static const uint32_t scale[] = {100000, 10000, 1000, 100, 10, 1};
        int n = 0;
        for (end++; (unsigned char)(*end - '0') < 10; end++) {
            if (n < 6) {
                fraction += (uint32_t)(*end - '0') * scale[n++];
            }
        }
    }
    if ((*end | 32) == 'e' || (unsigned char)(*end - '0') < 10) {
        return NULL;
    }
    t->ns = (int64_t)us * 1000 + fraction / 1000;
    t->ps = (int32_t)(fraction % 1000);
    if (negative) {
        t->ns = -t->ns - (t->ps > 0);
        t->ps = t->ps > 0 ? 1000 - t->ps : 0;
    }
    return end;
}

// Any JSON number, as microseconds: 1 read, 0 not a number, -1 out of range.
int stk_chrome_time_slow(const char *p, size_t n, struct stk_chrome_time *t);
// Any JSON number (fraction dropped), quoted or not: false if it isn't one or does not fit. Values
// from 2^63 up to 2^64 wrap, so that unsigned ids stay distinct.
bool stk_chrome_integer(const char *p, size_t n, int64_t *value);
