// SPDX-License-Identifier: Apache-2.0
// Color operations against TensorFlow's values; crops, pads, flips and rotations against their
// definition; random boxes against their ranges.
#include "engine/image/image_colour.h"
#include "engine/image/image_geometry.h"

#include "data/image_expected.h"
#include "image_cases.h"

static enum stoker_status run_colour(const struct colour_case *k, const struct stk_image *in,
                                     const struct stk_image *out)
{
    if (!strcmp(k->name, "adjust_brightness")) {
        return stk_image_adjust_brightness(in, k->a, out, &err);
    }
    if (!strcmp(k->name, "adjust_contrast")) {
        return stk_image_adjust_contrast(in, k->a, out, &err);
    }
    if (!strcmp(k->name, "adjust_saturation")) {
        return stk_image_adjust_saturation(in, k->a, out, &err);
    }
    if (!strcmp(k->name, "adjust_hue")) {
        return stk_image_adjust_hue(in, k->a, out, &err);
    }
    if (!strcmp(k->name, "adjust_gamma")) {
        return stk_image_adjust_gamma(in, k->a, k->b, out, &err);
    }
    return stk_image_rgb_to_grayscale(in, out, &err);
}

static void test_colours(void)
{
    for (size_t i = 0; i < sizeof colour_cases / sizeof *colour_cases; i++) {
        for (int is_float = 0; is_float < 2; is_float++) {
            const struct colour_case *k = &colour_cases[i];
            enum stk_image_type type = is_float ? STK_IMAGE_F32 : STK_IMAGE_U8;
            uint32_t channels = strcmp(k->name, "rgb_to_grayscale") ? 3 : 1;
            struct stk_image in = case_picture(4, 5, 3, type, is_float ? 1 / 255.0 : 1);
            struct stk_image out = case_image(4, 5, channels, type, 4);
            CHECK_EQ(run_colour(k, &in, &out), STOKER_OK);
            double most = 0;
            for (uint32_t y = 0; y < 4; y++) {
                for (uint32_t x = 0; x < 5 * channels; x++) {
                    size_t at = (size_t)k->first + y * 5 * channels + x;
                    double want = is_float ? (double)colour_floats[at] : colour_bytes[at];
                    most = fmax(most, fabs(case_get(&out, y, x) - want));
                }
            }
            CHECK(most <= (is_float ? 1e-5 : 1));
            CHECK(case_is_gap_kept(&out));
            if (channels == 3) { // in place
                CHECK_EQ(run_colour(k, &in, &in), STOKER_OK);
                CHECK(case_distance(&in, &out) == 0);
            }
            free(in.pixels);
            free(out.pixels);
        }
    }
}

static void test_spaces(void)
{
    struct stk_image in = case_picture(4, 5, 3, STK_IMAGE_F32, 1 / 255.0);
    struct stk_image out = case_image(4, 5, 3, STK_IMAGE_F32, 0);
    struct stk_image bytes = case_picture(4, 5, 3, STK_IMAGE_U8, 1);
    for (int space = 0; space <= STK_IMAGE_HSV_TO_RGB; space++) {
        CHECK_EQ(stk_image_change_space(&in, (enum stk_image_space)space, &out, &err), STOKER_OK);
        for (int i = 0; i < 60; i++) {
            CHECK(fabsf(((float *)out.pixels)[i] - space_values[space * 60 + i]) < 1e-5f);
        }
    }
    CHECK_EQ(stk_image_standardize(&bytes, &out, &err), STOKER_OK);
    for (int i = 0; i < 60; i++) {
        CHECK(fabsf(((float *)out.pixels)[i] - standardized[i]) < 1e-5f);
    }
    CHECK_EQ(stk_image_change_space(&bytes, STK_IMAGE_RGB_TO_HSV, &bytes, &err), STOKER_EUSAGE);
    CHECK_EQ(stk_image_adjust_hue(&in, 1.5f, &out, &err), STOKER_EUSAGE);
    CHECK_EQ(stk_image_adjust_gamma(&in, -1, 1, &out, &err), STOKER_EUSAGE);
    CHECK_EQ(stk_image_rgb_to_grayscale(&in, &out, &err), STOKER_EUSAGE);
    free(in.pixels);
    free(out.pixels);
    free(bytes.pixels);
}

