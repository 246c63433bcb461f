// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows of real values, of any length in n log n, by kissfft; only where it
// was built with it. A plan is of one length, and is written to while it transforms: each thread
// has its own.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stk_fft;

// NULL: no memory. length: from 1 to 2^24.
struct stk_fft *stk_fft_plan(int64_t length);
void stk_fft_free(struct stk_fft *f); // NULL is fine
// The bytes that a transform writes its way to the result into.
size_t stk_fft_room(const struct stk_fft *f);
// The first width values of a row (the others are 0; width may be more than the length) to
// length / 2 + 1 pairs of real and imaginary part in out. room: stk_fft_room bytes, aligned as any
// object is.
void stk_fft_row(const struct stk_fft *f, const float *row, int64_t width, void *room, float *out);
