// SPDX-License-Identifier: Apache-2.0
// Speed of the image kernels on one core, microseconds per call: best and median of ROUNDS. Images
// are generated (octaves of noise, as detailed as photographs).
// Usage: stoker_bench_images [-r ROUNDS] [FILTER]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/image/image_codec_impl.h"
#include "engine/image/image_colour.h"

enum { ROUNDS_MAX = 1001 };

static int rounds = 101;
static const char *filter = "";
static struct stk_image_context *context;

static double now(void)
{
    return 1e6 * stk_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *what, void (*run)(void *), void *arg)
{
    double us[ROUNDS_MAX];
    if (!strstr(what, filter)) {
        return;
    }
    run(arg);
    for (int i = 0; i < rounds; i++) {
        double start = now();
        run(arg);
        us[i] = now() - start;
    }
    qsort(us, (size_t)rounds, sizeof *us, by_value);
    printf("%-72s %8.1f us (median %8.1f)\n", what, us[0], us[rounds / 2]);
}

static void die(const struct stoker_err *err)
{
    fprintf(stderr, "stoker_bench_images: %s\n", err->message);
    exit(1);
}

static uint64_t state = 88172645463325252u;

static uint8_t *paint(uint32_t height, uint32_t width)
{
    uint8_t *p = malloc((size_t)height * width * 3);
    if (!p) {
        exit(1);
    }
    for (size_t i = 0; i < (size_t)height * width * 3; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        double x = (double)(i / 3 % width), y = (double)(i / 3 / width);
        double v =
            128 + 60 * sin(x / 17 + y / 29) + 40 * sin(x / 5 - y / 7) + (double)(state >> 59);
        p[i] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
    return p;
}

struct resize_job {
    struct stk_image in, out;
    struct stk_image_resize_options opt;
};

static void run_resize(void *arg)
{
    struct resize_job *job = arg;
    struct stoker_err err;
    if (stk_image_resize(context, &job->in, &job->opt, &job->out, &err) != STOKER_OK) {
        die(&err);
    }
}

static void bench_resize(uint32_t side, enum stk_image_method method, bool antialias, int kind)
{
    static const char *const methods[] = {"bilinear", "nearest",  "bicubic",
                                          "area",     "lanczos3", "lanczos5",
                                          "gaussian", "mitchell", "pillow bilinear"};
    static const char *const kinds[] = {"", "uint8", "normalised HWC", "normalised CHW"};
    static const float mean[3] = {0.485f, 0.456f, 0.406f}, std[3] = {0.229f, 0.224f, 0.225f};
    static float out[224 * 224 * 3];
    uint8_t *pixels = paint(side, side);
    enum stk_image_cpu best = context->cpu;
    struct resize_job job = {{pixels, side, side, 3, STK_IMAGE_U8, side * 3},
                             {out, 224, 224, 3, STK_IMAGE_F32, sizeof(float) * 224 * 3},
                             {.method = method, .antialias = antialias}};
    if (kind >= 2) {
        stk_image_mean_std(&job.opt, mean, std, 3, 255);
    }
    job.opt.is_planar = kind == 3;
    if (kind == 3) {
        job.out.stride = 224 * sizeof(float);
    }
    if (kind == 1) {
        job.out.type = STK_IMAGE_U8;
        job.out.stride = 224 * 3;
    }
    for (int cpu = (int)best; cpu >= 0; cpu--) {
        char what[200];
        snprintf(what, sizeof what, "resize %u to 224 %s%s %s, level %d", side, methods[method],
                 antialias ? " antialias" : "", kinds[kind], cpu);
        context->cpu = (enum stk_image_cpu)cpu;
        measure(what, run_resize, &job);
    }
    context->cpu = best;
    free(pixels);
}

struct jpeg_job {
    const uint8_t *data;
    size_t size;
    struct stk_image_jpeg_options opt;
    bool is_libjpeg, is_resized;
    struct resize_job resize;
};

static void run_jpeg(void *arg)
{
    struct jpeg_job *job = arg;
    struct stk_image out = {0};
    struct stoker_err err;
    enum stoker_status status =
        job->is_libjpeg
            ? stk_image_libjpeg_decode(context, job->data, job->size, &job->opt, &out, &err)
            : stk_image_decode_jpeg(context, job->data, job->size, &job->opt, &out, &err);
    if (status == STOKER_OK && job->is_resized) {
        status = stk_image_resize(context, &out, &job->resize.opt, &job->resize.out, &err);
    }
    if (status != STOKER_OK) {
        die(&err);
    }
}

// A photograph-sized file: whole, the crop of a random-resized-crop, and that resized, mirrored and
// normalized; by our decoder and by libjpeg.
static void bench_jpeg(bool is_accurate)
{
    static const float mean[3] = {0.485f, 0.456f, 0.406f}, std[3] = {0.229f, 0.224f, 0.225f};
    static const char *const names[] = {"whole", "crop", "crop, resize, mirror, normalise"};
    static float out[224 * 224 * 3];
    struct stoker_err err;
    struct stk_image in = {paint(375, 500), 375, 500, 3, STK_IMAGE_U8, 1500};
    struct stk_image_jpeg_encoding e;
    const uint8_t *bytes;
    struct jpeg_job job = {.opt.is_accurate_dct = is_accurate};
    stk_image_jpeg_defaults(&e);
    e.quality = 90;
    if (stk_image_encode_jpeg(context, &in, &e, &bytes, &job.size, &err) != STOKER_OK) {
        die(&err);
    }
    job.data = bytes;
    job.resize =
        (struct resize_job){.out = {out, 224, 224, 3, STK_IMAGE_F32, sizeof(float) * 672},
                            .opt = {.method = STK_IMAGE_PIL_BILINEAR, .is_mirrored = true}};
    stk_image_mean_std(&job.resize.opt, mean, std, 3, 255);
    for (int what = 0; what < 3; what++) {
        for (int is_libjpeg = 0; is_libjpeg < 2; is_libjpeg++) {
            char name[200];
            if (what == 1) {
                job.opt.crop_y = 40;
                job.opt.crop_x = 100;
                job.opt.crop_height = job.opt.crop_width = 300;
            }
            job.is_resized = what == 2;
            job.is_libjpeg = is_libjpeg;
            snprintf(name, sizeof name, "JPEG 375x500 %.0f KB %s, %s DCT, %s",
                     (double)job.size / 1e3, names[what], is_accurate ? "accurate" : "fast",
                     is_libjpeg ? "libjpeg" : "own");
            measure(name, run_jpeg, &job);
        }
    }
    free(in.pixels);
}

enum colour { BRIGHTNESS, CONTRAST, SATURATION, HUE, GREY, STANDARDIZE, COLOURS };

struct colour_job {
    enum colour what;
    struct stk_image in, out;
};

static void run_colour(void *arg)
{
    struct colour_job *j = arg;
    struct stk_image grey = j->out;
    struct stoker_err err;
    enum stoker_status status = STOKER_OK;
    grey.channels = 1;
    switch (j->what) {
    case BRIGHTNESS:
        status = stk_image_adjust_brightness(&j->in, 0.1f, &j->out, &err);
        break;
    case CONTRAST:
        status = stk_image_adjust_contrast(&j->in, 1.5f, &j->out, &err);
        break;
    case SATURATION:
        status = stk_image_adjust_saturation(&j->in, 1.5f, &j->out, &err);
        break;
    case HUE:
        status = stk_image_adjust_hue(&j->in, 0.1f, &j->out, &err);
        break;
    case GREY:
        status = stk_image_rgb_to_grayscale(&j->in, &grey, &err);
        break;
    default:
        status = stk_image_standardize(&j->in, &j->out, &err);
    }
    if (status != STOKER_OK) {
        die(&err);
    }
}

static void bench_colours(void)
{
    static const char *const names[COLOURS] = {"brightness", "contrast", "saturation",
                                               "hue",        "grey",     "standardize"};
    static float in[224 * 224 * 3], out[224 * 224 * 3];
    uint8_t *pixels = paint(224, 224);
    for (size_t i = 0; i < 224 * 224 * 3; i++) {
        in[i] = (float)pixels[i] / 255;
    }
    for (int what = 0; what < COLOURS; what++) {
        for (int is_float = 0; is_float < 2; is_float++) {
            char name[200];
            bool is_float_out = is_float || what >= STANDARDIZE;
            struct colour_job j = {(enum colour)what,
                                   {pixels, 224, 224, 3, STK_IMAGE_U8, 672},
                                   {out, 224, 224, 3, STK_IMAGE_U8, 672}};
            if (is_float) {
                j.in = (struct stk_image){in, 224, 224, 3, STK_IMAGE_F32, 2688};
            }
            if (is_float_out) {
                j.out = (struct stk_image){out, 224, 224, 3, STK_IMAGE_F32, 2688};
            }
            snprintf(name, sizeof name, "%s 224x224 %s", names[what], is_float ? "float" : "uint8");
            measure(name, run_colour, &j);
        }
    }
    free(pixels);
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "r:")) != -1) {
        if (c == 'r') {
            rounds = atoi(optarg);
        } else {
            return 2;
        }
    }
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        return 2;
    }
    if (optind < argc) {
        filter = argv[optind];
    }
    context = stk_image_context_create();
    if (!context) {
        return 1;
    }
    bench_colours();
    bench_jpeg(true);
    bench_jpeg(false);
    for (uint32_t side = 150; side <= 600; side *= 2) {
        for (int kind = 1; kind <= 3; kind++) {
            bench_resize(side, STK_IMAGE_PIL_BILINEAR, false, kind);
        }
    }
    for (int method = 0; method < STK_IMAGE_PIL_BILINEAR; method++) {
        bench_resize(300, (enum stk_image_method)method, false, 0);
    }
    bench_resize(300, STK_IMAGE_BILINEAR, true, 0);
    stk_image_context_destroy(context);
    return 0;
}
