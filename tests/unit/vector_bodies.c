// SPDX-License-Identifier: Apache-2.0
// Every vector body against the plain one: the same random input through a function with no CPU
// features allowed, then with each instruction set, must give the same bytes, and leave those after
// the result alone. Lengths from zero up, at every alignment. A new vector body needs a row, unless
// its caller has one.
#include "check.h"

#include <math.h>

#include "base/cpu.h"
#include "base/crc32c.h"
#include "base/varint.h"
#include "engine/formats/csv.h"
#include "engine/image/image_codec.h"
#include "engine/image/image_colour.h"
#include "engine/image/image_steps.h"
#include "engine/image/jpeg_impl.h"
#include "engine/memory/stream_copy.h"
#include "engine/ops/float_math.h"
#include "profile/readers/chrome/chrome_scan.h"

enum { IN_MAX = 6000, OUT_MAX = 1 << 19, GUARD = 64, ALIGNMENTS = 64 };

static const char *const sets[] = {
    "sse2", "sse42", "avx2", "avx2,pext", "avx512", "avx512,vbmi,vpclmul,pext", NULL};

struct row {
    const char *name;
    size_t most; // bytes of input
    int rounds;
    // Returns the bytes of the result.
    size_t (*run)(const uint8_t *in, size_t n, uint8_t *out);
};

static uint64_t state = 88172645463325252u;

static uint32_t bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

// --- bytes

static size_t crc(const uint8_t *in, size_t n, uint8_t *out)
{
    uint32_t crc = stk_crc32c_best()(0, in, n);
    memcpy(out, &crc, sizeof crc);
    return sizeof crc;
}

static size_t copy(const uint8_t *in, size_t n, uint8_t *out)
{
    stk_copy_streamed(out, in, n);
    return n;
}

// What JSON is made of, so that there is something to find.
static size_t scan(const uint8_t *in, size_t n, uint8_t *out)
{
    static const char letters[] = "{[}]\"\"\\\\ab:,\n \x80\x01";
    static char text[IN_MAX + STK_CHROME_PAD];
    static struct stk_chrome_cursor c;
    size_t count = 0;
    memset(text, 0, sizeof text);
    for (size_t i = 0; i < n; i++) {
        text[i] = letters[in[i] % (sizeof letters - 1)];
    }
    CHECK(stk_chrome_scan_use(STK_CHROME_ISA_AUTO));
    stk_chrome_cursor_set(&c, text, n, 0);
    for (size_t at; (at = stk_chrome_cursor_next(&c)) != STK_CHROME_END; count++) {
        memcpy(out + count * sizeof at, &at, sizeof at);
    }
    return count * sizeof(size_t);
}

// Windows of 64 bytes: which bytes end fields and lines.
static size_t csv_masks(const uint8_t *in, size_t n, uint8_t *out)
{
    static const char letters[] = ",\"\n\rab ";
    uint8_t text[64];
    size_t count = 0;
    for (size_t i = 0; i + 64 <= n; i += 64, count++) {
        for (size_t k = 0; k < 64; k++) {
            text[k] = (uint8_t)letters[in[i + k] % (sizeof letters - 1)];
        }
        uint64_t mask = stk_csv_mask(text, in[i] % 2 ? ',' : 'a', in[i + 1] % 2 != 0);
        memcpy(out + count * sizeof mask, &mask, sizeof mask);
    }
    return count * sizeof(uint64_t);
}

static size_t varints(const uint8_t *in, size_t n, uint8_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i + 10 <= n; i += 10, count++) {
        uint8_t bytes[16] = {0};
        uint64_t v = 0;
        memcpy(bytes, in + i, 10);
        bytes[in[i] % 8] &= 0x7f; // ends within eight
        const uint8_t *end = stk_cpu_has(STK_CPU_PEXT) ? stk_varint_get8_pext(bytes, &v)
                                                       : stk_varint_get8(bytes, &v);
        v = end ? v + ((uint64_t)(end - bytes) << 60) : v;
        memcpy(out + count * sizeof v, &v, sizeof v);
    }
    return count * sizeof(uint64_t);
}

// --- numbers

// Numbers of moderate size, some special ones among them.
static size_t floats_of(const uint8_t *in, size_t n, float *values)
{
    static const float special[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, 88.8f, -104};
    for (size_t i = 0; i < n / 4; i++) {
        uint32_t v;
        memcpy(&v, in + 4 * i, sizeof v);
        values[i] = v % 16 ? (float)(v >> 8) / 65536 - 128 : special[v / 16 % 8];
    }
    return n / 4;
}

