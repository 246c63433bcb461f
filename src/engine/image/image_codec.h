// SPDX-License-Identifier: Apache-2.0
// Image files to pixels and back: JPEG (our decoder for what it supports, libjpeg for the rest),
// PNG (libpng), BMP, GIF's first frame, WebP (libwebp, if present). Arguments, defaults and results
// are those of tf.io.
//
// Pixels go where out->pixels says, if out's size, channels and type are right; if it is NULL, to
// the context's memory: `out` is filled in and lasts until the context's next decode. The context
// owns encoded bytes in the same way. An image above the context's max_pixels is refused at once.
// Status: STOKER_EINPUT for a file that cannot be decoded, STOKER_ELIMIT for one too large,
// STOKER_EUSAGE for invalid arguments.
#pragma once

#include "engine/image/image_resize.h"

enum stk_image_format {
    STK_IMAGE_UNKNOWN = 0,
    STK_IMAGE_JPEG,
    STK_IMAGE_PNG,
    STK_IMAGE_GIF,
    STK_IMAGE_BMP,
    STK_IMAGE_WEBP
};

// By the first bytes, in the same way as TensorFlow.
enum stk_image_format stk_image_sniff(const uint8_t *data, size_t size);

struct stk_image_shape {
    uint32_t height, width, channels;
};

// All zero: tf.io.decode_jpeg's defaults.
struct stk_image_jpeg_options {
    uint32_t channels;      // 0 (as in the file), 1 or 3
    uint32_t ratio;         // 1, 2, 4 or 8; 0 is 1
    bool is_box_upsampled;  // fancy_upscaling=False
    bool is_accurate_dct;   // dct_method="INTEGER_ACCURATE"; "" is the fast one, as in TensorFlow
    bool is_recovered;      // try_recover_truncated: missing parts are libjpeg's gray
    float missing_fraction; // 1 - acceptable_fraction: share of rows that may be missing; they are
                            // black
    uint32_t crop_y, crop_x, crop_height, crop_width; // of the scaled image; both sizes 0: no crop
    bool is_checked;                                  // damage outside the crop is an error, too
    bool has_ends; // decode_and_crop_jpeg's chroma at the crop's ends (jpeg.h)
};

// extract_jpeg_shape: height, width and channels (1, 3 or 4) from the headers.
enum stoker_status stk_image_jpeg_shape(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, struct stk_image_shape *shape,
                                        struct stoker_err *err);
enum stoker_status stk_image_decode_jpeg(struct stk_image_context *c, const uint8_t *data,
                                         size_t size, const struct stk_image_jpeg_options *opt,
                                         struct stk_image *out, struct stoker_err *err);
struct stk_image_jpeg_job {
    struct stk_image_context *context;
    const uint8_t *data;
    size_t size;
    struct stk_image_jpeg_options opt;
    struct stk_image out;      // as of stk_image_decode_jpeg
    enum stoker_status status; // out
    struct stoker_err err;     // initialized by the caller
};
// One or two files, each with its own context: two at once take less time than one after the other.
void stk_image_decode_jpegs(struct stk_image_jpeg_job *jobs, int count);
// Sets the smallest scale at which the crop, given in pixels of the unscaled image, is still at
// least as large as `out`.
void stk_image_jpeg_scale_crop(struct stk_image_jpeg_options *o, const struct stk_image *out);

// tf.io.decode_png: channels 0 (as in the file) to 4; uint8, or uint16 if is_16_bit. A missing
// alpha channel becomes opaque (in TensorFlow it is 1 of 255 if a gray file has 1 bit a pixel).
enum stoker_status stk_image_decode_png(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, uint32_t channels, bool is_16_bit,
                                        struct stk_image *out, struct stoker_err *err);
// channels: as requested; 0: as in the file.
enum stoker_status stk_image_png_shape(struct stk_image_context *c, const uint8_t *data,
                                       size_t size, uint32_t channels,
                                       struct stk_image_shape *shape, struct stoker_err *err);
// BMP: channels 0, or as the file has them. GIF: the first frame, 3 channels.
enum stoker_status stk_image_decode_bmp(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, uint32_t channels, struct stk_image *out,
                                        struct stoker_err *err);
enum stoker_status stk_image_decode_gif(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, struct stk_image *out, struct stoker_err *err);
enum stoker_status stk_image_decode_webp(struct stk_image_context *c, const uint8_t *data,
                                         size_t size, uint32_t channels, struct stk_image *out,
                                         struct stoker_err *err);
enum stoker_status stk_image_webp_shape(const uint8_t *data, size_t size, uint32_t channels,
                                        struct stk_image_shape *shape, struct stoker_err *err);
enum stoker_status stk_image_bmp_shape(const uint8_t *data, size_t size, uint32_t channels,
                                       struct stk_image_shape *shape, struct stoker_err *err);
enum stoker_status stk_image_gif_shape(const uint8_t *data, size_t size,
                                       struct stk_image_shape *shape, struct stoker_err *err);
// Decodes the format given by the first bytes, as uint8; the first frame of a GIF.
enum stoker_status stk_image_decode_any(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, uint32_t channels, struct stk_image *out,
                                        struct stoker_err *err);
enum stoker_status stk_image_any_shape(struct stk_image_context *c, const uint8_t *data,
                                       size_t size, uint32_t channels,
                                       struct stk_image_shape *shape, struct stoker_err *err);

// tf.io.encode_jpeg's; stk_image_jpeg_defaults sets its defaults.
struct stk_image_jpeg_encoding {
    int quality;                                       // 0 to 100
    bool is_progressive, is_optimized, is_chroma_full; // chroma_downsampling=False
    bool is_density_in_cm;
    uint16_t x_density, y_density;
    const uint8_t *xmp; // may be NULL
    size_t xmp_size;
};
void stk_image_jpeg_defaults(struct stk_image_jpeg_encoding *e);
enum stoker_status stk_image_encode_jpeg(struct stk_image_context *c, const struct stk_image *in,
                                         const struct stk_image_jpeg_encoding *e,
                                         const uint8_t **bytes, size_t *size,
                                         struct stoker_err *err);
// U8 or U16, 1 to 4 channels; compression -1 (zlib's default) to 9.
enum stoker_status stk_image_encode_png(struct stk_image_context *c, const struct stk_image *in,
                                        int compression, const uint8_t **bytes, size_t *size,
                                        struct stoker_err *err);
