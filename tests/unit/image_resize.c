// SPDX-License-Identifier: Apache-2.0
// Resizing: the values TensorFlow and Pillow give for small images; vector code and plain code give
// the same bits; mirroring, planes and normalizing change nothing else; memory around the output is
// left alone, and nothing is allocated once the buffers are large enough.
#include "engine/image/image_resize.h"

#include "base/alloc.h"
#include "data/image_expected.h"
#include "image_cases.h"

enum { CASES = sizeof resize_cases / sizeof *resize_cases };

static enum stk_image_cpu best;

static void test_expected(void)
{
    for (int i = 0; i < CASES; i++) {
        const int *k = resize_cases[i];
        struct stk_image in = case_picture((uint32_t)k[2], (uint32_t)k[3], 1, STK_IMAGE_U8, 1);
        enum stk_image_type type = k[0] == STK_IMAGE_NEAREST ? STK_IMAGE_U8 : STK_IMAGE_F32;
        struct stk_image out = case_image((uint32_t)k[4], (uint32_t)k[5], 1, type, 8);
        struct stk_image_resize_options opt = {.method = (enum stk_image_method)k[0],
                                               .antialias = k[1] != 0};
        for (int cpu = 0; cpu <= (int)best; cpu++) {
            context->cpu = (enum stk_image_cpu)cpu;
            CHECK_EQ(stk_image_resize(context, &in, &opt, &out, &err), STOKER_OK);
            double most = 0;
            for (uint32_t y = 0; y < out.height; y++) {
                for (uint32_t x = 0; x < out.width; x++) {
                    most =
                        fmax(most, fabs(case_get(&out, y, x) -
                                        (double)resize_values[(uint32_t)k[6] + y * out.width + x]));
                }
            }
            CHECK(most < 2e-3);
            if (most >= 2e-3) {
                fprintf(stderr, "  method %d antialias %d, off by %g\n", k[0], k[1], most);
            }
            CHECK(case_is_gap_kept(&out));
        }
        free(in.pixels);
        free(out.pixels);
    }
}

static void check_pillow(uint32_t h, uint32_t w, uint32_t to_h, uint32_t to_w, const uint8_t *want)
{
    struct stk_image in = case_picture(h, w, 3, STK_IMAGE_U8, 1);
    struct stk_image out = case_image(to_h, to_w, 3, STK_IMAGE_U8, 4);
    struct stk_image_resize_options opt = {.method = STK_IMAGE_PIL_BILINEAR};
    CHECK_EQ(stk_image_resize(context, &in, &opt, &out, &err), STOKER_OK);
    for (uint32_t y = 0; y < to_h; y++) {
        for (uint32_t i = 0; i < 3 * to_w; i++) {
            CHECK(fabs(case_get(&out, y, i) - want[y * 3 * to_w + i]) <= 1);
        }
    }
    free(in.pixels);
    free(out.pixels);
}

// The crop of a larger image at random options, as `cpu` makes it.
static struct stk_image make(const struct stk_image *in, const struct stk_image_resize_options *opt,
                             uint32_t h, uint32_t w, enum stk_image_type type, int cpu)
{
    bool is_planar = opt->is_planar; // planes one below the other
    struct stk_image out =
        case_image(is_planar ? h * in->channels : h, w, is_planar ? 1 : in->channels, type, 4);
    struct stk_image as = {out.pixels, h, w, in->channels, type, out.stride};
    struct stk_image_resize_options o = *opt;
    o.plane_stride = is_planar ? out.stride * h : 0;
    context->cpu = (enum stk_image_cpu)cpu;
    CHECK_EQ(stk_image_resize(context, in, &o, &as, &err), STOKER_OK);
    CHECK(case_is_gap_kept(&out));
    return out;
}

