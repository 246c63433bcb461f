// SPDX-License-Identifier: Apache-2.0
// The output of an export: a buffer in front of a callback, written directly and emptied between
// records, so only whole records are in memory. Failures are remembered; writers check `failed`
// between tracks and at the end.
//
// Protobuf (https://protobuf.dev/programming-guides/encoding) is written into the same buffer: the
// length of a nested message is put before it when it ends.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "base/varint.h"

#define STK_EX_FLUSH_BYTES ((size_t)256 << 10)

struct stk_export_out {
    int (*write)(void *arg, const char *bytes, size_t n); // non-zero: failed
    void *arg;
    const char *path; // a file to write instead, for exporters that need one
    uint8_t *p;
    size_t used, cap;
    enum stoker_status failed; // STOKER_OK, STOKER_ENOMEM, STOKER_EOUTPUT, STOKER_EINTR
    bool counts_only;          // writes nothing; only counts `total`
    uint64_t total;            // bytes passed on so far
};

void stk_ex_init(struct stk_export_out *o, int (*write)(void *, const char *, size_t), void *arg);
void stk_ex_deinit(struct stk_export_out *o);
// Makes room for n more bytes. On failure the buffer starts over, so that writing stays safe.
bool stk_ex_grow(struct stk_export_out *o, size_t n);
void stk_ex_flush(struct stk_export_out *o);
// Empties the buffer. Returns any failure since init.
STK_MUST_CHECK enum stoker_status stk_ex_finish(struct stk_export_out *o, struct stoker_err *err);

// At least n bytes at the end; NULL: no memory.
static inline uint8_t *stk_ex_capacity(struct stk_export_out *o, size_t n)
{
    if (o->cap - o->used < n && !stk_ex_grow(o, n)) {
        return NULL;
    }
    return o->p + o->used;
}
// Call between records.
static inline void stk_ex_record(struct stk_export_out *o)
{
    if (o->used >= STK_EX_FLUSH_BYTES) {
        stk_ex_flush(o);
    }
}
static inline void stk_ex_bytes(struct stk_export_out *o, const void *p, size_t n)
{
    uint8_t *to = stk_ex_capacity(o, n);
    if (to && n) {
        memcpy(to, p, n);
        o->used += n;
    }
}
static inline void stk_ex_str(struct stk_export_out *o, struct stk_str s)
{
    stk_ex_bytes(o, s.p, s.n);
}
#define stk_ex_literal(o, text) stk_ex_bytes((o), (text), sizeof(text) - 1)
void stk_ex_i64(struct stk_export_out *o, int64_t v);
// Nanoseconds as decimal microseconds, exactly: 1234567 -> 1234.567
void stk_ex_us(struct stk_export_out *o, int64_t ns);
// The shortest decimal that reads back as the same number; "null" if JSON can't express it.
void stk_ex_real(struct stk_export_out *o, double v);
// A JSON string with quotes; bytes that aren't UTF-8 become U+FFFD.
void stk_ex_json(struct stk_export_out *o, struct stk_str s);
// A field of CSV, quoted if necessary; is_guarded: safe in a spreadsheet (base/text.h).
void stk_ex_csv(struct stk_export_out *o, struct stk_str s, bool is_guarded);
// The same text, or a copy in `capacity` (until the next call) with U+FFFD for bytes that aren't
// UTF-8.
struct stk_str stk_ex_utf8(struct stk_export_out *capacity, struct stk_str s);

// ---- protobuf ----

// Field numbers are below 2^28: a tag takes up to 5 bytes, a varint up to 10.
static inline void stk_pbw_u64(struct stk_export_out *o, uint32_t field, uint64_t v)
{
    uint8_t *p = stk_ex_capacity(o, 15), *end;
    if (!p) {
        return;
    }
    end = stk_varint_put(p, (uint64_t)field << 3);
    end = stk_varint_put(end, v);
    o->used += (size_t)(end - p);
}
static inline void stk_pbw_fixed64(struct stk_export_out *o, uint32_t field, uint64_t v)
{
    uint8_t *p = stk_ex_capacity(o, 13), *end;
    if (!p) {
        return;
    }
    end = stk_varint_put(p, (uint64_t)field << 3 | 1);
    for (int i = 0; i < 8; i++) {
        *end++ = (uint8_t)(v >> 8 * i);
    }
    o->used += (size_t)(end - p);
}
static inline void stk_pbw_tag_len(struct stk_export_out *o, uint32_t field, uint64_t n)
{
    uint8_t *p = stk_ex_capacity(o, 15), *end;
    if (!p) {
        return;
    }
    end = stk_varint_put(p, (uint64_t)field << 3 | 2);
    end = stk_varint_put(end, n);
    o->used += (size_t)(end - p);
}
static inline void stk_pbw_str(struct stk_export_out *o, uint32_t field, struct stk_str s)
{
    stk_pbw_tag_len(o, field, s.n);
    stk_ex_str(o, s);
}
// The same, with bytes that aren't UTF-8 replaced, since protobuf's strings must be UTF-8.
void stk_pbw_text(struct stk_export_out *o, uint32_t field, struct stk_str s);
// A nested message is written between begin and end. `begin` returns its start.
static inline size_t stk_pbw_begin(struct stk_export_out *o, uint32_t field)
{
    uint8_t *p = stk_ex_capacity(o, 6), *end;
    if (!p) {
        return 0;
    }
    end = stk_varint_put(p, (uint64_t)field << 3 | 2);
    o->used += (size_t)(end - p) + 1; // one byte for the length is usually enough
    return o->used;
}
void stk_pbw_end_long(struct stk_export_out *o, size_t start, size_t n);
static inline void stk_pbw_end(struct stk_export_out *o, size_t start)
{
    if (o->failed) {
        return;
    }
    size_t n = o->used - start;
    if (n < 0x80) {
        o->p[start - 1] = (uint8_t)n;
    } else {
        stk_pbw_end_long(o, start, n);
    }
}