#define FLOATS(name)                                                                               \
    static size_t run_##name(const uint8_t *in, size_t n, uint8_t *out)                            \
    {                                                                                              \
        static float from[IN_MAX / 4], to[IN_MAX / 4];                                             \
        size_t count = floats_of(in, n, from);                                                     \
        stk_float_##name(to, from, (int64_t)count);                                                \
        memcpy(out, to, count * sizeof to[0]);                                                     \
        return count * sizeof to[0];                                                               \
    }
FLOATS(exp)
FLOATS(log)
FLOATS(tanh)
FLOATS(sigmoid)

static size_t steps(const uint8_t *in, size_t n, uint8_t *out)
{
    static float values[IN_MAX / 4];
    struct stk_image_steps s = {0};
    size_t count = floats_of(in, n, values);
    if (n % 5 == 0) {
        stk_image_steps_widen(in, values, count);
    }
    for (int k = 0; k < 4; k++) {
        float constants[4] = {0.5f, -3, 255, 0.229f};
        enum stk_image_step_kind kind =
            (enum stk_image_step_kind)((n + (size_t)k) % STK_IMAGE_STEP_KINDS);
        CHECK(stk_image_steps_add(&s, kind, constants, n % 3 ? 3 : 1));
    }
    stk_image_steps_run(&s, values, count);
    memcpy(out, values, count * sizeof values[0]);
    return count * sizeof values[0];
}

// --- images

enum { RESIZED, RESIZED_FLOATS, NORMALISED, PLANAR };

// The input as an image of 3 channels (or 1), resized by a method and to a size that n says.
static size_t resize_as(const uint8_t *in, size_t n, uint8_t *out, int how)
{
    static float values[IN_MAX / 4];
    uint32_t channels = n % 5 ? 3 : 1, width = 1 + (uint32_t)n % 37;
    bool is_float = how == RESIZED_FLOATS;
    size_t count = is_float ? floats_of(in, n, values) : n;
    uint32_t height = (uint32_t)(count / (width * channels));
    if (height == 0) {
        return 0;
    }
    for (size_t i = 0; is_float && i < count; i++) {
        values[i] = values[i] == values[i] && values[i] - values[i] == 0 ? values[i] : 0;
    }
    struct stoker_err err;
    stk_err_init(&err);
    struct stk_image_context *c = stk_image_context_create();
    bool to_bytes = how == RESIZED && n % 2;
    struct stk_image_resize_options o = {.method = to_bytes ? STK_IMAGE_PIL_BILINEAR
                                                            : (enum stk_image_method)(n / 2 % 7),
                                         .antialias = n % 3 == 0,
                                         .is_mirrored = n % 4 == 0,
                                         .is_planar = how == PLANAR};
    if (how >= NORMALISED) {
        o.method = n % 2 ? STK_IMAGE_PIL_BILINEAR : STK_IMAGE_BILINEAR;
        stk_image_mean_std(&o, (const float[]){0.485f, 0.456f, 0.406f},
                           (const float[]){0.229f, 0.224f, 0.225f}, channels, 255);
    }
    enum stk_image_type type = to_bytes ? STK_IMAGE_U8 : STK_IMAGE_F32;
    if (o.method == STK_IMAGE_NEAREST) {
        type = is_float ? STK_IMAGE_F32 : STK_IMAGE_U8;
    }
    struct stk_image from = {is_float ? (void *)values : (void *)(uintptr_t)in,
                             height,
                             width,
                             channels,
                             is_float ? STK_IMAGE_F32 : STK_IMAGE_U8,
                             (size_t)width * channels * (is_float ? 4 : 1)};
    struct stk_image to = {out, 1 + (uint32_t)n % 41, 1 + (uint32_t)n % 53, channels, type, 0};
    to.stride = (size_t)to.width * (o.is_planar ? 1 : channels) * stk_image_type_size(type);
    CHECK(c && stk_image_resize(c, &from, &o, &to, &err) == STOKER_OK);
    stk_image_context_destroy(c);
    return (size_t)to.height * to.width * channels * stk_image_type_size(type);
}

static size_t resize(const uint8_t *in, size_t n, uint8_t *out)
{
    return resize_as(in, n, out, RESIZED);
}

static size_t resize_floats(const uint8_t *in, size_t n, uint8_t *out)
{
    return resize_as(in, n, out, RESIZED_FLOATS);
}

static size_t normalise(const uint8_t *in, size_t n, uint8_t *out)
{
    return resize_as(in, n, out, NORMALISED);
}

static size_t normalise_planar(const uint8_t *in, size_t n, uint8_t *out)
{
    return resize_as(in, n, out, PLANAR);
}