static void test_equal_code(void)
{
    static const uint32_t channels[] = {1, 2, 3, 3, 3, 4};
    for (int i = 0; i < 600; i++) {
        enum stk_image_type in_type = case_draw(3) ? STK_IMAGE_U8 : STK_IMAGE_F32;
        uint32_t most = i % 20 == 0 ? 900 : 90;
        struct stk_image whole = case_noise(1 + case_draw(most), 1 + case_draw(most),
                                            channels[case_draw(6)], in_type, 4 * case_draw(3));
        struct stk_image in = whole;
        in.height = 1 + case_draw(whole.height);
        in.width = 1 + case_draw(whole.width);
        struct stk_image_resize_options opt = {
            .method = i % 2 ? STK_IMAGE_PIL_BILINEAR : (enum stk_image_method)case_draw(9),
            .antialias = case_draw(2),
            .is_mirrored = case_draw(2),
            .is_planar = case_draw(2)};
        enum stk_image_type type = case_draw(2) ? STK_IMAGE_F32 : STK_IMAGE_U8;
        if (opt.method == STK_IMAGE_NEAREST) {
            type = in_type;
        }
        if (type == STK_IMAGE_F32 && case_draw(2)) {
            opt.is_normalised = true;
            for (uint32_t c = 0; c < 4; c++) {
                opt.scale[c] = (float)case_draw(1000) / 300;
                opt.offset[c] = (float)case_draw(1000) / 100 - 5;
            }
        }
        uint32_t h = 1 + case_draw(100), w = 1 + case_draw(100);
        struct stk_image plain = make(&in, &opt, h, w, type, 0);
        for (int cpu = 1; cpu <= (int)best; cpu++) {
            struct stk_image fast = make(&in, &opt, h, w, type, cpu);
            CHECK(case_distance(&plain, &fast) == 0);
            free(fast.pixels);
        }
        free(plain.pixels);
        free(whole.pixels);
    }
}

// Mirrored output is the output mirrored; planes hold what the pixels hold; scales come last.
static void test_forms(void)
{
    for (int i = 0; i < 60; i++) {
        struct stk_image in = case_noise(1 + case_draw(60), 1 + case_draw(60), 3, STK_IMAGE_U8, 0);
        uint32_t h = 1 + case_draw(60), w = 1 + case_draw(60);
        struct stk_image_resize_options opt = {.method = STK_IMAGE_PIL_BILINEAR}, o = opt;
        struct stk_image base = make(&in, &opt, h, w, STK_IMAGE_U8, (int)best);
        o.is_mirrored = o.is_planar = true;
        stk_image_mean_std(&o, (const float[]){0.5f, 0.4f, 0.3f}, (const float[]){0.2f, 0.3f, 0.4f},
                           3, 255);
        struct stk_image form = make(&in, &o, h, w, STK_IMAGE_F32, (int)best);
        double most = 0;
        for (uint32_t y = 0; y < h; y++) {
            for (uint32_t x = 0; x < w; x++) {
                for (uint32_t c = 0; c < 3; c++) {
                    double v = case_get(&base, y, (w - 1 - x) * 3 + c);
                    double want = (v / 255 - 0.5 + 0.1 * c) / (0.2 + 0.1 * c);
                    most = fmax(most, fabs(case_get(&form, c * h + y, x) - want));
                }
            }
        }
        CHECK(most < 1e-5);
        free(base.pixels);
        free(form.pixels);
        free(in.pixels);
    }
}

static void test_flat(void)
{
    for (uint32_t v = 0; v < 256; v += 5) {
        for (uint32_t side = 1; side < 700; side = side * 3 + 1) {
            struct stk_image in = case_image(side, side, 3, STK_IMAGE_U8, 0);
            struct stk_image out = case_image(20, 30, 3, STK_IMAGE_U8, 0);
            struct stk_image_resize_options opt = {.method = STK_IMAGE_PIL_BILINEAR};
            memset(in.pixels, (int)v, in.stride * side);
            CHECK_EQ(stk_image_resize(context, &in, &opt, &out, &err), STOKER_OK);
            for (size_t i = 0; i < out.stride * out.height; i++) {
                if (((uint8_t *)out.pixels)[i] != v) {
                    CHECK_EQ(((uint8_t *)out.pixels)[i], v);
                    break;
                }
            }
            free(in.pixels);
            free(out.pixels);
        }
    }
}

