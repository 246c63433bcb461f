// SPDX-License-Identifier: Apache-2.0
// Input that can only be read in order: compressed files, pipes. One plane at a time is in memory,
// or several small consecutive ones. Memory grows with the bytes that arrive, not with the length
// that the file claims.
#include "base/assert.h"
#include "profile/readers/xplane/xplane_reading.h"

#include "base/alloc.h"
#include "profile/readers/xplane/xplane_event.h"

// Largest plane held.
#define MAX_HELD_BYTES ((uint64_t)32 << 30)
#define HOLD_STEP_BYTES ((size_t)8 << 20)
#define BATCH_BYTES ((size_t)1 << 20) // small planes are decoded together
#define BATCH_GAP ((uint64_t)64)      // between two of them: tags and lengths

// Bytes taken from the stream in order, for input that cannot be read in place.
struct intake {
    struct stk_xp_reading *r;
    uint8_t *p;
    size_t size; // allocated, without pad
    uint64_t at; // position of the next byte
    // Planes in memory: p holds bytes [batch_start, batch_start + batch_used) of the input.
    uint64_t batch_start;
    size_t batch_used;
};

static enum stoker_status take(struct intake *in, uint8_t *p, size_t n, size_t *got)
{
    STK_ASSERT(p || n == 0);
    *got = 0;
    while (*got < n) {
        size_t now;
        enum stoker_status status =
            stk_stream_read(in->r->ctx->stream, p + *got, n - *got, &now, in->r->err);
        if (status != STOKER_OK) {
            return status;
        }
        if (!now) {
            break;
        }
        *got += now;
    }
    in->at += *got;
    return STOKER_OK;
}

// One varint; STK_PB_END only where the input ends in front of it.
static enum stoker_status take_varint(struct intake *in, uint64_t *v, enum stk_pb_step *step)
{
    uint8_t bytes[10];
    struct stk_pb_cursor c;
    for (size_t n = 0; n < sizeof bytes; n++) {
        size_t got;
        enum stoker_status status = take(in, &bytes[n], 1, &got);
        if (status != STOKER_OK) {
            return status;
        }
        if (!got) {
            *step = n ? STK_PB_CUT : STK_PB_END;
            return STOKER_OK;
        }
        if (!(bytes[n] & 0x80)) {
            c = (struct stk_pb_cursor){bytes, bytes + n + 1};
            *step = stk_pb_varint_slow(&c, v);
            return STOKER_OK;
        }
    }
    *step = STK_PB_BAD;
    return STOKER_OK;
}

// Up to `want` bytes into the intake's buffer, from `base` on. The buffer grows with what arrives,
// not with what a damaged length promises.
static enum stoker_status hold(struct intake *in, size_t base, uint64_t want, size_t *held)
{
    *held = 0;
    while (*held < want) {
        size_t step = *held > HOLD_STEP_BYTES ? *held : HOLD_STEP_BYTES, got;
        if (step > want - *held) {
            step = (size_t)(want - *held);
        }
        if (base + *held + step > in->size) {
            uint8_t *p = stk_realloc_array(in->p, base + *held + step + STK_XP_PAD, 1);
            if (!p) {
                return stk_err_nomem(in->r->err);
            }
            in->p = p;
            in->size = base + *held + step;
        }
        enum stoker_status status = take(in, in->p + base + *held, step, &got);
        if (status != STOKER_OK) {
            return status;
        }
        *held += got;
        STK_ASSERT(base + *held <= in->size);
        if (got < step) {
            break;
        }
    }
    if (*held) {
        memset(in->p + base + *held, 0, STK_XP_PAD);
    }
    return STOKER_OK;
}

// Decodes the buffered planes and frees their bytes.
static enum stoker_status end_batch(struct intake *in)
{
    STK_ASSERT(in->batch_start + in->batch_used <= in->at);
    in->batch_used = 0;
    return stk_xp_finish_planes(in->r);
}

// Where the next plane's bytes go: after those already read, if it follows them.
static enum stoker_status begin_plane(struct intake *in, size_t *base)
{
    STK_ASSERT(in->batch_start <= in->at);
    enum stoker_status status = STOKER_OK;
    if (in->batch_used && in->at - in->batch_start > in->batch_used + BATCH_GAP) {
        status = end_batch(in);
    }
    if (in->batch_used == 0) {
        in->batch_start = in->at;
    }
    *base = (size_t)(in->at - in->batch_start);
    return status;
}

