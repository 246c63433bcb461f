// SPDX-License-Identifier: Apache-2.0
// tf.io.encode_jpeg through libjpeg: gray or RGB, into memory that the context keeps.
#include "engine/image/image_codec.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

enum { MAX_SIDE = 65500, XMP_MOST = 65000 };

struct writing {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf escape;
    char message[JMSG_LENGTH_MAX];
    const struct stk_image *in;
    const struct stk_image_jpeg_encoding *e;
    size_t capacity;
};

static void escape(j_common_ptr c)
{
    struct writing *w = c->client_data;
    c->err->format_message(c, w->message);
    longjmp(w->escape, 1);
}

static void stay_silent(j_common_ptr c)
{
    (void)c;
}

static void do_nothing(j_compress_ptr c)
{
    (void)c;
}

// The buffer fits any image of this size; this is a safeguard.
static boolean refuse_more(j_compress_ptr c)
{
    struct writing *w = c->client_data;
    snprintf(w->message, sizeof w->message, "more than %zu bytes", w->capacity);
    longjmp(w->escape, 1);
}

void stk_image_jpeg_defaults(struct stk_image_jpeg_encoding *e)
{
    *e = (struct stk_image_jpeg_encoding){.quality = 95, .x_density = 300, .y_density = 300};
}

static void write_xmp(struct writing *w)
{
    static const char name[] = "http://ns.adobe.com/xap/1.0/"; // with its final zero
    if (!w->e->xmp) {
        return;
    }
    jpeg_write_m_header(&w->c, JPEG_APP0 + 1, (unsigned)(sizeof name + w->e->xmp_size));
    for (size_t i = 0; i < sizeof name; i++) {
        jpeg_write_m_byte(&w->c, name[i]);
    }
    for (size_t i = 0; i < w->e->xmp_size; i++) {
        jpeg_write_m_byte(&w->c, w->e->xmp[i]);
    }
}

static void write_file(struct writing *w)
{
    const struct stk_image_jpeg_encoding *e = w->e;
    struct jpeg_compress_struct *c = &w->c;
    c->image_width = w->in->width;
    c->image_height = w->in->height;
    c->input_components = (int)w->in->channels;
    c->in_color_space = w->in->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, e->quality, TRUE);
    if (e->is_progressive) {
        jpeg_simple_progression(c);
    }
    c->optimize_coding = e->is_optimized;
    if (e->is_chroma_full && w->in->channels == 3) {
        c->comp_info[0].h_samp_factor = c->comp_info[0].v_samp_factor = 1;
    }
    c->density_unit = e->is_density_in_cm ? 2 : 1;
    c->X_density = e->x_density;
    c->Y_density = e->y_density;
    jpeg_start_compress(c, TRUE);
    write_xmp(w);
    while (c->next_scanline < c->image_height) {
        JSAMPROW row = stk_image_row(w->in, c->next_scanline);
        jpeg_write_scanlines(c, &row, 1);
    }
    jpeg_finish_compress(c);
}

static enum stoker_status run(struct writing *w, uint8_t *to)
{
    w->c.err = jpeg_std_error(&w->errors);
    w->errors.error_exit = escape;
    w->errors.output_message = stay_silent;
    w->c.client_data = w;
    if (setjmp(w->escape)) {
        return STOKER_EOUTPUT;
    }
    jpeg_create_compress(&w->c);
    w->destination = (struct jpeg_destination_mgr){.next_output_byte = to,
                                                   .free_in_buffer = w->capacity,
                                                   .init_destination = do_nothing,
                                                   .empty_output_buffer = refuse_more,
                                                   .term_destination = do_nothing};
    w->c.dest = &w->destination;
    write_file(w);
    return STOKER_OK;
}

static enum stoker_status check(const struct stk_image *in, const struct stk_image_jpeg_encoding *e,
                                struct stoker_err *err)
{
    enum stoker_status status = stk_image_check(in, "encode_jpeg", err);
    if (status != STOKER_OK) {
        return status;
    }
    if (in->type != STK_IMAGE_U8 || (in->channels != 1 && in->channels != 3)) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "encode_jpeg: takes uint8 with 1 or 3 channels, not %u", in->channels);
    }
    if (in->width > MAX_SIDE || in->height > MAX_SIDE) {
        return stk_err_set(err, STOKER_ELIMIT, "encode_jpeg: %u x %u is more than %d a side",
                           in->height, in->width, MAX_SIDE);
    }
    if (e->quality < 0 || e->quality > 100 || (e->xmp && e->xmp_size > XMP_MOST)) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "encode_jpeg: quality is 0 to 100, not %d; XMP at most %d bytes",
                           e->quality, XMP_MOST);
    }
    return STOKER_OK;
}

enum stoker_status stk_image_encode_jpeg(struct stk_image_context *c, const struct stk_image *in,
                                         const struct stk_image_jpeg_encoding *e,
                                         const uint8_t **bytes, size_t *size,
                                         struct stoker_err *err)
{
    struct writing w = {.in = in, .e = e};
    enum stoker_status status = check(in, e, err);
    if (status != STOKER_OK) {
        return status;
    }
    // A coefficient takes at most 26 bits, and stuffing may double bytes.
    size_t padded = ((size_t)in->width + 15) / 16 * 16 * (((size_t)in->height + 15) / 16 * 16);
    w.capacity = padded * in->channels * 7 + e->xmp_size + 16384;
    uint8_t *to = stk_image_buffer_reserve(&c->encoded, w.capacity);
    if (!to) {
        return stk_image_no_memory(c, w.capacity, err);
    }
    status = run(&w, to);
    *bytes = to;
    *size = w.capacity - w.destination.free_in_buffer;
    if (status != STOKER_OK) {
        stk_err_set(err, status, "encode_jpeg: %s", w.message);
    }
    jpeg_destroy_compress(&w.c);
    return status;
}
