// SPDX-License-Identifier: Apache-2.0
// PNG through libpng: tf.io.decode_png and encode_png. Its errors jump back here (setjmp); its
// memory comes from our allocator; chunk sizes and pixels are limited before anything is inflated.
// A damaged file is an error; damaged ancillary chunks are skipped, as in TensorFlow.
#include "base/assert.h"
#include "engine/image/image_codec_impl.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

enum { CHUNK_MOST = 8 << 20, CHUNKS_MOST = 100 };

struct stream {
    png_structp png;
    png_infop info;
    char message[200];
    // reading
    const uint8_t *data;
    size_t size, at;
    struct stk_image_context *c;
    uint32_t channels;
    bool is_16_bit;
    struct stk_image *out; // NULL: headers only
    struct stk_image_shape *shape;
    // writing
    const struct stk_image *in;
    int compression;
    uint8_t *to;
    size_t capacity;
    struct stoker_err *err;
};

static void escape(png_structp png, png_const_charp message)
{
    struct stream *s = png_get_error_ptr(png);
    snprintf(s->message, sizeof s->message, "%s", message);
    png_longjmp(png, 1);
}

static void stay_silent(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    (void)png;
    return stk_alloc(size);
}

static void release(png_structp png, png_voidp p)
{
    (void)png;
    stk_free(p);
}

static void read_bytes(png_structp png, png_bytep to, size_t n)
{
    struct stream *s = png_get_io_ptr(png);
    STK_ASSERT(s->at <= s->size);
    if (n > s->size - s->at) {
        png_error(png, "the data end too early");
    }
    memcpy(to, s->data + s->at, n);
    s->at += n;
}

static uint32_t output_channels(const struct stream *s)
{
    if (s->channels) {
        return s->channels;
    }
    int color = png_get_color_type(s->png, s->info);
    bool has_key = png_get_valid(s->png, s->info, PNG_INFO_tRNS) != 0;
    if (color == PNG_COLOR_TYPE_PALETTE) {
        return has_key ? 4 : 3;
    }
    return (uint32_t)png_get_channels(s->png, s->info);
}

// Tells libpng how to convert the pixels. As in TensorFlow, a palette becomes colors, transparency
// counts only if an alpha channel is requested, and gray is 0.299 R + 0.587 G + 0.114 B.
static void transform(struct stream *s, uint32_t channels)
{
    png_structp png = s->png;
    int color = png_get_color_type(png, s->info), depth = png_get_bit_depth(png, s->info);
    bool has_key = png_get_valid(png, s->info, PNG_INFO_tRNS) != 0;
    bool has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0,
         wants_alpha = channels == 2 || channels == 4;
    if (depth == 16 && !s->is_16_bit) {
        png_set_strip_16(png);
    }
    if (color == PNG_COLOR_TYPE_PALETTE) {
        png_set_palette_to_rgb(png);
    } else if (depth < 8) {
        png_set_expand_gray_1_2_4_to_8(png);
    }
    if (has_key && wants_alpha) {
        png_set_tRNS_to_alpha(png);
    } else if (has_alpha && !wants_alpha) {
        png_set_strip_alpha(png);
    } else if (has_key && color == PNG_COLOR_TYPE_PALETTE) {
        png_set_strip_alpha(png);
    }
    if (wants_alpha && !has_key && !has_alpha) {
        png_set_add_alpha(png, depth == 16 ? 0xffff : 0xff, PNG_FILLER_AFTER);
    }
    bool is_grey = (color & PNG_COLOR_MASK_COLOR) == 0, wants_grey = channels <= 2;
    if (is_grey && !wants_grey) {
        png_set_gray_to_rgb(png);
    }
    if (!is_grey && wants_grey) {
        png_set_rgb_to_gray(png, 1, 0.299, 0.587);
    }
    png_set_interlace_handling(png);
}

