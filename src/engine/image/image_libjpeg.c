// SPDX-License-Identifier: Apache-2.0
// JPEGs through libjpeg: those that our decoder doesn't support (progressive, CMYK, RGB, arithmetic
// coding ...), and damaged ones, treated like in TensorFlow: warnings are ignored, and a premature
// end is an error unless recovery or a fraction is requested.
//
// libjpeg reports errors through a function that must not return: it jumps back into run(), whose
// state is in a struct of its caller. Limits: pixels, memory, and for a progressive file scans
// times pixels.
#include "base/assert.h"
#include "engine/image/image_codec_impl.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

// Each scan costs time in proportion to the image: the largest images may have twice as many as
// encoders make.
enum { MAX_SCANS = 100, LARGE_SCANS = 20 };

struct reading {
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    char message[JMSG_LENGTH_MAX];
    struct stk_image_context *c;
    const struct stk_image_jpeg_options *opt; // NULL: headers only
    struct stk_image *out;
    struct stk_image_shape *shape;
    struct stoker_err *err;
    enum stoker_status status;
    const uint8_t *data;
    uint32_t rows_wanted, rows_done, left;
    uint8_t *line;        // a whole row as libjpeg returns it
    size_t claimed_bytes; // taken from the budget
    int scans_max;
    bool is_too_large; // needs more memory than it may use
};

static const JOCTET end_marker[2] = {0xff, JPEG_EOI};

static void escape(j_common_ptr d)
{
    struct reading *r = d->client_data;
    d->err->format_message(d, r->message);
    r->is_too_large = d->err->msg_code == JERR_NO_BACKING_STORE;
    longjmp(r->escape, 1);
}

static void stay_silent(j_common_ptr d)
{
    (void)d;
}

static void count_scans(j_common_ptr d)
{
    struct reading *r = d->client_data;
    if (d->is_decompressor && r->d.input_scan_number > r->scans_max) {
        snprintf(r->message, sizeof r->message, "more than %d scans", r->scans_max);
        longjmp(r->escape, 1);
    }
}

static void start_source(j_decompress_ptr d)
{
    (void)d;
}

// All data are in memory from the start: a request for more means the end.
static boolean find_end(j_decompress_ptr d)
{
    struct reading *r = d->client_data;
    if (!r->opt || !r->opt->is_recovered) {
        snprintf(r->message, sizeof r->message, "the data end too early");
        longjmp(r->escape, 1);
    }
    d->src->next_input_byte = end_marker;
    d->src->bytes_in_buffer = sizeof end_marker;
    return TRUE;
}

static void skip_input(j_decompress_ptr d, long n)
{
    struct jpeg_source_mgr *s = d->src;
    if (n <= 0) {
        return;
    }
    size_t skip = (size_t)n < s->bytes_in_buffer ? (size_t)n : s->bytes_in_buffer;
    s->next_input_byte += skip;
    s->bytes_in_buffer -= skip;
}

static void set_up(struct reading *r, size_t size)
{
    r->d.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = escape;
    r->errors.output_message = stay_silent;
    r->d.client_data = r;
    r->source = (struct jpeg_source_mgr){.next_input_byte = r->data,
                                         .bytes_in_buffer = size,
                                         .init_source = start_source,
                                         .fill_input_buffer = find_end,
                                         .skip_input_data = skip_input,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = start_source};
    r->progress.progress_monitor = count_scans;
}

static enum stoker_status read_header(struct reading *r)
{
    jpeg_create_decompress(&r->d);
    r->d.client_data = r;
    r->d.src = &r->source;
    r->d.progress = &r->progress;
    uint64_t most = r->c->max_pixels < UINT64_C(1) << 40 ? r->c->max_pixels : UINT64_C(1) << 40;
    most = most * 8 < r->c->max_bytes ? most * 8 : r->c->max_bytes;
    r->d.mem->max_memory_to_use = (long)(most + (UINT64_C(64) << 20));
    jpeg_read_header(&r->d, TRUE);
    uint64_t pixels = (uint64_t)r->d.image_width * r->d.image_height;
    uint64_t scans = LARGE_SCANS * r->c->max_pixels / (pixels ? pixels : 1);
    r->scans_max = scans < MAX_SCANS ? (int)scans : MAX_SCANS;
    return stk_image_check_pixels(r->c, "a JPEG", r->d.image_height, r->d.image_width, r->err);
}

