// SPDX-License-Identifier: Apache-2.0
// Decompressed bytes of a gzip, zlib or zstd source, from its start or from a mark. A stream has
// one decoder for sequential reading, and another for random access; they share only the source.
#pragma once

#include "base/stream_codec.h"
#include "base/stream_gzip.h"
#include "base/stream_source.h"

// A place where decoding can start. With `inside` it is within a gzip member and holds the
// decoder's state (about 55 KiB); otherwise it is the start of a member or frame.
struct stk_decode_mark {
    uint64_t out_pos, in_pos;
    bool inside;
    struct stk_gzip_mark gzip;
};

struct stk_decoder {
    struct stk_source *source; // borrowed
    enum stk_stream_codec codec;
    uint8_t *in; // stored bytes [in_offset, in_offset + in_len), consumed up to in_used
    size_t in_cap, in_len, in_used;
    uint64_t in_offset;
    uint64_t out_pos;             // decompressed bytes so far
    bool ended;                   // nothing more will come
    char damage[240];             // why it ended early; empty if it didn't
    struct stk_decode_mark start; // of the last member or frame started
    struct stk_gzip gzip;
    struct ZSTD_DCtx_s *zstd;
    bool zstd_holds;   // may hold bytes that didn't fit the last buffer
    bool zstd_inside;  // within a frame
    size_t zstd_wants; // input up to the end of its next block
};

// head: the source's first bytes, already read by the caller (n <= in_cap). On failure
// STOKER_ENOMEM, and nothing needs closing.
STK_MUST_CHECK enum stoker_status stk_decoder_open(struct stk_decoder *d, struct stk_source *source,
                                                   enum stk_stream_codec codec, size_t in_cap,
                                                   const void *head, size_t n,
                                                   struct stoker_err *err);
void stk_decoder_close(struct stk_decoder *d);
// Fills buf unless the data end, properly or by damage.
STK_MUST_CHECK enum stoker_status stk_decoder_read(struct stk_decoder *d, void *buf, size_t cap,
                                                   size_t *got, struct stoker_err *err);
// The current position, for resuming here; -1 if decoding can't resume here or memory is short.
int stk_decoder_mark(const struct stk_decoder *d, struct stk_decode_mark *mark);
void stk_decode_unmark(struct stk_decode_mark *mark); // frees its members
STK_MUST_CHECK enum stoker_status stk_decoder_resume(struct stk_decoder *d,
                                                     const struct stk_decode_mark *mark,
                                                     struct stoker_err *err);
