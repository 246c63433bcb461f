// SPDX-License-Identifier: Apache-2.0
// The buffer for exports, and the format of numbers and texts in it.
#include "answers/export/export_out.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "base/utf8.h"

#define FIRST_BYTES                                                                                \
    ((size_t)16 << 10) // each part of an export has its own buffer, mostly a small one
// No record of a profile is larger.
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
    STK_ASSERT(o->used <= o->cap);
    size_t cap = o->cap ? o->cap : FIRST_BYTES;
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
        o->failed = STOKER_ENOMEM;
    }
    o->used = 0;
    return o->cap >= n;
}

void stk_ex_flush(struct stk_export_out *o)
{
    STK_ASSERT(o->used <= o->cap);
    if (o->used && !o->failed && !o->counts_only &&
        o->write(o->arg, (const char *)o->p, o->used) != 0) {
        o->failed = STOKER_EOUTPUT;
    }
    o->total += o->used;
    o->used = 0;
}

enum stoker_status stk_ex_finish(struct stk_export_out *o, struct stoker_err *err)
{
    stk_ex_flush(o);
    if (o->failed == STOKER_ENOMEM) {
        return stk_err_nomem(err);
    }
    if (o->failed) {
        return stk_err_set(err, o->failed, "the output could not be written");
    }
    return STOKER_OK;
}

void stk_ex_i64(struct stk_export_out *o, int64_t v)
{
    char buffer[24], *end = buffer + sizeof buffer;
    char *p = stk_text_digits(end, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    if (v < 0) {
        *--p = '-';
    }
    stk_ex_bytes(o, p, (size_t)(end - p));
}

void stk_ex_us(struct stk_export_out *o, int64_t ns)
{
    char text[STK_TEXT_NUMBER_MAX];
    size_t n = stk_text_put_us(text, ns);
    stk_ex_bytes(o, text, n);
}

void stk_ex_real(struct stk_export_out *o, double v)
{
    char text[STK_TEXT_NUMBER_MAX];
    size_t n = stk_text_put_real(text, v);
    if (n) {
        stk_ex_bytes(o, text, n);
    } else {
        stk_ex_literal(o, "null");
    }
}

void stk_ex_json(struct stk_export_out *o, struct stk_str s)
{
    struct stk_text_piece piece;
    stk_ex_literal(o, "\"");
    for (; s.n; s.p += piece.taken, s.n -= piece.taken) {
        stk_text_json(&piece, s);
        stk_ex_bytes(o, piece.text, piece.n);
    }
    stk_ex_literal(o, "\"");
}

static void put_field(void *o, const char *text, size_t n)
{
    stk_ex_bytes(o, text, n);
}

void stk_ex_csv(struct stk_export_out *o, struct stk_str s, bool is_guarded)
{
    stk_text_csv_field(s, is_guarded, put_field, o);
}

// Counts sequences that aren't UTF-8, each as one byte.
static size_t count_bad(struct stk_str s)
{
    size_t bad = 0, n;
    for (size_t i = 0; i < s.n; i += n) {
        n = 1;
        bad += (unsigned char)s.p[i] >= 0x80 &&
               stk_utf8_next_of(s.p + i, s.n - i, &n) == STK_UTF8_INVALID;
    }
    return bad;
}

static void put_mended(struct stk_export_out *o, struct stk_str s)
{
    size_t n;
    for (size_t i = 0; i < s.n; i += n) {
        n = 1;
        if ((unsigned char)s.p[i] < 0x80 ||
            stk_utf8_next_of(s.p + i, s.n - i, &n) != STK_UTF8_INVALID) {
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
    STK_ASSERT(start > 0 && n >= 0x80 && start + n == o->used);
    unsigned extra = stk_varint_size(n) - 1;
    if (!stk_ex_capacity(o, extra) || o->failed) {
        return;
    }
    memmove(o->p + start + extra, o->p + start, n);
    stk_varint_put(o->p + start - 1, n);
    o->used += extra;
}
