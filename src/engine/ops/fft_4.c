// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of four rows at once, with the vectors that every CPU has.
#define LANES 4
#define TARGET
#define ROWS stk_fft_rows_4
#define ZIP(a, b, low, high)                                                                       \
    do {                                                                                           \
        low = (V){(a)[0], (b)[0], (a)[1], (b)[1]};                                                 \
        high = (V){(a)[2], (b)[2], (a)[3], (b)[3]};                                                \
    } while (0)
#include "engine/ops/fft_lanes.h"
