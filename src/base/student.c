// SPDX-License-Identifier: Apache-2.0
// Quantiles of Student's t; see student.h. For whole degrees of freedom the distribution has a
// closed form (Abramowitz and Stegun 26.7.3 and 26.7.4), which is inverted by bisection; beyond 200
// degrees the first terms of the Cornish-Fisher expansion are right to 1e-6.
#include "base/student.h"

#include <math.h>

#include "base/assert.h"

#define EXACT_UP_TO 200
#define HALVINGS 140 // bisections of 0 to 1e12

// The share between -t and t.
static double inside(int degrees, double t)
{
    double angle = atan(t / sqrt(degrees)), c = cos(angle), term, sum;
    if (degrees % 2) {
        term = c;
        sum = degrees > 1 ? c : 0;
        for (int k = 3; k <= degrees - 2; k += 2) {
            term *= c * c * (k - 1) / k;
            sum += term;
        }
        return 2 / M_PI * (angle + sin(angle) * sum);
    }
    term = sum = 1;
    for (int k = 2; k <= degrees - 2; k += 2) {
        term *= c * c * (k - 1) / k;
        sum += term;
    }
    return sin(angle) * sum;
}

// degrees 0: the normal distribution
static double invert(int degrees, double outside)
{
    double low = 0, high = 1e12;
    for (int i = 0; i < HALVINGS; i++) {
        double t = (low + high) / 2, share = degrees ? 1 - inside(degrees, t) : erfc(t / sqrt(2));
        *(share > outside ? &low : &high) = t;
    }
    return high;
}

double stk_normal_quantile(double outside)
{
    STK_ASSERT(outside > 0 && outside <= 1);
    return invert(0, outside);
}

double stk_student_quantile(double degrees, double outside)
{
    STK_ASSERT(outside > 0 && outside < 1);
    if (!(degrees >= 2)) {
        return invert(1, outside);
    }
    if (degrees < EXACT_UP_TO + 1) {
        return invert((int)degrees, outside);
    }
    double z = stk_normal_quantile(outside), z3 = z * z * z;
    return z + (z3 + z) / (4 * degrees) +
           (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}
