// SPDX-License-Identifier: Apache-2.0
// The JPEG decoder against libjpeg-turbo, pixel by pixel: sampling, qualities, sizes, restart
// markers, tables, scales, crops, both DCTs, both upsamplings, with and without vector code.
#include "jpeg_reference.h"

#include "base/alloc.h"

enum { CANARY = 0xa5 };

static struct stk_jpeg *decoder;
static void *scratch;
static size_t scratch_size;
static enum stk_jpeg_cpu best;

static void reserve(size_t need)
{
    if (need <= scratch_size) {
        return;
    }
    free(scratch);
    scratch = malloc(need);
    scratch_size = need;
}

static bool equals_crop(const struct reference *ref, const struct stk_jpeg_options *opt,
                        const uint8_t *out, size_t stride, uint32_t w, uint32_t h)
{
    size_t channels = opt->output == STK_JPEG_GREY ? 1 : 3;
    for (uint32_t y = 0; y < h; y++) {
        const uint8_t *want =
            ref->pixels + ((size_t)(opt->crop_y + y) * ref->width + opt->crop_x) * channels;
        const uint8_t *got = out + y * stride;
        if (memcmp(want, got, w * channels) != 0) {
            size_t i = 0;
            while (want[i] == got[i]) {
                i++;
            }
            fprintf(stderr, "row %u, byte %zu: %d, wanted %d\n", y, i, got[i], want[i]);
            return false;
        }
        for (size_t i = w * channels; i < stride; i++) {
            if (got[i] != CANARY) {
                return false;
            }
        }
    }
    return true;
}

static void describe(const struct jpeg_recipe *r, const struct stk_jpeg_options *o)
{
    fprintf(
        stderr,
        "  %ux%u, %d components %dx%d, quality %d, restart %d, optimised %d, wide %d, noise %d; "
        "crop %u,%u %ux%u scale 1/%u output %d dct %d upsampling %d cpu %d\n",
        r->width, r->height, r->components, r->h, r->v, r->quality, r->restart, r->optimize,
        r->wide_quant, r->noise, o->crop_x, o->crop_y, o->crop_w, o->crop_h, o->scale_denom,
        o->output, o->dct, o->upsampling, decoder->cpu);
}

// One decode compared with the crop of the reference. Nothing may be allocated.
static bool matches(const struct jpeg_recipe *r, const uint8_t *file, size_t size,
                    const struct stk_jpeg_options *opt, const struct reference *ref)
{
    uint32_t w = 0, h = 0;
    if (stk_jpeg_open(decoder, file, size) != STK_JPEG_OK ||
        stk_jpeg_output_size(decoder, opt, &w, &h) != STK_JPEG_OK) {
        fprintf(stderr, "%s\n", decoder->reason);
        describe(r, opt);
        return false;
    }
    size_t stride = w * (opt->output == STK_JPEG_GREY ? 1u : 3u) + draw(5);
    uint8_t *out = malloc(stride * h);
    memset(out, CANARY, stride * h);
    size_t need = stk_jpeg_scratch_size(decoder, opt);
    reserve(need);
    uint64_t allocations = stk_alloc_count();
    enum stk_jpeg_status status = stk_jpeg_decode(decoder, opt, out, stride, scratch, need);
    bool ok = status == STK_JPEG_OK && stk_alloc_count() == allocations &&
              equals_crop(ref, opt, out, stride, w, h);
    if (!ok) {
        fprintf(stderr, "status %d %s\n", status, decoder->reason);
        describe(r, opt);
    }
    free(out);
    return ok;
}

// The image with the given options: whole, and as random crops, plain and with vectors.
static void compare(const struct jpeg_recipe *r, const uint8_t *file, size_t size,
                    struct stk_jpeg_options opt, int crops)
{
#ifdef __aarch64__
    // With coefficients at the ends of their range libjpeg-turbo's fast DCT for NEON gives other
    // pixels than its plain and x86 code, which ours follows.
    if (opt.dct == STK_JPEG_IFAST && r->noise == 3) {
        return;
    }
#endif
    struct reference ref = decode_reference(file, size, &opt);
    CHECK(ref.pixels && ref.warnings == 0);
    if (!ref.pixels) {
        return;
    }
    for (int i = 0; i <= crops + (int)best; i++) {
        decoder->cpu = (enum stk_jpeg_cpu)((unsigned)i % ((unsigned)best + 1));
        if (i > (int)best) {
            opt.crop_x = draw(ref.width);
            opt.crop_y = draw(ref.height);
            opt.crop_w = 1 + draw(ref.width - opt.crop_x);
            opt.crop_h = 1 + draw(ref.height - opt.crop_y);
        }
        CHECK(matches(r, file, size, &opt, &ref));
    }
    free(ref.pixels);
}

static void compare_options(const struct jpeg_recipe *r, int crops)
{
    static const uint32_t scales[] = {1, 1, 1, 2, 4, 8};
    size_t size;
    uint8_t *file = encode_jpeg(r, &size);
    compare(r, file, size, (struct stk_jpeg_options){0}, crops);
    for (int i = 0; i < 4; i++) {
        struct stk_jpeg_options opt = {.scale_denom = scales[draw(6)],
                                       .output = (enum stk_jpeg_output)draw(2),
                                       .dct = (enum stk_jpeg_dct)draw(2),
                                       .upsampling = (enum stk_jpeg_upsampling)draw(2)};
        compare(r, file, size, opt, crops);
    }
    free(file);
}

