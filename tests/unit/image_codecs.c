// SPDX-License-Identifier: Apache-2.0
// Image files: TensorFlow's pixels for unusual JPEGs and PNGs; our decoder and libjpeg agree on
// files that both support; encoded files are read back; caps hold; damage and lack of memory are
// errors and nothing worse.
#include "engine/image/image_codec_impl.h"

#include "base/alloc.h"
#include "data/image_expected.h"
#include "engine/image/jpeg.h"
#include "image_cases.h"

#define FILE_OF(name) file_##name, sizeof file_##name

static int distance(const struct stk_image *im, const uint8_t *want)
{
    int most = 0;
    for (uint32_t y = 0; y < im->height; y++) {
        for (size_t i = 0; i < (size_t)im->width * im->channels; i++) {
            int d = abs((int)case_get(im, y, i) - (int)*want++);
            most = d > most ? d : most;
        }
    }
    return most;
}

static void test_jpeg_expected(void)
{
    struct stk_image_jpeg_options opt = {.is_accurate_dct = true};
    struct stk_image im = {0};
    struct stk_image_shape shape;
    CHECK_EQ(stk_image_decode_jpeg(context, FILE_OF(progressive), &opt, &im, &err), STOKER_OK);
    CHECK(im.height == 9 && im.width == 11 && im.channels == 3);
    CHECK(distance(&im, pixels_progressive) <= 1);
    CHECK_EQ(stk_image_jpeg_shape(context, FILE_OF(cmyk), &shape, &err), STOKER_OK);
    CHECK_EQ(shape.channels, 4);
    CHECK_EQ(stk_image_any_shape(context, FILE_OF(cmyk), 0, &shape, &err), STOKER_OK);
    CHECK_EQ(shape.channels, 3);
    im = (struct stk_image){0};
    opt.channels = 3;
    CHECK_EQ(stk_image_decode_jpeg(context, FILE_OF(cmyk), &opt, &im, &err), STOKER_OK);
    CHECK(distance(&im, pixels_cmyk) <= 1);
    opt.channels = 2;
    CHECK_EQ(stk_image_decode_jpeg(context, FILE_OF(cmyk), &opt, &im, &err), STOKER_EUSAGE);
    opt = (struct stk_image_jpeg_options){.ratio = 3};
    CHECK_EQ(stk_image_decode_jpeg(context, FILE_OF(cmyk), &opt, &im, &err), STOKER_EUSAGE);
    opt = (struct stk_image_jpeg_options){.crop_x = 5, .crop_width = 7, .crop_height = 1};
    CHECK_EQ(stk_image_decode_jpeg(context, FILE_OF(progressive), &opt, &im, &err), STOKER_EUSAGE);
    // Who asks for no description gets none.
    CHECK_EQ(stk_image_decode_jpeg(context, FILE_OF(progressive), &opt, &im, NULL), STOKER_EUSAGE);
}

static void test_png_expected(void)
{
    struct stk_image im = {0};
    CHECK_EQ(stk_image_decode_png(context, FILE_OF(palette), 0, false, &im, &err), STOKER_OK);
    CHECK(im.channels == 4 && distance(&im, pixels_palette) == 0);
    im = (struct stk_image){0};
    CHECK_EQ(stk_image_decode_png(context, FILE_OF(bilevel), 0, false, &im, &err), STOKER_OK);
    CHECK(im.channels == 1 && distance(&im, pixels_bilevel) == 0);
    im = (struct stk_image){0};
    CHECK_EQ(stk_image_decode_png(context, FILE_OF(deep), 0, true, &im, &err), STOKER_OK);
    CHECK(im.type == STK_IMAGE_U16 && im.channels == 3);
    for (size_t i = 0; i < 60; i++) {
        CHECK_EQ(((uint16_t *)im.pixels)[i], pixels_deep[i]);
    }
    im = (struct stk_image){0};
    CHECK_EQ(stk_image_decode_png(context, FILE_OF(deep), 1, false, &im, &err), STOKER_OK);
    CHECK(distance(&im, pixels_deep_as_grey) == 0);
    CHECK_EQ(stk_image_decode_png(context, FILE_OF(deep), 5, false, &im, &err), STOKER_EUSAGE);
    CHECK_EQ(stk_image_decode_any(context, (const uint8_t *)"GIF89a", 6, 0, &im, &err),
             STOKER_EINPUT);
    CHECK_EQ(stk_image_decode_any(context, (const uint8_t *)"", 0, 0, &im, &err), STOKER_EINPUT);
}

