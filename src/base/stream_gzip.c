// SPDX-License-Identifier: Apache-2.0
// gzip framing (RFC 1952). Headers are read a byte at a time, so input buffers may cut them
// anywhere. The trailer's CRC and length are checked; the optional header CRC isn't. zlib: a preset
// dictionary is rejected; data after the trailer aren't a second member. Zeros between and after
// members are padding (tapes, block devices) and are skipped, like in gzip.
#include "base/stream_gzip.h"

#include <string.h>
#include <zlib.h>

enum { FIXED, EXTRA_LEN, EXTRA, NAME, COMMENT, HEADER_CRC, FIELDS_END };
enum { FLAG_HCRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_RESERVED = 0xe0 };
enum { FIXED_LEN = 10, TRAILER_LEN = 8, ZLIB_TRAILER_LEN = 4 };

int stk_gzip_open(struct stk_gzip *g, const struct stk_inflate_engine *engine)
{
    *g = (struct stk_gzip){.engine = engine, .adler = 1, .inflate = engine->open()};
    return g->inflate ? 0 : -1;
}

void stk_gzip_close(struct stk_gzip *g)
{
    if (g->engine) {
        g->engine->close(g->inflate);
    }
    *g = (struct stk_gzip){0};
}

void stk_gzip_restart(struct stk_gzip *g, uint64_t members)
{
    g->engine->reset(g->inflate);
    g->phase = STK_GZIP_HEADER;
    g->field = FIXED;
    g->count = 0;
    g->extra_len = 0;
    g->member_bytes = 0;
    g->adler = 1;
    g->members = members;
    g->why = NULL;
}

bool stk_gzip_may_end(const struct stk_gzip *g)
{
    return g->phase == STK_GZIP_HEADER && g->field == FIXED && g->count == 0 && g->members > 0;
}

static enum stk_inflate_result bad(struct stk_gzip *g, const char *why)
{
    g->why = why;
    return STK_INFLATE_BAD;
}

static enum stk_inflate_result fixed_byte(struct stk_gzip *g, uint8_t c)
{
    bool first = g->members == 0;
    if (g->count == 0 && c == 0 && !first) {
        return STK_INFLATE_MORE; // padding
    }
    if ((g->count == 0 && c != 0x1f) || (g->count == 1 && c != 0x8b)) {
        return bad(g, first ? "it has no gzip header"
                            : "bytes after its last member are not gzip and were ignored");
    }
    if (g->count == 2 && c != 8) {
        return bad(g, "a gzip header names an unknown compression method");
    }
    if (g->count == 3) {
        if (c & FLAGS_RESERVED) {
            return bad(g, "a gzip header has unknown flags");
        }
        g->flags = c;
    }
    g->count++;
    return STK_INFLATE_MORE;
}

// CMF and FLG: deflate, a window of up to 32 KiB, no dictionary, together a multiple of 31.
static enum stk_inflate_result zlib_byte(struct stk_gzip *g, uint8_t c)
{
    if (g->members > 0) {
        return bad(g, "bytes after its end were ignored");
    }
    if (g->count == 0) {
        g->flags = c;
        g->count = 1;
        return STK_INFLATE_MORE;
    }
    if ((g->flags & 15) != 8 || g->flags >> 4 > 7 || (g->flags << 8 | c) % 31 != 0) {
        return bad(g, "it has no zlib header");
    }
    if (c & 32) {
        return bad(g, "it needs a dictionary");
    }
    g->count = 0;
    g->phase = STK_GZIP_BODY;
    return STK_INFLATE_MORE;
}

// Is the current part of the header complete, or absent?
static bool field_complete(const struct stk_gzip *g, uint8_t last)
{
    switch (g->field) {
    case FIXED:
        return g->count == FIXED_LEN;
    case EXTRA_LEN:
        return !(g->flags & FLAG_EXTRA) || g->count == 2;
    case EXTRA:
        return !(g->flags & FLAG_EXTRA) || g->count == g->extra_len;
    case NAME:
        return !(g->flags & FLAG_NAME) || (g->count > 0 && last == 0);
    case COMMENT:
        return !(g->flags & FLAG_COMMENT) || (g->count > 0 && last == 0);
    default:
        return !(g->flags & FLAG_HCRC) || g->count == 2;
    }
}

static enum stk_inflate_result header_byte(struct stk_gzip *g, uint8_t c)
{
    if (g->is_zlib) {
        return zlib_byte(g, c);
    }
    if (g->field == FIXED) {
        if (fixed_byte(g, c) == STK_INFLATE_BAD) {
            return STK_INFLATE_BAD;
        }
    } else {
        if (g->field == EXTRA_LEN) {
            g->extra_len |= (uint32_t)c << 8 * g->count;
        }
        g->count = g->count < 2 || g->field == EXTRA ? g->count + 1 : g->count;
    }
    while (field_complete(g, c)) {
        g->count = 0;
        if (++g->field == FIELDS_END) {
            g->phase = STK_GZIP_BODY;
            break;
        }
    }
    return STK_INFLATE_MORE;
}

