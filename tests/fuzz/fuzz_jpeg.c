// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of the JPEG decoder: the first bytes choose crop, scale, output, DCT and
// upsampling; the rest is the file. The vector code and the plain code must agree, and
// so must decoding two at once.
#include "fuzz.h"

#include "engine/image/jpeg.h"

enum { MAX_PIXELS = 1 << 14 }; // every path is reached with fewer; more takes time alone

static enum stk_jpeg_status decode(enum stk_jpeg_cpu cpu, const struct stk_jpeg_options *opt,
                                   const uint8_t *data, size_t size, uint8_t **out, size_t *bytes)
{
    static struct stk_jpeg *j;
    static enum stk_jpeg_cpu best;
    uint32_t w, h;
    if (!j) {
        j = malloc(sizeof *j);
        if (!j) {
            abort();
        }
        stk_jpeg_init(j);
        j->max_pixels = MAX_PIXELS;
        best = j->cpu;
    }
    *out = NULL;
    *bytes = 0;
    j->cpu = cpu == STK_JPEG_PLAIN ? STK_JPEG_PLAIN : best;
    enum stk_jpeg_status status = stk_jpeg_open(j, data, size);
    if (status == STK_JPEG_OK) {
        status = stk_jpeg_output_size(j, opt, &w, &h);
    }
    if (status != STK_JPEG_OK) {
        return status;
    }
    size_t stride = (size_t)w * (opt->output == STK_JPEG_GREY ? 1 : 3);
    size_t need = stk_jpeg_scratch_size(j, opt);
    void *scratch = malloc(need);
    *bytes = stride * h;
    *out = malloc(*bytes);
    if (!scratch || !*out) {
        abort();
    }
    status = stk_jpeg_decode(j, opt, *out, stride, scratch, need);
    free(scratch);
    return status;
}

struct second {
    struct stk_jpeg *j;
    struct stk_jpeg_options opt;
    struct stk_jpeg_task task;
    bool is_open;
};

static void begin(struct second *s, const uint8_t *data, size_t size)
{
    uint32_t w, h;
    if (!s->j) {
        s->j = malloc(sizeof *s->j);
        if (!s->j) {
            abort();
        }
        stk_jpeg_init(s->j);
        s->j->max_pixels = MAX_PIXELS;
    }
    s->is_open = stk_jpeg_open(s->j, data, size) == STK_JPEG_OK &&
                 stk_jpeg_output_size(s->j, &s->opt, &w, &h) == STK_JPEG_OK;
    if (!s->is_open) {
        return;
    }
    size_t stride = (size_t)w * (s->opt.output == STK_JPEG_GREY ? 1 : 3);
    size_t need = stk_jpeg_scratch_size(s->j, &s->opt);
    s->task = (struct stk_jpeg_task){s->j,         &s->opt, malloc(stride * h), stride,
                                     malloc(need), need,    STK_JPEG_OK};
    if (!s->task.out || !s->task.scratch) {
        abort();
    }
}

static void end(struct second *s)
{
    if (!s->is_open) {
        return;
    }
    free(s->task.out);
    free(s->task.scratch);
}

// The file with these options, and beside it the file whole.
static void decode_two(const struct stk_jpeg_options *opt, const uint8_t *data, size_t size,
                       enum stk_jpeg_status status, const uint8_t *pixels, size_t bytes)
{
    static struct second a, b;
    a.opt = *opt;
    begin(&a, data, size);
    begin(&b, data, size);
    if (a.is_open && b.is_open) {
        stk_jpeg_decode_two(&a.task, &b.task);
        if (a.task.status != status ||
            (status == STK_JPEG_OK && memcmp(a.task.out, pixels, bytes) != 0)) {
            abort();
        }
    }
    end(&a);
    end(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5) {
        return 0;
    }
    struct stk_jpeg_options opt = {.scale_denom = 1u << (data[0] & 3),
                                   .output = (enum stk_jpeg_output)(data[0] >> 2 & 1),
                                   .dct = (enum stk_jpeg_dct)(data[0] >> 3 & 1),
                                   .upsampling = (enum stk_jpeg_upsampling)(data[0] >> 4 & 1)};
    if (data[0] & 32) {
        opt.crop_x = data[1];
        opt.crop_y = data[2];
        opt.crop_w = data[3];
        opt.crop_h = data[4];
    }
    uint8_t *fast, *plain;
    size_t bytes, again;
    enum stk_jpeg_status a = decode(STK_JPEG_AVX2, &opt, data + 5, size - 5, &fast, &bytes);
    enum stk_jpeg_status b = decode(STK_JPEG_PLAIN, &opt, data + 5, size - 5, &plain, &again);
    if (a != b || bytes != again || (a == STK_JPEG_OK && memcmp(fast, plain, bytes) != 0)) {
        abort();
    }
    decode_two(&opt, data + 5, size - 5, a, fast, bytes);
    free(fast);
    free(plain);
    return 0;
}

// As it is, then with every choice of the first byte; and with one bit changed here and there, and
// cut.
static void each(uint8_t *bytes, size_t n)
{
    LLVMFuzzerTestOneInput(bytes, n);
    for (int choice = 0; n > 0 && choice < 64; choice++) {
        bytes[0] = (uint8_t)choice;
        LLVMFuzzerTestOneInput(bytes, n);
    }
    for (size_t at = 5; at < n; at++) {
        bytes[0] = (uint8_t)(at % 64);
        bytes[at] ^= (uint8_t)(1u << at % 8);
        LLVMFuzzerTestOneInput(bytes, n);
        bytes[at] ^= (uint8_t)(1u << at % 8);
        LLVMFuzzerTestOneInput(bytes, at);
    }
}

FUZZ_MAIN(each, 0)
