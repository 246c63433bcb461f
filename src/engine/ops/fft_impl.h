// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the Fourier transform: the plan, and the transform of a few rows at once,
// in the CPU's vector width.
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
    const stk_fft_value *roots; // `radix` values; for radices without their own code
};

// Complex values to complex values. The length's prime factors are below STK_FFT_RADIX_MAX.
struct stk_fft_complex {
    int64_t length;
    int stages;
    struct stk_fft_stage stage[STK_FFT_STAGES_MAX];
    stk_fft_value *turns; // of all stages, then the roots
};

// Transforms as many rows as there are lanes, from `row` on; rows past job->rows repeat the last
// one and aren't written. All of these give the same bits.
typedef void stk_fft_some_rows(const struct stk_fft *f, const struct stk_fft_rows *job, int64_t row,
                               void *room);
stk_fft_some_rows stk_fft_rows_1, stk_fft_rows_4, stk_fft_rows_8, stk_fft_rows_16;

struct stk_fft {
    int64_t length;
    bool is_even;                  // pairs of values are transformed as complex ones
    int64_t half;                  // complex values to transform: length, or half of it
    struct stk_fft_complex direct; // for `half` values, or for the convolution
    stk_fft_value *chirp;          // `half` values; NULL: no convolution
    stk_fft_value *filter;         // the convolution's, transformed; in the memory of `chirp`
    stk_fft_value *split;          // exp(-2 pi i k / length), up to half / 2; NULL: odd
    int64_t lanes;                 // rows that `some` transforms at once
    stk_fft_some_rows *some;
};

// In place. room: space for as many values.
void stk_fft_complex_1(const struct stk_fft_complex *f, stk_fft_value *values, stk_fft_value *room);
