// SPDX-License-Identifier: Apache-2.0
// Resize filters along one axis: which input samples an output sample takes, with which weights.
// Weights and their float32 arithmetic follow TensorFlow's kernels (ScaleAndTranslate;
// ResizeBilinear, ResizeBicubic with and without half-pixel centers; ResizeArea) and Pillow's
// resampling, which for the triangle is the same in double precision.
#include "base/assert.h"
#include "engine/image/image_resize_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CUBIC_STEPS = 1024 }; // TensorFlow's bicubic uses a kernel table with that many steps

static bool is_sampled(enum stk_image_method m, bool antialias)
{
    if (m >= STK_IMAGE_V1_BILINEAR) {
        return false;
    }
    if (m == STK_IMAGE_BILINEAR || m == STK_IMAGE_BICUBIC) {
        return antialias;
    }
    return m != STK_IMAGE_AREA && m != STK_IMAGE_NEAREST;
}

static float radius_of(enum stk_image_method m)
{
    switch (m) {
    case STK_IMAGE_BICUBIC:
    case STK_IMAGE_MITCHELLCUBIC:
        return 2;
    case STK_IMAGE_LANCZOS3:
        return 3;
    case STK_IMAGE_LANCZOS5:
        return 5;
    case STK_IMAGE_GAUSSIAN:
        return 1.5f;
    default:
        return 1;
    }
}

static float lanczos(float x, float radius)
{
    const float pi = 3.14159265359f;
    if (x > radius) {
        return 0;
    }
    if (x <= 1e-3f) {
        return 1;
    }
    return radius * sinf(pi * x) * sinf(pi * x / radius) / (pi * pi * x * x);
}

static float kernel(enum stk_image_method m, float x)
{
    switch (m) {
    case STK_IMAGE_BICUBIC: // Keys
        return x >= 2   ? 0
               : x >= 1 ? ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f
                        : (1.5f * x - 2.5f) * x * x + 1.0f;
    case STK_IMAGE_MITCHELLCUBIC:
        return x >= 2   ? 0
               : x >= 1 ? (((-7.0f / 18.0f) * x + 2.0f) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f
                        : ((7.0f / 6.0f) * x - 2.0f) * x * x + 8.0f / 9.0f;
    case STK_IMAGE_LANCZOS3:
        return lanczos(x, 3);
    case STK_IMAGE_LANCZOS5:
        return lanczos(x, 5);
    case STK_IMAGE_GAUSSIAN: // sigma 0.5
        return x >= 1.5f ? 0 : expf(-2 * x * x);
    default:
        return x < 1 ? 1 - x : 0;
    }
}

static float kernel_scale(enum stk_image_method m, bool antialias, float inverse)
{
    return (antialias || m == STK_IMAGE_PIL_BILINEAR) && inverse > 1 ? inverse : 1;
}

// TensorFlow's result for scale = out / in, with its rounding steps.
static float inverse_scale(uint32_t in, uint32_t out)
{
    return 1.0f / ((float)out / (float)in);
}

static bool is_area(enum stk_image_method m)
{
    return m == STK_IMAGE_AREA || m == STK_IMAGE_V1_AREA_CORNERS;
}

static bool is_cubic(enum stk_image_method m)
{
    return m == STK_IMAGE_BICUBIC || m == STK_IMAGE_V1_BICUBIC || m == STK_IMAGE_V1_BICUBIC_CORNERS;
}

float stk_image_axis_scale(enum stk_image_method m, uint32_t in, uint32_t out)
{
    STK_ASSERT(in > 0 && out > 0);
    bool aligns = m >= STK_IMAGE_V1_BILINEAR_CORNERS && m <= STK_IMAGE_V1_AREA_CORNERS;
    return aligns && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
}

uint32_t stk_image_axis_taps(enum stk_image_method m, bool antialias, uint32_t in, uint32_t out)
{
    STK_ASSERT(in > 0 && out > 0);
    double taps = is_cubic(m) ? 4 : 2;
    if (is_sampled(m, antialias)) {
        taps = 2 * ceil((double)radius_of(m) *
                        (double)kernel_scale(m, antialias, inverse_scale(in, out))) +
               1;
    } else if (is_area(m)) {
        taps = ceil((double)in / out) + 2;
    }
    return taps < in ? (uint32_t)taps : in;
}

// Where the weights from sample `from` on go: the filter starts further left if its zero padding
// would exceed the image.
static float *place(struct stk_image_axis *a, uint32_t x, int64_t from)
{
    STK_ASSERT(x < a->out && a->taps > 0 && a->taps <= a->in);
    int64_t most = (int64_t)a->in - a->taps, start = from < most ? from : most;
    float *w = a->weight + (size_t)x * a->taps;
    a->start[x] = (int32_t)start;
    memset(w, 0, a->taps * sizeof *w);
    return w + (from - start);
}

static void normalise(float *w, int64_t n)
{
    STK_ASSERT(n > 0);
    float sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += w[i];
    }
    float factor = fabsf(sum) < 1000.0f * FLT_MIN ? 0 : 1.0f / sum;
    for (int64_t i = 0; i < n; i++) {
        w[i] *= factor;
    }
}

