// SPDX-License-Identifier: Apache-2.0
// Resizing: chooses arithmetic and vector code, lays out the filters in the context's memory, and
// makes one output row at a time.
#include "base/assert.h"
#include "engine/image/image_resize_impl.h"

#include <math.h>
#include <string.h>

struct resizer {
    struct stk_image_axis across, down;
    struct stk_image_store store;
    const struct stk_image *in;
    bool is_fixed, is_rounded;
    stk_image_mix_fixed_fn *mix_fixed;
    stk_image_mix_bytes_fn *mix_bytes;
    stk_image_mix_floats_fn *mix_floats;
    stk_image_sum_fixed_fn *sum_fixed;
    stk_image_sum_float_fn *sum_float;
    const void **rows;
    float *weights;
    int16_t *fixed;
    void *row, *planes, *line;
    uint8_t *bytes; // a row rounded to levels
};

static void *take(uint8_t *base, size_t *used, size_t size)
{
    uint8_t *p = base ? base + *used : NULL;
    *used += (size + 63) & ~(size_t)63;
    return p;
}

static void lay_out_axis(struct stk_image_axis *a, uint8_t *base, size_t *used)
{
    size_t out = a->out, blocks = (out + STK_IMAGE_BLOCK - 1) / STK_IMAGE_BLOCK;
    a->pair_taps = (a->taps + 1) & ~1u;
    a->start = take(base, used, out * sizeof *a->start);
    a->weight = take(base, used, out * a->taps * sizeof *a->weight);
    a->fixed = take(base, used, out * a->pair_taps * sizeof *a->fixed);
    a->window = take(base, used, blocks * sizeof *a->window);
    a->lookups = take(base, used, blocks * a->pair_taps * 128);
}

static void lay_out_rows(struct resizer *r, uint8_t *base, size_t *used)
{
    size_t channels = r->in->channels, in = r->across.in, out = r->across.out;
    r->rows = take(base, used, r->down.taps * sizeof *r->rows);
    r->weights = take(base, used, r->down.taps * sizeof *r->weights);
    r->fixed = take(base, used, r->down.taps * sizeof *r->fixed);
    r->row = take(base, used, (in * channels + STK_IMAGE_MARGIN) * sizeof(float));
    r->planes = take(base, used, channels * (in + STK_IMAGE_MARGIN) * sizeof(float));
    r->line =
        take(base, used, ((out + STK_IMAGE_BLOCK) * channels + STK_IMAGE_MARGIN) * sizeof(float));
    r->bytes = take(base, used, out * channels + STK_IMAGE_MARGIN);
}

static void choose_code(struct resizer *r, const struct stk_image_context *c)
{
    r->mix_fixed = stk_image_mix_fixed;
    r->mix_bytes = stk_image_mix_bytes;
    r->mix_floats = stk_image_mix_floats;
    r->sum_fixed = stk_image_sum_fixed;
    r->sum_float = stk_image_sum_float;
#if STK_IMAGE_X86
    uint32_t channels = r->in->channels;
    if (c->cpu >= STK_IMAGE_AVX2) {
        r->mix_fixed = stk_image_mix_fixed_avx2;
        r->mix_bytes = stk_image_mix_bytes_avx2;
        r->mix_floats = stk_image_mix_floats_avx2;
        if (channels == 3) {
            r->sum_fixed = stk_image_sum_fixed3_avx2;
            r->sum_float = stk_image_sum_float3_avx2;
        }
    }
    if (c->cpu >= STK_IMAGE_AVX512) {
        r->mix_fixed = stk_image_mix_fixed_avx512;
        r->mix_bytes = stk_image_mix_bytes_avx512;
        r->mix_floats = stk_image_mix_floats_avx512;
        if ((channels == 1 || channels == 3) && stk_image_axis_block(&r->across, r->is_fixed)) {
            r->sum_fixed = stk_image_sum_fixed_avx512;
            r->sum_float = stk_image_sum_float_avx512;
        }
    }
    if (r->is_fixed && r->sum_fixed == stk_image_sum_fixed3_avx2) {
        stk_image_axis_pair_avx2(&r->across);
    }
#else
    (void)c;
#endif
}

