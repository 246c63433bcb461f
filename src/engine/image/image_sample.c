// SPDX-License-Identifier: Apache-2.0
// Chooses random crops: torchvision's RandomResizedCrop, draw by draw, from a given source of
// random bits.
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
