// SPDX-License-Identifier: Apache-2.0
// Length-counted string views, and the few comparisons that readers and rules need. Views borrow.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct stk_str {
    const char *p; // not NUL-terminated unless noted
    size_t n;
};

// Receives keys and their values, one after the other.
typedef void stk_emit_fn(void *arg, struct stk_str key, struct stk_str value);

#define STK_STR(literal) ((struct stk_str){(literal), sizeof(literal) - 1})

static inline struct stk_str stk_str_from(const char *z)
{
    return (struct stk_str){z, z ? strlen(z) : 0};
}
static inline bool stk_str_eq(struct stk_str a, struct stk_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool stk_str_starts(struct stk_str s, struct stk_str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}
static inline bool stk_str_ends(struct stk_str s, struct stk_str suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}
bool stk_str_contains(struct stk_str s, struct stk_str part);
bool stk_str_contains_nocase(struct stk_str s, struct stk_str part);          // ASCII
bool stk_str_contains_any_nocase(struct stk_str s, const char *const *parts); // ends with NULL
bool stk_str_starts_nocase(struct stk_str s, struct stk_str prefix);
bool stk_str_eq_nocase(struct stk_str a, struct stk_str b);
// Parses the whole string as a decimal integer with optional sign; false if it isn't one or
// overflows.
bool stk_str_to_i64(struct stk_str s, int64_t *out);
bool stk_str_to_u64(struct stk_str s, uint64_t *out);
// 64-bit hash (not cryptographic; seeded at build, stable within a process).
uint64_t stk_hash_bytes(const void *p, size_t n);
static inline uint64_t stk_hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}