// floorf and ceilf are calls unless SSE4.1 can be assumed.
static inline int64_t floor_of(float v)
{
    int64_t whole = (int64_t)v;
    return whole - ((float)whole > v);
}

static inline int64_t ceil_of(float v)
{
    int64_t whole = (int64_t)v;
    return whole + ((float)whole < v);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    STK_ASSERT(low <= high);
    return v < low ? low : v > high ? high : v;
}

// The triangle, without branches for taps outside: they are zero anyway.
static void fill_triangle(struct stk_image_axis *a, float wide)
{
    float inverse = inverse_scale(a->in, a->out), narrow = 1.0f / wide;
    int32_t most = (int32_t)(a->in - a->taps), taps = (int32_t)a->taps;
    float *w = a->weight;
    for (uint32_t x = 0; x < a->out; x++, w += taps) {
        float at = ((float)x + 0.5f) * inverse, sum = 0;
        int32_t start = (int32_t)ceil_of(at - wide - 0.5f);
        start = start < 0 ? 0 : start;
        start = start > most ? most : start;
        a->start[x] = start;
        for (int32_t t = 0; t < taps; t++) {
            float v = 1 - fabsf(((float)(start + t) + 0.5f - at) * narrow);
            w[t] = v > 0 ? v : 0;
            sum += w[t];
        }
        float factor = sum < 1000.0f * FLT_MIN ? 0 : 1.0f / sum;
        for (int32_t t = 0; t < taps; t++) {
            w[t] *= factor;
        }
    }
}

static void fill_sampled(struct stk_image_axis *a, enum stk_image_method m, bool antialias)
{
    float inverse = inverse_scale(a->in, a->out), radius = radius_of(m);
    float wide = kernel_scale(m, antialias, inverse), narrow = 1.0f / wide;
    if (m == STK_IMAGE_BILINEAR || m == STK_IMAGE_PIL_BILINEAR) {
        fill_triangle(a, wide);
        return;
    }
    for (uint32_t x = 0; x < a->out; x++) {
        float at = ((float)x + 0.5f) * inverse;
        int64_t last = (int64_t)a->in - 1;
        int64_t from = clamp(ceil_of(at - radius * wide - 0.5f), 0, last);
        int64_t to = clamp(floor_of(at + radius * wide - 0.5f), 0, last) + 1;
        to = to - from > a->taps ? from + a->taps : to;
        bool is_outside = at < 0 || at > (float)a->in; // only by rounding
        float *w = place(a, x, from);
        for (int64_t i = from; i < to; i++) {
            float away = fabsf(((float)i + 0.5f - at) * narrow);
            w[i - from] = is_outside ? 0 : kernel(m, away);
        }
        normalise(w, to - from);
    }
}

static void fill_bilinear(struct stk_image_axis *a, enum stk_image_method m)
{
    float scale = stk_image_axis_scale(m, a->in, a->out);
    for (uint32_t x = 0; x < a->out; x++) {
        float at = m == STK_IMAGE_BILINEAR ? ((float)x + 0.5f) * scale - 0.5f : (float)x * scale;
        float below = floorf(at), part = at - below;
        int64_t last = (int64_t)a->in - 1;
        int64_t from = clamp((int64_t)below, 0, last), to = clamp(ceil_of(at), 0, last);
        float *w = place(a, x, from);
        w[0] = to > from ? 1 - part : 1;
        if (to > from) {
            w[1] = part;
        }
    }
}