// Widens 8 bits in the second half of a row to 16 bits over all of it: 255 becomes 65535.
static void widen_row(uint16_t *row, size_t n)
{
    const uint8_t *bytes = (const uint8_t *)row + n;
    for (size_t i = 0; i < n; i++) {
        row[i] = (uint16_t)(bytes[i] * 257u);
    }
}

static bool is_little(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static enum stoker_status read_pixels(struct stream *s, const struct stk_image_shape *shape)
{
    enum stk_image_type type = s->is_16_bit ? STK_IMAGE_U16 : STK_IMAGE_U8;
    enum stoker_status status = stk_image_claim(s->c, s->out, shape, type, s->err);
    if (status != STOKER_OK) {
        return status;
    }
    transform(s, shape->channels);
    if (s->is_16_bit && png_get_bit_depth(s->png, s->info) == 16 && is_little()) {
        png_set_swap(s->png);
    }
    png_read_update_info(s->png, s->info);
    size_t n = (size_t)shape->width * shape->channels, got = png_get_rowbytes(s->png, s->info);
    bool is_widened = s->is_16_bit && got == n;
    if (got != n * stk_image_type_size(type) && !is_widened) {
        return stk_err_set(s->err, STOKER_EINPUT, "decode_png: %u channels aren't possible",
                           shape->channels);
    }
    uint8_t **rows = stk_image_buffer_reserve(&s->c->rows, shape->height * sizeof *rows);
    if (!rows) {
        return stk_image_no_memory(s->c, shape->height * sizeof *rows, s->err);
    }
    for (uint32_t y = 0; y < shape->height; y++) {
        rows[y] = (uint8_t *)stk_image_row(s->out, y) + (is_widened ? n : 0);
    }
    png_read_image(s->png, rows);
    for (uint32_t y = 0; is_widened && y < shape->height; y++) {
        widen_row(stk_image_row(s->out, y), n);
    }
    png_read_end(s->png, NULL);
    return STOKER_OK;
}

// Don't allocate pixels that the file can't contain: deflate makes at most 1032 bytes of one.
static bool has_too_few_bytes(const struct stream *s, const struct stk_image_shape *shape)
{
    uint64_t row = png_get_rowbytes(s->png, s->info), least = row * shape->height;
    return least / 1032 > s->size;
}

static enum stoker_status read_file(struct stream *s)
{
    png_set_read_fn(s->png, s, read_bytes);
    png_set_user_limits(s->png, STK_IMAGE_MAX_SIDE, STK_IMAGE_MAX_SIDE);
    png_set_chunk_malloc_max(s->png, CHUNK_MOST);
    png_set_chunk_cache_max(s->png, CHUNKS_MOST);
    png_read_info(s->png, s->info);
    struct stk_image_shape shape = {png_get_image_height(s->png, s->info),
                                    png_get_image_width(s->png, s->info), output_channels(s)};
    enum stoker_status status =
        stk_image_check_pixels(s->c, "a PNG", shape.height, shape.width, s->err);
    if (status != STOKER_OK) {
        return status;
    }
    if (s->shape) {
        *s->shape = shape;
    }
    if (s->out && has_too_few_bytes(s, &shape)) {
        return stk_err_set(s->err, STOKER_EINPUT,
                           "a damaged PNG: %zu bytes cannot hold %u x %u pixels", s->size,
                           shape.height, shape.width);
    }
    return s->out ? read_pixels(s, &shape) : STOKER_OK;
}

static enum stoker_status guard_read(struct stream *s)
{
    if (setjmp(png_jmpbuf(s->png))) {
        return stk_err_set(s->err, STOKER_EINPUT, "a damaged PNG, or not a PNG: %s", s->message);
    }
    return read_file(s);
}

static enum stoker_status read_png(struct stream *s)
{
    if (s->channels > 4) {
        return stk_err_set(s->err, STOKER_EUSAGE, "decode_png: channels must be 0 to 4, not %u",
                           s->channels);
    }
    s->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, escape, stay_silent, NULL, allocate,
                                      release);
    s->info = s->png ? png_create_info_struct(s->png) : NULL;
    enum stoker_status status = s->info ? guard_read(s) : stk_err_nomem(s->err);
    png_destroy_read_struct(&s->png, &s->info, NULL);
    return status;
}

