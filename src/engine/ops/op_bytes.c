// SPDX-License-Identifier: Apache-2.0
// Elementwise string conversions: web-safe base64 (RFC 4648, section 5), and decompression of gzip
// and zlib.
#include <string.h>

#include "base/stream_gzip.h"
#include "engine/memory/growing.h"
#include "engine/ops/op_util.h"

// The argument rows of each operation start at 0.
enum { ARG_PAD = 0, ARG_COMPRESSION_TYPE = 0 };
enum { PLAIN, GZIP, ZLIB }; // compression_type
static const struct stk_arg_row encode_args[] = {
    [ARG_PAD] = STK_ARG("pad", BOOL, "pad with '=' to a multiple of four"), {0}};
static const struct stk_arg_row decompress_args[] = {
    [ARG_COMPRESSION_TYPE] =
        STK_ARG("compression_type", TEXT, "compression; empty: none", .choices = ",GZIP,ZLIB"),
    {0}};

#define UNPACKED_MAX ((size_t)1 << 30)

enum { ENCODE, DECODE, DECOMPRESS };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t encode(const struct stk_bytes *s, bool pads, uint8_t *to)
{
    size_t n = 0;
    for (size_t i = 0; i < s->size; i += 3) {
        size_t have = s->size - i < 3 ? s->size - i : 3;
        uint32_t v = (uint32_t)s->data[i] << 16;
        v |= have > 1 ? (uint32_t)s->data[i + 1] << 8 : 0;
        v |= have > 2 ? s->data[i + 2] : 0;
        for (size_t k = 0; k < 4; k++) {
            if (k <= have) {
                to[n++] = (uint8_t)letters[v >> (18 - 6 * k) & 63];
            } else if (pads) {
                to[n++] = '=';
            }
        }
    }
    return n;
}

static int letter(uint8_t c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '-'             ? 62
           : c == '_'             ? 63
                                  : -1;
}

// Padding is allowed to complete four characters. False: not base64.
static bool decode(struct stk_bytes s, uint8_t *to, size_t *n)
{
    if (s.size && s.size % 4 == 0) {
        size_t pads = s.data[s.size - 1] != '=' ? 0 : s.data[s.size - 2] != '=' ? 1 : 2;
        s.size -= pads;
    }
    uint32_t v = 0;
    *n = 0;
    for (size_t i = 0; i < s.size; i++) {
        int l = letter(s.data[i]);
        if (l < 0) {
            return false;
        }
        v = v << 6 | (uint32_t)l;
        if (i % 4 > 0) {
            to[(*n)++] = (uint8_t)(v >> (6 - 2 * (i % 4)));
        }
    }
    return s.size % 4 != 1;
}

struct unpack {
    struct stk_gzip gzip;
    bool is_open;
};

static void decode_compressed_scratch_end(void *scratch)
{
    struct unpack *u = scratch;
    if (u->is_open) {
        stk_gzip_close(&u->gzip);
    }
}

// Why the string can't be unpacked; NULL: it is in `to`, or there was no memory (*is_short, and
// *wanted bytes if the budget lacks them).
static const char *unpack_into(struct stk_gzip *g, const struct stk_bytes *in,
                               struct stk_growing *to, bool *is_short, size_t *wanted)
{
    struct stk_inflate_io io = {.in = in->data, .in_len = in->size};
    while (in->size) {
        size_t room = 0;
        *wanted = 0;
        io.out = stk_growing_room(to, &room, wanted);
        io.out_len = room;
        *is_short = !io.out;
        if (*is_short) {
            return NULL;
        }
        enum stk_inflate_result result = stk_gzip_run(g, &io);
        stk_growing_took(to, room - io.out_len);
        if (stk_growing_size(to) > UNPACKED_MAX) {
            return "more than 1 GiB";
        }
        switch (result) {
        case STK_INFLATE_NOMEM:
            *is_short = true;
            *wanted = 0;
            return NULL;
        case STK_INFLATE_BAD:
            return g->why ? g->why : "the data are damaged";
        case STK_INFLATE_END:
            if (io.in_len == 0) {
                return NULL;
            }
            if (g->is_zlib) {
                return "bytes follow the end of the data";
            }
            break;
        default:
            if (io.out_len > 0 && io.in_len == 0) {
                return stk_gzip_may_end(g) ? NULL : "the data end too early";
            }
        }
    }
    return NULL;
}

