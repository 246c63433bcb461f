// SPDX-License-Identifier: Apache-2.0
// Chains of arithmetic with constants over rows of floats: several operations such as `x / 255 -
// mean`, merged into one. Each step rounds like the separate operation, so a chain gives the same
// bits.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stk_image_step_kind {
    STK_IMAGE_STEP_ADD,
    STK_IMAGE_STEP_SUBTRACT,      // x - c
    STK_IMAGE_STEP_SUBTRACT_FROM, // c - x
    STK_IMAGE_STEP_MULTIPLY,
    STK_IMAGE_STEP_DIVIDE,   // x / c
    STK_IMAGE_STEP_AT_MOST,  // c if x is greater
    STK_IMAGE_STEP_AT_LEAST, // c if x is less
    STK_IMAGE_STEP_KINDS
};

// Values of a pattern: a multiple of every number of channels it serves and of a vector.
enum { STK_IMAGE_STEPS_MAX = 16, STK_IMAGE_STEP_PATTERN = 48, STK_IMAGE_STEP_CHANNELS = 4 };

struct stk_image_steps {
    int count;
    struct {
        enum stk_image_step_kind kind;
        bool is_divided_by_product; // the reciprocals below are valid
        float value[STK_IMAGE_STEP_PATTERN], reciprocal[STK_IMAGE_STEP_PATTERN];
    } step[STK_IMAGE_STEPS_MAX];
};

// Adds a step with `count` constants (1 to 4); the values' last dimension is `channels` (any, with
// one constant). False: no room.
bool stk_image_steps_add(struct stk_image_steps *s, enum stk_image_step_kind kind,
                         const float *constants, int count);
// Replaces the constant of an existing step; one for all channels.
void stk_image_steps_set(struct stk_image_steps *s, int step, float constant);
// n values, starting with channel 0.
void stk_image_steps_run(const struct stk_image_steps *s, float *values, size_t n);
// Converts bytes to floats.
void stk_image_steps_widen(const uint8_t *bytes, float *values, size_t n);
// The same without vector code.
void stk_image_steps_run_plain(const struct stk_image_steps *s, float *values, size_t n);
