// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of what decompresses. The first byte chooses:
//   a stream (gzip, zstd, zlib, or by its magic) of the bytes as they are: whatever it is asked
//   for at a time, the same bytes come and the same damage is told; and any part of them again by
//   its position;
//   the same of bytes that are compressed first, in gzip members and zstd frames as choices say:
//   they come back whole;
//   raw deflate: ISA-L and zlib give the same, as far as both give anything.
#include "fuzz.h"

#include <zlib.h>
#include <zstd.h>

#include "base/inflate.h"
#include "base/stream.h"

enum { CONTENT_MAX = 1 << 17, PACKED_MAX = 1 << 18, EARLIER = 600 };

struct content {
    uint8_t bytes[CONTENT_MAX];
    size_t n;
    char damage[200];
};

// Reads up to CONTENT_MAX bytes, `piece` at a time.
static struct stk_stream *read_all(const char *path, const struct stk_stream_opts *opts,
                                   size_t piece, struct content *out)
{
    struct stk_stream *s;
    struct stoker_err err;
    size_t got = 1;
    out->n = 0;
    stk_err_init(&err);
    FUZZ_REQUIRE(stk_stream_open(&s, path, opts, &err) == STOKER_OK);
    while (got > 0 && out->n < CONTENT_MAX) {
        size_t want = piece < CONTENT_MAX - out->n ? piece : CONTENT_MAX - out->n;
        FUZZ_REQUIRE(stk_stream_read(s, out->bytes + out->n, want, &got, &err) == STOKER_OK);
        out->n += got;
        FUZZ_REQUIRE(got <= want && stk_stream_position(s) == out->n);
    }
    const char *damage = stk_stream_damage(s);
    snprintf(out->damage, sizeof out->damage, "%s", damage ? damage : "");
    return s;
}

// A part of what came, by its position.
static void check_part(struct stk_stream *s, const struct content *all, struct fuzz_choices *c)
{
    static uint8_t part[CONTENT_MAX];
    struct stoker_err err;
    size_t got = 0, at = all->n ? (size_t)fuzz_choose(c, 1 << 16) * 7 % all->n : 0;
    size_t n = fuzz_choose(c, 5000);
    stk_err_init(&err);
    if (stk_stream_read_at(s, at, part, n, &got, &err) != STOKER_OK) {
        FUZZ_REQUIRE(err.message[0]);
        return;
    }
    FUZZ_REQUIRE(got <= n);
    for (size_t i = 0; i < got && at + i < all->n; i++) {
        FUZZ_REQUIRE(part[i] == all->bytes[at + i]);
    }
    FUZZ_REQUIRE(got == n || at + got >= all->n);
}

// Twice, in different pieces; the content of the first.
static const struct content *read_twice(const char *path, struct stk_stream_opts opts,
                                        struct fuzz_choices *c)
{
    static struct content first, second;
    static const size_t pieces[] = {1, 13, 1000, 1 << 16};
    opts.input_bytes = 1; // as little at a time as there may be
    struct stk_stream *s = read_all(path, &opts, pieces[3], &first);
    stk_stream_close(s);
    opts.seekable = true;
    s = read_all(path, &opts, pieces[first.n > 5000 ? 2 : fuzz_choose(c, 4)], &second);
    FUZZ_REQUIRE(first.n == second.n && memcmp(first.bytes, second.bytes, first.n) == 0);
    FUZZ_REQUIRE(first.n == CONTENT_MAX || strcmp(first.damage, second.damage) == 0);
    check_part(s, &first, c);
    stk_stream_close(s);
    return &first;
}

// ---- compressed as choices say ----

static size_t pack_member(uint8_t *out, size_t room, const uint8_t *p, size_t n, bool is_zlib,
                          struct fuzz_choices *c)
{
    static const int levels[] = {0, 1, 6, 9};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)p,
                  .avail_in = (uInt)n,
                  .next_out = out,
                  .avail_out = (uInt)room};
    FUZZ_REQUIRE(deflateInit2(&z, levels[fuzz_choose(c, 4)], Z_DEFLATED, is_zlib ? 15 : 15 + 16, 1,
                              (int)fuzz_choose(c, 5)) == Z_OK);
    FUZZ_REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

