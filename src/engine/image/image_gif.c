// SPDX-License-Identifier: Apache-2.0
// The first frame of a GIF (87a, 89a), as tf.io.decode_image returns it with
// expand_animations=False: RGB on the whole canvas, black where the frame is transparent or doesn't
// reach. A frame may be larger than its canvas: the pixel limit applies to both, and rows below the
// canvas aren't unpacked.
#include "base/assert.h"
#include "engine/image/image_codec_impl.h"

#include <string.h>

enum { CODES = 4096, CODE_BITS = 12, HEADER = 13 };

struct gif {
    const uint8_t *data;
    size_t size, at;
    struct stk_image_shape shape;
    const uint8_t *colors; // 3 bytes each
    uint32_t color_count;
    int transparent; // index, -1 if none
    // the frame
    uint32_t left, top, width, height, x, y, row_step;
    bool is_interlaced;
    uint64_t done;
    // bits of the data, in blocks of up to 255 bytes
    uint32_t bits, bit_count, block_left;
    struct {
        uint16_t prefix;
        uint8_t first, last;
        uint16_t length;
    } code[CODES];
};

static enum stoker_status bad(const char *why, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINPUT, "a damaged GIF, or not a GIF: %s", why);
}

static uint32_t le16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static const uint8_t *take(struct gif *g, size_t n)
{
    STK_ASSERT(g->at <= g->size);
    if (g->size - g->at < n) {
        return NULL;
    }
    const uint8_t *p = g->data + g->at;
    g->at += n;
    return p;
}

static bool take_colors(struct gif *g, uint32_t flags)
{
    if (!(flags & 0x80)) {
        return true;
    }
    g->color_count = 2u << (flags & 7);
    g->colors = take(g, (size_t)3 * g->color_count);
    return g->colors != NULL;
}

static bool read_canvas(struct gif *g)
{
    const uint8_t *p = take(g, HEADER);
    if (!p || (memcmp(p, "GIF87a", 6) != 0 && memcmp(p, "GIF89a", 6) != 0)) {
        return false;
    }
    g->shape = (struct stk_image_shape){le16(p + 8), le16(p + 6), 3};
    g->transparent = -1;
    return g->shape.height && g->shape.width && take_colors(g, p[10]);
}

// An extension: only its transparency is used.
static bool skip_extension(struct gif *g)
{
    const uint8_t *p = take(g, 1), *n;
    bool is_control = p && *p == 0xf9;
    while ((n = take(g, 1)) && *n) {
        p = take(g, *n);
        if (!p) {
            return false;
        }
        if (is_control && *n >= 4) {
            g->transparent = p[0] & 1 ? p[3] : -1;
        }
    }
    return n != NULL;
}

// Moves to the data of the first frame.
static bool find_frame(struct gif *g)
{
    for (;;) {
        const uint8_t *p = take(g, 1);
        if (!p || (*p != 0x21 && *p != 0x2c)) {
            return false;
        }
        if (*p == 0x21) {
            if (!skip_extension(g)) {
                return false;
            }
            continue;
        }
        p = take(g, 9);
        if (!p) {
            return false;
        }
        g->left = le16(p);
        g->top = le16(p + 2);
        g->width = le16(p + 4);
        g->height = le16(p + 6);
        g->is_interlaced = p[8] >> 6 & 1;
        g->row_step = g->is_interlaced ? 8 : 1;
        return g->width && g->height && take_colors(g, p[8]) && g->colors;
    }
}

// -1 at the end of the data.
static int32_t next_code(struct gif *g, uint32_t bits)
{
    STK_ASSERT(bits > 0 && bits <= 12);
    while (g->bit_count < bits) {
        const uint8_t *p;
        if (g->block_left == 0) {
            p = take(g, 1);
            if (!p || *p == 0) {
                return -1;
            }
            g->block_left = *p;
        }
        p = take(g, 1);
        if (!p) {
            return -1;
        }
        g->block_left--;
        g->bits |= (uint32_t)*p << g->bit_count;
        g->bit_count += 8;
    }
    int32_t code = (int32_t)(g->bits & ((1u << bits) - 1));
    g->bits >>= bits;
    g->bit_count -= bits;
    return code;
}

// Interlaced rows: every eighth from 0, every eighth from 4, every fourth from 2, every second from
// 1.
static void next_row(struct gif *g)
{
    g->x = 0;
    g->y += g->row_step;
    while (g->is_interlaced && g->y >= g->height && g->row_step > 1) {
        bool is_first = g->row_step == 8 && g->y % 8 == 0;
        g->row_step = is_first ? 8 : g->row_step / 2;
        g->y = is_first ? 4 : g->row_step / 2;
        if (g->row_step == 1) {
            g->y = g->height; // all four passes done
        }
    }
}

