// SPDX-License-Identifier: Apache-2.0
// Where random crops lie: TensorFlow's sample_distorted_bounding_box and torchvision's
// RandomResizedCrop, draw by draw, from a given source of random bits.
#include "base/assert.h"
#include "engine/image/image_geometry.h"

#include <math.h>

// In [0, 1), 53 bits.
static double draw_unit(const struct stk_image_random *r)
{
    return (double)(r->next(r->state) >> 11) * 0x1p-53;
}

// In [0, below); the bias of one draw is below 2^-32.
static uint32_t draw_below(const struct stk_image_random *r, uint32_t below)
{
    STK_ASSERT(below > 0);
    return (uint32_t)(((r->next(r->state) >> 32) * below) >> 32);
}

void stk_image_sample_defaults(struct stk_image_sample_options *opt)
{
    *opt = (struct stk_image_sample_options){0.1f, 0.75f, 1.33f, 0.05f, 1, 100};
}

// The largest height whose width still fits.
static int32_t fit_height(int32_t height, float aspect, int32_t width)
{
    if (lrintf((float)height * aspect) <= width) {
        return height;
    }
    height = (int32_t)((width + 0.5 - 1e-7) / (double)aspect);
    return lrintf((float)height * aspect) > width ? height - 1 : height;
}

static bool draw_box(int32_t height, int32_t width, float aspect,
                     const struct stk_image_sample_options *opt, const struct stk_image_random *r,
                     struct stk_image_box *box)
{
    float least = opt->min_area * (float)width * (float)height;
    float most = opt->max_area * (float)width * (float)height;
    int32_t h = (int32_t)lrintf(sqrtf(least / aspect));
    int32_t high = fit_height((int32_t)lrintf(sqrtf(most / aspect)), aspect, width);
    high = high > height ? height : high;
    h = h > high ? high : h;
    if (h < high) {
        h += (int32_t)draw_below(r, (uint32_t)(high - h + 1));
    }
    int64_t w = lrintf((float)h * aspect);
    // Rounding may have left the range by a row.
    if ((float)(w * h) < least) {
        w = lrintf((float)++h * aspect);
    }
    if ((float)(w * h) > most) {
        w = lrintf((float)--h * aspect);
    }
    float area = (float)(w * h);
    if (area < least || area > most || w > width || h > height || w <= 0 || h <= 0) {
        return false;
    }
    box->height = (uint32_t)h;
    box->width = (uint32_t)w;
    box->y = h < height ? draw_below(r, (uint32_t)(height - h)) : 0;
    box->x = w < width ? draw_below(r, (uint32_t)(width - w)) : 0;
    return true;
}

static int64_t overlap(int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t from = a > c ? a : c, to = b < d ? b : d;
    return to > from ? to - from : 0;
}

static bool covers(const struct stk_image_box *b, uint32_t height, uint32_t width,
                   const float *boxes, size_t n, float least)
{
    int64_t y = b->y, x = b->x, y_end = y + b->height, x_end = x + b->width;
    if (n == 0) {
        return (float)(b->height * (uint64_t)b->width) / ((float)height * (float)width) >= least;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t top = (int64_t)(boxes[4 * i] * (float)height);
        int64_t left = (int64_t)(boxes[4 * i + 1] * (float)width);
        int64_t bottom = (int64_t)(boxes[4 * i + 2] * (float)height);
        int64_t right = (int64_t)(boxes[4 * i + 3] * (float)width);
        float object = (float)((bottom - top) * (right - left));
        float covered = (float)(overlap(y, y_end, top, bottom) * overlap(x, x_end, left, right));
        if (object >= 1 && covered / object >= least) {
            return true;
        }
    }
    return false;
}