static void test_types(void)
{
    struct stk_image bytes = case_picture(4, 5, 3, STK_IMAGE_U8, 1);
    struct stk_image words = case_image(4, 5, 3, STK_IMAGE_U16, 0);
    struct stk_image floats = case_image(4, 5, 3, STK_IMAGE_F32, 0);
    struct stk_image back = case_image(4, 5, 3, STK_IMAGE_U8, 0);
    CHECK_EQ(stk_image_convert_type(&bytes, false, &floats, &err), STOKER_OK);
    CHECK_EQ(stk_image_convert_type(&floats, false, &back, &err), STOKER_OK);
    CHECK(case_distance(&bytes, &back) == 0);
    CHECK_EQ(stk_image_convert_type(&bytes, false, &words, &err), STOKER_OK);
    CHECK_EQ(((uint16_t *)words.pixels)[1], ((uint8_t *)bytes.pixels)[1] * 256);
    CHECK_EQ(stk_image_convert_type(&words, false, &back, &err), STOKER_OK);
    CHECK(case_distance(&bytes, &back) == 0);
    float *f = floats.pixels;
    f[0] = 1.5f;
    f[1] = -1;
    f[2] = NAN;
    f[3] = 1e30f;
    CHECK_EQ(stk_image_convert_type(&floats, true, &back, &err), STOKER_OK);
    CHECK_EQ(((uint8_t *)back.pixels)[0], 255);
    CHECK_EQ(((uint8_t *)back.pixels)[1], 0);
    CHECK_EQ(((uint8_t *)back.pixels)[3], 255);
    CHECK_EQ(stk_image_convert_type(&floats, false, &back, &err), STOKER_OK);
    CHECK_EQ(((uint8_t *)back.pixels)[0], 127); // 383 less 256
    free(bytes.pixels);
    free(words.pixels);
    free(floats.pixels);
    free(back.pixels);
}

typedef void at_fn(uint32_t h, uint32_t w, uint32_t *y, uint32_t *x);

