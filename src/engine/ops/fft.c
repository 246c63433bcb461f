// SPDX-License-Identifier: Apache-2.0
// Plans of Fourier transforms, and the choice of vector width for the rows. The method depends on
// the length:
//   even   pairs of values as half as many complex ones;
//   odd    as complex values;
//   a large prime factor, which would cost its square: as a convolution with a chirp (L. Bluestein,
//          1970). jk = (j^2 + k^2 - (k - j)^2) / 2, so with w(j) = exp(-i pi j^2 / n) the value k
//          is w(k) times the sum over j of x(j) w(j) / w(k - j), at a length that is a product of
//          small factors.
// This is our own code, not a library: input pipelines need small and medium transforms of many
// rows, and several rows in the lanes of a vector are 3 to 6 times as fast as one after another.
// Accuracy in float32: a row's errors are within about 1e-6 of the root of its energy.
#include "engine/ops/fft_impl.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cpu.h"

// Longer transforms (in complex values) run row by row: the lanes' buffers wouldn't fit the L2
// cache.
enum { LANES_LENGTH_MAX = 4096 };

static const double TURN = 6.283185307179586476925;

// exp(-2 pi i k / n). k * n fits into 64 bits.
static stk_fft_value root(int64_t k, int64_t n)
{
    double angle = TURN * (double)(k % n) / (double)n;
    return (stk_fft_value){(float)cos(angle), (float)-sin(angle)};
}

// The radix of the next stage; 0: a prime is too large.
static int next_radix(int64_t n)
{
    if (n % 4 == 0) {
        return 4;
    }
    for (int p = 2; p < STK_FFT_RADIX_MAX; p++) {
        if (n % p == 0) {
            return p;
        }
    }
    return 0;
}

static bool has_large_prime(int64_t n)
{
    while (n > 1) {
        int radix = next_radix(n);
        if (radix == 0) {
            return true;
        }
        n /= radix;
    }
    return false;
}

static int64_t next_small_product(int64_t least)
{
    for (int64_t n = least;; n++) {
        int64_t rest = n;
        for (int p = 2; p <= 5; p++) {
            while (rest % p == 0) {
                rest /= p;
            }
        }
        if (rest == 1) {
            return n;
        }
    }
}

// A stage of n values: (radix - 1) * rest turns, and after them `radix` roots.
static void fill_stage(struct stk_fft_stage *s, int64_t n, stk_fft_value *at)
{
    s->turns = at;
    for (int64_t p = 0; p < s->rest; p++) {
        for (int64_t k = 1; k < s->radix; k++) {
            *at++ = root(p * k, n);
        }
    }
    s->roots = at;
    for (int64_t k = 0; k < s->radix; k++) {
        *at++ = root(k, s->radix);
    }
}

static bool plan_complex(struct stk_fft_complex *f, int64_t length)
{
    int64_t count = 0;
    f->length = length;
    for (int64_t n = length; n > 1; f->stages++) {
        STK_ASSERT(f->stages < STK_FFT_STAGES_MAX);
        struct stk_fft_stage *s = &f->stage[f->stages];
        s->radix = next_radix(n);
        STK_ASSERT(s->radix > 1);
        n /= s->radix;
        s->rest = n;
        count += (s->radix - 1) * s->rest + s->radix;
    }
    f->turns = stk_alloc_zero((size_t)count + 1, sizeof *f->turns);
    int64_t n = length, at = 0;
    for (int i = 0; f->turns && i < f->stages; i++) {
        struct stk_fft_stage *s = &f->stage[i];
        fill_stage(s, n, f->turns + at);
        at += (s->radix - 1) * s->rest + s->radix;
        n = s->rest;
    }
    return f->turns != NULL;
}

// j^2 is reduced modulo two turns as an integer, so the angle is exact for any length.
static void make_chirp(struct stk_fft *f)
{
    for (int64_t j = 0; j < f->half; j++) {
        f->chirp[j] = root(j * j % (2 * f->half), 2 * f->half);
    }
}