// A BMP of 2 x 2 with blue first, bottom row first; a GIF of one red and one green pixel.
static void test_others(void)
{
    static const uint8_t gif[] = {'G', 'I', 'F', '8', '9', 'a', 2, 0,    1,    0, 0x80, 0,
                                  0,   255, 0,   0,   0,   255, 0, 0x2c, 0,    0, 0,    0,
                                  2,   0,   1,   0,   0,   2,   2, 0x44, 0x0a, 0, 0x3b};
    uint8_t bmp[54 + 16] = {'B',      'M',      [10] = 54, [18] = 2, [22] = 2, [26] = 1, [28] = 24,
                            [54] = 1, [55] = 2, [56] = 3,  [62] = 7, [63] = 8, [64] = 9};
    struct stk_image im = {0};
    CHECK_EQ(stk_image_decode_any(context, bmp, sizeof bmp, 0, &im, &err), STOKER_OK);
    CHECK(im.height == 2 && im.width == 2 && im.channels == 3);
    CHECK(case_get(&im, 0, 0) == 9 && case_get(&im, 0, 2) == 7 && case_get(&im, 1, 0) == 3);
    CHECK_EQ(stk_image_decode_any(context, bmp, sizeof bmp - 1, 0, &im, &err), STOKER_EINPUT);
    CHECK_EQ(stk_image_decode_any(context, bmp, sizeof bmp, 1, &im, &err), STOKER_EINPUT);
    im = (struct stk_image){0};
    CHECK_EQ(stk_image_decode_any(context, gif, sizeof gif, 0, &im, &err), STOKER_OK);
    CHECK(im.height == 1 && im.width == 2 && case_get(&im, 0, 0) == 255);
    CHECK(case_get(&im, 0, 3) == 0 && case_get(&im, 0, 4) == 255);
    for (size_t n = 0; n < sizeof gif - 3; n++) {
        im = (struct stk_image){0};
        CHECK(stk_image_decode_any(context, gif, n, 0, &im, &err) == STOKER_EINPUT);
    }
    CHECK_EQ(stk_image_decode_any(context, gif, sizeof gif, 4, &im, &err), STOKER_EUSAGE);
}

// A GIF of that canvas and frame, which is unpacked from `codes` pairs of a clear and a black
// pixel.
static size_t make_gif(uint8_t *to, uint16_t canvas, uint16_t side, bool is_interlaced,
                       size_t codes)
{
    const uint8_t head[] = {'G',
                            'I',
                            'F',
                            '8',
                            '9',
                            'a',
                            (uint8_t)canvas,
                            (uint8_t)(canvas >> 8),
                            (uint8_t)canvas,
                            (uint8_t)(canvas >> 8),
                            0x80,
                            0,
                            0,
                            9,
                            9,
                            9,
                            0,
                            0,
                            0,
                            0x2c,
                            0,
                            0,
                            0,
                            0,
                            (uint8_t)side,
                            (uint8_t)(side >> 8),
                            (uint8_t)side,
                            (uint8_t)(side >> 8),
                            is_interlaced ? 0x40 : 0,
                            2};
    size_t n = sizeof head, bits = 0;
    memcpy(to, head, sizeof head);
    uint8_t block[240] = {0};
    for (size_t i = 0; i < codes; i++, bits += 6) { // codes of three bits: 4 clears, 0 is a pixel
        block[bits / 8] |= (uint8_t)(4u << bits % 8);
        block[bits / 8 + 1] |= (uint8_t)(bits % 8 > 5 ? 4u >> (8 - bits % 8) : 0);
    }
    size_t size = (bits + 7) / 8;
    to[n++] = (uint8_t)size;
    memcpy(to + n, block, size);
    n += size;
    to[n++] = 0;
    to[n++] = 0x3b;
    return n;
}

