// SPDX-License-Identifier: Apache-2.0
// Protobuf wire format: the rare cases of varints, and the walk over a source of any size.
#include "base/protobuf.h"

#include "base/alloc.h"
#include "base/assert.h"

#define STK_PB_BITE ((size_t)4096)

enum stk_pb_step stk_pb_varint_slow(struct stk_pb_cursor *c, uint64_t *out)
{
    const uint8_t *next = stk_varint_get_slow(c->p, c->end, out);
    if (!next) {
        return c->end - c->p < STK_VARINT_MAX ? STK_PB_CUT : STK_PB_BAD;
    }
    c->p = next;
    return STK_PB_FIELD;
}

const uint8_t *stk_pb_fetch(const struct stk_pb_source *src, uint64_t offset, size_t n,
                            uint8_t *buf, size_t *got, struct stoker_err *err)
{
    uint64_t left = offset < src->size ? src->size - offset : 0;
    if (n > left) {
        n = (size_t)left;
    }
    *got = n;
    if (!src->stream) {
        return src->mem + (offset - src->mem_start);
    }
    if (stk_stream_read_at(src->stream, offset, buf, n, got, err) != STOKER_OK) {
        return NULL;
    }
    return buf;
}

bool stk_pb_walk_init(struct stk_pb_walk *w, const struct stk_pb_source *src,
                      struct stoker_err *err)
{
    *w = (struct stk_pb_walk){.src = src, .err = err};
    if (src->stream) {
        w->buf = stk_alloc(STK_PB_WINDOW);
        return w->buf != NULL;
    }
    return true;
}

void stk_pb_walk_deinit(struct stk_pb_walk *w)
{
    stk_free(w->buf);
    w->buf = NULL;
}

// Up to n bytes at offset; *got: how many there are.
static const uint8_t *bytes_at(struct stk_pb_walk *w, uint64_t offset, size_t n, size_t *got)
{
    if (offset >= w->win_start && offset - w->win_start <= w->win_len &&
        n <= w->win_len - (offset - w->win_start)) {
        *got = n;
        return w->win + (offset - w->win_start);
    }
    // A small read after a jump (most skipped fields are long), a large one when continuing.
    bool onward = w->win_len && offset >= w->win_start && offset - w->win_start <= w->win_len;
    size_t bite = onward ? STK_PB_WINDOW : n > STK_PB_BITE ? n : STK_PB_BITE;
    const uint8_t *p = stk_pb_fetch(w->src, offset, w->src->stream ? bite : n, w->buf, got, w->err);
    if (!p) {
        w->failed = true;
        w->win_len = 0;
        return NULL;
    }
    if (w->src->stream) {
        w->win = p;
        w->win_start = offset;
        w->win_len = *got;
    }
    if (*got > n) {
        *got = n;
    }
    return p;
}

const uint8_t *stk_pb_walk_bytes(struct stk_pb_walk *w, uint64_t offset, size_t n)
{
    STK_ASSERT(offset <= w->src->size);
    size_t got;
    const uint8_t *p = bytes_at(w, offset, n, &got);
    return p && got == n ? p : NULL;
}

enum stk_pb_step stk_pb_walk_next(struct stk_pb_walk *w, struct stk_pb_field *f)
{
    if (w->pos >= w->end) {
        return STK_PB_END;
    }
    size_t want = 20, got; // tag and value: at most 10 bytes each
    if (want > w->end - w->pos) {
        want = (size_t)(w->end - w->pos);
    }
    const uint8_t *p = bytes_at(w, w->pos, want, &got);
    if (!p) {
        return STK_PB_CUT;
    }
    struct stk_pb_cursor c = {p, p + got};
    uint64_t tag;
    enum stk_pb_step s = stk_pb_varint(&c, &tag);
    if (s != STK_PB_FIELD) {
        return s;
    }
    if (tag < 8 || tag > UINT32_MAX) {
        return STK_PB_BAD;
    }
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    f->data = NULL;
    f->offset = 0;
    if (f->wire != STK_PB_LEN) {
        c.p = p;
        s = stk_pb_next(&c, f);
        if (s == STK_PB_FIELD) {
            w->pos += (uint64_t)(c.p - p);
        }
        return s;
    }
    s = stk_pb_varint(&c, &f->value);
    if (s != STK_PB_FIELD) {
        return s;
    }
    w->pos += (uint64_t)(c.p - p);
    f->offset = w->pos;
    if (f->value > w->end - w->pos) {
        return STK_PB_CUT;
    }
    w->pos += f->value;
    return STK_PB_FIELD;
}