// Skips n bytes of the field that begins at `field`.
static enum stoker_status skip(struct intake *in, uint64_t n, uint64_t field)
{
    uint8_t bytes[4096];
    while (n > 0) {
        size_t got, want = n < sizeof bytes ? (size_t)n : sizeof bytes;
        enum stoker_status status = take(in, bytes, want, &got);
        if (status != STOKER_OK) {
            return status;
        }
        if (got < want) {
            stk_xp_note_space(in->r, STK_PB_CUT, field);
            return STOKER_OK;
        }
        n -= got;
    }
    return STOKER_OK;
}

// Reads the next plane, of `size` bytes, in the field that begins at `field`.
static enum stoker_status held_plane(struct intake *in, uint64_t size, uint64_t field)
{
    struct stk_xp_reading *r = in->r;
    uint64_t offset = in->at;
    uint64_t want = size < MAX_HELD_BYTES ? size : MAX_HELD_BYTES;
    size_t held, base;
    enum stoker_status status = begin_plane(in, &base);
    if (status == STOKER_OK) {
        status = hold(in, base, want, &held);
    }
    if (status != STOKER_OK) {
        return status;
    }
    in->batch_used = base + held;
    if (held < want) {
        stk_xp_note_space(r, STK_PB_CUT, field);
    } else if (want < size) {
        stk_shard_issue(r->notes, STK_ISSUE_LIMIT_REACHED, 1, 0, (int64_t)in->at,
                        STK_STR("a plane above 32 GiB in compressed input: decompress it first"));
    }
    r->source =
        (struct stk_pb_source){.mem = in->p, .mem_start = in->batch_start, .size = offset + held};
    struct stk_pb_walk walk;
    if (!stk_pb_walk_init(&walk, &r->source, r->err)) {
        return stk_err_nomem(r->err);
    }
    status = stk_xp_add_plane(r, &walk, offset, held, held < size);
    stk_pb_walk_deinit(&walk);
    if (status == STOKER_OK && in->batch_used >= BATCH_BYTES) {
        status = end_batch(in);
    }
    return status == STOKER_OK ? skip(in, held == want ? size - want : 0, field) : status;
}

// One field of the space. *more is false at its end.
static enum stoker_status held_field(struct intake *in, bool *more)
{
    struct stk_xp_reading *r = in->r;
    uint64_t at = in->at, tag, size = 0;
    enum stk_pb_step step;
    enum stoker_status status = take_varint(in, &tag, &step);
    *more = false;
    if (status != STOKER_OK || step == STK_PB_END) {
        return status;
    }
    uint32_t wire = tag & 7;
    if (step == STK_PB_FIELD &&
        (tag < 8 || tag > UINT32_MAX || wire == 3 || wire == 4 || wire > 5)) {
        step = STK_PB_BAD;
    }
    if (step == STK_PB_FIELD && (wire == STK_PB_VARINT || wire == STK_PB_LEN)) {
        status = take_varint(in, &size, &step);
    }
    if (status != STOKER_OK) {
        return status;
    }
    if (step != STK_PB_FIELD) {
        stk_xp_note_space(r, step == STK_PB_BAD ? STK_PB_BAD : STK_PB_CUT, at);
        return STOKER_OK;
    }
    *more = true;
    if (wire == STK_PB_FIXED64 || wire == STK_PB_FIXED32) {
        return skip(in, wire == STK_PB_FIXED64 ? 8 : 4, at);
    }
    if (wire != STK_PB_LEN) {
        return STOKER_OK;
    }
    if (tag >> 3 == STK_XP_SPACE_PLANES) {
        return held_plane(in, size, at);
    }
    uint64_t offset = in->at, keep = size < STK_XP_TEXT_MAX ? size : STK_XP_TEXT_MAX;
    uint8_t text[STK_XP_TEXT_MAX];
    size_t held;
    status = take(in, text, (size_t)keep, &held);
    if (status == STOKER_OK && held < keep) {
        stk_xp_note_space(r, STK_PB_CUT, at);
    }
    if (status == STOKER_OK && tag >> 3 <= STK_XP_SPACE_HOSTNAMES && held) {
        status = stk_xp_add_text(r, (const char *)text, held, (uint32_t)(tag >> 3), offset);
    }
    return status == STOKER_OK && held == keep ? skip(in, size - keep, at) : status;
}

enum stoker_status stk_xp_read_in_order(struct stk_xp_reading *r)
{
    struct intake in = {.r = r};
    enum stoker_status status = STOKER_OK;
    bool more = true;
    while (more && status == STOKER_OK) {
        status = held_field(&in, &more);
    }
    if (status == STOKER_OK && in.batch_used) {
        status = end_batch(&in);
    }
    stk_free(in.p);
    return status;
}