static uint32_t choose_output(struct reading *r)
{
    struct jpeg_decompress_struct *d = &r->d;
    const struct stk_image_jpeg_options *o = r->opt;
    uint32_t channels = o->channels ? o->channels : d->num_components == 1 ? 1 : 3;
    bool is_cmyk = d->jpeg_color_space == JCS_CMYK || d->jpeg_color_space == JCS_YCCK;
    d->out_color_space = channels == 1 ? JCS_GRAYSCALE : is_cmyk ? JCS_CMYK : JCS_RGB;
    d->scale_num = 1;
    d->scale_denom = o->ratio ? o->ratio : 1;
    d->dct_method = o->is_accurate_dct ? JDCT_ISLOW : JDCT_IFAST;
    d->do_fancy_upsampling = !o->is_box_upsampled;
    return channels;
}

// Adobe stores the four inks inverted.
static void mix_inks(const uint8_t *in, size_t n, bool is_inverted, uint8_t *out)
{
    for (size_t i = 0; i < n; i++, in += 4, out += 3) {
        for (int c = 0; c < 3; c++) {
            int ink = is_inverted ? in[c] : 255 - in[c], key = is_inverted ? in[3] : 255 - in[3];
            out[c] = (uint8_t)(ink * key / 255);
        }
    }
}

static void keep_line(struct reading *r, uint32_t y)
{
    STK_ASSERT(y < r->out->height);
    const struct stk_image *out = r->out;
    uint8_t *to = stk_image_row(out, y);
    const uint8_t *from = r->line + (size_t)r->left * (size_t)r->d.output_components;
    if (r->d.out_color_space == JCS_CMYK) {
        mix_inks(from, out->width, r->d.saw_Adobe_marker, to);
    } else {
        memcpy(to, from, (size_t)out->width * out->channels);
    }
}

// Sets the output's size; gets memory for it and for one row.
static enum stoker_status plan(struct reading *r, uint32_t channels)
{
    const struct stk_image_jpeg_options *o = r->opt;
    jpeg_calc_output_dimensions(&r->d);
    uint32_t w = r->d.output_width, h = r->d.output_height;
    struct stk_image_shape shape = {h, w, channels};
    if (o->crop_width || o->crop_height || o->crop_x || o->crop_y) {
        if (!o->crop_width || !o->crop_height || o->crop_x >= w || o->crop_y >= h ||
            o->crop_width > w - o->crop_x || o->crop_height > h - o->crop_y) {
            return stk_err_set(r->err, STOKER_EUSAGE,
                               "decode_jpeg: crop %u x %u at (%u, %u) does not fit an image of "
                               "%u x %u",
                               o->crop_height, o->crop_width, o->crop_y, o->crop_x, h, w);
        }
        shape.height = o->crop_height;
        shape.width = o->crop_width;
    }
    r->left = o->crop_x;
    r->rows_wanted = o->is_checked ? h : o->crop_y + shape.height;
    enum stoker_status status = stk_image_claim(r->c, r->out, &shape, STK_IMAGE_U8, r->err);
    if (status != STOKER_OK) {
        return status;
    }
    r->line = stk_image_buffer_reserve(&r->c->scratch, (size_t)w * 4);
    return r->line ? STOKER_OK : stk_image_no_memory(r->c, (size_t)w * 4, r->err);
}

