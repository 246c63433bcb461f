// SPDX-License-Identifier: Apache-2.0
// Intervals of paired ratios; see paired.h. Trimmed mean: J. Tukey and D. McLaughlin, "Less
// vulnerable confidence and significance procedures for location based on a single sample", Sankhya
// A 25 (1963).
#include "job/prove/paired.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/sort.h"
#include "base/student.h"

#define TRIM 0.125 // of the pairs, at each end

static double middle(const double *sorted, size_t count)
{
    STK_ASSERT(count > 0);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

double stk_paired_median(double *values, size_t count)
{
    STK_ASSERT(count > 0);
    stk_sort_reals(values, count);
    return middle(values, count);
}

struct stk_paired_plan stk_paired_plan(int pairs)
{
    STK_ASSERT(pairs >= STK_PAIRED_MIN && pairs <= STK_PAIRED_MAX);
    static const double parts[STK_PAIRED_LOOKS] = {1. / 3, 1. / 2, 2. / 3, 1};
    struct stk_paired_plan plan = {0};
    double spent = 0;
    for (int i = 0; i < STK_PAIRED_LOOKS; i++) {
        int at = (int)ceil(parts[i] * pairs - 1e-9);
        at = at < STK_PAIRED_MIN ? STK_PAIRED_MIN : at;
        double part = (double)at / pairs, by_then = STK_PAIRED_ERROR * part * part;
        if (plan.count == 0 || at > plan.pairs[plan.count - 1]) {
            plan.pairs[plan.count] = at;
            plan.error[plan.count++] = by_then - spent;
            spent = by_then;
        }
    }
    return plan;
}

static double mean_of(const double *values, int count)
{
    STK_ASSERT(count > 0);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / count;
}

// The correlation of neighbors, at least 0 and at most 0.8, beyond which wider intervals don't
// help. Since the mean is estimated, independent values give -1/count, which is subtracted.
static double correlation_of(const double *values, int count)
{
    double mean = mean_of(values, count), own = 0, with_next = 0;
    for (int i = 0; i < count; i++) {
        own += (values[i] - mean) * (values[i] - mean);
        with_next += i ? (values[i] - mean) * (values[i - 1] - mean) : 0;
    }
    double r = own > 0 ? with_next / own + 1.0 / count : 0;
    return r < 0 ? 0 : r > 0.8 ? 0.8 : r;
}

static double clip(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

static enum stk_paired_verdict judge(double low, double high)
{
    double near = log1p(STK_PAIRED_EQUAL);
    return low > -near && high < near ? STK_PAIRED_NO_DIFFERENCE
           : high < 0                 ? STK_PAIRED_FASTER
           : low > 0                  ? STK_PAIRED_SLOWER
                                      : STK_PAIRED_CANNOT_TELL;
}

struct stk_paired stk_paired_look(const double *logs, int pairs, double error)
{
    STK_ASSERT(pairs >= STK_PAIRED_MIN && pairs <= STK_PAIRED_MAX);
    double sorted[STK_PAIRED_MAX], kept[STK_PAIRED_MAX] = {0};
    int trimmed = (int)(TRIM * pairs), left = pairs - 2 * trimmed;
    memcpy(sorted, logs, (size_t)pairs * sizeof sorted[0]);
    stk_sort_reals(sorted, (size_t)pairs);
    double mean = mean_of(sorted + trimmed, left);
    for (int i = 0; i < pairs; i++) {
        kept[i] = clip(logs[i], sorted[trimmed], sorted[pairs - 1 - trimmed]);
    }
    double around = mean_of(kept, pairs), squares = 0, r = correlation_of(kept, pairs);
    for (int i = 0; i < pairs; i++) {
        squares += (kept[i] - around) * (kept[i] - around);
    }
    double deviation = sqrt(squares / (pairs - 1)) * pairs / left / sqrt(pairs);
    deviation *= sqrt((1 + r) / (1 - r));
    double half = stk_student_quantile(left - 1, error) * deviation;
    return (struct stk_paired){.estimate = exp(mean),
                               .low = exp(mean - half),
                               .high = exp(mean + half),
                               .correlation = r,
                               .verdict = judge(mean - half, mean + half)};
}

int stk_paired_stalls(const double *logs, int pairs, bool *is_stalled)
{
    STK_ASSERT(pairs >= 1 && pairs <= STK_PAIRED_MAX);
    double sorted[STK_PAIRED_MAX];
    int count = 0;
    memcpy(sorted, logs, (size_t)pairs * sizeof sorted[0]);
    stk_sort_reals(sorted, (size_t)pairs);
    double median = middle(sorted, (size_t)pairs);
    for (int i = 0; i < pairs; i++) {
        sorted[i] = fabs(logs[i] - median);
    }
    stk_sort_reals(sorted, (size_t)pairs);
    double deviation = 1.4826 * middle(sorted, (size_t)pairs); // the normal distribution's
    for (int i = 0; i < pairs; i++) {
        double away = fabs(logs[i] - median);
        is_stalled[i] = away > log(1.1) && away > 5 * deviation;
        count += is_stalled[i];
    }
    return count;
}
