// SPDX-License-Identifier: Apache-2.0
// Converts between values and images; shared by the image operations. An image is a value of rank 3
// (height, width, channels), or a stack of rank 4; of uint8, uint16 or float32.
#pragma once

#include "engine/image/image_resize.h"
#include "base/assert.h"
#include "engine/ops/op_util.h"

// Per thread; the scratch of every image operation.
struct stk_op_image_scratch {
    struct stk_image_context *context, *second; // for two images at once
};
static inline void stk_op_image_scratch_end(void *scratch)
{
    struct stk_op_image_scratch *s = scratch;
    stk_image_context_destroy(s->context);
    stk_image_context_destroy(s->second);
}
// Uses the run's budget. NULL: no memory.
static inline struct stk_image_context *stk_op_image_context_new(struct stk_op_run *r)
{
    struct stk_image_context *c = stk_image_context_create();
    if (c) {
        stk_image_context_charge(c, r->pool);
    }
    return c;
}

// Is half of the budget in use? Then image memory isn't kept, and images are processed one at a
// time.
static inline bool stk_op_image_is_tight(const struct stk_op_run *r)
{
    struct stk_pool_stats s = stk_pool_stats_of(r->pool);
    return s.in_use_bytes > s.cap_bytes / 2;
}

// Call it after a block of images.
static inline void stk_op_image_rest(const struct stk_op_run *r)
{
    struct stk_op_image_scratch *s = r->scratch;
    if (stk_op_image_is_tight(r)) {
        stk_image_context_trim(s->context);
        stk_image_context_trim(s->second);
    }
}

// The thread's context. NULL: no memory.
static inline struct stk_image_context *stk_op_image_context(struct stk_op_run *r)
{
    struct stk_op_image_scratch *s = r->scratch;
    if (!s->context) {
        s->context = stk_op_image_context_new(r);
    }
    return s->context;
}

// Two contexts, the first that of stk_op_image_context. If memory is tight the second is NULL.
// False: no memory.
static inline bool stk_op_image_contexts(struct stk_op_run *r, struct stk_image_context *c[2])
{
    struct stk_op_image_scratch *s = r->scratch;
    c[0] = stk_op_image_context(r);
    if (!s->second) {
        s->second = stk_op_image_context_new(r);
    }
    c[1] = s->second;
    bool ok = c[0] && c[1];
    if (ok && stk_op_image_is_tight(r)) {
        stk_image_context_trim(c[1]);
        c[1] = NULL;
    }
    return ok;
}

static inline bool stk_op_image_type(enum stk_dtype t, enum stk_image_type *out)
{
    *out = t == STK_DT_U8 ? STK_IMAGE_U8 : t == STK_DT_U16 ? STK_IMAGE_U16 : STK_IMAGE_F32;
    return t == STK_DT_U8 || t == STK_DT_U16 || t == STK_DT_F32;
}

static inline uint32_t stk_op_image_side(int64_t length)
{
    STK_ASSERT(length >= 0);
    return length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}
// An image of height x width x channels over memory. Lengths beyond 32 bits become the largest
// possible one, which every image function rejects.
static inline struct stk_image stk_op_image_over(void *pixels, int64_t height, int64_t width,
                                                 int64_t channels, enum stk_image_type type)
{
    return (struct stk_image){pixels,
                              stk_op_image_side(height),
                              stk_op_image_side(width),
                              stk_op_image_side(channels),
                              type,
                              (size_t)(width * channels) * stk_image_type_size(type)};
}

// Arguments of one element: taken from their row if given, else from the next input.
struct stk_op_image_args {
    const struct stk_arg_value *args;
    const struct stk_col *const *in; // NULL entries: unknown yet
    int n_in, next;
    int64_t i;
};
bool stk_op_image_ints(struct stk_op_image_args *a, int row, int64_t *values, int count);
bool stk_op_image_float(struct stk_op_image_args *a, int row, double *value);
// The argument row of the resize method; its numbers are those of enum stk_image_method.
#define STK_OP_METHOD_ROW                                                                          \
    STK_ARG("method", TEXT, "interpolation", .fallback_text = "bilinear",                          \
            .choices = "bilinear,nearest,bicubic,area,lanczos3,lanczos5,gaussian,mitchellcubic,"   \
                       "pil_bilinear,v1_bilinear,v1_nearest,v1_bicubic,v1_bilinear_corners,"       \
                       "v1_nearest_corners,v1_bicubic_corners,v1_area_corners")
// Uniform in [low, high) for element i: by its own seed, or the run's if negative.
double stk_op_image_drawn(const struct stk_op_run *r, int64_t seed, int64_t i, double low,
                          double high);
// Turns an image function's error into the element's.
enum stoker_status stk_op_image_failed(struct stk_op_run *r, int64_t i,
                                       const struct stoker_err *why);
