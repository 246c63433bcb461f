// SPDX-License-Identifier: Apache-2.0
// Steps on the levels of an image by its recipe, in Pillow's own arithmetic (image_pillow.h). A
// step that makes another image writes it to the side of the scratch that doesn't hold the current
// one.
//
// Limits: 1 or 3 channels of bytes.
#include "engine/image/image_codec.h"
#include "engine/image/image_geometry.h"
#include "engine/ops/op_image_recipe.h"

int stk_recipe_words(int32_t kind)
{
    switch (kind) {
#define X(k, name, words)                                                                          \
    case k:                                                                                        \
        return words;
        STK_RECIPE_STEPS(X)
#undef X
    default:
        return -1;
    }
}

enum stoker_status stk_recipe_bad(struct stk_recipe_making *m, const char *what)
{
    return stk_err_set(m->err, STOKER_EINVAL, "%s", what);
}

// Room for an image that is not the current one.
static enum stoker_status room(struct stk_recipe_making *m, int64_t height, int64_t width,
                               uint32_t channels, struct stk_image *out)
{
    bool fits = height > 0 && width > 0 && height <= STK_IMAGE_MAX_SIDE &&
                width <= STK_IMAGE_MAX_SIDE &&
                (uint64_t)height * (uint64_t)width <= m->c->max_pixels;
    if (!fits) {
        return stk_err_set(m->err, STOKER_ELIMIT, "an image of %lld x %lld", (long long)height,
                           (long long)width);
    }
    int side = m->side == 0;
    size_t size = (size_t)height * (size_t)width * channels;
    void *pixels = stk_image_buffer_reserve(&m->s->side[side], size);
    if (!pixels) {
        return stk_image_no_memory(m->c, size, m->err);
    }
    *out = stk_op_image_over(pixels, height, width, channels, STK_IMAGE_U8);
    m->side = side;
    return STOKER_OK;
}

// The current image, where it may be written.
static enum stoker_status own(struct stk_recipe_making *m)
{
    struct stk_image out;
    if (m->side >= 0) {
        return STOKER_OK;
    }
    enum stoker_status s = room(m, m->im.height, m->im.width, m->im.channels, &out);
    s = s == STOKER_OK ? stk_image_copy(&m->im, &out, m->err) : s;
    m->im = s == STOKER_OK ? out : m->im;
    return s;
}

static enum stoker_status change_channels(struct stk_recipe_making *m, uint32_t channels)
{
    struct stk_image in = m->im, out;
    if (in.channels == channels) {
        return STOKER_OK;
    }
    enum stoker_status s = room(m, in.height, in.width, channels, &out);
    for (uint32_t y = 0; s == STOKER_OK && y < in.height; y++) {
        const uint8_t *from = stk_image_row(&in, y);
        uint8_t *to = stk_image_row(&out, y);
        for (uint32_t x = 0; x < in.width; x++) {
            if (channels == 1) {
                to[x] = stk_pillow_gray(from + 3 * (size_t)x);
            } else {
                memset(to + 3 * (size_t)x, from[x], 3);
            }
        }
    }
    m->im = s == STOKER_OK ? out : m->im;
    return s;
}

// left, top, right, bottom; black outside of the image.
static enum stoker_status crop(struct stk_recipe_making *m, const int32_t *box)
{
    struct stk_image in = m->im, out;
    int64_t height = (int64_t)box[3] - box[1], width = (int64_t)box[2] - box[0];
    bool is_inside = box[0] >= 0 && box[1] >= 0 && box[2] <= (int64_t)in.width &&
                     box[3] <= (int64_t)in.height && height > 0 && width > 0;
    if (is_inside) {
        struct stk_image_box b = {(uint32_t)box[1], (uint32_t)box[0], (uint32_t)height,
                                  (uint32_t)width};
        return stk_image_crop(&in, &b, &m->im, m->err);
    }
    enum stoker_status s = room(m, height, width, in.channels, &out);
    if (s != STOKER_OK) {
        return s;
    }
    int64_t first = box[0] > 0 ? box[0] : 0;
    int64_t end = box[2] < (int64_t)in.width ? box[2] : (int64_t)in.width;
    for (int64_t y = 0; y < height; y++) {
        uint8_t *to = stk_image_row(&out, (uint32_t)y);
        memset(to, 0, out.stride);
        if (y + box[1] >= 0 && y + box[1] < (int64_t)in.height && end > first) {
            const uint8_t *from = stk_image_row(&in, (uint32_t)(y + box[1]));
            memcpy(to + (size_t)(first - box[0]) * in.channels, from + (size_t)first * in.channels,
                   (size_t)(end - first) * in.channels);
        }
    }
    m->im = out;
    return STOKER_OK;
}