// Limits are asked of what is unpacked, not of what is seen of it.
static void test_gif_frames(void)
{
    uint8_t file[300];
    uint64_t most = context->max_pixels;
    context->max_pixels = 100;
    for (int is_interlaced = 0; is_interlaced < 2; is_interlaced++) {
        struct stk_image im = {0};
        size_t n = make_gif(file, 1, 11, is_interlaced, 121);
        CHECK_EQ(stk_image_decode_any(context, file, n, 0, &im, &err), STOKER_ELIMIT);
        CHECK(strstr(err.message, "frame of 11 x 11") != NULL);
        n = make_gif(file, 1, 10, is_interlaced, 100);
        CHECK_EQ(stk_image_decode_any(context, file, n, 0, &im, &err), STOKER_OK);
        CHECK(im.height == 1 && im.width == 1 && case_get(&im, 0, 0) == 9);
        im = (struct stk_image){0};
        n = make_gif(file, 11, 1, is_interlaced, 1);
        CHECK_EQ(stk_image_decode_any(context, file, n, 0, &im, &err), STOKER_ELIMIT);
    }
    // Rows below the canvas are not unpacked: here they are missing.
    struct stk_image im = {0};
    size_t n = make_gif(file, 2, 10, false, 20);
    CHECK_EQ(stk_image_decode_any(context, file, n, 0, &im, &err), STOKER_OK);
    CHECK(im.height == 2 && case_get(&im, 1, 5) == 9);
    n = make_gif(file, 2, 10, false, 18); // the last byte holds one pixel more
    im = (struct stk_image){0};
    CHECK_EQ(stk_image_decode_any(context, file, n, 0, &im, &err), STOKER_EINPUT);
    context->max_pixels = most;
}

static size_t put_chunk(uint8_t *to, const char *name, const void *data, uint32_t size)
{
    const uint8_t head[] = {(uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8),
                            (uint8_t)size};
    memcpy(to, head, 4);
    memcpy(to + 4, name, 4);
    memcpy(to + 8, data, size);
    memset(to + 8 + size, 0, 4); // a wrong checksum: of a chunk that nobody needs it is passed over
    return size + 12;
}

// Frames of an animated PNG are not looked at; pixels that the file cannot hold take no memory.
static void test_png_frames(void)
{
    struct stk_image in = case_picture(5, 7, 3, STK_IMAGE_U8, 1), out = {0};
    const uint8_t *bytes;
    uint8_t file[4000], claims[26] = {0};
    size_t size, head = 33;
    CHECK_EQ(stk_image_encode_png(context, &in, 9, &bytes, &size, &err), STOKER_OK);
    CHECK(size < 3000);
    memset(claims + 4, 0xff, 8);
    memcpy(file, bytes, head);
    size_t n = head + put_chunk(file + head, "fcTL", claims, sizeof claims);
    n += put_chunk(file + n, "fdAT", claims, sizeof claims);
    memcpy(file + n, bytes + head, size - head);
    CHECK_EQ(stk_image_decode_any(context, file, n + size - head, 0, &out, &err), STOKER_OK);
    CHECK(out.height == 5 && out.width == 7 && case_distance(&in, &out) == 0);
    static const uint8_t large[] = {0x89, 'P', 'N', 'G', '\r', '\n', 26, '\n', 0,   0, 0,
                                    13,   'I', 'H', 'D', 'R',  0,    0,  62,   128, 0, 0,
                                    62,   128, 16,  6,   0,    0,    0,  17,   238, 3, 157};
    memcpy(file, large, head);
    memcpy(file + head, bytes + head, size - head);
    size_t before = context->pixels.size;
    out = (struct stk_image){0};
    CHECK_EQ(stk_image_decode_any(context, file, size, 0, &out, &err), STOKER_EINPUT);
    CHECK(strstr(err.message, "cannot hold 16000 x 16000") != NULL);
    CHECK_EQ(context->pixels.size, before);
    free(in.pixels);
}