static void test_refusals(void)
{
    struct stk_image in = case_picture(4, 4, 3, STK_IMAGE_U8, 1);
    struct stk_image out = case_image(2, 2, 3, STK_IMAGE_F32, 0), bad = out;
    struct stk_image_resize_options opt = {0};
    bad.height = 0;
    CHECK_EQ(stk_image_resize(context, &in, &opt, &bad, &err), STOKER_EUSAGE);
    bad = out;
    bad.channels = 1;
    CHECK_EQ(stk_image_resize(context, &in, &opt, &bad, &err), STOKER_EUSAGE);
    bad = out;
    bad.stride = 4;
    CHECK_EQ(stk_image_resize(context, &in, &opt, &bad, &err), STOKER_EINVAL);
    bad = out;
    bad.type = STK_IMAGE_U16;
    CHECK_EQ(stk_image_resize(context, &in, &opt, &bad, &err), STOKER_EUSAGE);
    bad = in;
    bad.width = 0;
    CHECK_EQ(stk_image_resize(context, &bad, &opt, &out, &err), STOKER_EUSAGE);
    bad = in;
    bad.width = STK_IMAGE_MAX_SIDE + 1;
    CHECK_EQ(stk_image_resize(context, &bad, &opt, &out, &err), STOKER_ELIMIT);
    CHECK_EQ(stk_image_resize(context, &in, &opt, &out, &err), STOKER_OK);
    uint64_t before = stk_alloc_count();
    CHECK_EQ(stk_image_resize(context, &in, &opt, &out, &err), STOKER_OK);
    CHECK_EQ(stk_alloc_count() - before, 0);
    free(in.pixels);
    free(out.pixels);
}

static void test_no_memory(void)
{
    struct stk_image in = case_picture(50, 40, 3, STK_IMAGE_U8, 1);
    struct stk_image out = case_image(20, 20, 3, STK_IMAGE_U8, 0);
    struct stk_image_resize_options opt = {.method = STK_IMAGE_PIL_BILINEAR};
    enum stoker_status status = STOKER_ENOMEM;
    for (uint64_t n = 1; status == STOKER_ENOMEM && n < 20; n++) {
        stk_alloc_fail_at(n, 0);
        struct stk_image_context *c = stk_image_context_create();
        if (c) {
            status = stk_image_resize(c, &in, &opt, &out, &err);
        }
        stk_alloc_fail_at(0, 0);
        stk_image_context_destroy(c);
    }
    CHECK_EQ(status, STOKER_OK);
    free(in.pixels);
    free(out.pixels);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    context = stk_image_context_create();
    CHECK(context != NULL);
    if (!context) {
        return check_done("unit.image_resize");
    }
    best = context->cpu;
    CHECK_RUN(test_expected);
    CHECK_RUN(check_pillow, 5, 7, 9, 6, pillow_5_7_9_6);
    CHECK_RUN(check_pillow, 13, 10, 4, 5, pillow_13_10_4_5);
    CHECK_RUN(check_pillow, 40, 30, 3, 2, pillow_40_30_3_2);
    CHECK_RUN(test_equal_code);
    CHECK_RUN(test_forms);
    CHECK_RUN(test_flat);
    CHECK_RUN(test_refusals);
    CHECK_RUN(test_no_memory);
    uint32_t h = 100, w = 50;
    stk_image_preserve_ratio(300, 200, &h, &w);
    CHECK_EQ(h, 75);
    CHECK_EQ(w, 50);
    stk_image_context_destroy(context);
    return check_done("unit.image_resize");
}