static enum stoker_status resize(struct stk_recipe_making *m, const int32_t *a)
{
    struct stk_image in = m->im, out;
    if (a[2] < 0 || a[2] >= STK_PILLOW_FILTERS) {
        return stk_recipe_bad(m, "a filter that Pillow has not");
    }
    enum stoker_status s = room(m, a[1], a[0], in.channels, &out);
    s = s == STOKER_OK ? stk_pillow_resize(&in, (enum stk_pillow_filter)a[2], a[3] != 0, &out,
                                           &m->s->work, m->c->cpu, m->err)
                       : s;
    m->im = s == STOKER_OK ? out : m->im;
    return s;
}

static enum stoker_status transpose(struct stk_recipe_making *m, int32_t method)
{
    struct stk_image in = m->im, out;
    if (method < 0 || method >= STK_PILLOW_TRANSPOSES) {
        return stk_recipe_bad(m, "a way of transposing that Pillow has not");
    }
    bool keeps = method == STK_PILLOW_FLIP_LEFT_RIGHT || method == STK_PILLOW_FLIP_TOP_BOTTOM ||
                 method == STK_PILLOW_ROTATE_180;
    enum stoker_status s =
        room(m, keeps ? in.height : in.width, keeps ? in.width : in.height, in.channels, &out);
    if (s == STOKER_OK) {
        stk_pillow_transpose(&in, (enum stk_pillow_transpose)method, &out);
        m->im = out;
    }
    return s;
}

static void change_levels(const struct stk_image *im, const uint8_t *table)
{
    for (uint32_t y = 0; y < im->height; y++) {
        uint8_t *p = stk_image_row(im, y);
        for (size_t i = 0; i < (size_t)im->width * im->channels; i++) {
            p[i] = table[256 * (i % im->channels) + p[i]];
        }
    }
}

static enum stoker_status enhance(struct stk_recipe_making *m, int32_t kind, const int32_t *a)
{
    enum stoker_status s = own(m);
    if (s != STOKER_OK) {
        return s;
    }
    if ((kind == STK_RECIPE_SATURATION || kind == STK_RECIPE_HUE) &&
        m->im.channels != STK_RECIPE_COLORS) {
        return stk_recipe_bad(m, "colors of a gray image");
    }
    switch (kind) {
    case STK_RECIPE_BLUR:
        return stk_pillow_gaussian_blur(&m->im, stk_recipe_float(a[0]), stk_recipe_float(a[1]),
                                        &m->s->work, m->err);
    case STK_RECIPE_AUTOCONTRAST:
        stk_pillow_autocontrast(&m->im);
        break;
    case STK_RECIPE_EQUALIZE:
        stk_pillow_equalize(&m->im);
        break;
    case STK_RECIPE_BRIGHTNESS:
        stk_pillow_brightness(&m->im, stk_recipe_float(*a));
        break;
    case STK_RECIPE_CONTRAST:
        stk_pillow_contrast(&m->im, stk_recipe_float(*a));
        break;
    case STK_RECIPE_SATURATION:
        stk_pillow_saturation(&m->im, stk_recipe_float(*a));
        break;
    case STK_RECIPE_HUE:
        stk_pillow_hue(&m->im, (uint8_t)*a);
        break;
    default:
        change_levels(&m->im, (const uint8_t *)a);
    }
    return STOKER_OK;
}

static enum stoker_status sharpen(struct stk_recipe_making *m, float factor)
{
    struct stk_image in = m->im, out;
    enum stoker_status s = room(m, in.height, in.width, in.channels, &out);
    if (s == STOKER_OK) {
        stk_pillow_sharpness(&in, factor, &out);
        m->im = out;
    }
    return s;
}

// Width and height, six numbers of two words each, the filter, a fill for each channel.
static enum stoker_status transform(struct stk_recipe_making *m, const int32_t *a)
{
    struct stk_image in = m->im, out;
    struct stk_pillow_affine t = {.filter = (enum stk_pillow_filter)a[14]};
    memcpy(t.a, a + 2, sizeof t.a);
    for (int c = 0; c < STK_RECIPE_COLORS; c++) {
        t.fill[c] = (uint8_t)a[15 + c];
    }
    enum stoker_status s = room(m, a[1], a[0], in.channels, &out);
    if (s == STOKER_OK && !stk_pillow_affine_fits(&t, &out)) {
        return stk_recipe_bad(m, "an affine transform beyond what Pillow computes in fixed point");
    }
    if (s == STOKER_OK) {
        stk_pillow_transform(&in, &t, &out);
        m->im = out;
    }
    return s;
}

enum stoker_status stk_recipe_step(struct stk_recipe_making *m, int32_t kind, const int32_t *a)
{
    switch (kind) {
    case STK_RECIPE_GRAY:
        return change_channels(m, 1);
    case STK_RECIPE_COLOR:
        return change_channels(m, STK_RECIPE_COLORS);
    case STK_RECIPE_CROP:
        return crop(m, a);
    case STK_RECIPE_RESIZE:
        return resize(m, a);
    case STK_RECIPE_TRANSPOSE:
        return transpose(m, *a);
    case STK_RECIPE_SHARPNESS:
        return sharpen(m, stk_recipe_float(*a));
    case STK_RECIPE_AFFINE:
        return transform(m, a);
    default:
        return enhance(m, kind, a);
    }
}
