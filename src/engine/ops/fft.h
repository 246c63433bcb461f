// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows of real values, of any length in n log n. A plan is for one length. It
// never changes once made, so threads can share it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stk_fft;

// NULL: no memory. length: from 1 to 2^24.
struct stk_fft *stk_fft_plan(int64_t length);
void stk_fft_free(struct stk_fft *f); // NULL is fine
// Bytes of scratch memory that stk_fft_rows needs.
size_t stk_fft_room(const struct stk_fft *f);

struct stk_fft_rows {
    const float *first; // the first row
    int64_t step;       // values from the start of one row to the next; rows may overlap
    int64_t rows;
    int64_t width;       // values of a row; those after `length` are ignored, missing ones are 0
    const float *window; // `width` factors for a row's values; NULL: none
    bool is_absolute;    // each result is one value, its magnitude; else real and imaginary part
    float *out;          // rows of length / 2 + 1 results
};
// room: stk_fft_room bytes. A row's result does not depend on the other rows.
void stk_fft_rows(const struct stk_fft *f, const struct stk_fft_rows *job, void *room);
