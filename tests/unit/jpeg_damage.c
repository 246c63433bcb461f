// SPDX-License-Identifier: Apache-2.0
// Damaged JPEGs: cut at every byte, bits flipped, bytes replaced. Never a crash, never a file
// called good that libjpeg warns about, and every file called good has libjpeg's pixels.
#include "jpeg_reference.h"

static struct stk_jpeg *decoder;
static enum stk_jpeg_cpu best;
static unsigned long good, bad, foreign, warned, silent;

// Opens and decodes a copy that ends where its memory ends, so that sanitizers see every byte too
// far.
static enum stk_jpeg_status try_decode(const uint8_t *file, size_t size,
                                       const struct stk_jpeg_options *opt, uint8_t **pixels,
                                       uint32_t *w, uint32_t *h)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, file, size);
    enum stk_jpeg_status status = stk_jpeg_open(decoder, copy, size);
    *pixels = NULL;
    if (status == STK_JPEG_OK) {
        status = stk_jpeg_output_size(decoder, opt, w, h);
    }
    if (status == STK_JPEG_OK) {
        size_t stride = (size_t)*w * 3, need = stk_jpeg_scratch_size(decoder, opt);
        void *scratch = malloc(need);
        *pixels = malloc(stride * *h);
        status = stk_jpeg_decode(decoder, opt, *pixels, stride, scratch, need);
        free(scratch);
    }
    free(copy);
    return status;
}

static void judge(const uint8_t *file, size_t size)
{
    struct stk_jpeg_options whole = {0};
    if (draw(2)) {
        whole = (struct stk_jpeg_options){.scale_denom = 1u << draw(4),
                                          .dct = (enum stk_jpeg_dct)draw(2),
                                          .upsampling = (enum stk_jpeg_upsampling)draw(2)};
    }
    uint8_t *pixels, *again;
    uint32_t w = 0, h = 0;
    decoder->cpu = best;
    enum stk_jpeg_status status = try_decode(file, size, &whole, &pixels, &w, &h);
    decoder->cpu = draw(2) ? STK_JPEG_PLAIN : best ? STK_JPEG_AVX2 : best;
    enum stk_jpeg_status plain = try_decode(file, size, &whole, &again, &w, &h);
    CHECK_EQ(plain, status);
    struct reference ref = decode_reference(file, size, &whole);
    if (status == STK_JPEG_OK) {
        good++;
        CHECK(ref.pixels && ref.warnings == 0);
        size_t bytes = (size_t)w * h * 3;
        CHECK(memcmp(pixels, again, bytes) == 0);
        CHECK(ref.pixels && ref.width == w && ref.height == h &&
              memcmp(pixels, ref.pixels, bytes) == 0);
    } else {
        bad += status != STK_JPEG_NOT_MINE;
        foreign += status == STK_JPEG_NOT_MINE;
        warned += !ref.pixels || ref.warnings > 0;
        silent += status == STK_JPEG_BAD && ref.pixels && ref.warnings == 0;
    }
    free(pixels);
    free(again);
    free(ref.pixels);
}

static void damage(const struct jpeg_recipe *r, unsigned flips)
{
    size_t size;
    uint8_t *file = encode_jpeg(r, &size), *copy = malloc(size + 64);
    judge(file, size);
    for (size_t n = 0; n < size; n++) {
        judge(file, n);
    }
    for (unsigned i = 0; i < flips; i++) {
        memcpy(copy, file, size);
        for (uint32_t k = 0; k <= draw(3); k++) {
            copy[draw((uint32_t)size)] ^= (uint8_t)(1u << draw(8));
        }
        judge(copy, size);
    }
    for (unsigned i = 0; i < flips; i++) { // a run of bytes lost, doubled or replaced
        size_t at = draw((uint32_t)size), n = draw(12);
        n = n < size - at ? n : size - at;
        memcpy(copy, file, at);
        if (i & 1) {
            memcpy(copy + at, file + at + n, size - at - n);
            judge(copy, size - n);
            continue;
        }
        for (size_t k = 0; k < n; k++) {
            copy[at + k] = draw(4) ? (uint8_t)draw(256) : 0xff;
        }
        memcpy(copy + at + n, file + at, size - at);
        judge(copy, size + n);
    }
    free(copy);
    free(file);
}

// Crops and scales of damaged files: no crash, nothing beyond the output.
static void damage_crops(const struct jpeg_recipe *r, unsigned flips)
{
    size_t size;
    uint8_t *file = encode_jpeg(r, &size), *copy = malloc(size);
    for (unsigned i = 0; i < flips; i++) {
        struct stk_jpeg_options opt = {.crop_x = draw(20),
                                       .crop_y = draw(20),
                                       .crop_w = 1 + draw(10),
                                       .crop_h = 1 + draw(10),
                                       .dct = (enum stk_jpeg_dct)draw(2),
                                       .upsampling = (enum stk_jpeg_upsampling)draw(2),
                                       .scale_denom = 1u << draw(3)};
        uint8_t *pixels;
        uint32_t w, h;
        memcpy(copy, file, size);
        copy[draw((uint32_t)size)] = draw(3) ? (uint8_t)draw(256) : 0xff;
        decoder->cpu = i & 1 ? best : STK_JPEG_PLAIN;
        enum stk_jpeg_status status = try_decode(copy, size, &opt, &pixels, &w, &h);
        CHECK(status <= STK_JPEG_USAGE);
        free(pixels);
    }
    free(copy);
    free(file);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    decoder = malloc(sizeof *decoder);
    stk_jpeg_init(decoder);
    best = decoder->cpu;
    for (int i = 0; i < 10; i++) {
        struct jpeg_recipe r = {.width = 33 + 8 * (uint32_t)i,
                                .height = 29,
                                .components = i == 9 ? 1 : 3,
                                .h = 1 + (i & 1),
                                .v = 1 + (i >> 1 & 1),
                                .quality = 40 + 6 * i,
                                .restart = i % 3 ? i : 0,
                                .optimize = i & 1,
                                .noise = 1};
        CHECK_RUN(damage, &r, 2500);
        CHECK_RUN(damage_crops, &r, 500);
    }
    // Most damage must be seen, and some must not be.
    CHECK(bad > good);
    CHECK(good > 100);
    printf(
        "%lu good, %lu bad, %lu not mine; libjpeg gave up or warned on %lu, said nothing on %lu\n",
        good, bad, foreign, warned, silent);
    free(decoder);
    return check_done("unit.jpeg_damage");
}
