// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows, by the way that the length allows:
//   even   as that many real values (kiss_fftr);
//   odd    as complex values;
//   a large prime factor, which costs kissfft its square: as a convolution with a chirp (L.
//   Bluestein,
//          1970). jk = (j^2 + k^2 - (k - j)^2) / 2, so with w(j) = exp(-i pi j^2 / n) the value k
//          is w(k) times the sum over j of x(j) w(j) / w(k - j), and kissfft convolves at a length
//          that suits it.
// Accuracy: of float32, the errors of a row are within about 1e-6 of the root of its energy.
#include "engine/ops/fft.h"

#include <kissfft/kiss_fft.h>
#include <kissfft/kiss_fftr.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

// Prime factors from here on are convolved. A value costs some 1 ns times the largest prime the
// usual way, half of that in even lengths, and 13 to 25 ns as a convolution (tests/unit/fft.c
// --speed).
enum { PRIME_LARGE = 29 };

typedef kiss_fft_cpx cpx;

struct stk_fft {
    int64_t length;
    kiss_fftr_cfg even; // one of these three is not NULL
    kiss_fft_cfg odd;
    kiss_fft_cfg ahead; // of the convolution, with
    kiss_fft_cfg back;
    int64_t wide; // its length
    cpx *chirp;   // w, of each of the length's values
    cpx *filter;  // the transform of 1 / w, divided by wide; after chirp in its memory
};

static bool has_large_prime(int64_t n)
{
    for (int64_t p = 2; p < PRIME_LARGE; p++) {
        while (n % p == 0) {
            n /= p;
        }
    }
    return n > 1;
}

static cpx times(cpx a, cpx b)
{
    return (cpx){a.r * b.r - a.i * b.i, a.r * b.i + a.i * b.r};
}

static int64_t bins_of(const struct stk_fft *f)
{
    return f->length / 2 + 1;
}

// j^2 is taken modulo two turns as a whole number, so that the angle is exact for any length.
static void make_chirp(struct stk_fft *f)
{
    const double pi = 3.14159265358979323846;
    for (int64_t j = 0; j < f->length; j++) {
        double angle = pi * (double)(j * j % (2 * f->length)) / (double)f->length;
        f->chirp[j] = (cpx){(float)cos(angle), (float)-sin(angle)};
    }
}

// 1 / w(d) for d from -(length - 1) to bins - 1, those below 0 at the end; w is symmetric.
static bool make_filter(struct stk_fft *f)
{
    cpx *around = stk_alloc_zero((size_t)f->wide, sizeof *around);
    if (!around) {
        return false;
    }
    float scale = 1 / (float)f->wide;
    for (int64_t d = 0; d < f->length; d++) {
        cpx w = {f->chirp[d].r * scale, -f->chirp[d].i * scale};
        if (d < bins_of(f)) {
            around[d] = w;
        }
        if (d > 0) {
            around[f->wide - d] = w;
        }
    }
    kiss_fft(f->ahead, around, f->filter);
    stk_free(around);
    return true;
}

static bool plan_chirp(struct stk_fft *f)
{
    f->wide = kiss_fft_next_fast_size((int)(f->length + bins_of(f) - 1));
    f->ahead = kiss_fft_alloc((int)f->wide, 0, NULL, NULL);
    f->back = kiss_fft_alloc((int)f->wide, 1, NULL, NULL);
    f->chirp = stk_alloc_zero((size_t)(f->length + f->wide), sizeof *f->chirp);
    if (!f->ahead || !f->back || !f->chirp) {
        return false;
    }
    f->filter = f->chirp + f->length;
    make_chirp(f);
    return make_filter(f);
}

static bool plan(struct stk_fft *f)
{
    if (has_large_prime(f->length)) {
        return plan_chirp(f);
    }
    if (f->length % 2 == 0) {
        f->even = kiss_fftr_alloc((int)f->length, 0, NULL, NULL);
    } else {
        f->odd = kiss_fft_alloc((int)f->length, 0, NULL, NULL);
    }
    return f->even || f->odd;
}

struct stk_fft *stk_fft_plan(int64_t length)
{
    struct stk_fft *f = stk_alloc_zero(1, sizeof *f);
    if (!f) {
        return NULL;
    }
    f->length = length;
    if (!plan(f)) {
        stk_fft_free(f);
        return NULL;
    }
    return f;
}

void stk_fft_free(struct stk_fft *f)
{
    if (!f) {
        return;
    }
    kiss_fftr_free(f->even);
    kiss_fft_free(f->odd);
    kiss_fft_free(f->ahead);
    kiss_fft_free(f->back);
    stk_free(f->chirp);
    stk_free(f);
}

size_t stk_fft_room(const struct stk_fft *f)
{
    return 2 * (size_t)(f->ahead ? f->wide : f->length) * sizeof(cpx);
}

static void row_even(const struct stk_fft *f, const float *row, int64_t width, float *room,
                     cpx *out)
{
    if (width < f->length) {
        memcpy(room, row, (size_t)width * sizeof *row);
        memset(room + width, 0, (size_t)(f->length - width) * sizeof *row);
        row = room;
    }
    kiss_fftr(f->even, row, out);
}

static void row_odd(const struct stk_fft *f, const float *row, int64_t width, cpx *room, cpx *out)
{
    for (int64_t j = 0; j < f->length; j++) {
        room[j] = (cpx){j < width ? row[j] : 0, 0};
    }
    kiss_fft(f->odd, room, room + f->length);
    memcpy(out, room + f->length, (size_t)bins_of(f) * sizeof *out);
}

static void row_chirp(const struct stk_fft *f, const float *row, int64_t width, cpx *room, cpx *out)
{
    cpx *other = room + f->wide;
    int64_t n = width < f->length ? width : f->length;
    memset(room, 0, (size_t)f->wide * sizeof *room);
    for (int64_t j = 0; j < n; j++) {
        room[j] = (cpx){row[j] * f->chirp[j].r, row[j] * f->chirp[j].i};
    }
    kiss_fft(f->ahead, room, other);
    for (int64_t j = 0; j < f->wide; j++) {
        other[j] = times(other[j], f->filter[j]);
    }
    kiss_fft(f->back, other, room);
    for (int64_t k = 0; k < bins_of(f); k++) {
        out[k] = times(room[k], f->chirp[k]);
    }
}

void stk_fft_row(const struct stk_fft *f, const float *row, int64_t width, void *room, float *out)
{
    if (f->even) {
        row_even(f, row, width, room, (cpx *)out);
    } else if (f->odd) {
        row_odd(f, row, width, room, (cpx *)out);
    } else {
        row_chirp(f, row, width, room, (cpx *)out);
    }
}
