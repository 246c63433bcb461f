// SPDX-License-Identifier: Apache-2.0
// Decodes gzip, zlib and zstd into the caller's buffer, without a copy in between. zstd allows
// windows up to 128 MiB (its library's default limit): larger ones are reported as unreadable, so a
// file can't claim memory at will. zstd can't save its state: its marks are starts of frames, and a
// file of one frame is decoded again from the start if an earlier byte is requested.
#include "base/stream_decode.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"

#define FRAME_HEAD 5 // bytes in which a zstd frame gives the length of its header
#define BLOCK_HEAD 3

static bool is_deflate(const struct stk_decoder *d)
{
    return d->codec == STK_CODEC_GZIP || d->codec == STK_CODEC_ZLIB;
}

static const char *codec_name(const struct stk_decoder *d)
{
    return d->codec == STK_CODEC_GZIP ? "gzip" : d->codec == STK_CODEC_ZLIB ? "zlib" : "zstd";
}

static enum stoker_status open_codec(struct stk_decoder *d)
{
    if (is_deflate(d)) {
        if (stk_gzip_open(&d->gzip, STK_INFLATE_DEFAULT)) {
            return STOKER_ENOMEM;
        }
        d->gzip.is_zlib = d->codec == STK_CODEC_ZLIB;
        return STOKER_OK;
    }
    d->zstd = ZSTD_createDCtx();
    return d->zstd ? STOKER_OK : STOKER_ENOMEM;
}

enum stoker_status stk_decoder_open(struct stk_decoder *d, struct stk_source *source,
                                    enum stk_stream_codec codec, size_t in_cap, const void *head,
                                    size_t n, struct stoker_err *err)
{
    *d = (struct stk_decoder){.source = source, .codec = codec, .in_cap = in_cap, .in_len = n};
    d->in = stk_alloc(in_cap);
    if (!d->in || open_codec(d)) {
        stk_decoder_close(d);
        return stk_err_nomem(err);
    }
    if (n) {
        memcpy(d->in, head, n);
    }
    return STOKER_OK;
}

void stk_decoder_close(struct stk_decoder *d)
{
    stk_free(d->in);
    stk_gzip_close(&d->gzip);
    ZSTD_freeDCtx(d->zstd);
    *d = (struct stk_decoder){0};
}

static uint64_t in_pos(const struct stk_decoder *d)
{
    return d->in_offset + d->in_used;
}

static void note_start(struct stk_decoder *d)
{
    d->start = (struct stk_decode_mark){.out_pos = d->out_pos, .in_pos = in_pos(d)};
}

static void end_damaged(struct stk_decoder *d, const char *codec, const char *why)
{
    d->ended = true;
    snprintf(d->damage, sizeof d->damage,
             "%s: %s (at byte %llu of the file, byte %llu decompressed)", codec, why,
             (unsigned long long)in_pos(d), (unsigned long long)d->out_pos);
}

// Both run_ functions report in `moved` whether anything changed.
static enum stoker_status run_gzip(struct stk_decoder *d, struct stk_inflate_io *io, bool *moved,
                                   struct stoker_err *err)
{
    const uint8_t *in = io->in, *out = io->out;
    enum stk_inflate_result r = stk_gzip_run(&d->gzip, io);
    d->in_used += (size_t)(io->in - in);
    d->out_pos += (uint64_t)(io->out - out);
    if (r == STK_INFLATE_NOMEM) {
        return stk_err_nomem(err);
    }
    if (r == STK_INFLATE_BAD) {
        end_damaged(d, codec_name(d), d->gzip.why);
    } else if (r == STK_INFLATE_END) {
        note_start(d);
    }
    *moved = io->in != in || io->out != out || r == STK_INFLATE_END;
    return STOKER_OK;
}

static const char *zstd_problem(size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_prefix_unknown:
        return "bytes after its last frame are not zstd and were ignored";
    case ZSTD_error_frameParameter_windowTooLarge:
        return "it needs a window of more than 128 MiB: compress it again without --long";
    case ZSTD_error_checksum_wrong:
        return "its checksum doesn't match its content: some of it is wrong";
    case ZSTD_error_dictionary_wrong:
        return "it needs a dictionary";
    default:
        return "its compressed data is damaged";
    }
}

// Consumes up to in_max bytes; returns libzstd's result.
static size_t step_zstd(struct stk_decoder *d, struct stk_inflate_io *io, size_t in_max)
{
    ZSTD_inBuffer in = {io->in, io->in_len < in_max ? io->in_len : in_max, 0};
    ZSTD_outBuffer out = {io->out, io->out_len, 0};
    size_t r = ZSTD_decompressStream(d->zstd, &out, &in);
    d->in_used += in.pos;
    d->out_pos += out.pos;
    io->in += in.pos;
    io->in_len -= in.pos;
    io->out += out.pos;
    io->out_len -= out.pos;
    d->zstd_holds = out.pos == out.size;
    return r;
}

