// SPDX-License-Identifier: Apache-2.0
// Converts images from type to type: TensorFlow's convert_image_dtype and
// per_image_standardization.
#include "base/assert.h"
#include "engine/image/image_colour.h"

#include <math.h>
#include <string.h>

static enum stoker_status check(const struct stk_image *in, const struct stk_image *out,
                                const char *what, struct stoker_err *err)
{
    enum stoker_status status = stk_image_check(in, what, err);
    if (status == STOKER_OK) {
        status = stk_image_check(out, what, err);
    }
    if (status == STOKER_OK &&
        (in->height != out->height || in->width != out->width || in->channels != out->channels)) {
        return stk_err_set(err, STOKER_EUSAGE, "%s: the output has another size", what);
    }
    return status;
}

struct moments {
    double mean, deviation;
};

// Exact: sums of squares of 16 bits over 2^32 values fit.
static void sum_integers(const struct stk_image *in, size_t row, uint64_t *sum, uint64_t *squares)
{
    STK_ASSERT(in->type != STK_IMAGE_F32);
    enum { AT_ONCE = 4096 }; // their sums fit into 32 bits, which allows narrow vectors
    for (uint32_t y = 0; y < in->height; y++) {
        const uint8_t *bytes = stk_image_row(in, y);
        const uint16_t *words = stk_image_row(in, y);
        if (in->type == STK_IMAGE_U8) {
            for (size_t at = 0; at < row; at += AT_ONCE) {
                size_t end = row - at < AT_ONCE ? row : at + AT_ONCE;
                uint32_t some = 0, some_squares = 0;
                for (size_t i = at; i < end; i++) {
                    some += bytes[i];
                    some_squares += (uint32_t)bytes[i] * bytes[i];
                }
                *sum += some;
                *squares += some_squares;
            }
        } else {
            for (size_t i = 0; i < row; i++) {
                *sum += words[i];
                *squares += (uint64_t)words[i] * words[i];
            }
        }
    }
}

enum { LANES = 16 }; // parallel sums, in the same order on every CPU

static double add_lanes(const double lanes[LANES])
{
    double sum = 0;
    for (int k = 0; k < LANES; k++) {
        sum += lanes[k];
    }
    return sum;
}

// Sum of (value - center), squared if requested.
static double sum_floats(const struct stk_image *in, size_t row, double centre, bool is_squared)
{
    STK_ASSERT(in->type == STK_IMAGE_F32);
    double lanes[LANES] = {0};
    for (uint32_t y = 0; y < in->height; y++) {
        const float *v = stk_image_row(in, y);
        for (size_t at = 0; at < row; at += LANES) {
            size_t m = row - at < LANES ? row - at : LANES;
            if (m < LANES) {
                for (size_t k = 0; k < m; k++) {
                    double d = (double)v[at + k] - centre;
                    lanes[k] += is_squared ? d * d : d;
                }
                break;
            }
            for (size_t k = 0; k < LANES; k++) {
                double d = (double)v[at + k] - centre;
                lanes[k] += is_squared ? d * d : d;
            }
        }
    }
    return add_lanes(lanes);
}

static struct moments moments_of(const struct stk_image *in, size_t row)
{
    double n = (double)row * in->height;
    if (in->type != STK_IMAGE_F32) {
        uint64_t whole = 0, whole_squares = 0;
        sum_integers(in, row, &whole, &whole_squares);
        double mean = (double)whole / n, variance = (double)whole_squares / n - mean * mean;
        return (struct moments){mean, sqrt(variance > 0 ? variance : 0)};
    }
    double mean = sum_floats(in, row, 0, false) / n;
    double squares = sum_floats(in, row, mean, true);
    return (struct moments){mean, sqrt(squares / n)};
}

static void standardize_row(const struct stk_image *in, uint32_t y, size_t n, float centre,
                            float by, float *to)
{
    STK_ASSERT(y < in->height);
    const uint8_t *bytes = stk_image_row(in, y);
    const uint16_t *words = stk_image_row(in, y);
    const float *floats = stk_image_row(in, y);
    if (in->type == STK_IMAGE_U8) {
        for (size_t i = 0; i < n; i++) {
            to[i] = ((float)bytes[i] - centre) / by;
        }
    } else if (in->type == STK_IMAGE_U16) {
        for (size_t i = 0; i < n; i++) {
            to[i] = ((float)words[i] - centre) / by;
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            to[i] = (floats[i] - centre) / by;
        }
    }
}