static enum stk_inflate_result run_body(struct stk_gzip *g, struct stk_inflate_io *io)
{
    uint8_t *out = io->out;
    enum stk_inflate_result r = g->engine->run(g->inflate, io);
    g->member_bytes += (uint64_t)(io->out - out);
    if (g->is_zlib) {
        g->adler = (uint32_t)adler32_z(g->adler, out, (size_t)(io->out - out));
    }
    if (r == STK_INFLATE_BAD) {
        return bad(g, "its compressed data is damaged");
    }
    if (r == STK_INFLATE_END) {
        g->phase = STK_GZIP_TRAILER;
        g->count = (uint32_t)g->engine->surplus(g->inflate, g->trailer);
    }
    return r == STK_INFLATE_END ? STK_INFLATE_MORE : r;
}

static uint32_t little_endian(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static enum stk_inflate_result run_zlib_trailer(struct stk_gzip *g, struct stk_inflate_io *io)
{
    while (g->count < ZLIB_TRAILER_LEN && io->in_len > 0) {
        g->trailer[g->count++] = *io->in++;
        io->in_len--;
    }
    if (g->count < ZLIB_TRAILER_LEN) {
        return STK_INFLATE_MORE;
    }
    const uint8_t *t = g->trailer;
    uint32_t want = (uint32_t)t[0] << 24 | (uint32_t)t[1] << 16 | (uint32_t)t[2] << 8 | t[3];
    if (want != g->adler) {
        return bad(g, "its checksum doesn't match its content: some of it is wrong");
    }
    if (g->count > ZLIB_TRAILER_LEN) { // the decoder had read ahead
        return bad(g, "bytes after its end were ignored");
    }
    stk_gzip_restart(g, g->members + 1);
    return STK_INFLATE_END;
}

static enum stk_inflate_result run_trailer(struct stk_gzip *g, struct stk_inflate_io *io)
{
    if (g->is_zlib) {
        return run_zlib_trailer(g, io);
    }
    size_t n = TRAILER_LEN - g->count;
    n = n < io->in_len ? n : io->in_len;
    memcpy(g->trailer + g->count, io->in, n);
    g->count += (uint32_t)n;
    io->in += n;
    io->in_len -= n;
    if (g->count < TRAILER_LEN) {
        return STK_INFLATE_MORE;
    }
    if (little_endian(g->trailer) != g->engine->crc(g->inflate)) {
        return bad(g, "its checksum doesn't match its content: some of it is wrong");
    }
    if (little_endian(g->trailer + 4) != (uint32_t)g->member_bytes) {
        return bad(g, "its recorded length doesn't match its content");
    }
    stk_gzip_restart(g, g->members + 1);
    return STK_INFLATE_END;
}

enum stk_inflate_result stk_gzip_run(struct stk_gzip *g, struct stk_inflate_io *io)
{
    // A decoder may hold bytes back, or may already have the trailer: so the loop continues without
    // input while something changes.
    for (;;) {
        size_t in_len = io->in_len, out_len = io->out_len;
        enum stk_gzip_phase phase = g->phase;
        enum stk_inflate_result r = STK_INFLATE_MORE;
        if (phase == STK_GZIP_BODY) {
            r = io->out_len ? run_body(g, io) : r;
        } else if (phase == STK_GZIP_TRAILER) {
            r = run_trailer(g, io);
        } else if (io->in_len) {
            r = header_byte(g, *io->in++);
            io->in_len--;
        }
        if (r != STK_INFLATE_MORE) {
            return r;
        }
        if (io->in_len == in_len && io->out_len == out_len && g->phase == phase) {
            return STK_INFLATE_MORE;
        }
    }
}

int stk_gzip_save(const struct stk_gzip *g, struct stk_gzip_mark *mark)
{
    mark->member_bytes = g->member_bytes;
    mark->adler = g->adler;
    mark->saved = g->engine->save(g->inflate);
    return mark->saved ? 0 : -1;
}

int stk_gzip_load(struct stk_gzip *g, const struct stk_gzip_mark *mark)
{
    if (g->engine->load(g->inflate, mark->saved)) {
        return -1;
    }
    g->phase = STK_GZIP_BODY;
    g->member_bytes = mark->member_bytes;
    g->adler = mark->adler;
    g->members = 1; // at least one member has started, so what follows isn't a first header
    g->count = 0;
    g->why = NULL;
    return 0;
}
