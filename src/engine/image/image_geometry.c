// SPDX-License-Identifier: Apache-2.0
// Crops, pads, flips, rotations and layouts: pixels of any type, copied whole.
#include "engine/image/image_geometry.h"

#include "base/assert.h"

#include <string.h>

static size_t pixel_size(const struct stk_image *im)
{
    return im->channels * stk_image_type_size(im->type);
}

static enum stoker_status check_pair(const struct stk_image *in, const struct stk_image *out,
                                     const char *what, struct stoker_err *err)
{
    enum stoker_status status = stk_image_check(in, what, err);
    if (status == STOKER_OK) {
        status = stk_image_check(out, what, err);
    }
    if (status == STOKER_OK && (in->type != out->type || in->channels != out->channels)) {
        return stk_err_set(err, STOKER_EUSAGE, "%s: input and output differ in type or channels",
                           what);
    }
    return status;
}

static enum stoker_status check_same(const struct stk_image *in, const struct stk_image *out,
                                     bool is_turned, const char *what, struct stoker_err *err)
{
    enum stoker_status status = check_pair(in, out, what, err);
    uint32_t h = is_turned ? in->width : in->height, w = is_turned ? in->height : in->width;
    if (status == STOKER_OK && (out->height != h || out->width != w)) {
        return stk_err_set(err, STOKER_EUSAGE, "%s: gives %u x %u, the output is %u x %u", what, h,
                           w, out->height, out->width);
    }
    return status;
}

enum stoker_status stk_image_crop(const struct stk_image *in, const struct stk_image_box *b,
                                  struct stk_image *view, struct stoker_err *err)
{
    enum stoker_status status = stk_image_check(in, "crop", err);
    if (status != STOKER_OK) {
        return status;
    }
    if (b->height == 0 || b->width == 0 || b->y >= in->height || b->x >= in->width ||
        b->height > in->height - b->y || b->width > in->width - b->x) {
        return stk_err_set(err, STOKER_EUSAGE, "crop: %u x %u at (%u, %u) of an image of %u x %u",
                           b->height, b->width, b->y, b->x, in->height, in->width);
    }
    *view = *in;
    view->pixels = (uint8_t *)stk_image_row(in, b->y) + b->x * pixel_size(in);
    view->height = b->height;
    view->width = b->width;
    return STOKER_OK;
}

static void copy_rows(const struct stk_image *in, const struct stk_image *out)
{
    STK_ASSERT(in->height == out->height && in->width == out->width);
    for (uint32_t y = 0; y < in->height; y++) {
        memcpy(stk_image_row(out, y), stk_image_row(in, y), in->width * pixel_size(in));
    }
}

enum stoker_status stk_image_copy(const struct stk_image *in, const struct stk_image *out,
                                  struct stoker_err *err)
{
    enum stoker_status status = check_same(in, out, false, "copy", err);
    if (status == STOKER_OK) {
        copy_rows(in, out);
    }
    return status;
}

enum stoker_status stk_image_central_box(uint32_t height, uint32_t width, double fraction,
                                         struct stk_image_box *box, struct stoker_err *err)
{
    if (!(fraction > 0 && fraction <= 1)) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "central_crop: the fraction is above 0, at most 1; not %g", fraction);
    }
    box->y = (uint32_t)((height - height * fraction) / 2);
    box->x = (uint32_t)((width - width * fraction) / 2);
    box->height = height - 2 * box->y;
    box->width = width - 2 * box->x;
    return STOKER_OK;
}

