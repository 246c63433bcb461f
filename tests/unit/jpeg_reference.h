// SPDX-License-Identifier: Apache-2.0
// JPEG files made, and decoded for reference, with libjpeg-turbo.
#ifndef STK_TESTS_JPEG_REFERENCE_H
#define STK_TESTS_JPEG_REFERENCE_H

#include "check.h"
#include "engine/image/jpeg.h"

#include <setjmp.h>
#include <jpeglib.h>

static uint64_t random_state = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return below ? (uint32_t)(random_state >> 33) % below : 0;
}

struct jpeg_recipe {
    uint32_t width, height;
    int components, h, v, quality;
    int restart; // MCUs, 0 for none
    int optimize, wide_quant, progressive, arithmetic;
    int noise; // 0 flat, 1 natural, 2 white, 3 extreme black and white, 4 as rich as a training
               // photo
};

struct jpeg_errors {
    struct jpeg_error_mgr base;
    jmp_buf escape;
};

static void jpeg_escape(j_common_ptr c)
{
    longjmp(((struct jpeg_errors *)c->err)->escape, 1);
}

static void jpeg_be_silent(j_common_ptr c)
{
    (void)c;
}

static void jpeg_hush(j_common_ptr c, int level)
{
    (void)c;
    (void)level;
}

// Noise whose power falls with frequency, as in photographs: octaves of bilinear noise.
static void paint_octave(float *plane, uint32_t w, uint32_t h, uint32_t cell, float gain)
{
    uint32_t gw = w / cell + 2, gh = h / cell + 2;
    float *grid = malloc(sizeof *grid * gw * gh);
    for (uint32_t i = 0; i < gw * gh; i++) {
        grid[i] = gain * ((float)draw(2001) / 1000 - 1);
    }
    for (uint32_t y = 0; y < h; y++) {
        for (uint32_t x = 0; x < w; x++) {
            const float *g = grid + (y / cell) * gw + x / cell;
            float fx = (float)(x % cell) / (float)cell, fy = (float)(y % cell) / (float)cell;
            float top = g[0] + (g[1] - g[0]) * fx, bottom = g[gw] + (g[gw + 1] - g[gw]) * fx;
            plane[(size_t)y * w + x] += top + (bottom - top) * fy;
        }
    }
    free(grid);
}

static uint8_t *paint(const struct jpeg_recipe *r)
{
    size_t pixels = (size_t)r->width * r->height;
    uint8_t *image = malloc(pixels * (size_t)r->components);
    for (int c = 0; c < r->components; c++) {
        float *plane = calloc(pixels, sizeof *plane);
        bool is_natural = r->noise == 1 || r->noise == 4;
        float gain = r->noise == 4 ? 2.5f : 1;
        for (uint32_t cell = 1; is_natural && cell <= 128; cell *= 2) {
            paint_octave(plane, r->width, r->height, cell, gain * (5 + 0.45f * (float)cell));
        }
        float flat = (float)draw(256);
        for (size_t i = 0; i < pixels; i++) {
            float v = is_natural      ? 128 + plane[i]
                      : r->noise == 2 ? (float)draw(256)
                      : r->noise == 3 ? (float)(255 * draw(2))
                                      : flat;
            image[i * (size_t)r->components + (size_t)c] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
        }
        free(plane);
    }
    return image;
}

// Returns a malloc'ed file.
static uint8_t *encode_jpeg(const struct jpeg_recipe *r, size_t *size)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    uint8_t *image = paint(r), *file = NULL;
    unsigned long n = 0;
    c.err = jpeg_std_error(&errors);
    errors.emit_message = jpeg_hush; // wide quantizers are meant
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &file, &n);
    c.image_width = r->width;
    c.image_height = r->height;
    c.input_components = r->components;
    c.in_color_space = r->components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, r->quality, !r->wide_quant);
    if (r->wide_quant) {
        for (int i = 0; i < 64; i++) {
            c.quant_tbl_ptrs[0]->quantval[i] = (UINT16)(1 + draw(i < 8 ? 20 : 2000));
        }
    }
    c.comp_info[0].h_samp_factor = r->h;
    c.comp_info[0].v_samp_factor = r->v;
    c.restart_interval = (unsigned)r->restart;
    c.optimize_coding = r->optimize;
    c.arith_code = r->arithmetic;
    if (r->progressive) {
        jpeg_simple_progression(&c);
    }
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < r->height) {
        JSAMPROW row = image + (size_t)c.next_scanline * r->width * (size_t)r->components;
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(image);
    *size = n;
    return file;
}

struct reference {
    uint8_t *pixels; // malloc'ed; NULL if libjpeg gave up
    uint32_t width, height;
    long warnings;
};

static inline struct reference decode_reference(const uint8_t *file, size_t size,
                                                const struct stk_jpeg_options *opt)
{
    struct jpeg_decompress_struct d;
    struct jpeg_errors errors;
    struct reference *volatile ref = calloc(1, sizeof *ref);
    d.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = jpeg_escape;
    errors.base.output_message = jpeg_be_silent;
    jpeg_create_decompress(&d);
    if (setjmp(errors.escape)) {
        free(ref->pixels);
        ref->pixels = NULL;
        goto done;
    }
    jpeg_mem_src(&d, file, size);
    jpeg_read_header(&d, TRUE);
    d.out_color_space = opt->output == STK_JPEG_GREY ? JCS_GRAYSCALE : JCS_RGB;
    d.dct_method = opt->dct == STK_JPEG_IFAST ? JDCT_IFAST : JDCT_ISLOW;
    d.do_fancy_upsampling = opt->upsampling == STK_JPEG_FANCY;
    d.scale_num = 1;
    d.scale_denom = opt->scale_denom ? opt->scale_denom : 1;
    jpeg_start_decompress(&d);
    ref->width = d.output_width;
    ref->height = d.output_height;
    size_t stride = (size_t)d.output_width * (size_t)d.output_components;
    ref->pixels = malloc(stride * d.output_height);
    while (d.output_scanline < d.output_height) {
        JSAMPROW row = ref->pixels + d.output_scanline * stride;
        jpeg_read_scanlines(&d, &row, 1);
    }
    jpeg_finish_decompress(&d);
done:;
    struct reference result = *ref;
    result.warnings = d.err->num_warnings;
    free(ref);
    jpeg_destroy_decompress(&d);
    return result;
}

#endif
