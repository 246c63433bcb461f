// SPDX-License-Identifier: Apache-2.0
// Images of the input pipeline: definitions shared by this folder. An image is rows of interleaved
// channels (HWC) in memory owned by someone else. A context keeps a thread's buffers from image to
// image, so nothing is allocated once they have grown to the largest image.
//
// Every function is reentrant; a context belongs to one thread at a time. Results follow tf.image
// (TensorFlow 2.21): exactly for integers unless noted, within 1e-3 relative for floats.
#pragma once

#include "base/assert.h"
#include "base/err.h"
#include "engine/memory/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stk_image_type { STK_IMAGE_U8 = 0, STK_IMAGE_U16, STK_IMAGE_F32 };

enum stk_image_cpu { STK_IMAGE_PLAIN = 0, STK_IMAGE_AVX2, STK_IMAGE_AVX512 };

enum { STK_IMAGE_MAX_SIDE = 1 << 20, STK_IMAGE_MAX_CHANNELS = 1024 };

struct stk_image {
    void *pixels; // borrowed
    uint32_t height, width, channels;
    enum stk_image_type type;
    size_t stride; // bytes from row to row
};

struct stk_image_buffer {
    void *bytes;
    size_t size;
    struct stk_pool *pool; // the budget it counts against; NULL: none
};

struct stk_jpeg;

struct stk_image_context {
    uint64_t max_pixels;    // most pixels a decoder may return; set after creation to change it
    uint64_t max_bytes;     // likewise: most bytes of an image decoded into the context's own
                            // memory
    enum stk_image_cpu cpu; // likewise: to force the plain code
    struct stk_jpeg *jpeg;
    struct stk_pool *pool; // of the buffers; NULL: they count against no budget
    struct stk_image_buffer pixels, scratch, axes, rows, encoded;
};

// NULL: out of memory.
struct stk_image_context *stk_image_context_create(void);
void stk_image_context_destroy(struct stk_image_context *c); // takes NULL
// From now on its memory counts against the pool's budget; call it before its first use.
void stk_image_context_charge(struct stk_image_context *c, struct stk_pool *pool);
void stk_image_context_trim(struct stk_image_context *c); // frees its buffers; takes NULL
// STOKER_ENOMEM: so many bytes aren't available.
enum stoker_status stk_image_no_memory(const struct stk_image_context *c, size_t size,
                                       struct stoker_err *err);
// At least `size` bytes, aligned to 64, with undefined content; NULL if unavailable (the old buffer
// is freed then).
void *stk_image_buffer_reserve(struct stk_image_buffer *b, size_t size);
void stk_image_buffer_free(struct stk_image_buffer *b);

size_t stk_image_type_size(enum stk_image_type type);
// Checks that sides and channels are in range, pixels aren't NULL, and rows don't overlap. `what`
// names the image.
enum stoker_status stk_image_check(const struct stk_image *im, const char *what,
                                   struct stoker_err *err);

static inline void *stk_image_row(const struct stk_image *im, uint32_t y)
{
    STK_ASSERT(y < im->height);
    return (uint8_t *)im->pixels + (size_t)y * im->stride;
}
