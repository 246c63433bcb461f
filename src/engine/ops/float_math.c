// SPDX-License-Identifier: Apache-2.0
// Range reduction and polynomials (those of the Cephes library's single-precision functions, S.
// Moshier), without branches, so that the compiler can vectorize them: four at a time everywhere,
// eight with AVX2. Nothing is contracted (-ffp-contract=off), so the bits are the same.
#include "engine/ops/float_math.h"

#include "base/cpu.h"

#include <math.h>
#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

ALWAYS float float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

// 2 to a power from -126 to 127; any other number gives some float.
ALWAYS float power_of_two(uint32_t n)
{
    return float_of((n + 127) << 23);
}

// Rounds to an integer: as a float, and its bits (two's complement).
#define ROUNDER 12582912.0f // 1.5 * 2^23

ALWAYS float exp_one(float x)
{
    float v = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x; // NaN stays
    float shifted = v * 1.44269504088896341f + ROUNDER;
    float n = shifted - ROUNDER;
    uint32_t k = bits_of(shifted) - bits_of(ROUNDER);
    float r = v - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    // In two steps, the second of which rounds where the result is too small for a normal float.
    uint32_t half = (uint32_t)((int32_t)k >> 1);
    return p * power_of_two(half) * power_of_two(k - half);
}

ALWAYS float log_one(float x)
{
    float scaled = x < 1.17549435e-38f ? x * 8388608.0f : x;
    float e = x < 1.17549435e-38f ? -23.0f : 0.0f;
    // The mantissa from sqrt(1/2) to sqrt(2), and its power of two.
    uint32_t u = bits_of(scaled) - 0x3f3504f3u;
    e += (float)((int32_t)u >> 23);
    float m = float_of((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    float z = m * m;
    float p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    float y = p * m * z + e * -2.12194440e-4f - 0.5f * z;
    float result = m + y + e * 0.693359375f;
    result = x == INFINITY ? x : result;
    result = x == 0 ? -INFINITY : result;
    return x < 0 ? NAN : x != x ? x : result;
}

ALWAYS float tanh_one(float x)
{
    float a = float_of(bits_of(x) & 0x7fffffffu), z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float near = p * z * x + x;
    float far = 1.0f - 2.0f / (exp_one(2.0f * a) + 1.0f);
    far = float_of(bits_of(far) | (bits_of(x) & 0x80000000u));
    return a < 0.625f ? near : far;
}

ALWAYS float sigmoid_one(float x)
{
    float e = exp_one(float_of(bits_of(x) | 0x80000000u)); // of -|x|: never too large
    return (x < 0 ? e : 1.0f) / (1.0f + e);
}

// Quarters of a turn are removed; the rest, up to an eighth in either direction, goes into
// polynomials.
ALWAYS void circle_one(float *cosine, float *sine, float turns)
{
    float quarters = turns * 4.0f, shifted = quarters + ROUNDER;
    uint32_t q = bits_of(shifted) - bits_of(ROUNDER);
    float x = (quarters - (shifted - ROUNDER)) * 1.57079632679f, z = x * x;
    float s = -1.9515295891e-4f;
    s = s * z + 8.3321608736e-3f;
    s = s * z - 1.6666654611e-1f;
    s = s * z * x + x;
    float c = 2.443315711809948e-5f;
    c = c * z - 1.388731625493765e-3f;
    c = c * z + 4.166664568298827e-2f;
    c = c * z * z - 0.5f * z + 1.0f;
    uint32_t swap = 0 - (q & 1), cos_bits = bits_of(c), sin_bits = bits_of(s);
    uint32_t across = (cos_bits & ~swap) | (sin_bits & swap);
    uint32_t up = (sin_bits & ~swap) | (cos_bits & swap);
    *cosine = float_of(across ^ (((q + 1) & 2) << 30)); // negative in the second and third quarter
    *sine = float_of(up ^ ((q & 2) << 30));
}

#if defined(__x86_64__)
#define FUNCTIONS(name)                                                                            \
    __attribute__((target("avx2"))) static void name##_avx2(float *out, const float *in,           \
                                                            int64_t n)                             \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            out[i] = name##_one(in[i]);                                                            \
        }                                                                                          \
    }                                                                                              \
    PLAIN(name)                                                                                    \
    void stk_float_##name(float *out, const float *in, int64_t n)                                  \
    {                                                                                              \
        if (stk_cpu_has(STK_CPU_AVX2)) {                                                           \
            name##_avx2(out, in, n);                                                               \
        } else {                                                                                   \
            stk_float_##name##_plain(out, in, n);                                                  \
        }                                                                                          \
    }
#else
#define FUNCTIONS(name)                                                                            \
    PLAIN(name)                                                                                    \
    void stk_float_##name(float *out, const float *in, int64_t n)                                  \
    {                                                                                              \
        stk_float_##name##_plain(out, in, n);                                                      \
    }
#endif
#define PLAIN(name)                                                                                \
    void stk_float_##name##_plain(float *out, const float *in, int64_t n)                          \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            out[i] = name##_one(in[i]);                                                            \
        }                                                                                          \
    }
FUNCTIONS(exp)
FUNCTIONS(log)
FUNCTIONS(tanh)
FUNCTIONS(sigmoid)

void stk_float_circle_plain(float *restrict cosine, float *restrict sine, const float *turns,
                            int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        circle_one(&cosine[i], &sine[i], turns[i]);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
circle_avx2(float *restrict cosine, float *restrict sine, const float *turns, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        circle_one(&cosine[i], &sine[i], turns[i]);
    }
}
#endif

void stk_float_circle(float *cosine, float *sine, const float *turns, int64_t n)
{
#if defined(__x86_64__)
    if (stk_cpu_has(STK_CPU_AVX2)) {
        circle_avx2(cosine, sine, turns, n);
        return;
    }
#endif
    stk_float_circle_plain(cosine, sine, turns, n);
}