// A row of colors of both types, changed by an operation that n says.
static size_t change_colours(const uint8_t *in, size_t n, uint8_t *out)
{
    static float values[IN_MAX / 4];
    bool is_float = n % 2;
    uint32_t width = (uint32_t)(n / (is_float ? 12 : 3));
    size_t row = (size_t)width * 3 * (is_float ? 4 : 1);
    for (size_t i = 0; is_float && i < (size_t)width * 3; i++) {
        values[i] = (float)in[4 * i] / 200 + (float)in[4 * i + 1] * 1e-4f - 0.1f;
    }
    if (width == 0) {
        return 0;
    }
    struct stoker_err err;
    enum stk_image_type type = is_float ? STK_IMAGE_F32 : STK_IMAGE_U8;
    struct stk_image from = {
        is_float ? (void *)values : (void *)(uintptr_t)in, 1, width, 3, type, row};
    struct stk_image to = {out, 1, width, 3, type, row}, grey = {out, 1, width, 1, type, row / 3};
    enum stoker_status s = STOKER_OK;
    switch (n / 2 % 5) {
    case 0:
        s = stk_image_adjust_hue(&from, 0.3f, &to, &err);
        break;
    case 1:
        s = stk_image_adjust_saturation(&from, 1.4f, &to, &err);
        break;
    case 2:
        s = stk_image_adjust_contrast(&from, 0.7f, &to, &err);
        break;
    case 3:
        s = stk_image_adjust_brightness(&from, 0.1f, &to, &err);
        break;
    default:
        s = stk_image_rgb_to_grayscale(&from, &grey, &err);
        row /= 3;
    }
    CHECK(s == STOKER_OK);
    return row;
}

// The input as an image, written as a JPEG (whose bytes no vector code of ours makes) and read.
static size_t decode_jpeg(const uint8_t *in, size_t n, uint8_t *out)
{
    uint32_t channels = n % 5 ? 3 : 1, width = 1 + (uint32_t)n % 67;
    uint32_t height = (uint32_t)(n / (width * channels));
    if (height == 0) {
        return 0;
    }
    static uint8_t file[1 << 17];
    struct stoker_err err;
    stk_err_init(&err);
    struct stk_image_context *c = stk_image_context_create();
    struct stk_image from = {(void *)(uintptr_t)in,   height, width, channels, STK_IMAGE_U8,
                             (size_t)width * channels};
    struct stk_image_jpeg_encoding e;
    stk_image_jpeg_defaults(&e);
    e.is_chroma_full = n % 3 == 0;
    e.is_progressive = n % 7 == 0;
    e.quality = 40 + (int)(n % 60);
    const uint8_t *bytes;
    size_t size = 0;
    CHECK(c && stk_image_encode_jpeg(c, &from, &e, &bytes, &size, &err) == STOKER_OK);
    CHECK(size <= sizeof file);
    memcpy(file, bytes, size);
    struct stk_image_jpeg_options o = {
        .ratio = n % 11 ? 1 : 2, .is_box_upsampled = n % 6 == 0, .is_accurate_dct = n % 4 == 0};
    struct stk_image im = {0};
    CHECK(stk_image_decode_jpeg(c, file, size, &o, &im, &err) == STOKER_OK);
    size_t row = (size_t)im.width * im.channels;
    for (uint32_t y = 0; y < im.height; y++) {
        memcpy(out + y * row, stk_image_row(&im, y), row);
    }
    stk_image_context_destroy(c);
    return row * im.height;
}

// Kernels of the JPEG decoder that the encoder's files do not reach, or not at every length. They
// may read and write some samples too many: beside the result.
#if STK_JPEG_X86
#define BODY(name)                                                                                 \
    (stk_cpu_has(STK_CPU_AVX512 | STK_CPU_VBMI) ? name##_avx512                                    \
     : stk_cpu_has(STK_CPU_AVX2)                ? name##_avx2                                      \
                                                : name)
#define UNSTUFF (stk_cpu_has(STK_CPU_AVX2) ? stk_jpeg_unstuff_avx2 : stk_jpeg_unstuff)
#else
#define BODY(name) name
#define UNSTUFF stk_jpeg_unstuff
#endif
enum { SAMPLES_MAX = 1000, EDGE = 64 };

static uint8_t samples[3][EDGE + SAMPLES_MAX + 2 * EDGE], pixels[3 * SAMPLES_MAX + 4 * EDGE];