static float cubic_step(int64_t step)
{
    return kernel(STK_IMAGE_BICUBIC, (float)step / CUBIC_STEPS);
}

static void fill_bicubic(struct stk_image_axis *a)
{
    float scale = (float)a->in / (float)a->out;
    for (uint32_t x = 0; x < a->out; x++) {
        float at = ((float)x + 0.5f) * scale - 0.5f, below = floorf(at);
        int64_t step = lrintf((at - below) * CUBIC_STEPS), base = (int64_t)below - 1;
        float taps[4] = {cubic_step(CUBIC_STEPS + step), cubic_step(step),
                         cubic_step(CUBIC_STEPS - step), cubic_step(2 * CUBIC_STEPS - step)};
        int64_t from = clamp(base, 0, (int64_t)a->in - 1);
        int64_t to = clamp(base + 4, from + 1, a->in); // taps outside have no weight
        float *w = place(a, x, from);
        for (int64_t i = from; i < to; i++) {
            w[i - from] = taps[i - base];
        }
        normalise(w, to - from);
    }
}

static float v1_cubic_step(int64_t step) // Keys's kernel with another parameter
{
    const float a = -0.75f;
    float x = (float)step / CUBIC_STEPS;
    return step >= CUBIC_STEPS ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
                               : ((a + 2) * x - (a + 3)) * x * x + 1;
}

// Taps outside of the image count for its outermost samples.
static void fill_v1_bicubic(struct stk_image_axis *a, enum stk_image_method m)
{
    float scale = stk_image_axis_scale(m, a->in, a->out);
    int64_t last = (int64_t)a->in - 1;
    for (uint32_t x = 0; x < a->out; x++) {
        float at = (float)x * scale, below = floorf(at);
        int64_t step = lrintf((at - below) * CUBIC_STEPS), base = (int64_t)below - 1;
        float taps[4] = {v1_cubic_step(CUBIC_STEPS + step), v1_cubic_step(step),
                         v1_cubic_step(CUBIC_STEPS - step), v1_cubic_step(2 * CUBIC_STEPS - step)};
        int64_t from = clamp(base, 0, last);
        float *w = place(a, x, from);
        for (int64_t i = base; i < base + 4; i++) {
            w[clamp(i, 0, last) - from] += taps[i - base];
        }
    }
}

// Each input sample is weighted by how much of it the output sample covers.
static void fill_area(struct stk_image_axis *a, enum stk_image_method m)
{
    float scale = stk_image_axis_scale(m, a->in, a->out);
    for (uint32_t x = 0; x < a->out; x++) {
        float left = (float)x * scale, right = (float)(x + 1) * scale;
        int64_t last = (int64_t)a->in - 1;
        int64_t from = floor_of(left), to = ceil_of(right);
        int64_t first = clamp(from, 0, last), end = clamp(to - 1, first, last) + 1;
        end = end - first > a->taps ? first + a->taps : end;
        float *w = place(a, x, first);
        for (int64_t i = from; i < to; i++) {
            float top = (float)(i + 1) > right ? right : (float)(i + 1);
            float bottom = (float)i < left ? left : (float)i;
            w[clamp(i, first, end - 1) - first] += (top - bottom) / scale;
        }
    }
}

void stk_image_axis_fill(struct stk_image_axis *a, enum stk_image_method m, bool antialias)
{
    STK_ASSERT(a->in > 0 && a->out > 0 && a->taps > 0);
    if (is_sampled(m, antialias)) {
        fill_sampled(a, m, antialias);
    } else if (m == STK_IMAGE_BICUBIC) {
        fill_bicubic(a);
    } else if (is_cubic(m)) {
        fill_v1_bicubic(a, m);
    } else if (is_area(m)) {
        fill_area(a, m);
    } else {
        fill_bilinear(a, m);
    }
}