// Block by block, and only when the last block is completely output: a failing call returns
// nothing, so what comes before damage would depend on how much is requested at once.
static enum stoker_status run_zstd(struct stk_decoder *d, struct stk_inflate_io *io, bool *moved,
                                   struct stoker_err *err)
{
    const uint8_t *from = io->in, *to = io->out;
    size_t r = d->zstd_holds ? step_zstd(d, io, 0) : 1;
    if (io->out == to && !ZSTD_isError(r)) {
        r = step_zstd(d, io, d->zstd_wants ? d->zstd_wants : FRAME_HEAD);
    }
    if (ZSTD_isError(r)) {
        if (ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation) {
            return stk_err_nomem(err);
        }
        end_damaged(d, "zstd", zstd_problem(r));
        return STOKER_OK;
    }
    *moved = io->in != from || io->out != to;
    if (*moved) {
        d->zstd_inside = r != 0;
        d->zstd_wants = r > BLOCK_HEAD ? r - BLOCK_HEAD : r; // it includes the next block's header
    }
    if (r == 0) {
        note_start(d);
    }
    return STOKER_OK;
}

static enum stoker_status refill(struct stk_decoder *d, struct stoker_err *err)
{
    d->in_offset += d->in_used;
    d->in_len = d->in_used = 0;
    return stk_source_read(d->source, d->in_offset, d->in, d->in_cap, &d->in_len, err);
}

static void end_of_input(struct stk_decoder *d)
{
    if (is_deflate(d) ? stk_gzip_may_end(&d->gzip) : !d->zstd_inside) {
        d->ended = true;
    } else {
        end_damaged(d, codec_name(d), "the file ends early: the rest is missing");
    }
}

enum stoker_status stk_decoder_read(struct stk_decoder *d, void *buf, size_t cap, size_t *got,
                                    struct stoker_err *err)
{
    struct stk_inflate_io io = {.out = buf, .out_len = cap};
    enum stoker_status status = STOKER_OK;
    while (io.out_len > 0 && !d->ended && !status) {
        bool dry = d->in_used == d->in_len, moved = false;
        if (dry && (status = refill(d, err))) {
            break;
        }
        io.in = d->in + d->in_used;
        io.in_len = d->in_len - d->in_used;
        bool more = io.in_len > 0;
        // Even without input: a decoder may hold bytes that didn't fit the last buffer.
        status = is_deflate(d) ? run_gzip(d, &io, &moved, err) : run_zstd(d, &io, &moved, err);
        if (status || d->ended || moved) {
            continue;
        }
        if (more) {
            end_damaged(d, "decoder", "it makes no progress");
        } else {
            end_of_input(d);
        }
    }
    *got = cap - io.out_len;
    return status;
}

int stk_decoder_mark(const struct stk_decoder *d, struct stk_decode_mark *mark)
{
    if (d->ended) {
        return -1;
    }
    if (d->start.out_pos == d->out_pos && d->start.in_pos == in_pos(d)) {
        *mark = d->start;
        return 0;
    }
    if (!is_deflate(d) || d->gzip.phase != STK_GZIP_BODY) {
        return -1;
    }
    *mark = (struct stk_decode_mark){.out_pos = d->out_pos, .in_pos = in_pos(d), .inside = true};
    return stk_gzip_save(&d->gzip, &mark->gzip);
}

void stk_decode_unmark(struct stk_decode_mark *mark)
{
    if (mark->inside) {
        STK_INFLATE_DEFAULT->free_saved(mark->gzip.saved);
    }
    *mark = (struct stk_decode_mark){0};
}

enum stoker_status stk_decoder_resume(struct stk_decoder *d, const struct stk_decode_mark *mark,
                                      struct stoker_err *err)
{
    d->in_offset = mark->in_pos;
    d->in_len = d->in_used = 0;
    d->out_pos = mark->out_pos;
    d->ended = false;
    d->damage[0] = '\0';
    d->zstd_inside = false;
    d->zstd_wants = 0;
    d->zstd_holds = false;
    d->start = (struct stk_decode_mark){0};
    if (d->codec == STK_CODEC_ZSTD) {
        ZSTD_DCtx_reset(d->zstd, ZSTD_reset_session_only);
    } else if (!mark->inside) {
        stk_gzip_restart(&d->gzip, mark->in_pos > 0);
    } else if (stk_gzip_load(&d->gzip, &mark->gzip)) {
        return stk_err_nomem(err);
    }
    return STOKER_OK;
}