enum stoker_status stk_image_standardize(const struct stk_image *in, const struct stk_image *out,
                                         struct stoker_err *err)
{
    enum stoker_status status = check(in, out, "per_image_standardization", err);
    if (status != STOKER_OK) {
        return status;
    }
    if (out->type != STK_IMAGE_F32) {
        return stk_err_set(err, STOKER_EUSAGE, "per_image_standardization: gives float32");
    }
    size_t row = (size_t)in->width * in->channels;
    struct moments m = moments_of(in, row);
    double least = 1 / sqrt((double)row * in->height);
    float centre = (float)m.mean, by = (float)(m.deviation > least ? m.deviation : least);
    for (uint32_t y = 0; y < in->height; y++) {
        standardize_row(in, y, row, centre, by, stk_image_row(out, y));
    }
    return STOKER_OK;
}

static void floats_from(const struct stk_image *in, const struct stk_image *out, size_t row)
{
    STK_ASSERT(in->type != STK_IMAGE_F32 && out->type == STK_IMAGE_F32);
    float scale = (float)(1.0 / (in->type == STK_IMAGE_U8 ? 255 : 65535));
    for (uint32_t y = 0; y < in->height; y++) {
        const uint8_t *bytes = stk_image_row(in, y);
        const uint16_t *words = stk_image_row(in, y);
        float *to = stk_image_row(out, y);
        if (in->type == STK_IMAGE_U8) {
            for (size_t i = 0; i < row; i++) {
                to[i] = (float)bytes[i] * scale;
            }
        } else {
            for (size_t i = 0; i < row; i++) {
                to[i] = (float)words[i] * scale;
            }
        }
    }
}

static uint32_t cut(float v, float most, bool is_saturated)
{
    if (is_saturated) {
        return v >= most ? (uint32_t)most : v > 0 ? (uint32_t)v : 0;
    }
    v = v > 2147483520.0f ? 2147483520.0f : v >= -2147483648.0f ? v : -2147483648.0f;
    return (uint32_t)(int32_t)v;
}

static void integers_from(const struct stk_image *in, const struct stk_image *out, size_t row,
                          bool is_saturated)
{
    STK_ASSERT(in->type == STK_IMAGE_F32 && out->type != STK_IMAGE_F32);
    float most = out->type == STK_IMAGE_U8 ? 255 : 65535;
    for (uint32_t y = 0; y < in->height; y++) {
        const float *from = stk_image_row(in, y);
        uint8_t *bytes = stk_image_row(out, y);
        uint16_t *words = stk_image_row(out, y);
        for (size_t i = 0; i < row; i++) {
            uint32_t v = cut(from[i] * (most + 0.5f), most, is_saturated);
            if (out->type == STK_IMAGE_U8) {
                bytes[i] = (uint8_t)v;
            } else {
                words[i] = (uint16_t)v;
            }
        }
    }
}

// By the high byte, as TensorFlow does: 255 becomes 65280.
static void change_depth(const struct stk_image *in, const struct stk_image *out, size_t row)
{
    STK_ASSERT(in->type != STK_IMAGE_F32 && out->type != STK_IMAGE_F32);
    for (uint32_t y = 0; y < in->height; y++) {
        const void *from = stk_image_row(in, y);
        void *to = stk_image_row(out, y);
        for (size_t i = 0; i < row; i++) {
            if (in->type == STK_IMAGE_U16) {
                ((uint8_t *)to)[i] = (uint8_t)(((const uint16_t *)from)[i] >> 8);
            } else {
                ((uint16_t *)to)[i] = (uint16_t)(((const uint8_t *)from)[i] << 8);
            }
        }
    }
}

enum stoker_status stk_image_convert_type(const struct stk_image *in, bool is_saturated,
                                          const struct stk_image *out, struct stoker_err *err)
{
    enum stoker_status status = check(in, out, "convert_image_dtype", err);
    if (status != STOKER_OK) {
        return status;
    }
    size_t row = (size_t)in->width * in->channels;
    if (in->type == out->type) {
        for (uint32_t y = 0; y < in->height; y++) {
            memmove(stk_image_row(out, y), stk_image_row(in, y),
                    row * stk_image_type_size(in->type));
        }
    } else if (out->type == STK_IMAGE_F32) {
        floats_from(in, out, row);
    } else if (in->type == STK_IMAGE_F32) {
        integers_from(in, out, row, is_saturated);
    } else {
        change_depth(in, out, row);
    }
    return STOKER_OK;
}
