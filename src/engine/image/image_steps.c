// SPDX-License-Identifier: Apache-2.0
// Chains of arithmetic over rows. A division by a constant is a multiplication by its reciprocal
// and one correction with fused multiply-adds, which rounds correctly (Markstein 1990) unless a
// value is near the ends of the exponent range: those are divided.
#include "engine/image/image_steps.h"

#include "base/assert.h"
#include "base/cpu.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PATTERN = STK_IMAGE_STEP_PATTERN };

#define VALUE_LEAST 0x1p-60f // of |x|, and of its reciprocal
#define CONSTANT_LEAST 0x1p-30f

static bool is_tame(float c)
{
    float a = fabsf(c);
    int exponent;
    // The proof doesn't cover the rounding of the reciprocal if the significand is all ones.
    return a >= CONSTANT_LEAST && a <= 1 / CONSTANT_LEAST && frexpf(a, &exponent) < 0x1.fffffcp-1f;
}

bool stk_image_steps_add(struct stk_image_steps *s, enum stk_image_step_kind kind,
                         const float *constants, int count)
{
    if (s->count == STK_IMAGE_STEPS_MAX || count < 1 || count > STK_IMAGE_STEP_CHANNELS) {
        return false;
    }
    int at = s->count++;
    s->step[at].kind = kind;
    s->step[at].is_divided_by_product = kind == STK_IMAGE_STEP_DIVIDE;
    for (int i = 0; i < PATTERN; i++) {
        float c = constants[i % count];
        s->step[at].value[i] = c;
        s->step[at].reciprocal[i] = 1 / c;
        s->step[at].is_divided_by_product = s->step[at].is_divided_by_product && is_tame(c);
    }
    return true;
}

void stk_image_steps_set(struct stk_image_steps *s, int step, float constant)
{
    STK_ASSERT(step >= 0 && step < s->count);
    s->step[step].is_divided_by_product = false;
    for (int i = 0; i < PATTERN; i++) {
        s->step[step].value[i] = constant;
    }
}

#define INLINE static inline __attribute__((always_inline))

// Whole patterns, a loop of constant length that can be vectorized, then the rest.
#define EACH(expr)                                                                                 \
    do {                                                                                           \
        size_t at = 0;                                                                             \
        for (; at + PATTERN <= n; at += PATTERN) {                                                 \
            for (size_t i = 0; i < PATTERN; i++) {                                                 \
                float x = v[at + i], c = value[i];                                                 \
                v[at + i] = (expr);                                                                \
            }                                                                                      \
        }                                                                                          \
        for (size_t i = 0; at + i < n; i++) {                                                      \
            float x = v[at + i], c = value[i];                                                     \
            v[at + i] = (expr);                                                                    \
        }                                                                                          \
    } while (0)

INLINE void divide_by_product(float *v, const float *value, const float *reciprocal)
{
    int wild = 0;
    for (size_t i = 0; i < PATTERN; i++) {
        float a = fabsf(v[i]);
        wild |= !(a >= VALUE_LEAST && a <= 1 / VALUE_LEAST);
    }
    if (wild) {
        for (size_t i = 0; i < PATTERN; i++) {
            v[i] = v[i] / value[i];
        }
        return;
    }
    for (size_t i = 0; i < PATTERN; i++) {
        float x = v[i], c = value[i], r = reciprocal[i], q = x * r;
        v[i] = __builtin_fmaf(__builtin_fmaf(-q, c, x), r, q);
    }
}

INLINE void divide(float *v, size_t n, const float *value, const float *reciprocal,
                   bool is_by_product)
{
    size_t whole = is_by_product ? n - n % PATTERN : 0;
    for (size_t at = 0; at < whole; at += PATTERN) {
        divide_by_product(v + at, value, reciprocal);
    }
    v += whole;
    n -= whole;
    EACH(x / c);
}

INLINE void run_piece(const struct stk_image_steps *s, float *v, size_t n, bool has_fma)
{
    for (int k = 0; k < s->count; k++) {
        const float *value = s->step[k].value;
        switch (s->step[k].kind) {
        case STK_IMAGE_STEP_ADD:
            EACH(x + c);
            break;
        case STK_IMAGE_STEP_SUBTRACT:
            EACH(x - c);
            break;
        case STK_IMAGE_STEP_SUBTRACT_FROM:
            EACH(c - x);
            break;
        case STK_IMAGE_STEP_MULTIPLY:
            EACH(x * c);
            break;
        case STK_IMAGE_STEP_AT_MOST:
            EACH(x > c ? c : x);
            break;
        case STK_IMAGE_STEP_AT_LEAST:
            EACH(x < c ? c : x);
            break;
        default:
            divide(v, n, value, s->step[k].reciprocal, has_fma && s->step[k].is_divided_by_product);
        }
    }
}

INLINE void run_steps(const struct stk_image_steps *s, float *values, size_t n, bool has_fma)
{
    enum { PIECE = PATTERN * 64 }; // fits the nearest cache
    for (size_t i = 0; i < n; i += PIECE) {
        run_piece(s, values + i, n - i < PIECE ? n - i : PIECE, has_fma);
    }
}

void stk_image_steps_run_plain(const struct stk_image_steps *s, float *values, size_t n)
{
    run_steps(s, values, n, false);
}

INLINE void widen(const uint8_t *bytes, float *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        values[i] = bytes[i];
    }
}

#if defined(__x86_64__)
#define WIDE(name, isa)                                                                            \
    __attribute__((target(isa))) static void run_##name(const struct stk_image_steps *s,           \
                                                        float *values, size_t n)                   \
    {                                                                                              \
        run_steps(s, values, n, true);                                                             \
    }                                                                                              \
    __attribute__((target(isa))) static void widen_##name(const uint8_t *bytes, float *values,     \
                                                          size_t n)                                \
    {                                                                                              \
        widen(bytes, values, n);                                                                   \
    }
WIDE(avx2, "avx2,fma")
WIDE(avx512, "avx512f,avx512vl,avx512dq,avx512bw,fma")
#endif

void stk_image_steps_run(const struct stk_image_steps *s, float *values, size_t n)
{
    STK_ASSERT(s->count >= 0 && s->count <= STK_IMAGE_STEPS_MAX);
    STK_ASSERT((uintptr_t)values % sizeof *values == 0);
#if defined(__x86_64__)
    if (stk_cpu_has(STK_CPU_AVX2 | STK_CPU_AVX512)) {
        run_avx512(s, values, n);
        return;
    }
    if (stk_cpu_has(STK_CPU_AVX2)) {
        run_avx2(s, values, n);
        return;
    }
#endif
    run_steps(s, values, n, false);
}

void stk_image_steps_widen(const uint8_t *bytes, float *values, size_t n)
{
#if defined(__x86_64__)
    if (stk_cpu_has(STK_CPU_AVX2 | STK_CPU_AVX512)) {
        widen_avx512(bytes, values, n);
        return;
    }
    if (stk_cpu_has(STK_CPU_AVX2)) {
        widen_avx2(bytes, values, n);
        return;
    }
#endif
    widen(bytes, values, n);
}
