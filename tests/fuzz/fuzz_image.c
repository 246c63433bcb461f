// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of the image codecs and of what is done to pixels: the first bytes choose
// options, crop and output; the rest is the file (JPEG by both decoders, PNG, or whatever it says
// it is). What decodes is resized by plain and by vector code, which must agree. With FUZZ_REPLAY a
// program that runs the files given.
#include "fuzz.h"

#include "engine/image/image_codec.h"

enum { MAX_PIXELS = 1 << 14, HEAD = 12 };

static struct stk_image_context *context;
static enum stk_image_cpu best;

static enum stoker_status decode(const uint8_t *head, const uint8_t *data, size_t size,
                                 struct stk_image *out)
{
    struct stk_image_jpeg_options opt = {.channels = (uint32_t)(head[0] & 3),
                                         .ratio = 1u << (head[0] >> 2 & 3),
                                         .is_box_upsampled = head[0] >> 4 & 1,
                                         .is_accurate_dct = head[0] >> 5 & 1,
                                         .is_recovered = head[0] >> 6 & 1,
                                         .missing_fraction = head[0] >> 7 ? 0.5f : 0};
    if (head[1] & 1) {
        opt.crop_y = head[2];
        opt.crop_x = head[3];
        opt.crop_height = head[4];
        opt.crop_width = head[5];
    }
    if (head[1] & 2) {
        return stk_image_decode_png(context, data, size, head[0] % 5, head[1] >> 2 & 1, out, NULL);
    }
    if (head[1] & 8) {
        return stk_image_decode_any(context, data, size, (uint32_t)(head[0] & 3), out, NULL);
    }
    return stk_image_decode_jpeg(context, data, size, &opt, out, NULL);
}

static void *resize(enum stk_image_cpu cpu, const uint8_t *head, const struct stk_image *in,
                    size_t *bytes)
{
    struct stk_image out = {NULL,
                            1u + head[6] % 80,
                            1u + head[7] % 80,
                            in->channels,
                            head[8] & 1 ? STK_IMAGE_F32 : STK_IMAGE_U8,
                            0};
    struct stk_image_resize_options opt = {.method =
                                               (enum stk_image_method)(head[9] % STK_IMAGE_METHODS),
                                           .antialias = head[8] >> 1 & 1,
                                           .is_mirrored = head[8] >> 2 & 1,
                                           .is_planar = head[8] >> 3 & 1};
    size_t row = out.width * stk_image_type_size(out.type);
    out.stride = opt.is_planar ? row : row * out.channels;
    *bytes = row * out.channels * out.height;
    out.pixels = calloc(1, *bytes);
    if (!out.pixels) {
        abort();
    }
    context->cpu = cpu;
    if (stk_image_resize(context, in, &opt, &out, NULL) != STOKER_OK) {
        *bytes = 0;
    }
    return out.pixels;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stk_image im = {0};
    struct stk_image_shape shape;
    if (!context) {
        context = stk_image_context_create();
        if (!context) {
            abort();
        }
        context->max_pixels = MAX_PIXELS;
        best = context->cpu;
    }
    if (size < HEAD) {
        return 0;
    }
    stk_image_any_shape(context, data + HEAD, size - HEAD, data[0] & 3, &shape, NULL);
    if (decode(data, data + HEAD, size - HEAD, &im) != STOKER_OK) {
        return 0;
    }
    size_t a, b;
    void *plain = resize(STK_IMAGE_PLAIN, data, &im, &a), *fast = resize(best, data, &im, &b);
    if (a != b || memcmp(plain, fast, a) != 0) {
        abort();
    }
    free(plain);
    free(fast);
    return 0;
}

FUZZ_MAIN(fuzz_once, 0, stk_image_context_destroy(context))
