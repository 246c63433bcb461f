// SPDX-License-Identifier: Apache-2.0
// Speed of the image kernels on one core, microseconds per call: best and median of ROUNDS. Images
// are made here (octaves of noise, as rich as photographs).
// Usage: stoker_bench_images [-r ROUNDS] [FILTER]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "data/ops/image_resize.h"

enum { ROUNDS_MAX = 1001 };

static int rounds = 101;
static const char *filter = "";
static struct stk_image_context *context;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + 1e-3 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *what, void (*run)(void *), void *arg)
{
    double us[ROUNDS_MAX];
    if (!strstr(what, filter))
        return;
    run(arg);
    for (int i = 0; i < rounds; i++) {
        double start = now();
        run(arg);
        us[i] = now() - start;
    }
    qsort(us, (size_t)rounds, sizeof *us, by_value);
    printf("%-58s %8.1f us (median %8.1f)\n", what, us[0], us[rounds / 2]);
}

static void die(const struct stk_err *err)
{
    fprintf(stderr, "stoker_bench_images: %s\n", err->message);
    exit(1);
}

static uint64_t state = 88172645463325252u;

static uint8_t *paint(uint32_t height, uint32_t width)
{
    uint8_t *p = malloc((size_t)height * width * 3);
    if (!p)
        exit(1);
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
    struct stk_err err;
    if (stk_image_resize(context, &job->in, &job->opt, &job->out, &err) != STK_OK)
        die(&err);
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
    if (kind >= 2)
        stk_image_mean_std(&job.opt, mean, std, 3, 255);
    job.opt.is_planar = kind == 3;
    if (kind == 3)
        job.out.stride = 224 * sizeof(float);
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

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "r:")) != -1) {
        if (c == 'r')
            rounds = atoi(optarg);
        else
            return 2;
    }
    if (rounds < 1 || rounds > ROUNDS_MAX)
        return 2;
    if (optind < argc)
        filter = argv[optind];
    context = stk_image_context_create();
    if (!context)
        return 1;
    for (uint32_t side = 150; side <= 600; side *= 2)
        for (int kind = 1; kind <= 3; kind++)
            bench_resize(side, STK_IMAGE_PIL_BILINEAR, false, kind);
    for (int method = 0; method < STK_IMAGE_PIL_BILINEAR; method++)
        bench_resize(300, (enum stk_image_method)method, false, 0);
    bench_resize(300, STK_IMAGE_BILINEAR, true, 0);
    stk_image_context_destroy(context);
    return 0;
}