// Scans of a JPEG times its pixels are bounded.
static void test_jpeg_scans(void)
{
    struct stk_image in = case_picture(40, 40, 1, STK_IMAGE_U8, 1), out = {0};
    struct stk_image_jpeg_encoding e;
    const uint8_t *bytes;
    size_t size, last = 0;
    stk_image_jpeg_defaults(&e);
    e.is_progressive = true;
    CHECK_EQ(stk_image_encode_jpeg(context, &in, &e, &bytes, &size, &err), STOKER_OK);
    for (size_t i = 0; i + 1 < size; i++) {
        last = bytes[i] == 0xff && bytes[i + 1] == 0xda ? i : last;
    }
    size_t scan = size - 2 - last, n = last;
    uint8_t *file = malloc(size + 30 * scan);
    CHECK(last && file);
    if (!file) {
        return;
    }
    memcpy(file, bytes, last);
    for (int k = 0; k < 30; k++, n += scan) {
        memcpy(file + n, bytes + last, scan);
    }
    memcpy(file + n, bytes + size - 2, 2);
    uint64_t most = context->max_pixels;
    CHECK_EQ(stk_image_decode_any(context, file, n + 2, 0, &out, &err), STOKER_OK);
    context->max_pixels = 1600;
    out = (struct stk_image){0};
    CHECK_EQ(stk_image_decode_any(context, file, n + 2, 0, &out, &err), STOKER_EINPUT);
    CHECK(strstr(err.message, "more than 20 scans") != NULL);
    context->max_pixels = most;
    free(file);
    free(in.pixels);
}

// Headers alone: a BMP that holds less than it claims, or claims more than is allowed; a WebP
// file's frame on a canvas of another size, and an animation.
static void test_claims(void)
{
    uint8_t bmp[54 + 16] = {'B', 'M', [10] = 54, [18] = 2, [22] = 2, [26] = 1, [28] = 24};
    uint8_t webp[] = {'R',  'I',  'F', 'F', 44,  0,   0,   0,   'W', 'E', 'B', 'P', 'V',
                      'P',  '8',  'X', 10,  0,   0,   0,   0,   0,   0,   0,   0,   0,
                      0,    0,    0,   0,   'V', 'P', '8', 'L', 14,  0,   0,   0,   47,
                      0xc7, 0xc0, 49,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0};
    struct stk_image im = {0};
    uint64_t most = context->max_pixels;
    context->max_pixels = 3;
    CHECK_EQ(stk_image_decode_any(context, bmp, sizeof bmp, 0, &im, &err), STOKER_ELIMIT);
    context->max_pixels = most;
    bmp[20] = bmp[24] = 1; // 65538 x 65538
    CHECK_EQ(stk_image_decode_any(context, bmp, sizeof bmp, 0, &im, &err), STOKER_EINPUT);
    CHECK_EQ(stk_image_decode_any(context, webp, sizeof webp, 0, &im, &err), STOKER_EINPUT);
    webp[20] = 2; // an animation
    CHECK_EQ(stk_image_decode_any(context, webp, sizeof webp, 0, &im, &err), STOKER_EINPUT);
    memmove(webp + 12, webp + 30, sizeof webp - 30); // the frame alone: 200 x 200
    webp[4] = (uint8_t)(sizeof webp - 18 - 8);
    context->max_pixels = 39999;
    enum stoker_status status = stk_image_decode_any(context, webp, sizeof webp - 18, 0, &im, &err);
    CHECK(status == STOKER_ELIMIT || strstr(err.message, "no libwebp"));
    context->max_pixels = most;
}