// For several passes the library keeps all coefficients: count them against the budget meanwhile.
static enum stoker_status claim_passes(struct reading *r)
{
    size_t bytes = 0;
    for (int i = 0; r->c->pool && jpeg_has_multiple_scans(&r->d) && i < r->d.num_components; i++) {
        const jpeg_component_info *of = &r->d.comp_info[i];
        bytes += (size_t)of->width_in_blocks * of->height_in_blocks * sizeof(JBLOCK);
    }
    if (bytes > 0 && !stk_pool_claim(r->c->pool, bytes)) {
        return stk_image_no_memory(r->c, bytes, r->err);
    }
    r->claimed_bytes = bytes;
    return STOKER_OK;
}

static enum stoker_status decode(struct reading *r)
{
    const struct stk_image_jpeg_options *o = r->opt;
    enum stoker_status status = plan(r, choose_output(r));
    status = status == STOKER_OK ? claim_passes(r) : status;
    if (status != STOKER_OK) {
        return status;
    }
    jpeg_start_decompress(&r->d);
    while (r->rows_done < r->rows_wanted) {
        JSAMPROW row = r->line;
        if (jpeg_read_scanlines(&r->d, &row, 1) != 1) {
            return stk_err_set(r->err, STOKER_EINPUT, "a damaged JPEG: the data end too early");
        }
        if (r->rows_done >= o->crop_y && r->rows_done - o->crop_y < r->out->height) {
            keep_line(r, r->rows_done - o->crop_y);
        }
        r->rows_done++;
    }
    if (r->rows_wanted == r->d.output_height) {
        jpeg_finish_decompress(&r->d);
    }
    return STOKER_OK;
}

// After an error: was enough read? The rest is black.
static enum stoker_status settle(struct reading *r)
{
    const struct stk_image_jpeg_options *o = r->opt;
    if (r->is_too_large) {
        return stk_err_set(r->err, STOKER_ELIMIT,
                           "a JPEG of %u x %u pixels in several passes needs more memory than is "
                           "allowed",
                           r->d.image_height, r->d.image_width);
    }
    uint32_t done = o && r->rows_done > o->crop_y ? r->rows_done - o->crop_y : 0;
    if (o && r->rows_wanted && done > 0 &&
        (float)(r->rows_wanted - r->rows_done) <=
            o->missing_fraction * (float)(r->rows_wanted - o->crop_y) &&
        o->missing_fraction > 0) {
        for (uint32_t y = done; y < r->out->height; y++) {
            memset(stk_image_row(r->out, y), 0, (size_t)r->out->width * r->out->channels);
        }
        return STOKER_OK;
    }
    return stk_err_set(r->err, STOKER_EINPUT, "a damaged JPEG, or not a JPEG: %s", r->message);
}

static void run(struct reading *r)
{
    if (setjmp(r->escape)) {
        r->status = settle(r);
        return;
    }
    r->status = read_header(r);
    if (r->status != STOKER_OK) {
        return;
    }
    if (r->opt) {
        r->status = decode(r);
    } else {
        *r->shape = (struct stk_image_shape){r->d.image_height, r->d.image_width,
                                             (uint32_t)r->d.num_components};
    }
}

enum stoker_status stk_image_libjpeg_shape(struct stk_image_context *c, const uint8_t *data,
                                           size_t size, struct stk_image_shape *shape,
                                           struct stoker_err *err)
{
    struct reading r = {.c = c, .shape = shape, .err = err, .data = data};
    set_up(&r, size);
    run(&r);
    jpeg_destroy_decompress(&r.d);
    return r.status;
}

enum stoker_status stk_image_libjpeg_decode(struct stk_image_context *c, const uint8_t *data,
                                            size_t size, const struct stk_image_jpeg_options *opt,
                                            struct stk_image *out, struct stoker_err *err)
{
    struct reading r = {.c = c, .opt = opt, .out = out, .err = err, .data = data};
    set_up(&r, size);
    run(&r);
    jpeg_destroy_decompress(&r.d);
    if (r.claimed_bytes > 0) {
        stk_pool_unclaim(c->pool, r.claimed_bytes);
    }
    return r.status;
}