// Every pixel of `out` (of size h x w) is the one of `in` that `at` names.
static void check_moved(const struct stk_image *in, const struct stk_image *out, at_fn *at)
{
    uint32_t c = in->channels, wrong = 0;
    for (uint32_t y = 0; y < out->height; y++) {
        for (uint32_t x = 0; x < out->width; x++) {
            uint32_t from_y = y, from_x = x;
            at(in->height, in->width, &from_y, &from_x);
            for (uint32_t k = 0; k < c; k++) {
                wrong += case_get(out, y, x * c + k) != case_get(in, from_y, from_x * c + k);
            }
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK(case_is_gap_kept(out));
}

static void at_mirrored(uint32_t h, uint32_t w, uint32_t *y, uint32_t *x)
{
    (void)h;
    (void)y;
    *x = w - 1 - *x;
}

static void at_upside_down(uint32_t h, uint32_t w, uint32_t *y, uint32_t *x)
{
    (void)w;
    (void)x;
    *y = h - 1 - *y;
}

static void at_swapped(uint32_t h, uint32_t w, uint32_t *y, uint32_t *x)
{
    uint32_t old = *y;
    (void)h;
    (void)w;
    *y = *x;
    *x = old;
}

// A quarter turn to the left: the top right corner comes to the top left.
static void at_turned(uint32_t h, uint32_t w, uint32_t *y, uint32_t *x)
{
    at_swapped(h, w, y, x);
    *x = w - 1 - *x;
}

static void test_moves(void)
{
    for (int i = 0; i < 60; i++) {
        struct stk_image in = case_noise(1 + case_draw(12), 1 + case_draw(12), 1 + case_draw(4),
                                         (enum stk_image_type)case_draw(3), 4);
        uint32_t h = in.height, w = in.width, c = in.channels;
        struct stk_image same = case_image(h, w, c, in.type, 4);
        struct stk_image turned = case_image(w, h, c, in.type, 4);
        struct stk_image again = case_image(h, w, c, in.type, 4);
        CHECK_EQ(stk_image_flip_left_right(&in, &same, &err), STOKER_OK);
        check_moved(&in, &same, at_mirrored);
        CHECK_EQ(stk_image_flip_up_down(&in, &same, &err), STOKER_OK);
        check_moved(&in, &same, at_upside_down);
        CHECK_EQ(stk_image_transpose(&in, &turned, &err), STOKER_OK);
        check_moved(&in, &turned, at_swapped);
        CHECK_EQ(stk_image_rot90(&in, 1, &turned, &err), STOKER_OK);
        check_moved(&in, &turned, at_turned);
        CHECK_EQ(stk_image_rot90(&turned, 1, &again, &err), STOKER_OK);
        CHECK_EQ(stk_image_rot90(&in, -2, &same, &err), STOKER_OK);
        CHECK(case_distance(&same, &again) == 0);
        CHECK_EQ(stk_image_rot90(&turned, 3, &again, &err), STOKER_OK);
        CHECK(case_distance(&in, &again) == 0);
        CHECK_EQ(stk_image_rot90(&in, 4, &same, &err), STOKER_OK);
        CHECK(case_distance(&in, &same) == 0);
        if (h != w) {
            CHECK_EQ(stk_image_transpose(&in, &same, &err), STOKER_EUSAGE);
        }
        free(in.pixels);
        free(same.pixels);
        free(turned.pixels);
        free(again.pixels);
    }
}

static void test_pads(void)
{
    for (int i = 0; i < 100; i++) {
        struct stk_image in = case_noise(1 + case_draw(9), 1 + case_draw(9), 3, STK_IMAGE_U8, 4);
        struct stk_image out = case_image(1 + case_draw(15), 1 + case_draw(15), 3, STK_IMAGE_U8, 4);
        CHECK_EQ(stk_image_crop_or_pad(&in, &out, &err), STOKER_OK);
        CHECK(case_is_gap_kept(&out));
        // TensorFlow: offsets are halves rounded down, on the side that is larger.
        int64_t top = (int64_t)out.height - in.height, left = (int64_t)out.width - in.width;
        int64_t dy = top > 0 ? top / 2 : -(-top / 2), dx = left > 0 ? left / 2 : -(-left / 2);
        uint32_t wrong = 0;
        for (uint32_t y = 0; y < out.height; y++) {
            for (uint32_t x = 0; x < out.width; x++) {
                int64_t fy = y - dy, fx = x - dx;
                bool is_in = fy >= 0 && fy < in.height && fx >= 0 && fx < in.width;
                double want = is_in ? case_get(&in, (uint32_t)fy, (size_t)fx * 3 + 1) : 0;
                wrong += case_get(&out, y, x * 3 + 1) != want;
            }
        }
        CHECK_EQ(wrong, 0);
        free(in.pixels);
        free(out.pixels);
    }
}

static void test_crops(void)
{
    struct stk_image in = case_picture(10, 12, 3, STK_IMAGE_U8, 1), view;
    struct stk_image_box box = {2, 3, 4, 5};
    CHECK_EQ(stk_image_crop(&in, &box, &view, &err), STOKER_OK);
    CHECK(case_get(&view, 1, 4) == case_get(&in, 3, 13));
    CHECK_EQ(view.width, 5);
    box.width = 10;
    CHECK_EQ(stk_image_crop(&in, &box, &view, &err), STOKER_EUSAGE);
    box = (struct stk_image_box){UINT32_MAX, 0, 2, 1};
    CHECK_EQ(stk_image_crop(&in, &box, &view, &err), STOKER_EUSAGE);
    CHECK_EQ(stk_image_central_box(10, 12, 0.5, &box, &err), STOKER_OK);
    CHECK_EQ(box.y * 1000 + box.x * 100 + box.height * 10 + box.width, 2000 + 300 + 60 + 6);
    CHECK_EQ(stk_image_central_box(10, 12, 0, &box, &err), STOKER_EUSAGE);
    CHECK_EQ(stk_image_central_box(10, 12, 1, &box, &err), STOKER_OK);
    CHECK_EQ(box.height, 10);
    free(in.pixels);
}

static uint64_t next(void *state)
{
    uint64_t *s = state, z = *s += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// Boxes are inside the image, have the shares and ratios asked for, and fill their range.
static void test_boxes(void)
{
    uint64_t state = 1;
    struct stk_image_random random = {next, &state};
    const double scale[2] = {0.08, 1}, ratio[2] = {0.75, 4 / 3.0};
    double low = 1, high = 0, sum = 0;
    struct stk_image_box b;
    for (int i = 0; i < 20000; i++) {
        CHECK_EQ(stk_image_random_resized_box(375, 500, scale, ratio, &random, &b, &err),
                 STOKER_OK);
        double share = (double)b.height * b.width / (375 * 500), r = (double)b.width / b.height;
        CHECK(b.height + b.y <= 375 && b.width + b.x <= 500 && r > 0.74 && r < 1.36);
        CHECK(share > 0.078 && share <= 1);
        low = share < low ? share : low;
        high = share > high ? share : high;
        sum += share;
    }
    CHECK(low < 0.1 && high > 0.9 && sum / 20000 > 0.4 && sum / 20000 < 0.55);
    // A ratio that never fits: the middle, at the nearest ratio.
    const double tall[2] = {0.1, 0.1}, whole[2] = {1, 1};
    CHECK_EQ(stk_image_random_resized_box(100, 200, whole, tall, &random, &b, &err), STOKER_OK);
    CHECK(b.height == 100 && b.width == 10 && b.x == 95);
    CHECK_EQ(stk_image_random_resized_box(1, 1, scale, ratio, &random, &b, &err), STOKER_OK);
    CHECK(b.height == 1 && b.width == 1);
    const double wrong[2] = {1, 0.5};
    CHECK_EQ(stk_image_random_resized_box(9, 9, wrong, ratio, &random, &b, &err), STOKER_EUSAGE);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_colours);
    CHECK_RUN(test_spaces);
    CHECK_RUN(test_types);
    CHECK_RUN(test_moves);
    CHECK_RUN(test_pads);
    CHECK_RUN(test_crops);
    CHECK_RUN(test_boxes);
    (void)context;
    return check_done("unit.image_ops");
}
