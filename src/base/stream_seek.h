// SPDX-License-Identifier: Apache-2.0
// Random access to decompressed bytes: marks taken while a stream is read, and a separate decoder
// that starts at the nearest one.
#pragma once

#include "base/stream_decode.h"

#define STK_SEEK_MARKS_MAX 256

struct stk_seek {
    struct stk_decode_mark marks[STK_SEEK_MARKS_MAX]; // ascending positions
    size_t mark_count;
    uint64_t distance;          // target distance between marks, in decompressed bytes
    struct stk_decoder decoder; // at window_pos + window_len; in == NULL: not opened yet
    uint8_t *window;            // the decoder's last bytes
    size_t window_len;
    uint64_t window_pos;
};

void stk_seek_init(struct stk_seek *k);
void stk_seek_deinit(struct stk_seek *k);
// How many bytes `d` may decode before the next note.
uint64_t stk_seek_capacity(const struct stk_seek *k, const struct stk_decoder *d);
// Takes a mark if one is due. With less memory there are fewer marks, and access is slower.
void stk_seek_note(struct stk_seek *k, const struct stk_decoder *d);
STK_MUST_CHECK enum stoker_status stk_seek_read(struct stk_seek *k, struct stk_source *source,
                                                enum stk_stream_codec codec, uint64_t offset,
                                                uint8_t *buf, size_t n, size_t *got,
                                                struct stoker_err *err);
