// SPDX-License-Identifier: Apache-2.0
// Fourier transforms row by row: of long rows, which would not stay in the cache together, and of
// what is left of many.
#include "engine/ops/fft_lanes.h"

void stk_fft_complex_1(const struct stk_fft_complex *f, stk_fft_value *values, stk_fft_value *room)
{
    const C *result = transform(f, (C *)values, (C *)room);
    if (result != (const C *)values) {
        memcpy(values, result, (size_t)f->length * sizeof *values);
    }
}