static enum stoker_status check_boxes(const float *boxes, size_t n, struct stoker_err *err)
{
    for (size_t i = 0; i < n; i++) {
        const float *b = boxes + 4 * i;
        if (!(b[0] >= 0 && b[1] >= 0 && b[2] <= 1 && b[3] <= 1 && b[0] < b[2] && b[1] < b[3])) {
            return stk_err_set(err, STOKER_EUSAGE,
                               "sample_distorted_bounding_box: box %zu is (%g, %g, %g, %g); wanted "
                               "0 <= ymin < ymax <= 1 and the same of x",
                               i, (double)b[0], (double)b[1], (double)b[2], (double)b[3]);
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_image_sample_box(uint32_t height, uint32_t width, const float *boxes,
                                        size_t n, const struct stk_image_sample_options *opt,
                                        const struct stk_image_random *random,
                                        struct stk_image_box *box, struct stoker_err *err)
{
    if (height == 0 || width == 0 || height > STK_IMAGE_MAX_SIDE || width > STK_IMAGE_MAX_SIDE) {
        return stk_err_set(err, STOKER_EUSAGE, "no box in an image of %u x %u", height, width);
    }
    if (!(opt->min_aspect > 0 && opt->min_aspect <= opt->max_aspect && opt->max_aspect < 1e6f &&
          opt->min_area > 0 && opt->min_area <= opt->max_area && opt->max_area <= 1 &&
          opt->min_object_covered >= 0 && opt->min_object_covered <= 1 && opt->max_attempts > 0)) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "sample_distorted_bounding_box: areas are above 0 and at most 1, aspect "
                           "ratios positive, ranges in order, attempts at least 1");
    }
    enum stoker_status status = check_boxes(boxes, n, err);
    if (status != STOKER_OK) {
        return status;
    }
    for (uint32_t i = 0; i < opt->max_attempts; i++) {
        float aspect =
            (float)draw_unit(random) * (opt->max_aspect - opt->min_aspect) + opt->min_aspect;
        if (draw_box((int32_t)height, (int32_t)width, aspect, opt, random, box) &&
            covers(box, height, width, boxes, n, opt->min_object_covered)) {
            return STOKER_OK;
        }
    }
    *box = (struct stk_image_box){0, 0, height, width};
    return STOKER_OK;
}

// The middle of the image, at the nearest ratio allowed.
static void take_middle(uint32_t height, uint32_t width, const double ratio[2],
                        struct stk_image_box *box)
{
    STK_ASSERT(height > 0 && width > 0);
    double own = (double)width / height, h = height, w = width;
    if (own < ratio[0]) {
        h = rint(w / ratio[0]);
    } else if (own > ratio[1]) {
        w = rint(h * ratio[1]);
    }
    box->height = h < 1 ? 1 : h < height ? (uint32_t)h : height;
    box->width = w < 1 ? 1 : w < width ? (uint32_t)w : width;
    box->y = (height - box->height) / 2;
    box->x = (width - box->width) / 2;
}

enum stoker_status stk_image_random_resized_box(uint32_t height, uint32_t width,
                                                const double scale[2], const double ratio[2],
                                                const struct stk_image_random *random,
                                                struct stk_image_box *box, struct stoker_err *err)
{
    if (height == 0 || width == 0 || height > STK_IMAGE_MAX_SIDE || width > STK_IMAGE_MAX_SIDE) {
        return stk_err_set(err, STOKER_EUSAGE, "no box in an image of %u x %u", height, width);
    }
    if (!(scale[0] > 0 && scale[0] <= scale[1] && scale[1] < 1e6 && ratio[0] > 0 &&
          ratio[0] <= ratio[1] && ratio[1] < 1e6)) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "random_resized_crop: scale and ratio are positive ranges in order");
    }
    double area = (double)height * width, low = log(ratio[0]), high = log(ratio[1]);
    for (int i = 0; i < 10; i++) {
        double target = area * (scale[0] + (scale[1] - scale[0]) * draw_unit(random));
        double aspect = exp(low + (high - low) * draw_unit(random));
        double w = rint(sqrt(target * aspect)), h = rint(sqrt(target / aspect));
        if (!(w >= 1 && w <= width && h >= 1 && h <= height)) {
            continue;
        }
        box->width = (uint32_t)w;
        box->height = (uint32_t)h;
        box->y = draw_below(random, height - box->height + 1);
        box->x = draw_below(random, width - box->width + 1);
        return STOKER_OK;
    }
    take_middle(height, width, ratio, box);
    return STOKER_OK;
}
