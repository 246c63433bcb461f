// SPDX-License-Identifier: Apache-2.0
// Two samples of step times: the ratios of their medians and their means, with intervals from the
// spread of the samples. Deterministic; swapping the samples mirrors the intervals exactly.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stk_center_kind { STK_CENTER_MEDIAN, STK_CENTER_MEAN, STK_CENTER_KINDS };

// One sample. Errors are standard errors of the logarithm of the value.
struct stk_sample {
    size_t count;
    double effective; // independent values: the count, or fewer if neighbors are alike
    int64_t median_ns, mean_ns, p95_ns, min_ns, max_ns; // lower median, nearest rank
    bool has_error;                                     // from two values on
    double error[STK_CENTER_KINDS];
};
// `ns` in order of time, n > 0 values, those below 1 counting as 1; `room` for n values is written.
void stk_sample_measure(const int64_t *ns, size_t n, int64_t *capacity, struct stk_sample *out);
static inline int64_t stk_sample_center(const struct stk_sample *s, enum stk_center_kind kind)
{
    return kind == STK_CENTER_MEDIAN ? s->median_ns : s->mean_ns;
}

// Natural logarithms of B / A.
struct stk_log_ratio {
    double expected;
    bool has_interval;
    double low, high; // 95%
};
struct stk_log_ratio stk_samples_compare(const struct stk_sample *a, const struct stk_sample *b,
                                         enum stk_center_kind kind);

#define STK_SPREAD_OUTSIDE 0.05 // of all intervals
// Degrees of freedom of a difference whose sides have these variances and sizes (Welch,
// Satterthwaite).
double stk_welch_degrees(double var_a, double n_a, double var_b, double n_b);
