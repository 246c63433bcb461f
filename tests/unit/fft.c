// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows beside the sum that defines them, in double: every length to 130, so
// all three ways, and long ones with large prime factors; rows shorter and longer than the length.
// "--speed" prints what lengths cost.
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "check.h"
#include "engine/ops/fft.h"

#if STOKER_HAVE_KISSFFT
enum { LONG = 5003, ROW = 6000 };

static float row[ROW];

static void make_row(void)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < ROW; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        row[i] = (float)(int32_t)(state >> 32) / 2147483648.0f;
    }
}

// How far out is from the defining sum, of the root of the row's energy.
static double distance(const float *out, int64_t length, int64_t width)
{
    double worst = 0, energy = 0;
    int64_t n = width < length ? width : length;
    for (int64_t k = 0; k < length / 2 + 1; k++) {
        double re = 0, im = 0;
        energy = 0;
        for (int64_t j = 0; j < n; j++) {
            double angle = -6.283185307179586 * (double)(j * k % length) / (double)length;
            re += (double)row[j] * cos(angle);
            im += (double)row[j] * sin(angle);
            energy += (double)row[j] * (double)row[j];
        }
        worst = fmax(worst, hypot(re - (double)out[2 * k], im - (double)out[2 * k + 1]));
    }
    return worst / sqrt(energy);
}

static double error_of(int64_t length, int64_t width)
{
    struct stk_fft *f = stk_fft_plan(length);
    void *room = f ? stk_alloc_zero(1, stk_fft_room(f)) : NULL;
    float *out = stk_alloc_zero((size_t)length + 2, sizeof *out);
    double worst = 1;
    CHECK(f && room && out);
    if (f && room && out) {
        memset(room, 0x7f, stk_fft_room(f)); // what lies there must not matter
        stk_fft_row(f, row, width, room, out);
        worst = distance(out, length, width);
    }
    stk_free(out);
    stk_free(room);
    stk_fft_free(f);
    return worst;
}

static void short_lengths(void)
{
    double worst = 0;
    for (int64_t n = 1; n <= 130; n++) {
        const int64_t widths[] = {n, n + 7, n > 3 ? n - 3 : 1, 1};
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            double e = error_of(n, widths[w]);
            CHECK_SAY(e < 2e-6, "length %lld of %lld: %g", (long long)n, (long long)widths[w], e);
            worst = fmax(worst, e);
        }
    }
    printf("short: within %.2g\n", worst);
}

static void large_primes(void)
{
    static const int64_t lengths[] = {211, 422, 1021, 2 * 499, 53 * 59, 4 * 757, LONG};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        double e = error_of(lengths[i], lengths[i]);
        printf("%lld: within %.2g\n", (long long)lengths[i], e);
        CHECK(e < 3e-6);
    }
}

// A prime of a million values was minutes.
static void long_prime(void)
{
    enum { N = 1000003 };
    struct stk_fft *f = stk_fft_plan(N);
    float *values = stk_alloc_zero(N, sizeof *values), *out = stk_alloc_zero(N + 2, sizeof *out);
    void *room = f ? stk_alloc_zero(1, stk_fft_room(f)) : NULL;
    CHECK(f && room && values && out);
    if (f && room && values && out) {
        values[1] = 1; // whose transform is a turn of the circle
        stk_fft_row(f, values, N, room, out);
        double worst = 0;
        for (int64_t k = 0; k < N / 2 + 1; k++) {
            double angle = -6.283185307179586 * (double)k / N;
            worst = fmax(
                worst, hypot(cos(angle) - (double)out[2 * k], sin(angle) - (double)out[2 * k + 1]));
        }
        printf("%d: within %.2g\n", N, worst);
        CHECK(worst < 3e-6);
    }
    stk_free(room);
    stk_free(out);
    stk_free(values);
    stk_fft_free(f);
}

static void speed(void)
{
    static const int64_t lengths[] = {17,   19,   23,   29,   31,   46,   58,   62,  74,
                                      1021, 1024, 1443, 1450, 1334, 4093, 4096, 4300};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct stk_fft *f = stk_fft_plan(lengths[i]);
        void *room = stk_alloc_zero(1, stk_fft_room(f));
        float *out = stk_alloc_zero((size_t)lengths[i] + 2, sizeof *out);
        double best = 1e9;
        for (int r = 0; r < 200; r++) {
            struct timespec a, b;
            clock_gettime(CLOCK_MONOTONIC, &a);
            for (int k = 0; k < 50; k++) {
                stk_fft_row(f, row, lengths[i], room, out);
            }
            clock_gettime(CLOCK_MONOTONIC, &b);
            best = fmin(
                best, ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / 50);
        }
        printf("%6lld values: %9.0f ns, %5.1f ns a value\n", (long long)lengths[i], best,
               best / (double)lengths[i]);
        stk_free(out);
        stk_free(room);
        stk_fft_free(f);
    }
}
#endif

int main(int argc, char **argv)
{
    check_begin(argc, argv);
#if STOKER_HAVE_KISSFFT
    make_row();
    if (argc > 1 && strcmp(argv[1], "--speed") == 0) {
        speed();
        return 0;
    }
    CHECK_RUN(short_lengths);
    CHECK_RUN(large_primes);
    CHECK_RUN(long_prime);
#else
    check_skip("built without kissfft");
#endif
    return check_done("unit.fft");
}
