// SPDX-License-Identifier: Apache-2.0
// Bytes of an input, decompressed while reading: plain, gzip (ISA-L) and zstd, recognized by their
// magic and not by name, unless the caller specifies it (zlib has no real magic); from a file or
// standard input ("-"). For compressed input, a seek point is kept every few MB, so that a record
// can be read again later by its position in the decompressed bytes. Standard input is spooled to a
// temporary file only if requested.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stream_codec.h"

struct stk_stream_opts {
    int seekable;    // keep seek points, spool standard input: read_at will work
    int codec_given; // take `codec` instead of looking at the magic
    enum stk_stream_codec codec;
    size_t input_bytes; // bytes of compressed input read at a time; 0: 1 MiB
    int is_bounded;     // reject input that inflates beyond STK_STREAM_RATIO_MAX (STOKER_ELIMIT)
};

// Traces of jobs inflate to 20 to 40 times their size, those with long arguments to 100; files made
// to exhaust memory to 1000 times (gzip) or any number (zstd). Up to STK_STREAM_FREE_BYTES, which
// cost little, the ratio isn't checked.
#define STK_STREAM_RATIO_MAX 256
#define STK_STREAM_FREE_BYTES ((uint64_t)64 << 20)

struct stk_stream;

// STOKER_EINPUT: a missing, unreadable or unsuitable path (directory, device).
STK_MUST_CHECK enum stoker_status stk_stream_open(struct stk_stream **out, const char *path,
                                                  const struct stk_stream_opts *opts,
                                                  struct stoker_err *err);
void stk_stream_close(struct stk_stream *s); // takes NULL
// The first decompressed bytes, up to 64 KiB, without consuming them. Borrowed until the next read.
size_t stk_stream_peek(struct stk_stream *s, const uint8_t **p);
// Next decompressed bytes into buf: *got is 0 only at the end. A damaged or truncated compressed
// input isn't an error while there are bytes: it ends the stream and sets stk_stream_damage().
STK_MUST_CHECK enum stoker_status stk_stream_read(struct stk_stream *s, void *buf, size_t cap,
                                                  size_t *got, struct stoker_err *err);
// Why the compressed data ended early, or NULL.
const char *stk_stream_damage(const struct stk_stream *s);
enum stk_stream_codec stk_stream_codec(const struct stk_stream *s);
const char *stk_stream_path(const struct stk_stream *s);
// Stored size of the file (0 if unknown: standard input), and stored bytes consumed so far.
uint64_t stk_stream_size(const struct stk_stream *s);
uint64_t stk_stream_consumed(const struct stk_stream *s);
// Decompressed bytes delivered so far.
uint64_t stk_stream_position(const struct stk_stream *s);
// Random access to decompressed bytes after (or while) reading; needs `seekable` for compressed
// input and standard input. Uses its own file position, so it doesn't disturb sequential reading.
STK_MUST_CHECK enum stoker_status stk_stream_read_at(struct stk_stream *s, uint64_t offset,
                                                     void *buf, size_t n, size_t *got,
                                                     struct stoker_err *err);
