// SPDX-License-Identifier: Apache-2.0
// What the files of the Fourier transform share: the plan, and the transform of a few rows at once,
// in the width that the processor has.
#pragma once

#include "engine/ops/fft.h"

#if defined(__x86_64__)
#define STK_FFT_X86 1
#else
#define STK_FFT_X86 0
#endif

enum {
    STK_FFT_STAGES_MAX = 24, // 2^24 has 12 of radix 4
    STK_FFT_RADIX_MAX = 32,  // larger primes are convolved
    STK_FFT_ALIGN = 64
};

typedef struct {
    float r, i;
} stk_fft_value;

struct stk_fft_stage {
    int radix;
    int64_t rest;               // the length after this stage
    const stk_fft_value *turns; // (radix - 1) for each of `rest`
    const stk_fft_value *roots; // of radix values; for radices that have no code of their own
};

// Complex values to complex values. The length has prime factors below STK_FFT_RADIX_MAX only.
struct stk_fft_complex {
    int64_t length;
    int stages;
    struct stk_fft_stage stage[STK_FFT_STAGES_MAX];
    stk_fft_value *turns; // of all stages, then the roots
};

// Rows from `row` on, as many as the width has lanes; those from job->rows on repeat the last one
// and are not written. All of these give the same bits.
typedef void stk_fft_some_rows(const struct stk_fft *f, const struct stk_fft_rows *job, int64_t row,
                               void *room);
stk_fft_some_rows stk_fft_rows_1, stk_fft_rows_4, stk_fft_rows_8, stk_fft_rows_16;

struct stk_fft {
    int64_t length;
    bool is_even;                  // pairs of values are transformed as complex ones
    int64_t half;                  // complex values that are transformed: length, or half of it
    struct stk_fft_complex direct; // of `half` values; or of the convolution
    stk_fft_value *chirp;          // of `half` values; NULL: there is no convolution
    stk_fft_value *filter;         // the convolution's, transformed; in the memory of `chirp`
    stk_fft_value *split;          // exp(-2 pi i k / length), up to half / 2; NULL: odd
    int64_t lanes;                 // rows that `some` transforms
    stk_fft_some_rows *some;
};

// In place. room: as many values.
void stk_fft_complex_1(const struct stk_fft_complex *f, stk_fft_value *values, stk_fft_value *room);
