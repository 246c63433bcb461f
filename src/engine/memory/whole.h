// SPDX-License-Identifier: Apache-2.0
// A real number as a whole one, cut toward 0. What does not fit, NaN too, is INT64_MIN, as x86's
// instruction has it; C leaves it open.
#pragma once

#include <stdint.h>

static inline int64_t stk_whole_of(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}
