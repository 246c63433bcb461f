// SPDX-License-Identifier: Apache-2.0
// The part of the protobuf wire format that profiles use: varints, tags, length-delimited fields,
// and two walks over the fields of a message: one over bytes in memory (the hot path), one over a
// file of any size through a small window (structure and maps, where most fields are skipped by
// length).
//
// Specified in https://protobuf.dev/programming-guides/encoding. Groups (wire types 3 and 4) are
// obsolete and treated as damage.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/stream.h"
#include "base/varint.h"

enum stk_pb_wire { STK_PB_VARINT = 0, STK_PB_FIXED64 = 1, STK_PB_LEN = 2, STK_PB_FIXED32 = 5 };

// Bytes of one message in memory.
struct stk_pb_cursor {
    const uint8_t *p, *end;
};
struct stk_pb_field {
    uint32_t number;
    uint32_t wire;
    uint64_t value;      // varint, fixed; LEN: length of the payload
    const uint8_t *data; // LEN: payload (cursor only)
    uint64_t offset;     // LEN: payload's position (walk only)
};
enum stk_pb_step {
    STK_PB_FIELD, // *f is the next field
    STK_PB_END,   // the message ended where a field could start
    STK_PB_CUT,   // the field runs past the end of the message
    STK_PB_BAD    // not a field: field number 0, unknown wire type, endless varint
};

enum stk_pb_step stk_pb_varint_slow(struct stk_pb_cursor *c, uint64_t *out);

static inline enum stk_pb_step stk_pb_varint(struct stk_pb_cursor *c, uint64_t *out)
{
    if (c->end - c->p < 8) {
        return stk_pb_varint_slow(c, out);
    }
    if (!(*c->p & 0x80)) {
        *out = *c->p++;
        return STK_PB_FIELD;
    }
    const uint8_t *next = stk_varint_get8(c->p, out);
    if (!next) {
        return stk_pb_varint_slow(c, out);
    }
    c->p = next;
    return STK_PB_FIELD;
}

// Next field of a message in memory. After STK_PB_CUT and STK_PB_BAD the cursor is unusable.
static inline enum stk_pb_step stk_pb_next(struct stk_pb_cursor *c, struct stk_pb_field *f)
{
    if (c->p == c->end) {
        return STK_PB_END;
    }
    uint64_t tag;
    enum stk_pb_step s = stk_pb_varint(c, &tag);
    if (s != STK_PB_FIELD) {
        return s;
    }
    if (tag < 8 || tag > UINT32_MAX) {
        return STK_PB_BAD;
    }
    f->number = (uint32_t)(tag >> 3);
    f->wire = tag & 7;
    size_t left = (size_t)(c->end - c->p);
    switch (f->wire) {
    case STK_PB_VARINT:
        return stk_pb_varint(c, &f->value);
    case STK_PB_LEN:
        s = stk_pb_varint(c, &f->value);
        if (s != STK_PB_FIELD) {
            return s;
        }
        if (f->value > (size_t)(c->end - c->p)) {
            return STK_PB_CUT;
        }
        f->data = c->p;
        c->p += f->value;
        return STK_PB_FIELD;
    case STK_PB_FIXED64:
        if (left < 8) {
            return STK_PB_CUT;
        }
        f->value = stk_word_load8(c->p);
        c->p += 8;
        return STK_PB_FIELD;
    case STK_PB_FIXED32:
        if (left < 4) {
            return STK_PB_CUT;
        }
        f->value = (uint64_t)c->p[0] | (uint64_t)c->p[1] << 8 | (uint64_t)c->p[2] << 16 |
                   (uint64_t)c->p[3] << 24;
        c->p += 4;
        return STK_PB_FIELD;
    default:
        return STK_PB_BAD;
    }
}

// Bytes by position: a whole plain file through positioned reads, or a range in memory.
struct stk_pb_source {
    struct stk_stream *stream; // NULL: memory
    const uint8_t *mem;        // memory that holds [mem_start, size)
    uint64_t mem_start;
    uint64_t size; // end of the available bytes
};
// Pointer to n bytes at `offset` (must be before size): into memory, or read into buf. *got may be
// less at the end. NULL with err set only if reading fails.
const uint8_t *stk_pb_fetch(const struct stk_pb_source *src, uint64_t offset, size_t n,
                            uint8_t *buf, size_t *got, struct stoker_err *err);

#define STK_PB_WINDOW ((size_t)128 * 1024)
// Fields of messages in a source, in small reads.
struct stk_pb_walk {
    const struct stk_pb_source *src;
    struct stoker_err *err;
    bool failed;        // reading failed: err is set
    uint64_t pos, end;  // of the message being walked
    uint8_t *buf;       // STK_PB_WINDOW bytes (file sources)
    const uint8_t *win; // valid bytes
    uint64_t win_start;
    size_t win_len;
};
// Returns false if memory is short. Call stk_pb_walk_deinit in any case.
bool stk_pb_walk_init(struct stk_pb_walk *w, const struct stk_pb_source *src,
                      struct stoker_err *err);
void stk_pb_walk_deinit(struct stk_pb_walk *w);
// Next field of the message [w->pos, w->end); skips LEN payloads. For a LEN field that runs past
// the end (STK_PB_CUT) number, value and offset are set, and w->pos is at its payload.
enum stk_pb_step stk_pb_walk_next(struct stk_pb_walk *w, struct stk_pb_field *f);
// Pointer to n bytes at offset, n <= STK_PB_WINDOW; NULL if the source has fewer or failed.
// Borrowed until the next call.
const uint8_t *stk_pb_walk_bytes(struct stk_pb_walk *w, uint64_t offset, size_t n);