void stk_image_axis_mirror(struct stk_image_axis *a)
{
    STK_ASSERT(a->out > 0);
    for (uint32_t x = 0, y = a->out - 1; x < y; x++, y--) {
        int32_t start = a->start[x];
        a->start[x] = a->start[y];
        a->start[y] = start;
        float *p = a->weight + (size_t)x * a->taps, *q = a->weight + (size_t)y * a->taps;
        for (uint32_t t = 0; t < a->taps; t++) {
            float w = p[t];
            p[t] = q[t];
            q[t] = w;
        }
    }
}

void stk_image_axis_fix(struct stk_image_axis *a)
{
    STK_ASSERT(a->pair_taps % 2 == 0 && a->pair_taps >= a->taps);
    for (uint32_t x = 0; x < a->out; x++) {
        const float *w = a->weight + (size_t)x * a->taps;
        int16_t *fixed = a->fixed + (size_t)x * a->pair_taps;
        int32_t left = 32768;
        uint32_t largest = 0;
        fixed[a->pair_taps - 1] = 0;
        for (uint32_t t = 0; t < a->taps; t++) {
            int32_t v = (int32_t)(w[t] * 32768 + 0.5f);
            v = v > 32767 ? 32767 : v;
            fixed[t] = (int16_t)v;
            left -= v;
            largest = w[t] > w[largest] ? t : largest;
        }
        int32_t v = fixed[largest] + left;
        fixed[largest] = (int16_t)(v > 32767 ? 32767 : v);
    }
}

static void fill_fixed_block(const struct stk_image_axis *a, uint32_t x, int32_t base)
{
    uint32_t pairs = a->pair_taps / 2, lane = x % STK_IMAGE_BLOCK;
    int16_t *block = (int16_t *)a->lookups + (size_t)(x / STK_IMAGE_BLOCK) * pairs * 64;
    for (uint32_t p = 0; p < pairs; p++) {
        for (uint32_t k = 0; k < 2; k++) {
            int32_t index = a->start[x] - base + (int32_t)(2 * p + k);
            block[p * 64 + 2 * lane + k] = (int16_t)(index < STK_IMAGE_WINDOW_16 ? index : 0);
            block[p * 64 + 32 + 2 * lane + k] = a->fixed[(size_t)x * a->pair_taps + 2 * p + k];
        }
    }
}

static void fill_float_block(const struct stk_image_axis *a, uint32_t x, int32_t base)
{
    int32_t *block = (int32_t *)a->lookups + (size_t)(x / STK_IMAGE_BLOCK) * a->taps * 32;
    for (uint32_t t = 0; t < a->taps; t++) {
        block[t * 32 + x % STK_IMAGE_BLOCK] = a->start[x] - base + (int32_t)t;
        memcpy(block + t * 32 + 16 + x % STK_IMAGE_BLOCK, &a->weight[(size_t)x * a->taps + t], 4);
    }
}

bool stk_image_axis_block(struct stk_image_axis *a, bool is_fixed)
{
    STK_ASSERT(a->out > 0 && a->lookups);
    int32_t capacity = is_fixed ? STK_IMAGE_WINDOW_16 : STK_IMAGE_WINDOW_32;
    uint32_t blocks = (a->out + STK_IMAGE_BLOCK - 1) / STK_IMAGE_BLOCK;
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t from = b * STK_IMAGE_BLOCK, to = from + STK_IMAGE_BLOCK;
        to = to < a->out ? to : a->out;
        int32_t low = INT32_MAX, high = 0;
        for (uint32_t x = from; x < to; x++) {
            low = a->start[x] < low ? a->start[x] : low;
            high = a->start[x] > high ? a->start[x] : high;
        }
        if (high + (int32_t)a->taps - low > capacity) {
            return false;
        }
        a->window[b] = low;
    }
    size_t last = (size_t)(blocks - 1) * (is_fixed ? a->pair_taps / 2 : a->taps) * 128;
    memset((uint8_t *)a->lookups + last, 0, (is_fixed ? a->pair_taps / 2 : a->taps) * 128);
    for (uint32_t x = 0; x < a->out; x++) {
        if (is_fixed) {
            fill_fixed_block(a, x, a->window[x / STK_IMAGE_BLOCK]);
        } else {
            fill_float_block(a, x, a->window[x / STK_IMAGE_BLOCK]);
        }
    }
    return true;
}