enum stoker_status stk_image_pad(const struct stk_image *in, uint32_t y, uint32_t x,
                                 const struct stk_image *out, struct stoker_err *err)
{
    struct stk_image inner;
    struct stk_image_box box = {y, x, in->height, in->width};
    enum stoker_status status = check_pair(in, out, "pad", err);
    if (status == STOKER_OK) {
        status = stk_image_crop(out, &box, &inner, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    size_t size = pixel_size(in), left = x * size, right = (x + (size_t)in->width) * size;
    for (uint32_t row = 0; row < out->height; row++) {
        uint8_t *to = stk_image_row(out, row);
        if (row < y || row >= y + in->height) {
            memset(to, 0, out->width * size);
            continue;
        }
        memset(to, 0, left);
        memset(to + right, 0, out->width * size - right);
    }
    copy_rows(in, &inner);
    return STOKER_OK;
}

enum stoker_status stk_image_crop_or_pad(const struct stk_image *in, const struct stk_image *out,
                                         struct stoker_err *err)
{
    struct stk_image part;
    enum stoker_status status = check_pair(in, out, "resize_with_crop_or_pad", err);
    if (status != STOKER_OK) {
        return status;
    }
    struct stk_image_box box = {0, 0, in->height, in->width};
    if (in->height > out->height) {
        box.y = (in->height - out->height) / 2;
        box.height = out->height;
    }
    if (in->width > out->width) {
        box.x = (in->width - out->width) / 2;
        box.width = out->width;
    }
    status = stk_image_crop(in, &box, &part, err);
    if (status != STOKER_OK) {
        return status;
    }
    return stk_image_pad(&part, (out->height - part.height) / 2, (out->width - part.width) / 2, out,
                         err);
}

// Writes the pixels of a row to places `step` bytes apart.
static void scatter(const uint8_t *from, size_t n, size_t size, uint8_t *to, ptrdiff_t step)
{
    STK_ASSERT(size > 0);
    switch (size) { // sizes known at compile time
    case 1:
        for (size_t i = 0; i < n; i++, to += step) {
            *to = from[i];
        }
        break;
    case 3:
        for (size_t i = 0; i < n; i++, to += step) {
            memcpy(to, from + 3 * i, 3);
        }
        break;
    case 4:
        for (size_t i = 0; i < n; i++, to += step) {
            memcpy(to, from + 4 * i, 4);
        }
        break;
    case 12:
        for (size_t i = 0; i < n; i++, to += step) {
            memcpy(to, from + 12 * i, 12);
        }
        break;
    default:
        for (size_t i = 0; i < n; i++, to += step) {
            memcpy(to, from + size * i, size);
        }
    }
}

// Moves pixel (x, y) to x * across + y * down bytes from `first`. Takes few columns at a time if
// they become rows, so that cache lines written by one row are still cached for the next.
static void scatter_rows(const struct stk_image *in, uint8_t *first, ptrdiff_t across,
                         ptrdiff_t down)
{
    size_t size = pixel_size(in);
    bool is_along = across == (ptrdiff_t)size || across == -(ptrdiff_t)size;
    uint32_t at_once = is_along ? in->width : 64;
    for (uint32_t x = 0; x < in->width; x += at_once) {
        uint32_t n = in->width - x < at_once ? in->width - x : at_once;
        for (uint32_t y = 0; y < in->height; y++) {
            scatter((const uint8_t *)stk_image_row(in, y) + x * size, n, size,
                    first + (ptrdiff_t)x * across + (ptrdiff_t)y * down, across);
        }
    }
}

enum stoker_status stk_image_flip_left_right(const struct stk_image *in,
                                             const struct stk_image *out, struct stoker_err *err)
{
    enum stoker_status status = check_same(in, out, false, "flip_left_right", err);
    size_t size = pixel_size(in);
    if (status == STOKER_OK) {
        scatter_rows(in, (uint8_t *)out->pixels + (in->width - 1) * size, -(ptrdiff_t)size,
                     (ptrdiff_t)out->stride);
    }
    return status;
}

enum stoker_status stk_image_flip_up_down(const struct stk_image *in, const struct stk_image *out,
                                          struct stoker_err *err)
{
    enum stoker_status status = check_same(in, out, false, "flip_up_down", err);
    for (uint32_t y = 0; status == STOKER_OK && y < in->height; y++) {
        memcpy(stk_image_row(out, in->height - 1 - y), stk_image_row(in, y),
               in->width * pixel_size(in));
    }
    return status;
}

enum stoker_status stk_image_transpose(const struct stk_image *in, const struct stk_image *out,
                                       struct stoker_err *err)
{
    enum stoker_status status = check_same(in, out, true, "transpose", err);
    if (status == STOKER_OK) {
        scatter_rows(in, out->pixels, (ptrdiff_t)out->stride, (ptrdiff_t)pixel_size(in));
    }
    return status;
}

enum stoker_status stk_image_rot90(const struct stk_image *in, int turns,
                                   const struct stk_image *out, struct stoker_err *err)
{
    int k = ((turns % 4) + 4) % 4;
    if (k == 0) {
        return stk_image_copy(in, out, err);
    }
    enum stoker_status status = check_same(in, out, k & 1, "rot90", err);
    if (status != STOKER_OK) {
        return status;
    }
    ptrdiff_t pixel = (ptrdiff_t)pixel_size(in), row = (ptrdiff_t)out->stride;
    uint8_t *last_row = stk_image_row(out, out->height - 1);
    ptrdiff_t last_column = (ptrdiff_t)(out->width - 1) * pixel;
    if (k == 1) { // a row becomes a column, from the bottom up
        scatter_rows(in, last_row, -row, pixel);
    } else if (k == 2) {
        scatter_rows(in, last_row + last_column, -pixel, -row);
    } else { // a column from the right
        scatter_rows(in, (uint8_t *)out->pixels + last_column, row, -pixel);
    }
    return STOKER_OK;
}