enum stoker_status stk_image_decode_png(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, uint32_t channels, bool is_16_bit,
                                        struct stk_image *out, struct stoker_err *err)
{
    struct stream s = {.data = data,
                       .size = size,
                       .c = c,
                       .channels = channels,
                       .is_16_bit = is_16_bit,
                       .out = out,
                       .err = err};
    return read_png(&s);
}

enum stoker_status stk_image_png_shape(struct stk_image_context *c, const uint8_t *data,
                                       size_t size, uint32_t channels,
                                       struct stk_image_shape *shape, struct stoker_err *err)
{
    struct stream s = {
        .data = data, .size = size, .c = c, .channels = channels, .shape = shape, .err = err};
    return read_png(&s);
}

static void write_bytes(png_structp png, png_bytep from, size_t n)
{
    struct stream *s = png_get_io_ptr(png);
    STK_ASSERT(s->at <= s->capacity);
    if (n > s->capacity - s->at) {
        png_error(png, "the file grows larger than it can");
    }
    memcpy(s->to + s->at, from, n);
    s->at += n;
}

static void flush_nothing(png_structp png)
{
    (void)png;
}

static void write_file(struct stream *s)
{
    static const int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                 PNG_COLOR_TYPE_RGB_ALPHA};
    const struct stk_image *in = s->in;
    int depth = in->type == STK_IMAGE_U16 ? 16 : 8;
    png_set_write_fn(s->png, s, write_bytes, flush_nothing);
    png_set_user_limits(s->png, STK_IMAGE_MAX_SIDE, STK_IMAGE_MAX_SIDE);
    png_set_compression_level(s->png, s->compression);
    png_set_IHDR(s->png, s->info, in->width, in->height, depth, colors[in->channels - 1],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(s->png, s->info);
    if (depth == 16 && is_little()) {
        png_set_swap(s->png);
    }
    for (uint32_t y = 0; y < in->height; y++) {
        png_write_row(s->png, stk_image_row(in, y));
    }
    png_write_end(s->png, NULL);
}

static enum stoker_status guard_write(struct stream *s)
{
    if (setjmp(png_jmpbuf(s->png))) {
        return stk_err_set(s->err, STOKER_EOUTPUT, "encode_png: %s", s->message);
    }
    write_file(s);
    return STOKER_OK;
}

enum stoker_status stk_image_encode_png(struct stk_image_context *c, const struct stk_image *in,
                                        int compression, const uint8_t **bytes, size_t *size,
                                        struct stoker_err *err)
{
    struct stream s = {.in = in, .compression = compression, .err = err};
    enum stoker_status status = stk_image_check(in, "encode_png", err);
    if (status != STOKER_OK) {
        return status;
    }
    if (in->type == STK_IMAGE_F32 || in->channels > 4 || compression < -1 || compression > 9) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "encode_png: takes uint8 or uint16 with 1 to 4 channels and compression "
                           "-1 to 9; not %u channels, compression %d",
                           in->channels, compression);
    }
    // Deflate adds at most 5 bytes to 16 KB, libpng 12 to a chunk of 8 KB, a filter byte to a row.
    size_t raw =
        in->height * ((size_t)in->width * in->channels * stk_image_type_size(in->type) + 1);
    s.capacity = raw + raw / 64 + 4096;
    s.to = stk_image_buffer_reserve(&c->encoded, s.capacity);
    if (!s.to) {
        return stk_image_no_memory(c, s.capacity, err);
    }
    s.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &s, escape, stay_silent, NULL,
                                      allocate, release);
    s.info = s.png ? png_create_info_struct(s.png) : NULL;
    status = s.info ? guard_write(&s) : stk_err_nomem(err);
    png_destroy_write_struct(&s.png, &s.info);
    *bytes = s.to;
    *size = s.at;
    return status;
}
