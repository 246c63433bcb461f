// SPDX-License-Identifier: Apache-2.0
// Buffers that a thread keeps from image to image, which count against its run's budget, and checks
// of image descriptions.
#include "engine/image/image.h"

#include "base/alloc.h"
#include "base/cpu.h"
#include "engine/image/jpeg.h"

#define TOUCH_BYTES 4096              // the smallest page size in use
#define ROOM_LEAST ((size_t)32 << 10) // lines of a few thousand pixels

static enum stk_image_cpu find_cpu(void)
{
    if (!stk_cpu_has(STK_CPU_AVX2)) {
        return STK_IMAGE_PLAIN;
    }
    return stk_cpu_has(STK_CPU_AVX512 | STK_CPU_VBMI) ? STK_IMAGE_AVX512 : STK_IMAGE_AVX2;
}

struct stk_image_context *stk_image_context_create(void)
{
    struct stk_image_context *c = stk_alloc_zero(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->jpeg = stk_alloc(sizeof *c->jpeg);
    if (!c->jpeg) {
        stk_free(c);
        return NULL;
    }
    stk_jpeg_init(c->jpeg);
    c->max_pixels = c->jpeg->max_pixels;
    c->max_bytes = UINT64_MAX;
    c->cpu = find_cpu();
    return c;
}

void stk_image_context_destroy(struct stk_image_context *c)
{
    if (!c) {
        return;
    }
    stk_image_context_trim(c);
    stk_pool_drop(c->pool);
    stk_free(c->jpeg);
    stk_free(c);
}

void stk_image_context_charge(struct stk_image_context *c, struct stk_pool *pool)
{
    c->pool = stk_pool_hold(pool);
    c->max_bytes = stk_pool_stats_of(pool).cap_bytes;
    c->pixels.pool = c->scratch.pool = c->axes.pool = c->rows.pool = c->encoded.pool = pool;
}

void stk_image_context_trim(struct stk_image_context *c)
{
    if (c) {
        stk_image_buffer_free(&c->pixels);
        stk_image_buffer_free(&c->scratch);
        stk_image_buffer_free(&c->axes);
        stk_image_buffer_free(&c->rows);
        stk_image_buffer_free(&c->encoded);
    }
}

enum stoker_status stk_image_no_memory(const struct stk_image_context *c, size_t size,
                                       struct stoker_err *err)
{
    if (!c->pool) {
        return stk_err_nomem(err);
    }
    struct stk_pool_stats s = stk_pool_stats_of(c->pool);
    return stk_err_set(
        err, STOKER_ENOMEM, "no memory for %zu bytes of an image (%llu of %llu bytes of %s in use)",
        size, (unsigned long long)s.in_use_bytes, (unsigned long long)s.cap_bytes, s.cap_name);
}

// Touches all pages now; otherwise later, larger images would fault them in one by one.
static void touch(uint8_t *block, size_t size)
{
    for (size_t i = 0; i < size; i += TOUCH_BYTES) {
        ((volatile uint8_t *)block)[i] = 0;
    }
}

// The block starts at most 63 bytes before the returned address; the byte before that address says
// how many.
void *stk_image_buffer_reserve(struct stk_image_buffer *b, size_t size)
{
    if (b->bytes && size <= b->size) {
        return b->bytes;
    }
    stk_image_buffer_free(b);
    if (size > SIZE_MAX / 2 - 128) {
        return NULL;
    }
    size_t capacity = size < ROOM_LEAST ? ROOM_LEAST : size + size / 4 + 64;
    if (b->pool && !stk_pool_claim(b->pool, capacity + 64)) {
        capacity = size;
        if (!stk_pool_claim(b->pool, capacity + 64)) {
            return NULL;
        }
    }
    uint8_t *block = stk_alloc(capacity + 64);
    if (!block) {
        if (b->pool) {
            stk_pool_unclaim(b->pool, capacity + 64);
        }
        return NULL;
    }
    touch(block, capacity + 64);
    size_t shift = 64 - ((uintptr_t)block & 63);
    block[shift - 1] = (uint8_t)shift;
    b->bytes = block + shift;
    b->size = capacity;
    return b->bytes;
}

void stk_image_buffer_free(struct stk_image_buffer *b)
{
    if (b->bytes) {
        uint8_t *bytes = b->bytes;
        stk_free(bytes - bytes[-1]);
        if (b->pool) {
            stk_pool_unclaim(b->pool, b->size + 64);
        }
    }
    b->bytes = NULL;
    b->size = 0;
}

size_t stk_image_type_size(enum stk_image_type type)
{
    return type == STK_IMAGE_F32 ? 4 : type == STK_IMAGE_U16 ? 2 : 1;
}

enum stoker_status stk_image_check(const struct stk_image *im, const char *what,
                                   struct stoker_err *err)
{
    if (im->height == 0 || im->width == 0 || im->channels == 0) {
        return stk_err_set(err, STOKER_EUSAGE, "%s: an image of %u x %u x %u has no pixels", what,
                           im->height, im->width, im->channels);
    }
    if (im->height > STK_IMAGE_MAX_SIDE || im->width > STK_IMAGE_MAX_SIDE ||
        im->channels > STK_IMAGE_MAX_CHANNELS) {
        return stk_err_set(
            err, STOKER_ELIMIT, "%s: %u x %u x %u is more than %d a side or %d channels", what,
            im->height, im->width, im->channels, STK_IMAGE_MAX_SIDE, STK_IMAGE_MAX_CHANNELS);
    }
    if (!im->pixels) {
        return stk_err_set(err, STOKER_EINVAL, "%s: no pixels given", what);
    }
    size_t row = (size_t)im->width * im->channels * stk_image_type_size(im->type);
    if (im->height > 1 && im->stride < row) {
        return stk_err_set(err, STOKER_EINVAL, "%s: rows overlap: %zu bytes apart, %zu long", what,
                           im->stride, row);
    }
    size_t grain = stk_image_type_size(im->type);
    if ((uintptr_t)im->pixels % grain || im->stride % grain) {
        return stk_err_set(err, STOKER_EINVAL, "%s: pixels or rows are not aligned", what);
    }
    return STOKER_OK;
}