static enum stoker_status prepare(struct resizer *r, struct stk_image_context *c,
                                  const struct stk_image_resize_options *opt,
                                  const struct stk_image *out, struct stoker_err *err)
{
    const struct stk_image *in = r->in;
    struct stk_image_axis *x = &r->across, *y = &r->down;
    *x = (struct stk_image_axis){.in = in->width, .out = out->width};
    *y = (struct stk_image_axis){.in = in->height, .out = out->height};
    x->taps = stk_image_axis_taps(opt->method, opt->antialias, x->in, x->out);
    y->taps = stk_image_axis_taps(opt->method, opt->antialias, y->in, y->out);
    r->is_rounded = opt->method == STK_IMAGE_PIL_BILINEAR;
    r->is_fixed = r->is_rounded && in->type == STK_IMAGE_U8 && x->taps <= STK_IMAGE_FIXED_TAPS &&
                  y->taps <= STK_IMAGE_FIXED_TAPS;
    size_t used = 0;
    lay_out_axis(x, NULL, &used);
    lay_out_axis(y, NULL, &used);
    uint8_t *base = stk_image_buffer_reserve(&c->axes, used);
    if (!base) {
        return stk_image_no_memory(c, used, err);
    }
    used = 0;
    lay_out_axis(x, base, &used);
    lay_out_axis(y, base, &used);
    used = 0;
    lay_out_rows(r, NULL, &used);
    base = stk_image_buffer_reserve(&c->rows, used);
    if (!base) {
        return stk_image_no_memory(c, used, err);
    }
    used = 0;
    lay_out_rows(r, base, &used);
    size_t samples = (size_t)x->in * in->channels;
    if (r->is_fixed) {
        memset((int16_t *)r->row + samples, 0, STK_IMAGE_MARGIN * sizeof(int16_t));
    } else {
        memset((float *)r->row + samples, 0, STK_IMAGE_MARGIN * sizeof(float));
    }
    stk_image_axis_fill(x, opt->method, opt->antialias);
    stk_image_axis_fill(y, opt->method, opt->antialias);
    if (opt->is_mirrored) {
        stk_image_axis_mirror(x);
    }
    if (r->is_fixed) {
        stk_image_axis_fix(x);
        stk_image_axis_fix(y);
    }
    choose_code(r, c);
    return STOKER_OK;
}

// Collects the input rows with weight in output row y; returns how many.
static uint32_t gather_rows(struct resizer *r, uint32_t y)
{
    STK_ASSERT(y < r->down.out);
    const struct stk_image_axis *a = &r->down;
    uint32_t n = 0;
    for (uint32_t t = 0; t < a->taps; t++) {
        float w = a->weight[(size_t)y * a->taps + t];
        int16_t fixed = r->is_fixed ? a->fixed[(size_t)y * a->pair_taps + t] : 0;
        if (r->is_fixed ? fixed == 0 : w == 0) {
            continue;
        }
        r->rows[n] = stk_image_row(r->in, (uint32_t)a->start[y] + t);
        r->weights[n] = w;
        r->fixed[n++] = fixed;
    }
    return n;
}

static void round_line(const float *line, size_t n, uint8_t *bytes)
{
    for (size_t i = 0; i < n; i++) {
        float v = line[i] + 0.5f;
        bytes[i] = (uint8_t)(v >= 255 ? 255 : v > 0 ? (int)v : 0);
    }
}

static void make_row(struct resizer *r, uint32_t y)
{
    STK_ASSERT(y < r->down.out);
    uint32_t taps = gather_rows(r, y), channels = r->in->channels;
    size_t n = (size_t)r->in->width * channels;
    if (r->is_fixed) {
        r->mix_fixed((const uint8_t *const *)r->rows, r->fixed, taps, n, r->row);
        r->sum_fixed(r->row, &r->across, channels, r->planes, r->line);
        stk_image_store_bytes(&r->store, r->line, y);
        return;
    }
    if (r->in->type == STK_IMAGE_U8) {
        r->mix_bytes((const uint8_t *const *)r->rows, r->weights, taps, n, r->row);
    } else {
        r->mix_floats((const float *const *)r->rows, r->weights, taps, n, r->row);
    }
    r->sum_float(r->row, &r->across, channels, r->planes, r->line);
    if (r->store.opt->steps && !r->is_rounded) {
        stk_image_steps_run(r->store.opt->steps, r->line, (size_t)r->across.out * channels);
    }
    if (!r->is_rounded) {
        stk_image_store_floats(&r->store, r->line, y);
        return;
    }
    round_line(r->line, (size_t)r->across.out * channels, r->bytes);
    stk_image_store_bytes(&r->store, r->bytes, y);
}