// A file of our own making, copied out of the context.
static uint8_t *encode(const struct stk_image *in, bool is_png, bool is_progressive, size_t *size)
{
    struct stk_image_jpeg_encoding e;
    const uint8_t *bytes = NULL;
    stk_image_jpeg_defaults(&e);
    e.is_progressive = is_progressive;
    e.is_chroma_full = case_draw(2);
    e.is_optimized = case_draw(2);
    enum stoker_status status =
        is_png ? stk_image_encode_png(context, in, (int)case_draw(11) - 1, &bytes, size, &err)
               : stk_image_encode_jpeg(context, in, &e, &bytes, size, &err);
    CHECK_EQ(status, STOKER_OK);
    uint8_t *copy = malloc(*size);
    if (!copy) {
        exit(1);
    }
    memcpy(copy, bytes, *size);
    return copy;
}

static void test_png_round(void)
{
    for (int i = 0; i < 40; i++) {
        enum stk_image_type type = case_draw(2) ? STK_IMAGE_U16 : STK_IMAGE_U8;
        struct stk_image in = case_noise(1 + case_draw(40), 1 + case_draw(40), 1 + case_draw(4),
                                         type, 4),
                         out = {0};
        size_t size;
        uint8_t *file = encode(&in, true, false, &size);
        CHECK_EQ(stk_image_decode_png(context, file, size, 0, type == STK_IMAGE_U16, &out, &err),
                 STOKER_OK);
        CHECK(out.channels == in.channels && case_distance(&in, &out) == 0);
        free(file);
        free(in.pixels);
    }
}

// The same file through our decoder and through libjpeg, whole and as crops.
static void test_jpeg_same(void)
{
    for (int i = 0; i < 80; i++) {
        uint32_t h = 1 + case_draw(90), w = 1 + case_draw(90);
        struct stk_image in = case_picture(h, w, case_draw(3) ? 3 : 1, STK_IMAGE_U8, 0.5);
        size_t size;
        uint8_t *file = encode(&in, false, false, &size);
        struct stk_image_jpeg_options opt = {.channels = case_draw(2) ? 3 : 0,
                                             .ratio = 1u << case_draw(4),
                                             .is_box_upsampled = case_draw(2),
                                             .is_accurate_dct = case_draw(2)};
        uint32_t out_h = (h + opt.ratio - 1) / opt.ratio, out_w = (w + opt.ratio - 1) / opt.ratio;
        if (case_draw(2)) {
            opt.crop_y = case_draw(out_h);
            opt.crop_x = case_draw(out_w);
            opt.crop_height = 1 + case_draw(out_h - opt.crop_y);
            opt.crop_width = 1 + case_draw(out_w - opt.crop_x);
            out_h = opt.crop_height;
            out_w = opt.crop_width;
        }
        uint32_t channels = opt.channels ? opt.channels : in.channels;
        struct stk_image a = case_image(out_h, out_w, channels, STK_IMAGE_U8, 5);
        struct stk_image b = case_image(out_h, out_w, channels, STK_IMAGE_U8, 5);
        CHECK_EQ(stk_image_decode_jpeg(context, file, size, &opt, &a, &err), STOKER_OK);
        CHECK_EQ(stk_image_libjpeg_decode(context, file, size, &opt, &b, &err), STOKER_OK);
        CHECK(case_distance(&a, &b) == 0 && case_is_gap_kept(&a) && case_is_gap_kept(&b));
        free(file);
        free(in.pixels);
        free(a.pixels);
        free(b.pixels);
    }
}

