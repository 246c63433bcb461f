// SPDX-License-Identifier: Apache-2.0
// Intervals for the ratio of two medians and of two means.
// Medians: R. M. Price and D. G. Bonett, "Distribution-free confidence intervals for difference and
// ratio of medians", J. Statist. Comput. Simul. 72 (2002) 119-124: the error of a median's
// logarithm is the distance of two order statistics around it, over twice their normal quantile. No
// distribution is assumed, and an outlier has no effect.
// Means: the error of a mean's logarithm is that of the mean over the mean (delta method).
// Both: Student's t replaces the normal quantile, with Welch's degrees of freedom (B. L. Welch,
// Biometrika 34 (1947) 28-35), so that few steps give a wide interval. Steps that resemble their
// neighbors carry less information: the effective count is n (1 - r) / (1 + r) with the lag-one
// autocorrelation r where it is positive (G. V. Bayley, J. M. Hammersley, J. R. Statist. Soc.
// Suppl. 8 (1946) 184-197).
// Limits: the spread within one run doesn't show run-to-run noise (clocks, autotuning, other users
// of the machine).
#include "profile/model/spread.h"

#include <math.h>

#include "base/assert.h"
#include "base/student.h"
#include "profile/model/median.h"

#define EXACT_UP_TO 2000 // values; beyond, the binomial is as good as normal
#define AUTOCORRELATION_FROM 8
#define WIDEST 10.0 // an interval that reaches a factor of e^10 to either side is no information

double stk_welch_degrees(double var_a, double n_a, double var_b, double n_b)
{
    double da = n_a > 1.5 ? n_a - 1 : 0.5, db = n_b > 1.5 ? n_b - 1 : 0.5;
    double below = var_a * var_a / da + var_b * var_b / db;
    return below > 0 ? (var_a + var_b) * (var_a + var_b) / below : da + db;
}

// Normal quantile that belongs to the c-th smallest and c-th largest of n values around the median.
static double order_quantile(size_t n, size_t c)
{
    if (n > EXACT_UP_TO) {
        return ((double)n / 2 - (double)c + 0.5) / (sqrt((double)n) / 2);
    }
    double p = 0;
    for (size_t i = 0; i < c; i++) {
        p += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) -
                 (double)n * log(2));
    }
    return stk_normal_quantile(2 * (p < 0.5 ? p : 0.5));
}

static double median_error(int64_t *sorted, size_t n)
{
    double at = round((double)(n + 1) / 2 - sqrt((double)n));
    size_t c = at < 1 ? 1 : (size_t)at;
    double low = (double)stk_nth_value(sorted, n, c - 1);
    double high = (double)stk_nth_value(sorted, n, n - c);
    return (log(high) - log(low)) / (2 * order_quantile(n, c));
}

static double effective_count(const int64_t *ns, size_t n, double mean)
{
    double var = 0, lag = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)ns[i] - mean;
        var += d * d;
        lag += i ? d * ((double)ns[i - 1] - mean) : 0;
    }
    double r = var > 0 ? lag / var : 0;
    if (n < AUTOCORRELATION_FROM || r <= 0) {
        return (double)n;
    }
    double effective = (double)n * (1 - r) / (1 + r);
    return effective > 2 ? effective : 2;
}

void stk_sample_measure(const int64_t *ns, size_t n, int64_t *capacity, struct stk_sample *out)
{
    STK_ASSERT(n > 0);
    double mean = 0, var = 0;
    __int128 sum = 0;
    *out = (struct stk_sample){.count = n};
    for (size_t i = 0; i < n; i++) {
        capacity[i] = ns[i] > 0 ? ns[i] : 1;
        sum += capacity[i];
    }
    mean = (double)sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        var += ((double)capacity[i] - mean) * ((double)capacity[i] - mean);
    }
    out->mean_ns = (int64_t)(sum / (int64_t)n);
    out->effective = effective_count(ns, n, mean);
    out->median_ns = stk_median_low(capacity, n);
    out->p95_ns = stk_nth_value(capacity, n, (n * 95 + 99) / 100 - 1);
    out->min_ns = stk_nth_value(capacity, n, 0);
    out->max_ns = stk_nth_value(capacity, n, n - 1);
    out->has_error = n >= 2;
    if (n < 2) {
        return;
    }
    out->error[STK_CENTER_MEAN] = sqrt(var / (double)(n - 1) / out->effective) / mean;
    out->error[STK_CENTER_MEDIAN] = median_error(capacity, n) * sqrt((double)n / out->effective);
}

struct stk_log_ratio stk_samples_compare(const struct stk_sample *a, const struct stk_sample *b,
                                         enum stk_center_kind kind)
{
    struct stk_log_ratio out = {.expected = log((double)stk_sample_center(b, kind)) -
                                            log((double)stk_sample_center(a, kind))};
    double var_a = a->error[kind] * a->error[kind], var_b = b->error[kind] * b->error[kind];
    double t = stk_student_quantile(stk_welch_degrees(var_a, a->effective, var_b, b->effective),
                                    STK_SPREAD_OUTSIDE);
    double half = t * sqrt(var_a + var_b);
    out.has_interval = a->has_error && b->has_error && half < WIDEST;
    out.low = out.expected - half;
    out.high = out.expected + half;
    return out;
}
