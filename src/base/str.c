// SPDX-License-Identifier: Apache-2.0
// String views: searching, comparing without case, strict decimal numbers, and a text hash that is
// the same in every process: for output and sort order, not for the slots of a table, which an
// attacker could fill with collisions (hash.h).
#include "base/str.h"

#include "base/hash.h"

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

bool stk_str_contains_any_nocase(struct stk_str s, const char *const *parts)
{
    for (; *parts; parts++) {
        if (stk_str_contains_nocase(s, stk_str_from(*parts))) {
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

uint64_t stk_hash_bytes(const void *bytes, size_t n)
{
    const uint64_t none[2] = {0, 0};
    return stk_hash_seeded(bytes, n, none);
}
