// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of eight rows at once, with AVX2.
#include "engine/ops/fft_impl.h"

#if STK_FFT_X86
#include <immintrin.h>

#define LANES 8
#define TARGET __attribute__((target("avx2")))
#define ROWS stk_fft_rows_8
#define ZIP(a, b, low, high)                                                                       \
    do {                                                                                           \
        __m256 even = _mm256_unpacklo_ps(a, b), odd = _mm256_unpackhi_ps(a, b);                    \
        low = _mm256_permute2f128_ps(even, odd, 0x20);                                             \
        high = _mm256_permute2f128_ps(even, odd, 0x31);                                            \
    } while (0)
#include "engine/ops/fft_lanes.h"
#endif
