// SPDX-License-Identifier: Apache-2.0
// Numbers as text, parsed like TensorFlow: surrounding white space, a sign, decimal digits; floats
// also with exponent, hexadecimal, "inf" and "nan". Floats are rounded correctly.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// `spare`: readable bytes of any content after the n; makes short numbers faster. False: not such a
// number, or out of the integer's range. (Floats out of range are infinite, or 0.)
bool stk_text_i64(const uint8_t *p, size_t n, size_t spare, int64_t *out);
bool stk_text_i32(const uint8_t *p, size_t n, size_t spare, int32_t *out);
bool stk_text_f64(const uint8_t *p, size_t n, size_t spare, double *out);
bool stk_text_f32(const uint8_t *p, size_t n, size_t spare, float *out);