static bool put_index(struct gif *g, const struct stk_image *out, uint32_t index)
{
    STK_ASSERT(g->x < g->width);
    uint32_t y = g->top + g->y, x = g->left + g->x;
    if (index >= g->color_count) {
        return false;
    }
    if (g->y < g->height && y < out->height && x < out->width && (int)index != g->transparent) {
        memcpy((uint8_t *)stk_image_row(out, y) + (size_t)x * 3, g->colors + (size_t)index * 3, 3);
    }
    g->done++;
    if (++g->x == g->width) {
        next_row(g);
    }
    return true;
}

// Writes a code's string, which the table stores backward.
static bool put_code(struct gif *g, const struct stk_image *out, uint32_t code, uint64_t most)
{
    STK_ASSERT(code < CODES);
    uint8_t text[CODES];
    uint32_t n = g->code[code].length;
    for (uint32_t i = n; i > 0; i--) {
        text[i - 1] = g->code[code].last;
        code = g->code[code].prefix;
    }
    for (uint32_t i = 0; i < n && g->done < most; i++) {
        if (!put_index(g, out, text[i])) {
            return false;
        }
    }
    return true;
}

// Number of rows to unpack, up to the last one on the canvas. Interlaced rows are in no order, so
// all of them.
static uint32_t rows_to_unpack(const struct gif *g, const struct stk_image *out)
{
    uint32_t seen = g->top < out->height ? out->height - g->top : 0;
    return g->is_interlaced || seen > g->height ? g->height : seen;
}

static const char *unpack(struct gif *g, const struct stk_image *out)
{
    const uint8_t *p = take(g, 1);
    if (!p || *p < 1 || *p > 8) {
        return "wrong size of codes";
    }
    uint32_t clear = 1u << *p, next = clear + 2, bits = *p + 1u;
    uint64_t most = (uint64_t)g->width * rows_to_unpack(g, out);
    int32_t last = -1;
    for (uint32_t i = 0; i < clear; i++) {
        g->code[i].first = g->code[i].last = (uint8_t)i;
        g->code[i].length = 1;
    }
    while (g->done < most) {
        int32_t code = next_code(g, bits);
        if (code < 0 || (uint32_t)code == clear + 1) {
            return "the data end too early";
        }
        if ((uint32_t)code == clear) {
            next = clear + 2;
            bits = *p + 1u;
            last = -1;
            continue;
        }
        if ((uint32_t)code > next || (last < 0 && (uint32_t)code >= clear) ||
            ((uint32_t)code == next && next >= CODES)) {
            return "an undefined code";
        }
        if (last >= 0 && next < CODES) {
            uint32_t ends = (uint32_t)code == next ? (uint32_t)last : (uint32_t)code;
            g->code[next].prefix = (uint16_t)last;
            g->code[next].first = g->code[last].first;
            g->code[next].last = g->code[ends].first;
            g->code[next].length = (uint16_t)(g->code[last].length + 1);
            next++;
            if (next == 1u << bits && bits < CODE_BITS) {
                bits++;
            }
        }
        if (!put_code(g, out, (uint32_t)code, most)) {
            return "a color that isn't in the table";
        }
        last = code;
    }
    return NULL;
}

enum stoker_status stk_image_gif_shape(const uint8_t *data, size_t size,
                                       struct stk_image_shape *shape, struct stoker_err *err)
{
    struct gif g;
    memset(&g, 0, offsetof(struct gif, code));
    g.data = data;
    g.size = size;
    if (!read_canvas(&g)) {
        return bad("no header", err);
    }
    *shape = g.shape;
    return STOKER_OK;
}

enum stoker_status stk_image_decode_gif(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, struct stk_image *out, struct stoker_err *err)
{
    struct gif g;
    memset(&g, 0, sizeof g);
    g.data = data;
    g.size = size;
    if (!read_canvas(&g)) {
        return bad("no header", err);
    }
    if (!find_frame(&g)) {
        return bad("no frame", err);
    }
    enum stoker_status status =
        stk_image_check_pixels(c, "a GIF with a frame", g.height, g.width, err);
    status = status == STOKER_OK ? stk_image_claim(c, out, &g.shape, STK_IMAGE_U8, err) : status;
    if (status != STOKER_OK) {
        return status;
    }
    for (uint32_t y = 0; y < out->height; y++) {
        memset(stk_image_row(out, y), 0, (size_t)out->width * 3);
    }
    const char *why = unpack(&g, out);
    return why ? bad(why, err) : STOKER_OK;
}
