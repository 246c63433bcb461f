// SPDX-License-Identifier: Apache-2.0
// Pillow's filters, bit for bit: ImageFilter.GaussianBlur as three box blurs each way with weights
// of 24 bits (its BoxBlur.c), and ImageEnhance.Sharpness, which blends with ImageFilter.SMOOTH.
//
// A box's sum moves by one level in and one out. Down, the sums are a row, so memory is read in
// order. Limits: 1 or 3 channels of bytes.
#include <math.h>
#include <string.h>

#include "engine/image/image_pillow.h"

enum { PASSES = 3, BITS = 24 };

// A box of 2 * radius + 1 levels, and the part of one more on each side.
struct box {
    int64_t radius;
    uint32_t whole, part;
};

static struct box box_of(float sigma)
{
    float each = sigma * sigma / PASSES;
    float length = (float)sqrt(12.0 * (double)each + 1.0);
    float radius = (float)floor(((double)length - 1.0) / 2.0);
    float more = (2 * radius + 1) * (radius * (radius + 1) - 3 * each);
    more /= 6 * (each - (radius + 1) * (radius + 1));
    float all = radius + more;
    struct box b = {.radius = (int64_t)all};
    b.whole = (uint32_t)((float)(1u << BITS) / (all * 2 + 1));
    b.part = ((1u << BITS) - (uint32_t)(b.radius * 2 + 1) * b.whole) / 2;
    return b;
}

static int64_t inside(int64_t at, int64_t count)
{
    return at < 0 ? 0 : at < count ? at : count - 1;
}

static uint8_t level(const struct box *b, uint32_t sum, uint32_t ends)
{
    return (uint8_t)((sum * b->whole + ends * b->part + (1u << (BITS - 1))) >> BITS);
}

// A row of `count` pixels, through a copy of it whose ends go on for a radius and one more.
static void blur_row(const struct box *b, uint8_t *row, size_t count, size_t channels,
                     uint8_t *copy)
{
    size_t side = (size_t)b->radius + 1, width = 2 * side - 1;
    uint32_t sum[3] = {0};
    for (size_t k = 0; k < side; k++) {
        memcpy(copy + k * channels, row, channels);
        memcpy(copy + (side + count + k) * channels, row + (count - 1) * channels, channels);
    }
    memcpy(copy + side * channels, row, count * channels);
    for (size_t i = 0; i < width * channels; i++) {
        sum[i % channels] += copy[i];
    }
    for (size_t x = 0; x < count; x++) {
        const uint8_t *out = copy + x * channels, *in = out + width * channels;
        for (size_t c = 0; c < channels; c++) {
            sum[c] += (uint32_t)in[c] - out[c];
            row[x * channels + c] = level(b, sum[c], (uint32_t)out[c] + in[channels + c]);
        }
    }
}

// The columns at once, through a copy of the image. sums: one for each level of a row.
static void blur_columns(const struct box *b, const struct stk_image *im, uint8_t *copy,
                         uint32_t *sums)
{
    size_t width = (size_t)im->width * im->channels;
    int64_t count = im->height;
    for (uint32_t y = 0; y < im->height; y++) {
        memcpy(copy + y * width, stk_image_row(im, y), width);
    }
    memset(sums, 0, width * sizeof *sums);
    for (int64_t k = -b->radius - 1; k < b->radius; k++) {
        const uint8_t *from = copy + (size_t)inside(k, count) * width;
        for (size_t x = 0; x < width; x++) {
            sums[x] += from[x];
        }
    }
    for (int64_t y = 0; y < count; y++) {
        const uint8_t *out = copy + (size_t)inside(y - b->radius - 1, count) * width;
        const uint8_t *in = copy + (size_t)inside(y + b->radius, count) * width;
        const uint8_t *next = copy + (size_t)inside(y + b->radius + 1, count) * width;
        uint8_t *to = stk_image_row(im, (uint32_t)y);
        for (size_t x = 0; x < width; x++) {
            sums[x] += (uint32_t)in[x] - out[x];
            to[x] = level(b, sums[x], (uint32_t)out[x] + next[x]);
        }
    }
}

enum stoker_status stk_pillow_gaussian_blur(const struct stk_image *im, float across, float down,
                                            struct stk_image_buffer *work, struct stoker_err *err)
{
    STK_ASSERT(im->type == STK_IMAGE_U8 && im->channels <= 3);
    size_t width = (size_t)im->width * im->channels, sums = width * sizeof(uint32_t);
    if (!(across >= 0 && across < STK_PILLOW_BLUR_MAX && down >= 0 && down < STK_PILLOW_BLUR_MAX)) {
        return stk_err_set(err, STOKER_EINVAL, "a blur of another radius than 0 to %d",
                           STK_PILLOW_BLUR_MAX);
    }
    struct box rows = box_of(across), columns = box_of(down);
    size_t longest = width + 2 * ((size_t)rows.radius + 1) * im->channels;
    size_t all = width * im->height;
    uint32_t *memory = stk_image_buffer_reserve(work, sums + (all > longest ? all : longest));
    if (!memory) {
        return stk_err_nomem(err);
    }
    uint8_t *copy = (uint8_t *)memory + sums;
    for (int pass = 0; pass < PASSES && across != 0; pass++) {
        for (uint32_t y = 0; y < im->height; y++) {
            blur_row(&rows, stk_image_row(im, y), im->width, im->channels, copy);
        }
    }
    for (int pass = 0; pass < PASSES && down != 0; pass++) {
        blur_columns(&columns, im, copy, memory);
    }
    return STOKER_OK;
}

// ImageFilter.SMOOTH of the level at p, in the order of Pillow's additions.
static int smooth(const uint8_t *p, size_t stride, size_t step)
{
    const float outer = 1.0F / 13.0F, middle = 5.0F / 13.0F;
    float sum = 0.5F;
    const uint8_t *below = p + stride, *above = p - stride;
    sum += (float)below[-(ptrdiff_t)step] * outer + (float)below[0] * outer +
           (float)below[step] * outer;
    sum += (float)p[-(ptrdiff_t)step] * outer + (float)p[0] * middle + (float)p[step] * outer;
    sum += (float)above[-(ptrdiff_t)step] * outer + (float)above[0] * outer +
           (float)above[step] * outer;
    return sum <= 0 ? 0 : sum >= 255 ? 255 : (uint8_t)sum;
}

void stk_pillow_sharpness(const struct stk_image *in, float factor, const struct stk_image *out)
{
    STK_ASSERT(in->type == STK_IMAGE_U8 && in->channels == out->channels);
    size_t step = in->channels, width = (size_t)in->width * step;
    for (uint32_t y = 0; y < in->height; y++) {
        const uint8_t *from = stk_image_row(in, y);
        uint8_t *to = stk_image_row(out, y);
        memcpy(to, from, width); // edges stay
        bool is_edge = y == 0 || y + 1 == in->height;
        for (size_t x = step; !is_edge && x + step < width; x++) {
            float plain = (float)smooth(from + x, in->stride, step);
            float part = factor * ((float)from[x] - plain), v = plain + part;
            to[x] = (uint8_t)(!(v > 0) ? 0 : v >= 255 ? 255 : v);
        }
    }
}
