// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of LANES rows at once: every variable holds the value of one place in all of
// the rows. Included by files that define
//   LANES    rows, a power of two; by default 1, without vectors
//   TARGET   the attribute of functions for this width; may be empty
//   ROWS     the name of the function
//   ZIP(a, b, low, high)  interleaves two vectors
// Method: T. Stockham's passes, which leave the values in order without reversing bits, from one
// buffer to another and back. A pass splits n values into `radix` transforms of n / radix. Passes
// of radix 2 to 5 are written out. Real rows of even length are transformed as half as many complex
// values, and a length with a large prime factor is convolved with a chirp (fft.c).
// Lanes never mix, and products aren't contracted: a row's bits are the same in any width.
#pragma once

#include <math.h>
#include <string.h>

#include "engine/ops/fft_impl.h"

#ifndef LANES
#define LANES 1
#define TARGET
#define ROWS stk_fft_rows_1
#endif

#define ALWAYS static inline __attribute__((always_inline)) TARGET

#if LANES == 1
typedef float V;
#else
typedef float V __attribute__((vector_size(LANES * sizeof(float))));
#endif
typedef struct {
    V r, i;
} C;

ALWAYS C add(C a, C b)
{
    return (C){a.r + b.r, a.i + b.i};
}

ALWAYS C subtract(C a, C b)
{
    return (C){a.r - b.r, a.i - b.i};
}

ALWAYS C turn(C a, stk_fft_value w)
{
    return (C){a.r * w.r - a.i * w.i, a.r * w.i + a.i * w.r};
}

ALWAYS C times_minus_i(C a)
{
    return (C){a.i, -a.r};
}

ALWAYS C scale(C a, float by)
{
    return (C){a.r * by, a.i * by};
}

TARGET static void pass_2(const struct stk_fft_stage *s, int64_t step, const C *x, C *y)
{
    int64_t m = s->rest;
    for (int64_t p = 0; p < m; p++) {
        const C *a = x + step * p, *b = a + step * m;
        C *to = y + step * 2 * p;
        stk_fft_value w = s->turns[p];
        for (int64_t q = 0; q < step; q++) {
            C low = a[q], high = b[q];
            to[q] = add(low, high);
            to[q + step] = turn(subtract(low, high), w);
        }
    }
}

TARGET static void pass_3(const struct stk_fft_stage *s, int64_t step, const C *x, C *y)
{
    const float sine = 0.866025403784438647f;
    int64_t m = s->rest;
    for (int64_t p = 0; p < m; p++) {
        const C *a = x + step * p, *b = a + step * m, *c = b + step * m;
        C *to = y + step * 3 * p;
        const stk_fft_value *w = s->turns + 2 * p;
        for (int64_t q = 0; q < step; q++) {
            C sum = add(b[q], c[q]), difference = scale(subtract(b[q], c[q]), sine);
            C middle = subtract(a[q], scale(sum, 0.5f)), side = times_minus_i(difference);
            to[q] = add(a[q], sum);
            to[q + step] = turn(add(middle, side), w[0]);
            to[q + 2 * step] = turn(subtract(middle, side), w[1]);
        }
    }
}

TARGET static void pass_4(const struct stk_fft_stage *s, int64_t step, const C *x, C *y)
{
    int64_t m = s->rest;
    for (int64_t p = 0; p < m; p++) {
        const C *a = x + step * p, *b = a + step * m, *c = b + step * m, *d = c + step * m;
        C *to = y + step * 4 * p;
        const stk_fft_value *w = s->turns + 3 * p;
        for (int64_t q = 0; q < step; q++) {
            C even = add(a[q], c[q]), odd = add(b[q], d[q]);
            C left = subtract(a[q], c[q]), right = times_minus_i(subtract(b[q], d[q]));
            to[q] = add(even, odd);
            to[q + step] = turn(add(left, right), w[0]);
            to[q + 2 * step] = turn(subtract(even, odd), w[1]);
            to[q + 3 * step] = turn(subtract(left, right), w[2]);
        }
    }
}

