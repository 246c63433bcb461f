// SPDX-License-Identifier: Apache-2.0
// The buffer that exports are written into, and how numbers and texts look there.
#include "export/export_out.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "report/utf8.h"

// A record larger than this is no record of a profile.
#define RECORD_MAX_BYTES ((size_t)1 << 30)

void stk_ex_init(struct stk_export_out *o, int (*write)(void *, const char *, size_t), void *arg)
{
    *o = (struct stk_export_out){.write = write, .arg = arg};
}

void stk_ex_deinit(struct stk_export_out *o)
{
    stk_free(o->p);
    o->p = NULL;
    o->used = o->cap = 0;
}

bool stk_ex_grow(struct stk_export_out *o, size_t n)
{
    size_t cap = o->cap ? o->cap : STK_EX_FLUSH_BYTES * 2;
    while (cap - o->used < n && cap < RECORD_MAX_BYTES) {
        cap *= 2;
    }
    uint8_t *p = cap - o->used >= n ? stk_realloc_array(o->p, cap, 1) : NULL;
    if (p) {
        o->p = p;
        o->cap = cap;
        return true;
    }
    if (!o->failed) {
        o->failed = STK_ENOMEM;
    }
    o->used = 0;
    return o->cap >= n;
}

void stk_ex_flush(struct stk_export_out *o)
{
    if (o->used && !o->failed && !o->counts_only &&
        o->write(o->arg, (const char *)o->p, o->used) != 0) {
        o->failed = STK_EOUTPUT;
    }
    o->total += o->used;
    o->used = 0;
}

enum stk_status stk_ex_finish(struct stk_export_out *o, struct stk_err *err)
{
    stk_ex_flush(o);
    if (o->failed == STK_ENOMEM) {
        return stk_err_nomem(err);
    }
    if (o->failed) {
        return stk_err_set(err, o->failed, "the output could not be written");
    }
    return STK_OK;
}

// Two digits at a time.
static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536"
    "37383940414243444546474849505152535455565758596061626364656667686970717273"
    "7475767778798081828384858687888990919293949596979899";

// Digits of v end before `end`; where they begin.
static char *digits_before(char *end, uint64_t v)
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

void stk_ex_i64(struct stk_export_out *o, int64_t v)
{
    char buffer[24], *end = buffer + sizeof buffer;
    char *p = digits_before(end, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    if (v < 0) {
        *--p = '-';
    }
    stk_ex_bytes(o, p, (size_t)(end - p));
}

void stk_ex_us(struct stk_export_out *o, int64_t ns)
{
    char buffer[28], *end = buffer + sizeof buffer;
    uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    uint64_t rest = v % 1000;
    char *p = end - 4;
    p[0] = '.';
    p[1] = (char)('0' + rest / 100);
    memcpy(p + 2, pairs + rest % 100 * 2, 2);
    p = digits_before(p, v / 1000);
    if (ns < 0) {
        *--p = '-';
    }
    stk_ex_bytes(o, p, (size_t)(end - p));
}

void stk_ex_real(struct stk_export_out *o, double v)
{
    char text[40];
    if (v - v != 0) {
        stk_ex_literal(o, "null");
        return;
    }
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v) {
            break;
        }
    }
    stk_ex_bytes(o, text, (size_t)n);
}

static inline bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// The code point at s.p[i], which may be the last bytes of s: *n is its length.
static bool is_valid(struct stk_str s, size_t i, size_t *n)
{
    char four[5] = {0};
    size_t left = s.n - i < 4 ? s.n - i : 4;
    memcpy(four, s.p + i, left);
    if (!four[0]) {
        *n = 1;
        return true;
    }
    return stk_utf8_next(four, n) != STK_UTF8_INVALID; // *n is 1 if it is
}

static void put_odd(struct stk_export_out *o, struct stk_str s, size_t *i)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char c = (unsigned char)s.p[*i];
    size_t n = 1;
    if (c == '"' || c == '\\') {
        char escaped[2] = {'\\', (char)c};
        stk_ex_bytes(o, escaped, 2);
    } else if (c < 0x20 || c == 0x7f) {
        char escaped[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        stk_ex_bytes(o, escaped, 6);
    } else if (is_valid(s, *i, &n)) {
        stk_ex_bytes(o, s.p + *i, n);
    } else {
        stk_ex_literal(o, "\xef\xbf\xbd");
    }
    *i += n;
}

void stk_ex_json(struct stk_export_out *o, struct stk_str s)
{
    stk_ex_literal(o, "\"");
    size_t i = 0;
    while (i < s.n) {
        size_t from = i;
        while (i < s.n && is_plain((unsigned char)s.p[i])) {
            i++;
        }
        stk_ex_bytes(o, s.p + from, i - from);
        if (i < s.n) {
            put_odd(o, s, &i);
        }
    }
    stk_ex_literal(o, "\"");
}

// Sequences that are no UTF-8, each a byte.
static size_t count_bad(struct stk_str s)
{
    size_t bad = 0, n;
    for (size_t i = 0; i < s.n; i += n) {
        n = 1;
        bad += (unsigned char)s.p[i] >= 0x80 && !is_valid(s, i, &n);
    }
    return bad;
}

static void put_mended(struct stk_export_out *o, struct stk_str s)
{
    size_t n;
    for (size_t i = 0; i < s.n; i += n) {
        n = 1;
        if ((unsigned char)s.p[i] < 0x80 || is_valid(s, i, &n)) {
            stk_ex_bytes(o, s.p + i, n);
        } else {
            stk_ex_literal(o, "\xef\xbf\xbd");
        }
    }
}

void stk_pbw_text(struct stk_export_out *o, uint32_t field, struct stk_str s)
{
    size_t bad = count_bad(s);
    if (!bad) {
        stk_pbw_str(o, field, s);
        return;
    }
    stk_pbw_tag_len(o, field, s.n + 2 * bad);
    put_mended(o, s);
}

struct stk_str stk_ex_utf8(struct stk_export_out *capacity, struct stk_str s)
{
    if (!count_bad(s)) {
        return s;
    }
    capacity->used = 0;
    put_mended(capacity, s);
    return (struct stk_str){(const char *)capacity->p, capacity->used};
}

void stk_pbw_end_long(struct stk_export_out *o, size_t start, size_t n)
{
    unsigned extra = stk_varint_size(n) - 1;
    if (!stk_ex_capacity(o, extra) || o->failed) {
        return;
    }
    memmove(o->p + start + extra, o->p + start, n);
    stk_varint_put(o->p + start - 1, n);
    o->used += extra;
}
