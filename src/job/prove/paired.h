// SPDX-License-Identifier: Apache-2.0
// The ratio of two things' times, from alternating runs. The unit is a pair of runs; its value is
// the logarithm of B's time over A's.
//
// Method: the trimmed mean of the logarithms with the Tukey-McLaughlin interval (Student's t with
// the winsorised deviation; of eight pairs, one is trimmed at each end), widened if neighboring
// pairs are correlated (lag-1 autocorrelation). Looks are allowed only at fixed numbers of pairs,
// and each may stop: the error of 5% is divided among the looks by the squares of the shares of
// pairs seen (Bonferroni), so that all intervals together hold with 95 %.
// Limits: no interval below four pairs; with fewer than eight pairs, very asymmetric logarithms
// give intervals that are too narrow at one end.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { STK_PAIRED_MIN = 4, STK_PAIRED_MAX = 1000, STK_PAIRED_LOOKS = 4 };
#define STK_PAIRED_EQUAL 0.02 // a ratio this close to 1 is no difference
#define STK_PAIRED_ERROR 0.05 // of all looks together

enum stk_paired_verdict {
    STK_PAIRED_FASTER,
    STK_PAIRED_SLOWER,
    STK_PAIRED_NO_DIFFERENCE,
    STK_PAIRED_CANNOT_TELL
};

// The looks for at most `pairs` pairs, from STK_PAIRED_MIN to STK_PAIRED_MAX.
struct stk_paired_plan {
    int count; // looks, up to STK_PAIRED_LOOKS
    int pairs[STK_PAIRED_LOOKS];
    double error[STK_PAIRED_LOOKS]; // share of wrong intervals allowed at that look
};
struct stk_paired_plan stk_paired_plan(int pairs);

// Ratios of B's time over A's.
struct stk_paired {
    double estimate, low, high;
    double correlation; // of neighboring pairs, 0 if negative
    enum stk_paired_verdict verdict;
};
// logs: of `pairs` ratios, in order of time, all finite; at least STK_PAIRED_MIN.
struct stk_paired stk_paired_look(const double *logs, int pairs, double error);

// Marks outliers and returns their number: pairs that differ from the median by more than a tenth
// and by more than five deviations (from the median absolute deviation).
int stk_paired_stalls(const double *logs, int pairs, bool *is_stalled);

double stk_paired_median(double *values, size_t count); // of at least one; sorts them
