// SPDX-License-Identifier: Apache-2.0
// Intervals of ratios: known quantiles, exact symmetry, outliers, correlated neighbors, and how
// often the interval covers the true value on samples of known distributions.
#include <math.h>

#include "check.h"

#include "profile/model/spread.h"

static uint64_t seed = 88172645463325252u;
static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}
static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

#define MOST 200
static struct stk_sample measured(const int64_t *ns, size_t n)
{
    int64_t capacity[MOST];
    struct stk_sample s;
    stk_sample_measure(ns, n, capacity, &s);
    return s;
}

static void test_degrees(void)
{
    CHECK(fabs(stk_welch_degrees(2, 10, 2, 10) - 18) < 1e-9);
    CHECK(fabs(stk_welch_degrees(1, 5, 0, 50) - 4) < 1e-9);
}

static void test_figures(void)
{
    const int64_t ns[] = {30, 10, 50, 20, 40, 60};
    struct stk_sample s = measured(ns, 6);
    CHECK_EQ(s.median_ns, 30); // lower median
    CHECK_EQ(s.mean_ns, 35);
    CHECK_EQ(s.p95_ns, 60);
    CHECK_EQ(s.min_ns, 10);
    CHECK_EQ(s.max_ns, 60);
    // c = round(3.5 - sqrt(6)) = 1; P(Bin(6, 1/2) < 1) = 1/64, whose upper quantile is 2.1539.
    CHECK(fabs(s.error[STK_CENTER_MEDIAN] - log(6.0) / (2 * 2.1539)) < 1e-4);
    CHECK(fabs(s.error[STK_CENTER_MEAN] - sqrt(350.0 / 6) / 35) < 1e-9);
    struct stk_sample one = measured(ns, 1);
    CHECK(!one.has_error);
    CHECK(!stk_samples_compare(&one, &s, STK_CENTER_MEDIAN).has_interval);
    const int64_t hostile[] = {0, -5, INT64_MAX, INT64_MAX};
    struct stk_sample h = measured(hostile, 4);
    CHECK_EQ(h.min_ns, 1);
    CHECK(!stk_samples_compare(&h, &s, STK_CENTER_MEDIAN).has_interval);
}

static void test_mirror(void)
{
    for (int round = 0; round < 500; round++) {
        int64_t a[MOST], b[MOST];
        size_t n = 1 + (size_t)(uniform() * 30), m = 1 + (size_t)(uniform() * 30);
        for (size_t i = 0; i < n; i++) {
            a[i] = (int64_t)(1e6 * exp(normal()));
        }
        for (size_t i = 0; i < m; i++) {
            b[i] = (int64_t)(1e6 * exp(normal()));
        }
        struct stk_sample sa = measured(a, n), sb = measured(b, m);
        for (int kind = 0; kind < STK_CENTER_KINDS; kind++) {
            struct stk_log_ratio ab = stk_samples_compare(&sa, &sb, (enum stk_center_kind)kind);
            struct stk_log_ratio ba = stk_samples_compare(&sb, &sa, (enum stk_center_kind)kind);
            CHECK(ab.expected == -ba.expected && ab.low == -ba.high && ab.high == -ba.low);
            CHECK(ab.has_interval == ba.has_interval);
            CHECK(ab.low <= ab.expected && ab.expected <= ab.high);
        }
    }
}

// One step of twenty that takes a second moves the mean and widens its interval, and hardly the
// median's.
static void test_outlier(void)
{
    int64_t calm[20], once[20];
    for (int i = 0; i < 20; i++) {
        calm[i] = once[i] = 100000 + (i * 7919) % 2000;
    }
    once[7] = 1000000;
    struct stk_sample a = measured(calm, 20), b = measured(once, 20);
    struct stk_log_ratio median = stk_samples_compare(&a, &b, STK_CENTER_MEDIAN);
    struct stk_log_ratio mean = stk_samples_compare(&a, &b, STK_CENTER_MEAN);
    CHECK(fabs(median.expected) < 0.005 && median.high - median.low < 0.03);
    CHECK(mean.expected > 0.3 && mean.low < 0);
}

static void test_neighbours(void)
{
    int64_t apart[40], alike[40];
    for (int i = 0; i < 40; i++) {
        apart[i] = 100000 + (int64_t)(uniform() * 4000);
        alike[i] = 100000 + i * 100; // a drift
    }
    CHECK(measured(apart, 40).effective > 30);
    CHECK(measured(alike, 40).effective < 6);
}

enum shape { NORMAL, SKEWED, HEAVY, SHAPES };

// Steps whose median is 1 ms: jitter of 5%, a long right tail, heavy tails.
static int64_t draw(enum shape shape)
{
    double x = shape == NORMAL   ? 1 + 0.05 * normal()
               : shape == SKEWED ? exp(0.3 * normal())
                                 : exp(0.05 * normal() / sqrt(uniform()));
    return (int64_t)(1e6 * (x > 0.01 ? x : 0.01));
}

static void test_coverage(void)
{
    static const size_t sizes[] = {4, 6, 10, 25, 100};
    const int rounds = 2000;
    for (int shape = 0; shape < SHAPES; shape++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            int held = 0;
            for (int r = 0; r < rounds; r++) {
                int64_t a[MOST], b[MOST];
                for (size_t i = 0; i < sizes[k]; i++) {
                    a[i] = draw((enum shape)shape);
                    b[i] = 2 * draw((enum shape)shape);
                }
                struct stk_sample sa = measured(a, sizes[k]), sb = measured(b, sizes[k]);
                struct stk_log_ratio c = stk_samples_compare(&sa, &sb, STK_CENTER_MEDIAN);
                held += c.low <= log(2) && log(2) <= c.high;
            }
            if (held < rounds * 0.93) {
                fprintf(stderr, "shape %d, %zu steps: %d of %d\n", shape, sizes[k], held, rounds);
            }
            CHECK(held >= rounds * 0.93);
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_degrees);
    CHECK_RUN(test_figures);
    CHECK_RUN(test_mirror);
    CHECK_RUN(test_outlier);
    CHECK_RUN(test_neighbours);
    CHECK_RUN(test_coverage);
    return check_done("unit.spread");
}
