// SPDX-License-Identifier: Apache-2.0
// The JPEG decoder's speed against libjpeg-turbo: the same files, one thread, alternating. Without
// arguments a short run that checks only that both agree; with a number of rounds (say 15) it
// prints the best and the median round of each, in images and compressed MB per second.
#include "jpeg_reference.h"

#include "base/clock.h"

enum { FILES = 8, MAX_ROUNDS = 101 };

struct set {
    const char *name;
    int components, h, v, quality, restart;
};

static double now(void)
{
    return stk_clock_seconds(CLOCK_THREAD_CPUTIME_ID); // others may be running
}

// libjpeg's side without a malloc of pixels per image: decoder object and buffer are kept.
static void decode_theirs(struct jpeg_decompress_struct *d, const uint8_t *file, size_t size,
                          const struct stk_jpeg_options *opt, uint8_t *out, size_t stride)
{
    jpeg_mem_src(d, file, size);
    jpeg_read_header(d, TRUE);
    d->dct_method = opt->dct == STK_JPEG_IFAST ? JDCT_IFAST : JDCT_ISLOW;
    d->do_fancy_upsampling = opt->upsampling == STK_JPEG_FANCY;
    d->out_color_space = JCS_RGB;
    d->scale_num = 1;
    d->scale_denom = opt->scale_denom ? opt->scale_denom : 1;
    jpeg_start_decompress(d);
    while (d->output_scanline < d->output_height) {
        JSAMPROW rows[8];
        for (unsigned i = 0; i < 8; i++) {
            rows[i] = out + (d->output_scanline + i) * stride;
        }
        jpeg_read_scanlines(d, rows, 8);
    }
    jpeg_finish_decompress(d);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct set *set, const struct stk_jpeg_options *opt, const char *what,
                    int rounds)
{
    struct jpeg_recipe r = {.width = 500,
                            .height = 375,
                            .components = set->components,
                            .h = set->h,
                            .v = set->v,
                            .quality = set->quality,
                            .restart = set->restart,
                            .noise = 4};
    size_t size[FILES], bytes = 0, stride = 3 * 500;
    uint8_t *file[FILES], *out[2];
    double spent[2][MAX_ROUNDS];
    for (int i = 0; i < FILES; i++) {
        file[i] = encode_jpeg(&r, &size[i]);
        bytes += size[i];
    }
    for (int i = 0; i < 2; i++) {
        out[i] = calloc(stride, 375 + 8);
    }
    struct stk_jpeg *mine = malloc(sizeof *mine);
    stk_jpeg_init(mine);
    size_t capacity = 1 << 21;
    void *scratch = malloc(capacity);
    struct jpeg_decompress_struct theirs;
    struct jpeg_error_mgr errors;
    theirs.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&theirs);
    bool is_equal = true;
    for (int round = 0; round < rounds; round++) {
        spent[0][round] = spent[1][round] = 0;
        for (int i = 0; i < FILES; i++) {
            double start = now();
            is_equal &= stk_jpeg_open(mine, file[i], size[i]) == STK_JPEG_OK;
            is_equal &=
                stk_jpeg_decode(mine, opt, out[0], stride, scratch, capacity) == STK_JPEG_OK;
            double middle = now();
            decode_theirs(&theirs, file[i], size[i], opt, out[1], stride);
            spent[0][round] += middle - start;
            spent[1][round] += now() - middle;
            is_equal &= memcmp(out[0], out[1], stride * 375) == 0;
        }
    }
    CHECK(is_equal);
    for (int i = 0; i < 2; i++) {
        qsort(spent[i], (size_t)rounds, sizeof spent[i][0], by_value);
    }
    if (rounds > 3) {
        printf(
            "%-16s %-8s %5.1f KB: img/s best %5.0f median %5.0f; libjpeg %5.0f %5.0f; MB/s %4.0f "
            "against %4.0f; ratio %.2f %.2f\n",
            set->name, what, (double)bytes / FILES / 1e3, FILES / spent[0][0],
            FILES / spent[0][rounds / 2], FILES / spent[1][0], FILES / spent[1][rounds / 2],
            (double)bytes / 1e6 / spent[0][0], (double)bytes / 1e6 / spent[1][0],
            spent[1][0] / spent[0][0], spent[1][rounds / 2] / spent[0][rounds / 2]);
    }
    jpeg_destroy_decompress(&theirs);
    for (int i = 0; i < FILES; i++) {
        free(file[i]);
    }
    free(out[0]);
    free(out[1]);
    free(mine);
    free(scratch);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    static const struct set sets[] = {
        {"4:2:0 q92", 3, 2, 2, 92, 0}, {"4:2:0 q75", 3, 2, 2, 75, 0},
        {"4:2:0 q85", 3, 2, 2, 85, 0}, {"4:2:2 q92", 3, 2, 1, 92, 0},
        {"4:4:0 q92", 3, 1, 2, 92, 0}, {"4:4:4 q92", 3, 1, 1, 92, 0},
        {"grey q92", 1, 1, 1, 92, 0},  {"4:2:0 q92 rst32", 3, 2, 2, 92, 32},
    };
    int rounds = argc > 1 ? atoi(argv[1]) : 2;
    rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    struct stk_jpeg_options whole = {0}, fast = {.dct = STK_JPEG_IFAST, .upsampling = STK_JPEG_BOX};
    struct stk_jpeg_options half = {.scale_denom = 2}, eighth = {.scale_denom = 8};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        CHECK_RUN(measure, &sets[i], &whole, "default", rounds);
    }
    CHECK_RUN(measure, &sets[0], &fast, "fast box", rounds);
    CHECK_RUN(measure, &sets[0], &half, "1/2", rounds);
    CHECK_RUN(measure, &sets[0], &eighth, "1/8", rounds);
    return check_done("unit.jpeg_speed");
}