TARGET static void pass_5(const struct stk_fft_stage *s, int64_t step, const C *x, C *y)
{
    const float cos_1 = 0.309016994374947424f, cos_2 = -0.809016994374947424f;
    const float sin_1 = 0.951056516295153572f, sin_2 = 0.587785252292473129f;
    int64_t m = s->rest;
    for (int64_t p = 0; p < m; p++) {
        const C *a = x + step * p, *b = a + step * m, *c = b + step * m, *d = c + step * m,
                *e = d + step * m;
        C *to = y + step * 5 * p;
        const stk_fft_value *w = s->turns + 4 * p;
        for (int64_t q = 0; q < step; q++) {
            C outer = add(b[q], e[q]), inner = add(c[q], d[q]);
            C wide = subtract(b[q], e[q]), close = subtract(c[q], d[q]);
            C first = add(a[q], add(scale(outer, cos_1), scale(inner, cos_2)));
            C second = add(a[q], add(scale(outer, cos_2), scale(inner, cos_1)));
            C side_1 = times_minus_i(add(scale(wide, sin_1), scale(close, sin_2)));
            C side_2 = times_minus_i(subtract(scale(wide, sin_2), scale(close, sin_1)));
            to[q] = add(a[q], add(outer, inner));
            to[q + step] = turn(add(first, side_1), w[0]);
            to[q + 2 * step] = turn(add(second, side_2), w[1]);
            to[q + 3 * step] = turn(subtract(second, side_2), w[2]);
            to[q + 4 * step] = turn(subtract(first, side_1), w[3]);
        }
    }
}

// Any radix, by the defining sum.
TARGET static void pass_any(const struct stk_fft_stage *s, int64_t step, const C *x, C *y)
{
    int radix = s->radix;
    int64_t m = s->rest;
    for (int64_t p = 0; p < m; p++) {
        const stk_fft_value *w = s->turns + (radix - 1) * p;
        for (int64_t q = 0; q < step; q++) {
            const C *in = x + step * p + q;
            C *to = y + step * radix * p + q;
            for (int k = 0; k < radix; k++) {
                C sum = in[0];
                for (int j = 1, at = 0; j < radix; j++) {
                    at = at + k < radix ? at + k : at + k - radix;
                    sum = add(sum, turn(in[step * m * j], s->roots[at]));
                }
                to[step * k] = k == 0 ? sum : turn(sum, w[k - 1]);
            }
        }
    }
}

// Transforms the values in x; returns whether the result is in x or y.
TARGET static C *transform(const struct stk_fft_complex *f, C *x, C *y)
{
    int64_t step = 1;
    for (int i = 0; i < f->stages; i++) {
        const struct stk_fft_stage *s = &f->stage[i];
        switch (s->radix) {
        case 2:
            pass_2(s, step, x, y);
            break;
        case 3:
            pass_3(s, step, x, y);
            break;
        case 4:
            pass_4(s, step, x, y);
            break;
        case 5:
            pass_5(s, step, x, y);
            break;
        default:
            pass_any(s, step, x, y);
        }
        step *= s->radix;
        C *swap = x;
        x = y;
        y = swap;
    }
    return x;
}

// Convolves with the chirp: a transform, and back by the conjugate's.
TARGET static C *convolve(const struct stk_fft *f, C *x, C *y)
{
    int64_t wide = f->direct.length;
    for (int64_t j = 0; j < f->half; j++) {
        x[j] = turn(x[j], f->chirp[j]);
    }
    memset(x + f->half, 0, (size_t)(wide - f->half) * sizeof *x);
    C *ahead = transform(&f->direct, x, y), *other = ahead == x ? y : x;
    for (int64_t j = 0; j < wide; j++) {
        C product = turn(ahead[j], f->filter[j]);
        ahead[j] = (C){product.r, -product.i};
    }
    C *back = transform(&f->direct, ahead, other);
    for (int64_t k = 0; k < f->half; k++) {
        back[k] = turn((C){back[k].r, -back[k].i}, f->chirp[k]);
    }
    return back;
}

#if LANES > 1
// LANES vectors of LANES values: rows become columns.
ALWAYS void transpose(V *v)
{
    for (int half = 1; half < LANES; half *= 2) {
        V next[LANES];
        for (int k = 0; k < LANES / 2; k++) {
            ZIP(v[k], v[k + LANES / 2], next[2 * k], next[2 * k + 1]);
        }
        for (int k = 0; k < LANES; k++) {
            v[k] = next[k];
        }
    }
}
#endif

