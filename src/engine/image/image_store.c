// SPDX-License-Identifier: Apache-2.0
// Stores a finished row: as bytes or floats, channels interleaved or in planes, with each channel's
// scale and offset. Also whole images without resizing.
#include "base/assert.h"
#include "engine/image/image_resize_impl.h"

#include <string.h>

enum stoker_status stk_image_store_init(struct stk_image_store *s,
                                        const struct stk_image_context *c,
                                        const struct stk_image_resize_options *opt,
                                        const struct stk_image *out, struct stoker_err *err)
{
    s->out = out;
    s->opt = opt;
    s->cpu = c->cpu;
    s->plane_stride = opt->plane_stride ? opt->plane_stride : out->stride * out->height;
    size_t row = (size_t)out->width * stk_image_type_size(out->type);
    if (!opt->is_planar) {
        row *= out->channels;
    }
    if (!out->pixels || out->height == 0 || out->width == 0 || out->height > STK_IMAGE_MAX_SIDE ||
        out->width > STK_IMAGE_MAX_SIDE) {
        return stk_err_set(err, STOKER_EUSAGE, "an image can't be %u x %u", out->height,
                           out->width);
    }
    if ((out->height > 1 && out->stride < row) ||
        (opt->is_planar && s->plane_stride < (out->height - 1) * out->stride + row)) {
        return stk_err_set(err, STOKER_EINVAL, "output rows or planes overlap");
    }
    size_t grain = stk_image_type_size(out->type);
    if ((uintptr_t)out->pixels % grain || out->stride % grain || s->plane_stride % grain) {
        return stk_err_set(err, STOKER_EINVAL, "output pixels, rows or planes are not aligned");
    }
    if (opt->is_normalised && (out->type != STK_IMAGE_F32 || out->channels > 4)) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "normalized images are float32 with up to 4 channels, not %u",
                           out->channels);
    }
    return STOKER_OK;
}

static uint8_t round_byte(float v)
{
    return (uint8_t)(v >= 255 ? 255 : v > 0 ? (int)(v + 0.5f) : 0);
}

static uint8_t *place(const struct stk_image_store *s, uint32_t y, uint32_t c)
{
    STK_ASSERT(y < s->out->height && c < s->out->channels);
    uint8_t *row = (uint8_t *)s->out->pixels + (size_t)y * s->out->stride;
    if (s->opt->is_planar) {
        return row + c * s->plane_stride;
    }
    return row + c * stk_image_type_size(s->out->type);
}

static void bytes_to_bytes(const struct stk_image_store *s, const uint8_t *line, uint32_t y)
{
    size_t n = s->out->width, channels = s->out->channels;
    if (!s->opt->is_planar || channels == 1) {
        memcpy(place(s, y, 0), line, n * channels);
        return;
    }
    for (uint32_t c = 0; c < channels; c++) {
        uint8_t *to = place(s, y, c);
        for (size_t i = 0; i < n; i++) {
            to[i] = line[i * channels + c];
        }
    }
}

void stk_image_store_bytes(const struct stk_image_store *s, const uint8_t *line, uint32_t y)
{
    STK_ASSERT(y < s->out->height);
    static const float ones[4] = {1, 1, 1, 1}, zeros[4];
    size_t n = s->out->width, channels = s->out->channels, step = s->opt->is_planar ? 1 : channels;
    bool is_normalised = s->opt->is_normalised;
    if (s->out->type == STK_IMAGE_U8) {
        bytes_to_bytes(s, line, y);
        return;
    }
#if STK_IMAGE_X86
    const float *scale = is_normalised ? s->opt->scale : ones;
    const float *offset = is_normalised ? s->opt->offset : zeros;
    if (s->cpu >= STK_IMAGE_AVX2 && channels == 3) {
        bool is_wide = s->cpu >= STK_IMAGE_AVX512;
        float *planes[3];
        for (uint32_t c = 0; c < 3; c++) {
            planes[c] = (float *)(void *)place(s, y, c);
        }
        if (s->opt->is_planar) {
            (is_wide ? stk_image_split3_avx512 : stk_image_split3_avx2)(line, n, scale, offset,
                                                                        planes);
        } else {
            (is_wide ? stk_image_store3_avx512 : stk_image_store3_avx2)(line, n, scale, offset,
                                                                        planes[0]);
        }
        return;
    }
#endif
    for (uint32_t c = 0; c < channels; c++) {
        float *to = (float *)(void *)place(s, y, c);
        float mul = is_normalised ? s->opt->scale[c] : ones[0];
        float add = is_normalised ? s->opt->offset[c] : zeros[0];
        for (size_t i = 0; i < n; i++) {
            to[i * step] = (float)line[i * channels + c] * mul + add;
        }
    }
}

void stk_image_store_floats(const struct stk_image_store *s, const float *line, uint32_t y)
{
    STK_ASSERT(y < s->out->height);
    size_t n = s->out->width, channels = s->out->channels, step = s->opt->is_planar ? 1 : channels;
    bool is_normalised = s->opt->is_normalised;
    if (s->out->type == STK_IMAGE_F32 && !s->opt->is_planar && !is_normalised) {
        memcpy(place(s, y, 0), line, n * channels * sizeof *line);
        return;
    }
    for (uint32_t c = 0; c < channels; c++) {
        uint8_t *to = place(s, y, c);
        float *floats = (float *)(void *)to;
        float mul = is_normalised ? s->opt->scale[c] : 1,
              add = is_normalised ? s->opt->offset[c] : 0;
        if (s->out->type == STK_IMAGE_U8) {
            for (size_t i = 0; i < n; i++) {
                to[i * step] = round_byte(line[i * channels + c]);
            }
        } else {
            for (size_t i = 0; i < n; i++) {
                floats[i * step] = line[i * channels + c] * mul + add;
            }
        }
    }
}

void stk_image_mean_std(struct stk_image_resize_options *opt, const float *mean, const float *std,
                        uint32_t channels, float range)
{
    opt->is_normalised = true;
    for (uint32_t c = 0; c < channels && c < 4; c++) {
        opt->scale[c] = (float)(1 / ((double)range * (double)std[c]));
        opt->offset[c] = (float)(-(double)mean[c] / (double)std[c]);
    }
}
