// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of sixteen rows at once, with AVX-512.
#include "engine/ops/fft_impl.h"

#if STK_FFT_X86
#include <immintrin.h>

#define LANES 16
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define ROWS stk_fft_rows_16
#define ZIP(a, b, low, high)                                                                       \
    do {                                                                                           \
        low = _mm512_permutex2var_ps(                                                              \
            a, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b);      \
        high = _mm512_permutex2var_ps(                                                             \
            a, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),    \
            b);                                                                                    \
    } while (0)
#include "engine/ops/fft_lanes.h"
#endif