static void test_caps(void)
{
    struct stk_image in = case_picture(60, 50, 3, STK_IMAGE_U8, 1), out = {0};
    for (int kind = 0; kind < 3; kind++) {
        size_t size;
        uint8_t *file = encode(&in, kind == 2, kind == 1, &size);
        struct stk_image_shape shape;
        uint64_t most = context->max_pixels;
        context->max_pixels = 2999;
        CHECK_EQ(stk_image_decode_any(context, file, size, 0, &out, &err), STOKER_ELIMIT);
        CHECK_EQ(stk_image_any_shape(context, file, size, 0, &shape, &err), STOKER_ELIMIT);
        context->max_pixels = 3000;
        CHECK_EQ(stk_image_any_shape(context, file, size, 0, &shape, &err), STOKER_OK);
        CHECK(shape.height == 60 && shape.width == 50 && shape.channels == 3);
        struct stk_image small = case_image(60, 49, 3, STK_IMAGE_U8, 0);
        CHECK_EQ(stk_image_decode_any(context, file, size, 0, &small, &err), STOKER_EUSAGE);
        free(small.pixels);
        context->max_pixels = most;
        free(file);
    }
    free(in.pixels);
}

// Bytes changed and ends cut off: any answer will do, as long as it is one.
static void test_damage(void)
{
    struct stk_image in = case_picture(40, 50, 3, STK_IMAGE_U8, 0.6);
    unsigned long good = 0, bad = 0;
    for (int kind = 0; kind < 3; kind++) {
        size_t size;
        uint8_t *file = encode(&in, kind == 2, kind == 1, &size), *copy = malloc(size);
        if (!copy) {
            exit(1);
        }
        for (int i = 0; i < 2000; i++) {
            struct stk_image out = {0};
            size_t n = case_draw(4) ? size : case_draw((uint32_t)size);
            memcpy(copy, file, size);
            for (uint32_t k = case_draw(4); k > 0; k--) {
                copy[case_draw((uint32_t)size)] = (uint8_t)case_draw(256);
            }
            struct stk_image_jpeg_options opt = {.is_recovered = case_draw(2),
                                                 .missing_fraction = (float)case_draw(2) / 2};
            enum stoker_status status =
                kind == 2
                    ? stk_image_decode_png(context, copy, n, case_draw(5), case_draw(2), &out, &err)
                    : stk_image_decode_jpeg(context, copy, n, &opt, &out, &err);
            good += status == STOKER_OK;
            bad += status != STOKER_OK;
            CHECK(status == STOKER_OK || status == STOKER_EINPUT || status == STOKER_ELIMIT);
        }
        free(copy);
        free(file);
    }
    printf("damaged files: %lu decoded, %lu refused\n", good, bad);
    CHECK(good > 100 && bad > 100);
    free(in.pixels);
}

// A cut file: an error by default, gray with recovery, black with a fraction.
static void test_cut(void)
{
    struct stk_image in = case_picture(64, 64, 3, STK_IMAGE_U8, 0.6), out = {0};
    size_t size;
    uint8_t *file = encode(&in, false, false, &size);
    struct stk_image_jpeg_options opt = {0};
    CHECK_EQ(stk_image_decode_jpeg(context, file, size * 3 / 4, &opt, &out, &err), STOKER_EINPUT);
    opt.missing_fraction = 0.8f;
    CHECK_EQ(stk_image_decode_jpeg(context, file, size * 3 / 4, &opt, &out, &err), STOKER_OK);
    CHECK(case_get(&out, 63, 5) == 0);
    opt.missing_fraction = 0.01f;
    out.pixels = NULL;
    CHECK_EQ(stk_image_decode_jpeg(context, file, size * 3 / 4, &opt, &out, &err), STOKER_EINPUT);
    opt = (struct stk_image_jpeg_options){.is_recovered = true};
    out.pixels = NULL;
    CHECK_EQ(stk_image_decode_jpeg(context, file, size * 3 / 4, &opt, &out, &err), STOKER_OK);
    CHECK(case_get(&out, 63, 5) > 0);
    free(file);
    free(in.pixels);
}

