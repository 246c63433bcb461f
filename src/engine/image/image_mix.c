// SPDX-License-Identifier: Apache-2.0
// Both resize passes in plain C: the reference for the vector code, and used on other machines.
#include "base/assert.h"
#include "engine/image/image_resize_impl.h"

#include <string.h>

enum { CHUNK = 64 };

void stk_image_mix_fixed(const uint8_t *const *rows, const int16_t *weights, uint32_t taps,
                         size_t n, int16_t *out)
{
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        int16_t sum[CHUNK] = {0};
        for (uint32_t t = 0; t < taps; t++) {
            const uint8_t *row = rows[t] + i;
            int32_t w = weights[t];
            for (size_t k = 0; k < m; k++) {
                sum[k] = (int16_t)(sum[k] + (((row[k] << 7) * w + 0x4000) >> 15));
            }
        }
        memcpy(out + i, sum, m * sizeof *sum);
    }
}

void stk_image_mix_bytes(const uint8_t *const *rows, const float *weights, uint32_t taps, size_t n,
                         float *out)
{
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        float sum[CHUNK] = {0};
        for (uint32_t t = 0; t < taps; t++) {
            const uint8_t *row = rows[t] + i;
            float w = weights[t];
            for (size_t k = 0; k < m; k++) {
                sum[k] += (float)row[k] * w;
            }
        }
        memcpy(out + i, sum, m * sizeof *sum);
    }
}

void stk_image_mix_floats(const float *const *rows, const float *weights, uint32_t taps, size_t n,
                          float *out)
{
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        float sum[CHUNK] = {0};
        for (uint32_t t = 0; t < taps; t++) {
            const float *row = rows[t] + i;
            float w = weights[t];
            for (size_t k = 0; k < m; k++) {
                sum[k] += row[k] * w;
            }
        }
        memcpy(out + i, sum, m * sizeof *sum);
    }
}

void stk_image_sum_fixed(const int16_t *row, const struct stk_image_axis *a, uint32_t channels,
                         int16_t *planes, uint8_t *line)
{
    STK_ASSERT(channels > 0);
    (void)planes;
    for (uint32_t x = 0; x < a->out; x++) {
        const int16_t *in = row + (size_t)a->start[x] * channels;
        const int16_t *w = a->fixed + (size_t)x * a->pair_taps;
        for (uint32_t c = 0; c < channels; c++) {
            int32_t sum = 1 << 21;
            for (uint32_t t = 0; t < a->taps; t++) {
                sum += in[t * channels + c] * w[t];
            }
            *line++ = (uint8_t)(sum >> 22);
        }
    }
}

void stk_image_sum_float(const float *row, const struct stk_image_axis *a, uint32_t channels,
                         float *planes, float *line)
{
    (void)planes;
    for (uint32_t x = 0; x < a->out; x++) {
        const float *in = row + (size_t)a->start[x] * channels;
        const float *w = a->weight + (size_t)x * a->taps;
        for (uint32_t c = 0; c < channels; c++) {
            float sum = 0;
            for (uint32_t t = 0; t < a->taps; t++) {
                sum += in[t * channels + c] * w[t];
            }
            *line++ = sum;
        }
    }
}