static uint32_t nearest(enum stk_image_method m, uint32_t x, uint32_t in, uint32_t out)
{
    STK_ASSERT(in > 0 && out > 0 && x < out);
    float at = (float)x * stk_image_axis_scale(m, in, out);
    if (m == STK_IMAGE_NEAREST) {
        at = floorf(((float)x + 0.5f) * ((float)in / (float)out));
    } else {
        at = m == STK_IMAGE_V1_NEAREST ? floorf(at) : roundf(at);
    }
    return at >= (float)in ? in - 1 : (uint32_t)at;
}

static void copy_pixels(const uint8_t *from, const uint32_t *columns, size_t n, size_t size,
                        uint8_t *to)
{
    if (size == 3) {
        for (size_t x = 0; x < n; x++) {
            memcpy(to + 3 * x, from + 3 * (size_t)columns[x], 3);
        }
        return;
    }
    for (size_t x = 0; x < n; x++) {
        memcpy(to + x * size, from + columns[x] * size, size);
    }
}

// Without planes and scales, rows are written in place, so any type will do.
static enum stoker_status resize_nearest(struct stk_image_context *c, const struct stk_image *in,
                                         const struct stk_image_store *store,
                                         struct stoker_err *err)
{
    const struct stk_image *out = store->out;
    const struct stk_image_resize_options *opt = store->opt;
    bool is_plain = out->type == in->type && !opt->is_planar && !opt->is_normalised;
    bool is_kept =
        out->type == in->type || (in->type == STK_IMAGE_U8 && out->type == STK_IMAGE_F32);
    if (!is_kept || (!is_plain && in->type == STK_IMAGE_U16)) {
        return stk_err_set(err, STOKER_EUSAGE, "resize: nearest keeps the type");
    }
    size_t size = in->channels * stk_image_type_size(in->type);
    uint32_t *columns = stk_image_buffer_reserve(&c->axes, out->width * sizeof *columns);
    uint8_t *line = stk_image_buffer_reserve(&c->rows, out->width * size + STK_IMAGE_MARGIN);
    if (!columns || !line) {
        return stk_image_no_memory(c, out->width * (size + sizeof *columns), err);
    }
    for (uint32_t x = 0; x < out->width; x++) {
        columns[opt->is_mirrored ? out->width - 1 - x : x] =
            nearest(opt->method, x, in->width, out->width);
    }
    for (uint32_t y = 0; y < out->height; y++) {
        const uint8_t *from = stk_image_row(in, nearest(opt->method, y, in->height, out->height));
        copy_pixels(from, columns, out->width, size, is_plain ? stk_image_row(out, y) : line);
        if (is_plain) {
            continue;
        }
        if (in->type == STK_IMAGE_U8) {
            stk_image_store_bytes(store, line, y);
        } else {
            stk_image_store_floats(store, (const float *)(const void *)line, y);
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_image_resize(struct stk_image_context *c, const struct stk_image *in,
                                    const struct stk_image_resize_options *opt,
                                    const struct stk_image *out, struct stoker_err *err)
{
    struct resizer r = {.in = in};
    enum stoker_status status = stk_image_check(in, "resize", err);
    if (status != STOKER_OK) {
        return status;
    }
    if (in->channels != out->channels || (unsigned)opt->method >= STK_IMAGE_METHODS) {
        return stk_err_set(err, STOKER_EUSAGE, "resize: %u channels to %u, method %d", in->channels,
                           out->channels, (int)opt->method);
    }
    status = stk_image_store_init(&r.store, c, opt, out, err);
    if (status != STOKER_OK) {
        return status;
    }
    if (stk_image_is_nearest(opt->method)) {
        return resize_nearest(c, in, &r.store, err);
    }
    if (in->type == STK_IMAGE_U16 || out->type == STK_IMAGE_U16) {
        return stk_err_set(err, STOKER_EUSAGE, "resize: convert uint16 to float32 first");
    }
    status = prepare(&r, c, opt, out, err);
    if (status != STOKER_OK) {
        return status;
    }
    for (uint32_t y = 0; y < out->height; y++) {
        make_row(&r, y);
    }
    return STOKER_OK;
}

void stk_image_preserve_ratio(uint32_t in_height, uint32_t in_width, uint32_t *height,
                              uint32_t *width)
{
    STK_ASSERT(in_height > 0 && in_width > 0);
    float tall = (float)*height / (float)in_height, wide = (float)*width / (float)in_width;
    float scale = tall < wide ? tall : wide;
    *height = (uint32_t)rintf(scale * (float)in_height);
    *width = (uint32_t)rintf(scale * (float)in_width);
}
