// SPDX-License-Identifier: Apache-2.0
// Input streams: plain bytes go straight from the file into the caller's buffer, compressed ones
// are decoded straight into it. Only what peek() shows is copied. A stream takes about 0.2 MiB for
// plain and 1.2 MiB for compressed input, plus marks if it is seekable. Not thread-safe.
#include "base/stream.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/stream_decode.h"
#include "base/stream_seek.h"
#include "base/stream_source.h"

#define PEEK_SIZE ((size_t)64 << 10)
#define INPUT_SIZE ((size_t)1 << 20)   // stored bytes read at a time
#define DECODED_SIZE ((size_t)4 << 20) // bytes decoded between checks of the ratio

struct stk_stream {
    struct stk_source source;
    enum stk_stream_codec codec;
    bool seekable, is_bounded;
    uint64_t position;          // decompressed bytes delivered
    struct stk_decoder decoder; // compressed input only
    struct stk_seek seek;       // likewise, if seekable
    bool peeked;
    size_t head_len, head_used;     // used bytes of head
    enum stoker_status head_status; // the error peek found; the next read returns it
    struct stoker_err head_err;
    uint8_t head[PEEK_SIZE];
};

// Magic numbers: RFC 1952; RFC 8878, where a skippable frame may come first.
static enum stk_stream_codec codec_of(const uint8_t *p, size_t n)
{
    if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b) {
        return STK_CODEC_GZIP;
    }
    if (n >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd) {
        return STK_CODEC_ZSTD;
    }
    if (n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18) {
        return STK_CODEC_ZSTD;
    }
    return STK_CODEC_PLAIN;
}

enum stoker_status stk_stream_open(struct stk_stream **out, const char *path,
                                   const struct stk_stream_opts *opts, struct stoker_err *err)
{
    *out = NULL;
    struct stk_stream *s = stk_alloc_zero(1, sizeof *s);
    if (!s) {
        return stk_err_nomem(err);
    }
    s->seekable = opts && opts->seekable;
    s->is_bounded = opts && opts->is_bounded;
    stk_seek_init(&s->seek);
    size_t n = 0;
    enum stoker_status status = stk_source_open(&s->source, path, s->seekable, err);
    if (status) {
        goto done;
    }
    status = stk_source_read(&s->source, 0, s->head, PEEK_SIZE, &n, err);
    if (status) {
        goto done;
    }
    s->codec = opts && opts->codec_given ? opts->codec : codec_of(s->head, n);
    if (s->codec == STK_CODEC_PLAIN) {
        s->head_len = n;
        s->peeked = true;
    } else {
        size_t cap = opts && opts->input_bytes > PEEK_SIZE ? opts->input_bytes : PEEK_SIZE;
        cap = opts && opts->input_bytes ? cap : INPUT_SIZE;
        status = stk_decoder_open(&s->decoder, &s->source, s->codec, cap, s->head, n, err);
    }
done:
    if (status) {
        stk_stream_close(s);
    } else {
        *out = s;
    }
    return status;
}

void stk_stream_close(struct stk_stream *s)
{
    if (!s) {
        return;
    }
    stk_seek_deinit(&s->seek);
    stk_decoder_close(&s->decoder);
    stk_source_close(&s->source);
    stk_free(s);
}

// Checks that decoded bytes are in proportion to stored bytes.
static enum stoker_status check_ratio(const struct stk_stream *s, struct stoker_err *err)
{
    uint64_t stored = stk_stream_consumed(s), made = s->decoder.out_pos;
    if (!s->is_bounded || made <= STK_STREAM_FREE_BYTES || made / STK_STREAM_RATIO_MAX <= stored) {
        return STOKER_OK;
    }
    return stk_err_set_at(err, STOKER_ELIMIT, (int64_t)stored,
                          "%s inflates to more than %d times its size (its first %llu bytes to "
                          "%llu), unlike any profiler's output. If it is a profile, "
                          "decompress it (gzip -d, zstd -d) and give the plain file",
                          s->source.shown, STK_STREAM_RATIO_MAX, (unsigned long long)stored,
                          (unsigned long long)made);
}