// Loads the rows' values times the window, element by element, with zeros up to the length.
TARGET static void load(const struct stk_fft *f, const struct stk_fft_rows *job, int64_t row, V *x)
{
    int64_t width = job->width < f->length ? job->width : f->length, j = 0;
    const float *from[LANES];
    for (int64_t k = 0; k < LANES; k++) {
        from[k] = job->first + (row + k < job->rows ? row + k : job->rows - 1) * job->step;
    }
#if LANES > 1
    for (; j + LANES <= width; j += LANES) {
        V v[LANES], w;
        for (int k = 0; k < LANES; k++) {
            memcpy(&v[k], from[k] + j, sizeof v[k]);
        }
        if (job->window) {
            memcpy(&w, job->window + j, sizeof w);
            for (int k = 0; k < LANES; k++) {
                v[k] *= w;
            }
        }
        transpose(v);
        memcpy(x + j, v, sizeof v);
    }
#endif
    for (; j < width; j++) {
        float *to = (float *)(x + j), w = job->window ? job->window[j] : 1;
        for (int k = 0; k < LANES; k++) {
            to[k] = from[k][j] * w;
        }
    }
    memset(x + width, 0, (size_t)(f->length - width) * sizeof *x);
}

// The transform of 2 * half real values from that of pairs of them.
TARGET static void split(const struct stk_fft *f, const C *z, C *out)
{
    int64_t half = f->half;
    const V zero = {0};
    out[0] = (C){z[0].r + z[0].i, zero};
    out[half] = (C){z[0].r - z[0].i, zero};
    for (int64_t k = 1; k <= half - k; k++) {
        C a = z[k], b = {z[half - k].r, -z[half - k].i};
        C even = scale(add(a, b), 0.5f);
        C odd = turn(times_minus_i(scale(subtract(a, b), 0.5f)), f->split[k]);
        C mirrored = subtract(even, odd);
        out[k] = add(even, odd);
        out[half - k] = (C){mirrored.r, -mirrored.i};
    }
}

// In place: magnitudes at the front.
TARGET static void to_magnitudes(C *z, int64_t n)
{
    V *to = (V *)z;
    for (int64_t k = 0; k < n; k++) {
        C c = z[k];
        to[k] = c.r * c.r + c.i * c.i;
    }
    float *values = (float *)z;
    for (int64_t k = 0; k < n * LANES; k++) {
        values[k] = sqrtf(values[k]);
    }
}

// Stores n values of each row at their destination.
TARGET static void store(const struct stk_fft_rows *job, int64_t row, const V *v, int64_t n)
{
    int64_t rows = job->rows - row < LANES ? job->rows - row : LANES, j = 0;
    float *to = job->out + row * n;
#if LANES > 1
    for (; j + LANES <= n; j += LANES) {
        V tile[LANES];
        memcpy(tile, v + j, sizeof tile);
        transpose(tile);
        for (int k = 0; k < rows; k++) {
            memcpy(to + k * n + j, &tile[k], sizeof tile[k]);
        }
    }
#endif
    for (; j < n; j++) {
        const float *values = (const float *)(v + j);
        for (int64_t k = 0; k < rows; k++) {
            to[k * n + j] = values[k];
        }
    }
}

TARGET void ROWS(const struct stk_fft *f, const struct stk_fft_rows *job, int64_t row, void *room)
{
    int64_t bins = f->length / 2 + 1;
    int64_t each = (f->direct.length > f->half ? f->direct.length : f->half) + 1;
    C *x = room, *y = x + each;
    if (f->is_even) {
        load(f, job, row, (V *)x);
    } else {
        const V zero = {0};
        V *values = (V *)y;
        load(f, job, row, values);
        for (int64_t j = 0; j < f->length; j++) {
            x[j] = (C){values[j], zero};
        }
    }
    C *z = f->chirp ? convolve(f, x, y) : transform(&f->direct, x, y);
    if (f->is_even) {
        C *other = z == x ? y : x;
        split(f, z, other);
        z = other;
    }
    if (job->is_absolute) {
        to_magnitudes(z, bins);
    }
    store(job, row, (const V *)z, job->is_absolute ? bins : 2 * bins);
}
