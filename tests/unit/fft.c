// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows against the defining sum, in double: every length to 300, so all
// algorithms, and long ones with large prime factors; rows shorter and longer than the length. Then
// several rows at once, in every vector width: the bits equal those of each row alone. "--speed"
// prints what lengths cost.
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cpu.h"
#include "check.h"
#include "engine/ops/fft.h"

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

static void one_row(const struct stk_fft *f, const float *values, int64_t width, void *room,
                    float *out)
{
    struct stk_fft_rows job = {.first = values, .rows = 1, .width = width, .out = out};
    stk_fft_rows(f, &job, room);
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
        one_row(f, row, width, room, out);
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
    for (int64_t n = 1; n <= 300; n++) {
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

enum { ROWS = 37, WIDTH = 200, STEP = 80 };

// Rows that overlap, with a window, together and each alone.
static void together(int64_t length, bool is_absolute, const char *features)
{
    int64_t each = (length / 2 + 1) * (is_absolute ? 1 : 2);
    float window[WIDTH], *all = stk_alloc_zero((size_t)(ROWS * each), sizeof *all),
                         *alone = stk_alloc_zero((size_t)each, sizeof *alone);
    stk_cpu_allow(features);
    struct stk_fft *f = stk_fft_plan(length);
    void *room = f ? stk_alloc_zero(1, stk_fft_room(f)) : NULL;
    for (int i = 0; i < WIDTH; i++) {
        window[i] = 0.5f - 0.5f * cosf(6.2831853f * (float)i / WIDTH);
    }
    struct stk_fft_rows job = {.first = row,
                               .step = STEP,
                               .rows = ROWS,
                               .width = WIDTH,
                               .window = window,
                               .is_absolute = is_absolute,
                               .out = all};
    CHECK(f && room && all && alone);
    if (f && room && all && alone) {
        stk_fft_rows(f, &job, room);
        job.rows = 1;
        job.out = alone;
        for (int i = 0; i < ROWS; i++, job.first += STEP) {
            stk_fft_rows(f, &job, room);
            CHECK_SAY(memcmp(alone, all + i * each, (size_t)each * sizeof *all) == 0,
                      "length %lld, %s: row %d differs", (long long)length, features, i);
        }
    }
    stk_free(room);
    stk_fft_free(f);
    stk_free(alone);
    stk_free(all);
    stk_cpu_allow(NULL);
}

static void rows_together(void)
{
    static const int64_t lengths[] = {1, 2, 7, 16, 60, 200, 211, 255, 256, 422, 1001, 1024};
    static const char *const features[] = {"plain", "avx2", "avx512"};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (size_t k = 0; k < sizeof features / sizeof features[0]; k++) {
            together(lengths[i], false, features[k]);
            together(lengths[i], true, features[k]);
        }
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
        one_row(f, values, N, room, out);
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

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void speed(void)
{
    static const int64_t lengths[] = {64,   200,  256,  400,  480,  512,  1001,
                                      1021, 1024, 1443, 2048, 4093, 4096, 8192};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        int64_t n = lengths[i], rows = 64, each = n + 2;
        struct stk_fft *f = stk_fft_plan(n);
        void *room = stk_alloc_zero(1, stk_fft_room(f));
        float *in = stk_alloc_zero((size_t)(n * rows), sizeof *in),
              *out = stk_alloc_zero((size_t)(each * rows), sizeof *out);
        struct stk_fft_rows job = {.first = in, .step = n, .rows = rows, .width = n, .out = out};
        double best = 1e12;
        for (int r = 0; r < 100; r++) {
            double start = now_ns();
            stk_fft_rows(f, &job, room);
            best = fmin(best, (now_ns() - start) / (double)rows);
        }
        printf("%6lld values: %9.0f ns a row, %5.2f ns a value\n", (long long)n, best,
               best / (double)n);
        stk_free(out);
        stk_free(in);
        stk_free(room);
        stk_fft_free(f);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    make_row();
    if (argc > 1 && strcmp(argv[1], "--speed") == 0) {
        speed();
        return 0;
    }
    CHECK_RUN(short_lengths);
    CHECK_RUN(large_primes);
    CHECK_RUN(rows_together);
    CHECK_RUN(long_prime);
    return check_done("unit.fft");
}