// The next bytes after the head.
static enum stoker_status read_on(struct stk_stream *s, uint64_t position, uint8_t *buf, size_t cap,
                                  size_t *got, struct stoker_err *err)
{
    if (s->codec == STK_CODEC_PLAIN) {
        return stk_source_read(&s->source, position, buf, cap, got, err);
    }
    enum stoker_status status = STOKER_OK;
    *got = 0;
    while (!status && *got < cap) {
        uint64_t capacity = s->seekable ? stk_seek_capacity(&s->seek, &s->decoder) : DECODED_SIZE;
        size_t made, want = capacity < cap - *got ? (size_t)capacity : cap - *got;
        status = stk_decoder_read(&s->decoder, buf + *got, want, &made, err);
        *got += made;
        if (s->seekable) {
            stk_seek_note(&s->seek, &s->decoder);
        }
        status = status ? status : check_ratio(s, err);
        if (made < want) {
            break;
        }
    }
    return status;
}

size_t stk_stream_peek(struct stk_stream *s, const uint8_t **p)
{
    if (!s->peeked && s->position == 0) {
        stk_err_init(&s->head_err);
        s->head_status = read_on(s, 0, s->head, PEEK_SIZE, &s->head_len, &s->head_err);
        s->peeked = true;
    }
    *p = s->head + s->head_used;
    STK_ASSERT(s->head_used <= s->head_len && s->head_len <= PEEK_SIZE);
    return s->head_len - s->head_used;
}

enum stoker_status stk_stream_read(struct stk_stream *s, void *buf, size_t cap, size_t *got,
                                   struct stoker_err *err)
{
    STK_ASSERT(buf || cap == 0);
    STK_ASSERT(s->head_used <= s->head_len && s->head_len <= PEEK_SIZE);
    *got = 0;
    size_t n = s->head_len - s->head_used;
    if (n > 0 && cap > 0) {
        n = n < cap ? n : cap;
        memcpy(buf, s->head + s->head_used, n);
        s->head_used += n;
        s->position += n;
        *got = n;
    }
    if (*got == cap) {
        return STOKER_OK;
    }
    if (s->head_status) {
        if (*got > 0) {
            return STOKER_OK; // the next read returns the error
        }
        if (err) {
            *err = s->head_err;
        }
        return s->head_status;
    }
    size_t more = 0;
    enum stoker_status status =
        read_on(s, s->position, (uint8_t *)buf + *got, cap - *got, &more, err);
    *got += more;
    s->position += more;
    return status;
}

const char *stk_stream_damage(const struct stk_stream *s)
{
    return s->decoder.damage[0] ? s->decoder.damage : NULL;
}

enum stk_stream_codec stk_stream_codec(const struct stk_stream *s)
{
    return s->codec;
}

const char *stk_stream_path(const struct stk_stream *s)
{
    return s->source.path;
}

uint64_t stk_stream_size(const struct stk_stream *s)
{
    return s->source.size;
}

uint64_t stk_stream_consumed(const struct stk_stream *s)
{
    if (s->codec == STK_CODEC_PLAIN) {
        return s->position;
    }
    return s->decoder.in_offset + s->decoder.in_used;
}

uint64_t stk_stream_position(const struct stk_stream *s)
{
    return s->position;
}

enum stoker_status stk_stream_read_at(struct stk_stream *s, uint64_t offset, void *buf, size_t n,
                                      size_t *got, struct stoker_err *err)
{
    *got = 0;
    if (s->codec == STK_CODEC_PLAIN && s->source.regular) {
        return stk_source_read(&s->source, offset, buf, n, got, err);
    }
    if (!s->seekable) {
        return stk_err_set(err, STOKER_EINVAL, "%s was opened without random access",
                           s->source.shown);
    }
    if (s->codec == STK_CODEC_PLAIN) {
        return stk_source_read(&s->source, offset, buf, n, got, err);
    }
    return stk_seek_read(&s->seek, &s->source, s->codec, offset, buf, n, got, err);
}
