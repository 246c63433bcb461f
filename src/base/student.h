// SPDX-License-Identifier: Apache-2.0
// Quantiles of Student's t and of the normal distribution, for intervals.
#pragma once

// The t for which the share `outside`, in (0, 1), is outside -t..t; degrees of freedom are
// rounded down, at least 1.
double stk_student_quantile(double degrees, double outside);
// The same for the normal distribution; `outside` may also be 1.
double stk_normal_quantile(double outside);