static size_t samples_of(const uint8_t *in, size_t n)
{
    size_t each = n / 3;
    memset(samples, 0, sizeof samples);
    for (size_t k = 0; k < 3; k++) {
        memcpy(samples[k] + EDGE - 1, in + k * each, each); // with a neighbor on either side
    }
    return each < 2 ? 0 : each - 2;
}

static size_t upsample_row(const uint8_t *in, size_t n, uint8_t *out)
{
    size_t count = samples_of(in, n);
    BODY(stk_jpeg_h2v1)(samples[0] + EDGE, pixels, count);
    memcpy(out, pixels, 2 * count);
    return 2 * count;
}

static size_t upsample_rows(const uint8_t *in, size_t n, uint8_t *out)
{
    static uint16_t sums[SAMPLES_MAX + 2 + EDGE];
    size_t count = samples_of(in, n);
    BODY(stk_jpeg_h2v2)(samples[0] + EDGE, samples[1] + EDGE, pixels, count, sums);
    memcpy(out, pixels, 2 * count);
    return 2 * count;
}

static size_t colour(const uint8_t *in, size_t n, uint8_t *out)
{
    size_t count = samples_of(in, n);
    BODY(stk_jpeg_color)(samples[0] + EDGE, samples[1] + EDGE, samples[2] + EDGE, out, count);
    return 3 * count;
}

static size_t unstuff(const uint8_t *in, size_t n, uint8_t *out)
{
    static uint8_t from[3000], to[3000 + STK_JPEG_PAD + 64];
    size_t marker = 0;
    for (size_t i = 0; i < n; i++) { // many 0xFF, most before a zero
        from[i] = in[i] % 8 == 0 ? 0xff : i && from[i - 1] == 0xff && in[i] % 64 ? 0 : in[i];
    }
    size_t size = UNSTUFF(from, n, to, &marker);
    memcpy(out, to, size);
    memcpy(out + size, &marker, sizeof marker);
    return size + sizeof marker;
}

static const struct row rows[] = {
    {"CRC-32C", 3000, 600, crc},
    {"copy past the caches", 3000, 400, copy},
    {"scan of JSON", 3000, 300, scan},
    {"marks of CSV", 3000, 300, csv_masks},
    {"varints", 3000, 300, varints},
    {"exp", 2000, 200, run_exp},
    {"log", 2000, 200, run_log},
    {"tanh", 2000, 200, run_tanh},
    {"sigmoid", 2000, 200, run_sigmoid},
    {"chain of arithmetic", 2000, 300, steps},
    {"resize", IN_MAX, 300, resize},
    {"resize of floats", IN_MAX, 200, resize_floats},
    {"resize and normalise", IN_MAX, 200, normalise},
    {"resize and normalise to planes", IN_MAX, 200, normalise_planar},
    {"colours", 4000, 400, change_colours},
    {"JPEG", IN_MAX, 300, decode_jpeg},
    {"JPEG: a row twice as wide", 3 * SAMPLES_MAX, 400, upsample_row},
    {"JPEG: rows twice as wide", 3 * SAMPLES_MAX, 400, upsample_rows},
    {"JPEG: colours", 3 * SAMPLES_MAX, 400, colour},
    {"JPEG: stuffed bytes", 3000, 400, unstuff},
};

static void compare(const struct row *row)
{
    static uint8_t memory[IN_MAX + ALIGNMENTS], want[OUT_MAX], have[OUT_MAX + GUARD + ALIGNMENTS];
    unsigned long before = check_failures;
    for (int round = 0; round < row->rounds && check_failures == before; round++) {
        // Short lengths one after the other, then any.
        size_t n = round < 130 ? (size_t)round : bits() % row->most;
        uint8_t *in = memory + bits() % ALIGNMENTS, *out = have + bits() % ALIGNMENTS / 4 * 4;
        for (size_t i = 0; i < n; i++) {
            in[i] = (uint8_t)bits();
        }
        stk_cpu_allow("plain");
        size_t size = row->run(in, n, want);
        for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
            stk_cpu_allow(sets[k]);
            memset(out, 0xa5, size + GUARD);
            CHECK_EQ(row->run(in, n, out), size);
            bool is_same = memcmp(out, want, size) == 0;
            for (int g = 0; g < GUARD; g++) {
                is_same = is_same && out[size + (size_t)g] == 0xa5;
            }
            CHECK(is_same);
            if (!is_same) {
                fprintf(stderr, "  %s, %zu bytes, %s\n", row->name, n, sets[k] ? sets[k] : "all");
            }
        }
    }
    stk_cpu_allow(NULL);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_RUN(compare, &rows[i]);
    }
    return check_done("unit.vector_bodies");
}
