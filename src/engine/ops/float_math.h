// SPDX-License-Identifier: Apache-2.0
// exp, log, tanh and sigmoid of float32 values, many at a time. The bits are the same on every CPU,
// since they result from IEEE additions, multiplications and divisions in a fixed order. Maximum
// error in units in the last place, checked by tests/unit/float_math.c (over all floats with
// --all): exp 2, log 2, tanh 3, sigmoid 4. Infinities, zeros and NaN are as in C; results below the
// smallest normal float are within one unit of that.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// in and out may be the same.
typedef void stk_float_fn(float *out, const float *in, int64_t n);
stk_float_fn stk_float_exp, stk_float_log, stk_float_tanh, stk_float_sigmoid;
// The same without wider vectors, for tests.
stk_float_fn stk_float_exp_plain, stk_float_log_plain, stk_float_tanh_plain,
    stk_float_sigmoid_plain;
// Cosine and sine of whole turns, each within 2e-7, for turns from -1000 to 1000. Three arrays.
void stk_float_circle(float *cosine, float *sine, const float *turns, int64_t n);
void stk_float_circle_plain(float *restrict cosine, float *restrict sine, const float *turns,
                            int64_t n);
