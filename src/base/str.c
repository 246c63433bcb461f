// SPDX-License-Identifier: Apache-2.0
// String views: searching, comparing without case, strict decimal numbers, and the hash that the
// string pool uses. The hash folds the 128-bit product of two 64-bit words at a time (as wyhash and
// its relatives do) and reads the tail with overlapping words, so that no byte is handled alone.
// It is fixed and thus not meant against somebody who crafts collisions.
#include "base/str.h"

#define MUL_A 0x9e3779b97f4a7c15u // 2^64 / golden ratio
#define MUL_B 0xd6e8feb86659fd93u
#define MUL_C 0xa0761d6478bd642fu

static unsigned char lower(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? (unsigned char)(u | 0x20) : u;
}

static bool equal_nocase(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

bool stk_str_contains(struct stk_str s, struct stk_str part)
{
    if (part.n == 0) {
        return true;
    }
    return s.n >= part.n && memmem(s.p, s.n, part.p, part.n) != NULL;
}

bool stk_str_contains_nocase(struct stk_str s, struct stk_str part)
{
    if (part.n == 0) {
        return true;
    }
    if (s.n < part.n) {
        return false;
    }
    unsigned char first = lower(part.p[0]);
    for (size_t i = 0; i <= s.n - part.n; i++) {
        if (lower(s.p[i]) == first && equal_nocase(s.p + i, part.p, part.n)) {
            return true;
        }
    }
    return false;
}

bool stk_str_starts_nocase(struct stk_str s, struct stk_str prefix)
{
    return s.n >= prefix.n && equal_nocase(s.p, prefix.p, prefix.n);
}

bool stk_str_eq_nocase(struct stk_str a, struct stk_str b)
{
    return a.n == b.n && equal_nocase(a.p, b.p, a.n);
}

bool stk_str_to_u64(struct stk_str s, uint64_t *out)
{
    size_t i = s.n > 0 && s.p[0] == '+';
    if (i == s.n) {
        return false;
    }
    uint64_t value = 0;
    for (; i < s.n; i++) {
        unsigned digit = (unsigned)(unsigned char)s.p[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

bool stk_str_to_i64(struct stk_str s, int64_t *out)
{
    bool negative = s.n > 0 && s.p[0] == '-';
    uint64_t magnitude;
    if (negative) {
        s.p++;
        s.n--;
        if (s.n == 0 || s.p[0] == '+') {
            return false;
        }
    }
    if (!stk_str_to_u64(s, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

static uint64_t load64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t load32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t stk_hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t h = MUL_A ^ fold(n ^ MUL_B, MUL_C);
    uint64_t a = 0, b = 0;
    if (n > 16) {
        size_t left = n;
        for (; left > 16; left -= 16, p += 16) {
            h = fold(load64(p) ^ MUL_B, load64(p + 8) ^ h);
        }
        a = load64(p + left - 16); // overlaps what was read already
        b = load64(p + left - 8);
    } else if (n >= 8) {
        a = load64(p);
        b = load64(p + n - 8);
    } else if (n >= 4) {
        a = load32(p);
        b = load32(p + n - 4);
    } else if (n > 0) {
        a = (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1];
    }
    return fold(fold(a ^ MUL_C, b ^ h) ^ MUL_A, h ^ MUL_B);
}
