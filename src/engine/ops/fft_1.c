// SPDX-License-Identifier: Apache-2.0
// Fourier transforms row by row: for long rows, several of which wouldn't fit the cache, and for
// the last few of many.
#include "engine/ops/fft_lanes.h"

void stk_fft_complex_1(const struct stk_fft_complex *f, stk_fft_value *values, stk_fft_value *room)
{
    const C *result = transform(f, (C *)values, (C *)room);
    if (result != (const C *)values) {
        memcpy(values, result, (size_t)f->length * sizeof *values);
    }
}
