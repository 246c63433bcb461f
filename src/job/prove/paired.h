// SPDX-License-Identifier: Apache-2.0
// What alternating runs of two things say of the ratio of their times. The unit is a pair of runs;
// what counts of a pair is the logarithm of B's time over A's.
//
// Method: the trimmed mean of the logarithms with the Tukey-McLaughlin interval (Student's t over
// the winsorised deviation; one pair is trimmed from either end for eight of them), widened where
// neighboring pairs resemble each other (lag-1 autocorrelation). One looks at fixed numbers of
// pairs and nowhere else, and may stop at each look: the error of 5% is shared among the looks by
// the squares of the parts of the pairs seen (Bonferroni), so that each interval holds at its look,
// all of them together with 95 %.
// Limits: below four pairs there is no interval; logarithms that are far from symmetric with fewer
// than eight pairs give intervals that are too narrow at one end.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { STK_PAIRED_MIN = 4, STK_PAIRED_MAX = 1000, STK_PAIRED_LOOKS = 4 };
#define STK_PAIRED_EQUAL 0.02 // a ratio this near to 1 makes no difference
#define STK_PAIRED_ERROR 0.05 // of all looks together

enum stk_paired_verdict {
    STK_PAIRED_FASTER,
    STK_PAIRED_SLOWER,
    STK_PAIRED_NO_DIFFERENCE,
    STK_PAIRED_CANNOT_TELL
};

// When to look, of at most `pairs` pairs, from STK_PAIRED_MIN to STK_PAIRED_MAX.
struct stk_paired_plan {
    int count; // looks, up to STK_PAIRED_LOOKS
    int pairs[STK_PAIRED_LOOKS];
    double error[STK_PAIRED_LOOKS]; // share of wrong intervals allowed at that look
};
struct stk_paired_plan stk_paired_plan(int pairs);

// Ratios of B's time over A's.
struct stk_paired {
    double estimate, low, high;
    double correlation; // of neighboring pairs, 0 where it is negative
    enum stk_paired_verdict verdict;
};
// logs: of `pairs` ratios, in the order of time, all finite; at least STK_PAIRED_MIN.
struct stk_paired stk_paired_look(const double *logs, int pairs, double error);

// Pairs that stand apart: more than a tenth, and five deviations (by the median of the absolute
// ones), from the median. Marks them, returns how many.
int stk_paired_stalls(const double *logs, int pairs, bool *is_stalled);

double stk_paired_median(double *values, size_t count); // of at least one; sorts them