static struct jpeg_recipe draw_recipe(uint32_t width, uint32_t height)
{
    static const int qualities[] = {5, 30, 50, 75, 85, 92, 96, 100};
    struct jpeg_recipe r = {.width = width, .height = height, .components = draw(6) ? 3 : 1};
    r.h = 1 + (int)draw(2);
    r.v = 1 + (int)draw(2);
    r.quality = qualities[draw(8)];
    r.restart = draw(3) ? 0 : 1 + (int)draw(20);
    r.optimize = draw(2) != 0;
    r.wide_quant = draw(8) == 0;
    r.noise = draw(3) ? 1 : (int)draw(4);
    return r;
}

static void test_small_sizes(void)
{
    for (uint32_t h = 1; h <= 40; h++) {
        for (uint32_t k = 0; k < 6; k++) {
            struct jpeg_recipe r = draw_recipe(1 + (h * 7 + k * 13) % 40, h);
            compare_options(&r, 3);
        }
    }
    for (uint32_t w = 1; w <= 40; w++) { // 4:2:0, as most files have it
        struct jpeg_recipe r = draw_recipe(w, 1 + draw(40));
        r.components = 3;
        r.h = r.v = 2;
        compare_options(&r, 3);
    }
}

static void test_larger_sizes(int count)
{
    for (int i = 0; i < count; i++) {
        struct jpeg_recipe r = draw_recipe(40 + draw(300), 40 + draw(300));
        compare_options(&r, 5);
    }
}

// Every combination of scale, output, DCT and upsampling on every sampling.
static void test_all_options(void)
{
    for (int sampling = 0; sampling < 5; sampling++) {
        for (int o = 0; o < 32; o++) {
            struct jpeg_recipe r = {.width = 83, .height = 61, .components = sampling == 4 ? 1 : 3};
            r.h = 1 + (sampling & 1);
            r.v = 1 + (sampling >> 1 & 1);
            r.quality = 90;
            r.noise = 1;
            struct stk_jpeg_options opt = {.scale_denom = 1u << (o & 3),
                                           .output = (enum stk_jpeg_output)(o >> 2 & 1),
                                           .dct = (enum stk_jpeg_dct)(o >> 3 & 1),
                                           .upsampling = (enum stk_jpeg_upsampling)(o >> 4)};
            size_t size;
            uint8_t *file = encode_jpeg(&r, &size);
            compare(&r, file, size, opt, 4);
            free(file);
        }
    }
}

static void test_refusals(void)
{
    struct jpeg_recipe r = {
        .width = 50, .height = 40, .components = 3, .h = 2, .v = 2, .quality = 80, .noise = 1};
    struct jpeg_recipe odd[4] = {r, r, r, r};
    odd[0].progressive = 1;
    odd[1].arithmetic = 1;
    odd[2].h = 4;
    odd[2].v = 1;
    odd[3].v = 3;
    for (int i = 0; i < 4; i++) {
        size_t size;
        uint8_t *file = encode_jpeg(&odd[i], &size);
        CHECK_EQ(stk_jpeg_open(decoder, file, size), STK_JPEG_NOT_MINE);
        CHECK(decoder->reason[0]);
        free(file);
    }
    size_t size;
    uint8_t *file = encode_jpeg(&r, &size), out[50 * 40 * 3];
    decoder->max_pixels = 50 * 40 - 1;
    CHECK_EQ(stk_jpeg_open(decoder, file, size), STK_JPEG_LIMIT);
    decoder->max_pixels = 50 * 40;
    CHECK_EQ(stk_jpeg_open(decoder, file, size), STK_JPEG_OK);
    decoder->max_pixels = 1 << 28;
    struct stk_jpeg_options whole = {0}, wide = {.crop_w = 51, .crop_h = 1},
                            third = {.scale_denom = 3};
    struct stk_jpeg_options outside = {.crop_x = 50, .crop_w = 1, .crop_h = 1};
    CHECK_EQ(stk_jpeg_scratch_size(decoder, &wide), 0);
    CHECK_EQ(stk_jpeg_decode(decoder, &wide, out, 153, scratch, scratch_size), STK_JPEG_USAGE);
    CHECK_EQ(stk_jpeg_scratch_size(decoder, &third), 0);
    CHECK_EQ(stk_jpeg_scratch_size(decoder, &outside), 0);
    size_t need = stk_jpeg_scratch_size(decoder, &whole);
    CHECK(need > 0 && need < 100000);
    reserve(need);
    CHECK_EQ(stk_jpeg_decode(decoder, &whole, out, 149, scratch, need), STK_JPEG_USAGE);
    CHECK_EQ(stk_jpeg_decode(decoder, &whole, out, 150, scratch, need - 200), STK_JPEG_USAGE);
    CHECK_EQ(stk_jpeg_decode(decoder, &whole, out, 150, scratch, need), STK_JPEG_OK);
    // A huge image in a few bytes is refused before any work.
    for (size_t i = 0; i + 9 < size; i++) {
        if (file[i] == 0xff && file[i + 1] == 0xc0) {
            file[i + 5] = file[i + 7] = 0x3f;
            break;
        }
    }
    CHECK_EQ(stk_jpeg_open(decoder, file, size), STK_JPEG_BAD);
    free(file);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    decoder = malloc(sizeof *decoder);
    stk_jpeg_init(decoder);
    best = decoder->cpu;
    reserve(1);
    CHECK_RUN(test_all_options);
    CHECK_RUN(test_small_sizes);
    CHECK_RUN(test_larger_sizes, 100);
    decoder->cpu = best;
    CHECK_RUN(test_refusals);
    free(decoder);
    free(scratch);
    return check_done("unit.jpeg_exact");
}
