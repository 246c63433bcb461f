// SPDX-License-Identifier: Apache-2.0
// Steps of an image's recipe, shared by the operation image_recipes (op_image_recipe.c) and what
// does those on levels (op_image_recipe_steps.c).
#pragma once

#include <string.h>

#include "engine/image/image_pillow.h"
#include "engine/ops/op_image.h"

// kind, name, words of arguments
#define STK_RECIPE_STEPS(X)                                                                        \
    X(1, GRAY, 0)                                                                                  \
    X(2, COLOR, 0)                                                                                 \
    X(3, CROP, 4)                                                                                  \
    X(4, RESIZE, 4)                                                                                \
    X(5, TRANSPOSE, 1)                                                                             \
    X(6, BRIGHTNESS, 1)                                                                            \
    X(7, CONTRAST, 1)                                                                              \
    X(8, SATURATION, 1)                                                                            \
    X(9, HUE, 1)                                                                                   \
    X(10, LEVELS, 192)                                                                             \
    X(11, BLUR, 2)                                                                                 \
    X(12, AFFINE, 18)                                                                              \
    X(13, AUTOCONTRAST, 0)                                                                         \
    X(14, EQUALIZE, 0)                                                                             \
    X(15, SHARPNESS, 1)                                                                            \
    X(20, SCALE, 1)                                                                                \
    X(21, NORMALIZE, 6)                                                                            \
    X(22, ERASE, 7)                                                                                \
    X(23, PATCH, 5)
enum {
#define X(kind, name, words) STK_RECIPE_##name = kind,
    STK_RECIPE_STEPS(X)
#undef X
};

enum { STK_RECIPE_COLORS = 3 };

struct stk_recipe_scratch {
    struct stk_op_image_scratch image; // first: the image operations' own functions find it there
    struct stk_image_buffer side[2], work;
};

// An image on its way: the current one, and which of the scratch's sides holds it (-1: neither).
struct stk_recipe_making {
    struct stk_recipe_scratch *s;
    struct stk_image_context *c;
    struct stk_image im;
    int side;
    struct stoker_err *err;
};

static inline float stk_recipe_float(int32_t word)
{
    float f;
    memcpy(&f, &word, sizeof f);
    return f;
}

// How many words of arguments a step has; -1: there is no such step.
int stk_recipe_words(int32_t kind);
enum stoker_status stk_recipe_bad(struct stk_recipe_making *m, const char *what);
// Does a step on levels, of the image as it is. a: its arguments.
enum stoker_status stk_recipe_step(struct stk_recipe_making *m, int32_t kind, const int32_t *a);
