// SPDX-License-Identifier: Apache-2.0
// Converts a real number to an integer, rounding toward 0. NaN and values that don't fit become
// INT64_MIN, like x86's instruction; C leaves that undefined.
#pragma once

#include <stdint.h>

static inline int64_t stk_whole_of(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}