// 1 / w(d) for d from -(half - 1) to half - 1, those below 0 at the end; w is symmetric.
static bool make_filter(struct stk_fft *f)
{
    int64_t wide = f->direct.length;
    stk_fft_value *room = stk_alloc_zero((size_t)wide, sizeof *room);
    if (!room) {
        return false;
    }
    float by = 1 / (float)wide;
    for (int64_t d = 0; d < f->half; d++) {
        stk_fft_value w = {f->chirp[d].r * by, -f->chirp[d].i * by};
        f->filter[d] = w;
        if (d > 0) {
            f->filter[wide - d] = w;
        }
    }
    stk_fft_complex_1(&f->direct, f->filter, room);
    stk_free(room);
    return true;
}

static bool plan_chirp(struct stk_fft *f)
{
    int64_t wide = next_small_product(2 * f->half - 1);
    f->chirp = stk_alloc_zero((size_t)(f->half + wide), sizeof *f->chirp);
    if (!f->chirp || !plan_complex(&f->direct, wide)) {
        return false;
    }
    f->filter = f->chirp + f->half;
    make_chirp(f);
    return make_filter(f);
}

static bool plan(struct stk_fft *f)
{
    if (f->is_even) {
        f->split = stk_alloc_zero((size_t)(f->half / 2 + 1), sizeof *f->split);
        for (int64_t k = 0; f->split && k <= f->half / 2; k++) {
            f->split[k] = root(k, f->length);
        }
        if (!f->split) {
            return false;
        }
    }
    return has_large_prime(f->half) ? plan_chirp(f) : plan_complex(&f->direct, f->half);
}

static void choose_lanes(struct stk_fft *f)
{
    f->lanes = 1;
    f->some = stk_fft_rows_1;
    if (f->direct.length > LANES_LENGTH_MAX) {
        return;
    }
    f->lanes = 4;
    f->some = stk_fft_rows_4;
#if STK_FFT_X86
    if (stk_cpu_has(STK_CPU_AVX512)) {
        f->lanes = 16;
        f->some = stk_fft_rows_16;
    } else if (stk_cpu_has(STK_CPU_AVX2)) {
        f->lanes = 8;
        f->some = stk_fft_rows_8;
    }
#endif
}

struct stk_fft *stk_fft_plan(int64_t length)
{
    STK_ASSERT(length >= 1 && length <= 1 << 24);
    struct stk_fft *f = stk_alloc_zero(1, sizeof *f);
    if (!f) {
        return NULL;
    }
    f->length = length;
    f->is_even = length % 2 == 0;
    f->half = f->is_even ? length / 2 : length;
    if (!plan(f)) {
        stk_fft_free(f);
        return NULL;
    }
    choose_lanes(f);
    return f;
}

void stk_fft_free(struct stk_fft *f)
{
    if (!f) {
        return;
    }
    stk_free(f->direct.turns);
    stk_free(f->chirp);
    stk_free(f->split);
    stk_free(f);
}

size_t stk_fft_room(const struct stk_fft *f)
{
    size_t most = (size_t)(f->direct.length > f->half ? f->direct.length : f->half) + 1;
    return 2 * most * sizeof(stk_fft_value) * (size_t)f->lanes + STK_FFT_ALIGN;
}

void stk_fft_rows(const struct stk_fft *f, const struct stk_fft_rows *job, void *room)
{
    enum { FEW = 4 }; // all lanes cost as much as a quarter of their rows one by one
    int64_t row = 0;
    void *aligned =
        (void *)(((uintptr_t)room + STK_FFT_ALIGN - 1) & ~((uintptr_t)STK_FFT_ALIGN - 1));
    STK_ASSERT(job->rows >= 0 && job->width >= 0);
    for (; row < job->rows && (job->rows - row) * FEW > f->lanes; row += f->lanes) {
        f->some(f, job, row, aligned);
    }
    for (; row < job->rows; row++) {
        stk_fft_rows_1(f, job, row, aligned);
    }
}
