// SPDX-License-Identifier: Apache-2.0
// Inverse DCTs of the JPEG decoder in plain C, equal bit for bit to libjpeg-turbo's.
//
// Accurate: Loeffler, Ligtenberg and Moschytz (ICASSP 1989), 13-bit constants, 2 further bits kept
// between columns and rows. Fast: Arai, Agui and Nakajima, 8-bit constants in 16-bit arithmetic.
// Reduced sizes: the accurate one with the outputs left out. Where coefficients are larger than any
// encoder makes, libjpeg-turbo's vector code wraps and saturates at 16 bits and its C code does
// not: these follow the vector code, which is what runs.
#include "engine/image/jpeg_impl.h"

static inline int32_t madd(int32_t a, int32_t fa, int32_t b, int32_t fb)
{
    return (int32_t)((uint32_t)(a * fa) + (uint32_t)(b * fb));
}

static inline int32_t add32(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t sub32(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

static inline int16_t saturate16(int32_t v)
{
    return (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
}

static inline uint8_t to_sample(int32_t v)
{
    return (uint8_t)((v > 127 ? 127 : v < -128 ? -128 : v) + 128);
}

// One row or column of the accurate DCT, 16-bit in, 32-bit out before rounding.
static inline void islow_1d(const int16_t in[8], int32_t out[8])
{
    int32_t t2 = madd(in[2], 4433, in[6], 4433 - 15137), t3 = madd(in[2], 4433 + 6270, in[6], 4433);
    int32_t t0 = (int16_t)(in[0] + in[4]) * 8192, t1 = (int16_t)(in[0] - in[4]) * 8192;
    int32_t t10 = add32(t0, t3), t13 = sub32(t0, t3), t11 = add32(t1, t2), t12 = sub32(t1, t2);
    int16_t s3 = (int16_t)(in[7] + in[3]), s4 = (int16_t)(in[5] + in[1]);
    int32_t z3 = madd(s3, 9633 - 16069, s4, 9633), z4 = madd(s3, 9633, s4, 9633 - 3196);
    int32_t o0 = add32(madd(in[7], 2446 - 7373, in[1], -7373), z3);
    int32_t o3 = add32(madd(in[7], -7373, in[1], 12299 - 7373), z4);
    int32_t o1 = add32(madd(in[5], 16819 - 20995, in[3], -20995), z4);
    int32_t o2 = add32(madd(in[5], -20995, in[3], 25172 - 20995), z3);
    out[0] = add32(t10, o3);
    out[7] = sub32(t10, o3);
    out[1] = add32(t11, o2);
    out[6] = sub32(t11, o2);
    out[2] = add32(t12, o1);
    out[5] = sub32(t12, o1);
    out[3] = add32(t13, o0);
    out[4] = sub32(t13, o0);
}

static inline int32_t descale(int32_t v, int bits)
{
    return add32(v, 1 << (bits - 1)) >> bits;
}

// Row 4 plays no part in the half-size DCT.
static bool has_ac_rows(const int16_t *coef, bool is_half)
{
    int any = 0;
    for (int i = 8; i < 64; i++) {
        any |= is_half && i / 8 == 4 ? 0 : coef[i];
    }
    return any != 0;
}

// If all rows below the first are zero, every column is constant.
static void spread_first_row(const int16_t *coef, const int16_t *quant, int16_t *mid, int rows)
{
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < 8; c++) {
            mid[8 * r + c] = (int16_t)((uint32_t)(coef[c] * quant[c]) * 4);
        }
    }
}

void stk_jpeg_idct_islow(const int16_t *coef, const int16_t *quant, uint8_t *out, ptrdiff_t stride)
{
    int16_t mid[64], line[8];
    int32_t v[8];
    if (!has_ac_rows(coef, false)) {
        spread_first_row(coef, quant, mid, 8);
    } else {
        for (int c = 0; c < 8; c++) {
            for (int r = 0; r < 8; r++) {
                line[r] = (int16_t)(coef[8 * r + c] * quant[8 * r + c]);
            }
            islow_1d(line, v);
            for (int r = 0; r < 8; r++) {
                mid[8 * r + c] = saturate16(descale(v[r], 11));
            }
        }
    }
    for (int r = 0; r < 8; r++, out += stride) {
        islow_1d(mid + 8 * r, v);
        for (int c = 0; c < 8; c++) {
            out[c] = to_sample(descale(v[c], 18));
        }
    }
}

static inline int16_t mul_high(int a, int factor) // 8-bit fraction, in 16 bits throughout
{
    return (int16_t)((int16_t)((uint32_t)a << 2) * (factor * 64) >> 16);
}

#define W(x) ((int16_t)(x)) // every sum wraps at 16 bits

static inline void ifast_1d(const int16_t in[8], int16_t out[8])
{
    int16_t t10 = W(in[0] + in[4]), t11 = W(in[0] - in[4]), t13 = W(in[2] + in[6]);
    int16_t t12 = W(mul_high(in[2] - in[6], 362) - t13);
    int16_t t0 = W(t10 + t13), t3 = W(t10 - t13), t1 = W(t11 + t12), t2 = W(t11 - t12);
    int16_t z13 = W(in[5] + in[3]), z10 = W(in[5] - in[3]);
    int16_t z11 = W(in[1] + in[7]), z12 = W(in[1] - in[7]);
    int16_t t7 = W(z11 + z13), r11 = mul_high(z11 - z13, 362);
    int16_t z5 = mul_high(z10 + z12, 473);
    int16_t r10 = W(mul_high(z12, 277) - z5), r12 = W(mul_high(z10, -413) - z10 + z5);
    int16_t t6 = W(r12 - t7), t5 = W(r11 - t6), t4 = W(r10 + t5);
    out[0] = W(t0 + t7);
    out[7] = W(t0 - t7);
    out[1] = W(t1 + t6);
    out[6] = W(t1 - t6);
    out[2] = W(t2 + t5);
    out[5] = W(t2 - t5);
    out[4] = W(t3 + t4);
    out[3] = W(t3 - t4);
}

void stk_jpeg_idct_ifast(const int16_t *coef, const int16_t *quant, uint8_t *out, ptrdiff_t stride)
{
    int16_t mid[64], line[8], v[8];
    for (int c = 0; c < 8; c++) {
        for (int r = 0; r < 8; r++) {
            line[r] = W(coef[8 * r + c] * quant[8 * r + c]);
        }
        ifast_1d(line, v);
        for (int r = 0; r < 8; r++) {
            mid[8 * r + c] = v[r];
        }
    }
    for (int r = 0; r < 8; r++, out += stride) {
        ifast_1d(mid + 8 * r, v);
        for (int c = 0; c < 8; c++) {
            out[c] = to_sample(v[c] >> 5);
        }
    }
}

void stk_jpeg_scale_ifast(const uint16_t *quant, int16_t *scaled)
{
    static const uint16_t factors[64] = {
        16384, 22725, 21407, 19266, 16384, 12873, 8867,  4520,  22725, 31521, 29692, 26722, 22725,
        17855, 12299, 6270,  21407, 29692, 27969, 25172, 21407, 16819, 11585, 5906,  19266, 26722,
        25172, 22654, 19266, 15137, 10426, 5315,  16384, 22725, 21407, 19266, 16384, 12873, 8867,
        4520,  12873, 17855, 16819, 15137, 12873, 10114, 6967,  3552,  8867,  12299, 11585, 10426,
        8867,  6967,  4799,  2446,  4520,  6270,  5906,  5315,  4520,  3552,  2446,  1247};
    // libjpeg multiplies 16-bit signed values: a quantizer beyond 32767 counts as negative.
    for (int i = 0; i < 64; i++) {
        scaled[i] = (int16_t)(((int16_t)quant[i] * factors[i] + 2048) >> 12);
    }
}

static inline void four_1d(const int16_t *in, int step, int32_t out[4])
{
    int16_t i1 = in[step], i2 = in[2 * step], i3 = in[3 * step], i5 = in[5 * step];
    int16_t i6 = in[6 * step], i7 = in[7 * step];
    int32_t t0 = in[0] * 16384, t2 = madd(i2, 15137, i6, -6270);
    int32_t t10 = add32(t0, t2), t12 = sub32(t0, t2);
    int32_t o0 = add32(madd(i7, -1730, i5, 11893), madd(i3, -17799, i1, 8697));
    int32_t o2 = add32(madd(i7, -4176, i5, -4926), madd(i3, 7373, i1, 20995));
    out[0] = add32(t10, o2);
    out[3] = sub32(t10, o2);
    out[1] = add32(t12, o0);
    out[2] = sub32(t12, o0);
}

static inline void two_1d(const int16_t *in, int step, int32_t out[2])
{
    int32_t t = in[0] * 32768;
    int32_t o = add32(madd(in[7 * step], -5906, in[5 * step], 6967),
                      madd(in[3 * step], -10426, in[step], 29692));
    out[0] = add32(t, o);
    out[1] = sub32(t, o);
}

static void dequantise(const int16_t *coef, const int16_t *quant, int16_t *values)
{
    for (int i = 0; i < 64; i++) {
        values[i] = (int16_t)(coef[i] * quant[i]);
    }
}

void stk_jpeg_idct_4x4(const int16_t *coef, const int16_t *quant, uint8_t *out, ptrdiff_t stride)
{
    int16_t values[64], mid[32];
    int32_t v[4];
    dequantise(coef, quant, values);
    for (int c = 0; c < 8; c++) {
        four_1d(values + c, 8, v);
        for (int r = 0; r < 4; r++) {
            mid[8 * r + c] = saturate16(descale(v[r], 12));
        }
    }
    if (!has_ac_rows(coef, true)) {
        spread_first_row(coef, quant, mid, 4);
    }
    for (int r = 0; r < 4; r++, out += stride) {
        four_1d(mid + 8 * r, 1, v);
        for (int c = 0; c < 4; c++) {
            out[c] = to_sample(descale(v[c], 19));
        }
    }
}

void stk_jpeg_idct_2x2(const int16_t *coef, const int16_t *quant, uint8_t *out, ptrdiff_t stride)
{
    int16_t values[64], mid[16];
    int32_t v[2];
    dequantise(coef, quant, values);
    for (int c = 0; c < 8; c++) {
        two_1d(values + c, 8, v);
        mid[c] = saturate16(descale(v[0], 13));
        mid[8 + c] = saturate16(descale(v[1], 13));
    }
    for (int r = 0; r < 2; r++, out += stride) {
        two_1d(mid + 8 * r, 1, v);
        out[0] = to_sample(descale(v[0], 20));
        out[1] = to_sample(descale(v[1], 20));
    }
}

void stk_jpeg_idct_1x1(const int16_t *coef, const int16_t *quant, uint8_t *out, ptrdiff_t stride)
{
    (void)stride;
    out[0] = to_sample(descale(coef[0] * quant[0], 3));
}