static enum stoker_status unpack(struct stk_op_run *r, int64_t i, struct stk_bytes in,
                                 struct stk_bytes *out, struct stoker_err *err)
{
    struct unpack *u = r->scratch;
    struct stk_gzip *g = &u->gzip;
    if (!u->is_open && stk_gzip_open(g, STK_INFLATE_DEFAULT)) {
        return stk_err_nomem(err);
    }
    u->is_open = true;
    g->is_zlib = r->args[ARG_COMPRESSION_TYPE].i == ZLIB;
    stk_gzip_restart(g, 0);
    struct stk_growing to;
    bool is_short = false;
    size_t wanted = 0, first = in.size < UNPACKED_MAX / 4 ? 4 * in.size + 1024 : UNPACKED_MAX;
    stk_growing_begin(&to, r->pool, first);
    const char *why = unpack_into(g, &in, &to, &is_short, &wanted);
    size_t size = stk_growing_size(&to);
    if (why || is_short) {
        stk_growing_drop(&to);
        return why      ? stk_op_fail(r, i, STOKER_EDAMAGE, "%s", why)
               : wanted ? stk_op_no_memory_for(r, size + wanted, err)
                        : stk_err_nomem(err);
    }
    if (size == 0) {
        stk_growing_drop(&to);
        *out = (struct stk_bytes){0};
        return STOKER_OK;
    }
    struct stk_buf *b = stk_growing_end(&to);
    bool ok = b && stk_keep_add(&r->out[0].keep, b);
    *out = ok ? (struct stk_bytes){b->data, size} : (struct stk_bytes){0};
    stk_buf_drop(b);
    return ok ? STOKER_OK : stk_op_no_memory_for(r, size, err);
}

static enum stoker_status bytes_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_bytes *out = stk_op_out(r, 0, STK_DT_STRING, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    bool pads = r->op->arg == ENCODE && r->args[ARG_PAD].i != 0;
    bool is_plain = r->op->arg == DECOMPRESS && r->args[ARG_COMPRESSION_TYPE].i == PLAIN;
    struct stk_col_capacity capacity = {0};
    if (out && is_plain) {
        return stk_op_pass(r, 0, 0, NULL, err);
    }
    for (int64_t k = 0; out && k < r->n * each && k / each < r->failed; k++) {
        struct stk_bytes s = ((const struct stk_bytes *)stk_col_at(in, k / each))[k % each];
        if (r->op->arg == DECOMPRESS) {
            enum stoker_status status = unpack(r, k / each, s, &out[k], err);
            if (status != STOKER_OK) {
                return status;
            }
            continue;
        }
        size_t size = r->op->arg == ENCODE ? (s.size + 2) / 3 * 4 : s.size / 4 * 3 + 3;
        uint8_t *to = stk_col_capacity_for(&r->out[0], r->pool, &capacity, size);
        if (!to) {
            return stk_op_no_memory(r, err);
        }
        if (r->op->arg == ENCODE) {
            size = encode(&s, pads, to);
        } else if (!decode(s, to, &size)) {
            return stk_op_fail(r, k / each, STOKER_EINVAL, "'%.*s' isn't URL-safe base64",
                               (int)(s.size < 60 ? s.size : 60), (const char *)s.data);
        }
        out[k] = (struct stk_bytes){to, size};
    }
    return out ? STOKER_OK : err->code;
}

const struct stk_op stk_op_encode_base64 = {.name = "encode_base64",
                                            .summary = "Encodes web-safe base64",
                                            .is_elementwise = true,
                                            .cost_ns = 50,
                                            .signature = "string -> same",
                                            .run = bytes_run,
                                            .arg = ENCODE,
                                            .args = encode_args};
const struct stk_op stk_op_decode_base64 = {.name = "decode_base64",
                                            .summary = "Decodes web-safe base64",
                                            .is_elementwise = true,
                                            .cost_ns = 50,
                                            .signature = "string -> same",
                                            .run = bytes_run,
                                            .arg = DECODE};
const struct stk_op stk_op_decode_compressed = {.name = "decode_compressed",
                                                .summary = "Decompresses gzip or zlib data",
                                                .is_elementwise = true,
                                                .cost_ns = 5000,
                                                .signature = "string -> same",
                                                .scratch_bytes = sizeof(struct unpack),
                                                .scratch_end = decode_compressed_scratch_end,
                                                .run = bytes_run,
                                                .arg = DECOMPRESS,
                                                .args = decompress_args};