static void test_no_memory(void)
{
    struct stk_image in = case_picture(20, 20, 3, STK_IMAGE_U8, 1);
    for (int kind = 0; kind < 3; kind++) {
        size_t size;
        uint8_t *file = encode(&in, kind == 2, kind == 1, &size);
        bool is_done = false;
        for (uint64_t n = 1; !is_done && n < 100; n++) {
            struct stk_image out = {0};
            const uint8_t *bytes;
            size_t length;
            stk_alloc_fail_at(n, 0);
            struct stk_image_context *c = stk_image_context_create();
            enum stoker_status status = STOKER_ENOMEM;
            if (c) {
                status = stk_image_decode_any(c, file, size, 0, &out, &err);
            }
            if (status == STOKER_OK) {
                status = stk_image_encode_png(c, &in, -1, &bytes, &length, &err);
            }
            stk_alloc_fail_at(0, 0);
            is_done = status == STOKER_OK;
            stk_image_context_destroy(c);
        }
        CHECK(is_done);
        free(file);
    }
    free(in.pixels);
}

static void test_encoders(void)
{
    struct stk_image in = case_picture(8, 8, 4, STK_IMAGE_U8, 1);
    struct stk_image_jpeg_encoding e;
    const uint8_t *bytes;
    size_t size;
    stk_image_jpeg_defaults(&e);
    CHECK_EQ(stk_image_encode_jpeg(context, &in, &e, &bytes, &size, &err), STOKER_EUSAGE);
    in.channels = 3;
    e.xmp = (const uint8_t *)"<x/>";
    e.xmp_size = 4;
    e.is_density_in_cm = true;
    CHECK_EQ(stk_image_encode_jpeg(context, &in, &e, &bytes, &size, &err), STOKER_OK);
    CHECK(memmem(bytes, size, "http://ns.adobe.com/xap/1.0/\0<x/>", 33) != NULL);
    CHECK(size > 20 && bytes[13] == 2 && bytes[14] == 1 && bytes[15] == 44); // 300 a centimetre
    e.quality = 101;
    CHECK_EQ(stk_image_encode_jpeg(context, &in, &e, &bytes, &size, &err), STOKER_EUSAGE);
    CHECK_EQ(stk_image_encode_png(context, &in, 10, &bytes, &size, &err), STOKER_EUSAGE);
    // White noise at the best quality is as large as a JPEG gets.
    struct stk_image noise = case_noise(33, 47, 3, STK_IMAGE_U8, 0);
    for (int i = 0; i < 33 * 47 * 3; i++) {
        ((uint8_t *)noise.pixels)[i] = (uint8_t)(255 * case_draw(2));
    }
    stk_image_jpeg_defaults(&e);
    e.quality = 100;
    e.is_chroma_full = true;
    CHECK_EQ(stk_image_encode_jpeg(context, &noise, &e, &bytes, &size, &err), STOKER_OK);
    free(in.pixels);
    free(noise.pixels);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    context = stk_image_context_create();
    CHECK(context != NULL);
    if (!context) {
        return check_done("unit.image_codecs");
    }
    CHECK_RUN(test_jpeg_expected);
    CHECK_RUN(test_png_expected);
    CHECK_RUN(test_others);
    CHECK_RUN(test_gif_frames);
    CHECK_RUN(test_png_frames);
    CHECK_RUN(test_jpeg_scans);
    CHECK_RUN(test_claims);
    CHECK_RUN(test_png_round);
    CHECK_RUN(test_jpeg_same);
    CHECK_RUN(test_caps);
    CHECK_RUN(test_damage);
    CHECK_RUN(test_cut);
    CHECK_RUN(test_no_memory);
    CHECK_RUN(test_encoders);
    stk_image_context_destroy(context);
    return check_done("unit.image_codecs");
}