// Pieces of the content, each repeated, as members (frames) one after the other.
static void go_around(struct fuzz_choices *c)
{
    static uint8_t content[CONTENT_MAX], packed[PACKED_MAX];
    size_t n = 0, used = 0;
    enum stk_stream_codec codec = (enum stk_stream_codec)(1 + fuzz_choose(c, 3));
    do {
        size_t length, from = n, times = 1 + fuzz_choose(c, 300);
        const uint8_t *p = fuzz_bytes(c, 200, &length);
        for (size_t i = 0; i < times && n + length <= CONTENT_MAX / 2; i++, n += length) {
            memcpy(content + n, p, length);
        }
        if (codec == STK_CODEC_ZSTD) {
            size_t more = ZSTD_compress(packed + used, PACKED_MAX - used, content + from, n - from,
                                        (int)fuzz_choose(c, 4));
            FUZZ_REQUIRE(!ZSTD_isError(more));
            used += more;
        } else {
            used += pack_member(packed + used, PACKED_MAX - used, content + from, n - from,
                                codec == STK_CODEC_ZLIB, c);
        }
    } while (codec != STK_CODEC_ZLIB && c->left > 8 && fuzz_choose(c, 3));
    struct stk_stream_opts opts = {.codec_given = codec == STK_CODEC_ZLIB, .codec = codec};
    const struct content *back = read_twice(fuzz_put(FUZZ_INPUT, packed, used), opts, c);
    FUZZ_REQUIRE(back->n == n && memcmp(back->bytes, content, n) == 0 && !back->damage[0]);
}

// ---- raw deflate ----

static enum stk_inflate_result inflate_all(const struct stk_inflate_engine *engine,
                                           const uint8_t *data, size_t size, struct content *out)
{
    struct stk_inflate_io io = {data, size, out->bytes, CONTENT_MAX};
    void *e = engine->open();
    FUZZ_REQUIRE(e);
    enum stk_inflate_result r = STK_INFLATE_MORE;
    for (size_t before = 0; r == STK_INFLATE_MORE && before != io.in_len + io.out_len;) {
        before = io.in_len + io.out_len;
        r = engine->run(e, &io);
    }
    out->n = CONTENT_MAX - io.out_len;
    engine->close(e);
    return r;
}

static void compare_engines(const uint8_t *data, size_t size)
{
    static struct content a, b;
    enum stk_inflate_result ra = inflate_all(&stk_inflate_zlib, data, size, &a);
    enum stk_inflate_result rb = inflate_all(STK_INFLATE_DEFAULT, data, size, &b);
    size_t n = a.n < b.n ? a.n : b.n;
    FUZZ_REQUIRE((ra == STK_INFLATE_END) == (rb == STK_INFLATE_END));
    FUZZ_REQUIRE(memcmp(a.bytes, b.bytes, n) == 0);
    // One may find the damage some symbols before the other.
    FUZZ_REQUIRE(a.n < b.n + EARLIER && b.n < a.n + EARLIER);
}

// libzstd also reads what versions before 0.8 wrote, and gives that in pieces of its own.
static bool has_legacy_frame(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i + 4 <= n; i++) {
        if (p[i] >= 0x22 && p[i] <= 0x27 && memcmp(p + i + 1, "\xb5\x2f\xfd", 3) == 0) {
            return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_choices c = {data, size};
    uint8_t how = fuzz_byte(&c);
    if (how % 8 < 4) {
        struct fuzz_choices last = {data + size - (size > 8 ? 8 : size), size > 8 ? 8 : size};
        struct stk_stream_opts opts = {.codec_given = how % 4 > 0,
                                       .codec = (enum stk_stream_codec)(how % 4)};
        if (!has_legacy_frame(c.p, c.left)) {
            read_twice(fuzz_put(FUZZ_INPUT, c.p, c.left), opts, &last);
        }
    } else if (how % 8 < 6) {
        go_around(&c);
    } else {
        compare_engines(c.p, c.left);
    }
    return 0;
}

// As it is; with one bit changed here and there, and cut.
static void each(uint8_t *bytes, size_t n)
{
    LLVMFuzzerTestOneInput(bytes, n);
    for (size_t at = 1; at < n; at += 1 + n / 100) {
        bytes[at] ^= (uint8_t)(1u << at % 8);
        LLVMFuzzerTestOneInput(bytes, n);
        bytes[at] ^= (uint8_t)(1u << at % 8);
        LLVMFuzzerTestOneInput(bytes, at);
    }
}

FUZZ_MAIN(each, 100)
