// SPDX-License-Identifier: Apache-2.0
// Image files: decode_jpeg, decode_and_crop_jpeg, decode_png, decode_image, extract_jpeg_shape,
// encode_png, encode_jpeg; and jpeg_random_resized_crop, which does in one pass what a training
// set's first steps do: decode a random part, resize, mirror, normalize.
//
// jpeg_random_resized_crop: contents; attributes as for random_resized_crop (op_augment.c), and
// "fast" (1: the decoder may scale).
#include <string.h>

#include "base/assert.h"
#include "base/alloc.h"
#include "engine/ops/op_augment.h"
#include "engine/ops/op_codec.h"
#include "engine/ops/op_image.h"

enum { JPEG = 1, CROP_JPEG, PNG, ANY, PART };             // 0 for other operations
enum { FAST_BY_DEFAULT, INTEGER_FAST, INTEGER_ACCURATE }; // dct_method
enum { INCHES, CENTIMETRES };                             // density_unit
enum { CHANNELS_BY_SHAPE, GREY, RGB };                    // format

// The argument rows of each operation start at 0; those of JPEG decoders are in op_codec.h.
enum { ARG_CHANNELS, ARG_DTYPE, ARG_EXPAND_ANIMATIONS };
enum { ARG_OUTPUT_TYPE, ARG_SHAPE_CHANNELS };
enum {
    ARG_COMPRESSION = 0,
    ARG_FORMAT = 0,
    ARG_QUALITY,
    ARG_PROGRESSIVE,
    ARG_OPTIMIZE_SIZE,
    ARG_CHROMA_DOWNSAMPLING,
    ARG_DENSITY_UNIT,
    ARG_X_DENSITY,
    ARG_Y_DENSITY
};

static const struct stk_arg_row jpeg_args[] = {STK_OP_JPEG_ROWS, {0}};
static const struct stk_arg_row crop_args[] = {STK_OP_JPEG_ROWS, STK_OP_WINDOW_ROW, {0}};
static const struct stk_arg_row part_args[] = {STK_OP_PART_ROWS, {0}};
static const struct stk_arg_row png_args[] = {
    [ARG_CHANNELS] = STK_ARG("channels", INT, "channels of the result; 0: as many as the file has"),
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "uint8 or uint16", .fallback = STK_DT_U8),
    {0}};
static const struct stk_arg_row any_args[] = {
    [ARG_CHANNELS] = STK_ARG("channels", INT, "channels of the result; 0: as many as the file has"),
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "uint8", .fallback = STK_DT_U8),
    [ARG_EXPAND_ANIMATIONS] = STK_ARG(
        "expand_animations", BOOL, "accepted; only the first picture is returned", .fallback = 1),
    {0}};
static const struct stk_arg_row shape_args[] = {
    [ARG_OUTPUT_TYPE] = STK_ARG("output_type", DTYPE, "type of the shape", .fallback = STK_DT_I32,
                                .choices = STK_OP_PLACES),
    {0}};
static const struct stk_arg_row decoded_args[] = {
    [ARG_OUTPUT_TYPE] = STK_ARG("output_type", DTYPE, "type of the shape", .fallback = STK_DT_I32,
                                .choices = STK_OP_PLACES),
    [ARG_SHAPE_CHANNELS] =
        STK_ARG("channels", INT, "channels of the result; 0: as many as the file has"),
    {0}};
static const struct stk_arg_row encode_png_args[] = {
    [ARG_COMPRESSION] = STK_ARG("compression", INT, "0 to 9; -1: zlib's default", .fallback = -1),
    {0}};
static const struct stk_arg_row encode_jpeg_args[] = {
    [ARG_FORMAT] =
        STK_ARG("format", TEXT, "empty: from the image's channels", .choices = ",grayscale,rgb"),
    [ARG_QUALITY] = STK_ARG("quality", INT, "0 to 100", .fallback = 95),
    [ARG_PROGRESSIVE] = STK_ARG("progressive", BOOL, "progressive encoding"),
    [ARG_OPTIMIZE_SIZE] = STK_ARG("optimize_size", BOOL, "smaller file, slower"),
    [ARG_CHROMA_DOWNSAMPLING] =
        STK_ARG("chroma_downsampling", BOOL, "store half the color resolution", .fallback = 1),
    [ARG_DENSITY_UNIT] = STK_ARG("density_unit", TEXT, "unit of the densities", .choices = "in,cm",
                                 .fallback_text = "in"),
    [ARG_X_DENSITY] =
        STK_ARG("x_density", INT, "pixel density stored in the file", .fallback = 300),
    [ARG_Y_DENSITY] =
        STK_ARG("y_density", INT, "pixel density stored in the file", .fallback = 300),
    {0}};

static enum stoker_status decode_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t window[4];
    int count;
    enum stoker_status s = stk_op_want_inputs(c, 1, c->op->arg == PART ? 5 : 2, err);
    if (s == STOKER_OK && (c->in[0].dtype != STK_DT_STRING || c->in[0].shape.rank > 0)) {
        s = stk_err_set(err, STOKER_EINVAL, "%s: takes the bytes of one file", c->op->name);
    }
    int64_t channels = c->args[STK_OP_DECODE_CHANNELS].i;
    bool is_jpeg_only = c->op->arg == JPEG || c->op->arg == CROP_JPEG || c->op->arg == PART;
    enum stk_dtype t = is_jpeg_only ? STK_DT_U8 : (enum stk_dtype)c->args[ARG_DTYPE].i;
    bool is_wide = t == STK_DT_U16 && c->op->arg == PNG;
    bool fits = channels == 0 || channels == 1 || channels == 3 ||
                (!is_jpeg_only && (channels == 2 || channels == 4));
    if (s == STOKER_OK && (!fits || (t != STK_DT_U8 && !is_wide))) {
        s = stk_err_set(err, STOKER_EINVAL, "%s: cannot give %lld channels of %s", c->op->name,
                        (long long)channels, stk_dtype_name(t));
    }
    if (s != STOKER_OK) {
        return s;
    }
    c->out[0].dtype = t;
    c->out[0].shape =
        (struct stk_shape){3, {STK_UNKNOWN, STK_UNKNOWN, channels ? channels : STK_UNKNOWN}};
    bool has_window = c->op->arg == CROP_JPEG ||
                      (c->op->arg == PART && c->args[STK_OP_DECODE_CROP].i == STK_OP_CROP_BOX);
    if (has_window && stk_op_static_ints(c, STK_OP_DECODE_CROP_WINDOW, 1, window, 4, &count) &&
        count == 4) {
        c->out[0].shape.dim[0] = window[2];
        c->out[0].shape.dim[1] = window[3];
    }
    if (c->op->arg == PART &&
        stk_op_static_ints(c, STK_OP_DECODE_SLICE_SIZE, c->n_in, window, 2, &count) && count == 2) {
        c->out[0].shape.dim[0] = window[0];
        c->out[0].shape.dim[1] = window[1];
    }
    return STOKER_OK;
}

static struct stk_image_jpeg_options jpeg_options(const struct stk_op_run *r)
{
    const struct stk_arg_value *a = r->args;
    if (r->op->arg == PNG || r->op->arg == ANY) { // they have no more of these
        return (struct stk_image_jpeg_options){.channels = (uint32_t)a[STK_OP_DECODE_CHANNELS].i};
    }
    return (struct stk_image_jpeg_options){
        .channels = (uint32_t)a[STK_OP_DECODE_CHANNELS].i,
        .ratio = (uint32_t)a[STK_OP_DECODE_RATIO].i,
        .is_box_upsampled = a[STK_OP_DECODE_FANCY_UPSCALING].i == 0,
        .is_accurate_dct = a[STK_OP_DECODE_DCT_METHOD].i == INTEGER_ACCURATE,
        .is_recovered = a[STK_OP_DECODE_TRY_RECOVER_TRUNCATED].i != 0,
        .missing_fraction = 1 - (float)a[STK_OP_DECODE_ACCEPTABLE_FRACTION].f};
}

static enum stk_op_crop crop_of(const struct stk_op_run *r)
{
    if (r->op->arg == CROP_JPEG) {
        return STK_OP_CROP_WINDOW;
    }
    if (r->op->arg == JPEG || r->op->arg == PNG || r->op->arg == ANY) {
        return STK_OP_CROP_NONE;
    }
    return (enum stk_op_crop)r->args[STK_OP_DECODE_CROP].i;
}

// decode_and_crop_jpeg's window for element i.
static enum stoker_status read_window(const struct stk_op_run *r, int64_t i,
                                      struct stk_image_jpeg_options *o, struct stoker_err *err)
{
    int64_t window[4];
    int count;
    bool fits = stk_op_ints(&r->args[STK_OP_DECODE_CROP_WINDOW], r->n_in > 1 ? r->in[1] : NULL, i,
                            window, 4, &count) &&
                count == 4 && window[0] >= 0 && window[1] >= 0 && window[2] > 0 && window[3] > 0 &&
                window[0] <= UINT32_MAX && window[1] <= UINT32_MAX && window[2] <= UINT32_MAX &&
                window[3] <= UINT32_MAX;
    if (!fits) {
        return stk_err_set(err, STOKER_EINVAL, "crop_window must be y, x, height and width");
    }
    o->crop_y = (uint32_t)window[0];
    o->crop_x = (uint32_t)window[1];
    o->crop_height = (uint32_t)window[2];
    o->crop_width = (uint32_t)window[3];
    o->has_ends = crop_of(r) == STK_OP_CROP_WINDOW; // crop_to_bounding_box crops decoded images
    return STOKER_OK;
}

// slice's begin for element i, and its static size. Both are limited by the size of the file's
// image.
static enum stoker_status read_slice(const struct stk_op_run *r, int64_t i,
                                     const struct stk_image_shape *shape, struct stk_image_box *box,
                                     struct stoker_err *err)
{
    int64_t begin[3], size[2];
    int count, sizes;
    bool fits = stk_op_ints(&r->args[STK_OP_DECODE_CROP_WINDOW], r->n_in > 1 ? r->in[1] : NULL, i,
                            begin, 3, &count) &&
                count >= 2 && (count == 2 || begin[2] == 0) &&
                stk_op_ints(&r->args[STK_OP_DECODE_SLICE_SIZE], NULL, i, size, 2, &sizes) &&
                sizes == 2 && begin[0] >= 0 && begin[1] >= 0 && size[0] > 0 && size[1] > 0 &&
                begin[0] <= shape->height - size[0] && begin[1] <= shape->width - size[1];
    if (!fits) {
        return stk_err_set(err, STOKER_EINVAL, "a slice does not lie within the image of %u x %u",
                           shape->height, shape->width);
    }
    *box = (struct stk_image_box){(uint32_t)begin[0], (uint32_t)begin[1], (uint32_t)size[0],
                                  (uint32_t)size[1]};
    return STOKER_OK;
}

// Rows and columns of an index. If it selects nothing, `empty` is its size; part of the image is
// still decoded, because a damaged file must be an error.
static enum stoker_status read_ranges(const struct stk_op_run *r, int64_t i,
                                      const struct stk_image_shape *shape,
                                      struct stk_image_box *box, struct stk_image_box *empty,
                                      struct stoker_err *err)
{
    const struct stk_attr *t = r->args[STK_OP_DECODE_RANGES].attr;
    int64_t first[2], count[2];
    int next = 0;
    bool ok = t && t->kind == STK_ATTR_INTS && t->count == 10;
    for (int k = 0; ok && k < 2; k++) {
        struct stk_op_index_item it;
        ok = stk_op_index_read(&it, &t->ints[5 * k], r->in + 1, r->n_in - 1, i, &next) &&
             it.step == 1 &&
             stk_op_index_clamp(&it, k ? shape->width : shape->height, &first[k], &count[k]);
    }
    if (!ok) {
        return stk_err_set(err, STOKER_EINVAL, "an index isn't an integer");
    }
    *box = (struct stk_image_box){(uint32_t)first[0], (uint32_t)first[1], (uint32_t)count[0],
                                  (uint32_t)count[1]};
    if (count[0] == 0 || count[1] == 0) {
        *empty = *box;
        *box = (struct stk_image_box){0, 0, 1, 1};
    }
    return STOKER_OK;
}

// The part of the file's image that an operation made by a rewrite needs. `empty`: its size, if it
// selects nothing.
static enum stoker_status read_part(const struct stk_op_run *r, int64_t i, enum stk_op_crop crop,
                                    struct stk_image_jpeg_job *job, struct stk_image_box *empty)
{
    struct stk_image_jpeg_options *o = &job->opt;
    struct stk_image_shape shape;
    struct stk_image_box box;
    if (crop == STK_OP_CROP_BOX) {
        enum stoker_status s = read_window(r, i, o, &job->err);
        box = (struct stk_image_box){o->crop_y, o->crop_x, o->crop_height, o->crop_width};
        if (s != STOKER_OK) {
            return s;
        }
    }
    enum stoker_status s = stk_image_any_shape(job->context, job->data, job->size,
                                               (uint32_t)job->opt.channels, &shape, &job->err);
    if (s == STOKER_OK && crop == STK_OP_CROP_CENTRAL) {
        s = stk_image_central_box(shape.height, shape.width,
                                  r->args[STK_OP_DECODE_CENTRAL_FRACTION].f, &box, &job->err);
    } else if (s == STOKER_OK && crop == STK_OP_CROP_SLICE) {
        s = read_slice(r, i, &shape, &box, &job->err);
    } else if (s == STOKER_OK && crop == STK_OP_CROP_RANGES) {
        s = read_ranges(r, i, &shape, &box, empty, &job->err);
    }
    if (s != STOKER_OK) {
        return s;
    }
    if ((uint64_t)box.y + box.height > shape.height || (uint64_t)box.x + box.width > shape.width) {
        return stk_err_set(&job->err, STOKER_EINVAL,
                           "a box of %u x %u at (%u, %u) exceeds the image's %u x %u", box.height,
                           box.width, box.y, box.x, shape.height, shape.width);
    }
    o->is_checked = true;
    o->crop_y = box.y;
    o->crop_x = box.x;
    o->crop_height = box.height;
    o->crop_width = box.width;
    return STOKER_OK;
}

static struct stk_bytes file_of(const struct stk_op_run *r, int64_t i)
{
    const struct stk_bytes *file = stk_op_scalar(r->in[0], i);
    return file ? *file : (struct stk_bytes){.size = 0}; // not an image
}

static bool is_jpeg(const struct stk_op_run *r, struct stk_bytes s)
{
    if (r->op->arg == PNG || r->op->arg == ANY) {
        return false;
    }
    return crop_of(r) == STK_OP_CROP_WINDOW || stk_image_sniff(s.data, s.size) == STK_IMAGE_JPEG;
}

// Files that aren't JPEG, one at a time.
static void decode_other(const struct stk_op_run *r, struct stk_image_jpeg_job *job)
{
    uint32_t channels = (uint32_t)r->args[STK_OP_DECODE_CHANNELS].i;
    enum stk_image_format format = stk_image_sniff(job->data, job->size);
    if (r->op->arg == PNG && format == STK_IMAGE_PNG) {
        job->status = stk_image_decode_png(job->context, job->data, job->size, channels,
                                           r->spec[0].dtype == STK_DT_U16, &job->out, &job->err);
    } else if (r->op->arg == PNG || r->op->arg == ANY || format == STK_IMAGE_PNG) {
        job->status = stk_image_decode_any(job->context, job->data, job->size, channels, &job->out,
                                           &job->err);
    } else {
        stk_image_decode_jpegs(job, 1); // this reports what is wrong with it
    }
    if (job->status != STOKER_OK || job->opt.crop_height == 0 || r->op->arg == PNG ||
        r->op->arg == ANY || format != STK_IMAGE_PNG) {
        return;
    }
    struct stk_image whole = job->out;
    struct stk_image_box box = {job->opt.crop_y, job->opt.crop_x, job->opt.crop_height,
                                job->opt.crop_width};
    job->status = stk_image_crop(&whole, &box, &job->out, &job->err);
}

static void cut_to_nothing(struct stk_image_jpeg_job *job, const struct stk_image_box *empty)
{
    if (job->status == STOKER_OK && (empty->height == 0 || empty->width == 0)) {
        job->out.height = empty->height;
        job->out.width = empty->width;
    }
}

int stk_op_decode_some(const struct stk_op_run *r, int64_t i, struct stk_image_context *const *c,
                       struct stk_image_jpeg_job *jobs)
{
    enum stk_dtype t = r->op->arg == PNG ? r->spec[0].dtype : STK_DT_U8;
    enum stk_op_crop crop = crop_of(r);
    struct stk_image_box empty[2] = {{.height = 1, .width = 1}, {.height = 1, .width = 1}};
    int count = 0;
    for (; count < 2 && c[count] && i + count < r->n; count++) {
        struct stk_image_jpeg_job *job = &jobs[count];
        struct stk_bytes s = file_of(r, i + count);
        bool goes_with_others = is_jpeg(r, s);
        if (count > 0 && !goes_with_others) {
            break;
        }
        *job = (struct stk_image_jpeg_job){
            .context = c[count], .data = s.data, .size = s.size, .opt = jpeg_options(r)};
        job->out.type = t == STK_DT_U16 ? STK_IMAGE_U16 : STK_IMAGE_U8;
        stk_err_init(&job->err);
        if (crop != STK_OP_CROP_NONE) {
            job->status = crop == STK_OP_CROP_WINDOW
                              ? read_window(r, i + count, &job->opt, &job->err)
                              : read_part(r, i + count, crop, job, &empty[count]);
        }
        if (job->status != STOKER_OK && count > 0) {
            break; // the next round reports it
        }
        if (job->status != STOKER_OK) {
            return 1;
        }
        if (!goes_with_others) {
            decode_other(r, job);
            cut_to_nothing(job, &empty[0]);
            return 1;
        }
    }
    STK_ASSERT(count == 1 || count == 2);
    stk_image_decode_jpegs(jobs, count);
    for (int k = 0; k < count; k++) {
        cut_to_nothing(&jobs[k], &empty[k]);
    }
    return count;
}

// decode_png's uint16 for a file with bytes, such as a JPEG: 256 times the value, as in TensorFlow.
static void widen_row(uint8_t *to, const uint8_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t v = (uint16_t)(from[i] << 8);
        memcpy(to + i * sizeof v, &v, sizeof v);
    }
}

static uint8_t *append_image(struct stk_op_run *r, const struct stk_image *im,
                             struct stoker_err *err)
{
    enum stk_dtype t = r->spec[0].dtype;
    bool is_widened = t == STK_DT_U16 && im->type == STK_IMAGE_U8;
    struct stk_shape shape = {3, {im->height, im->width, im->channels}};
    uint8_t *out = stk_op_append(r, 0, t, &shape, err), *to = out;
    size_t row = (size_t)im->width * im->channels * stk_dtype_bytes(t);
    for (uint32_t y = 0; to && y < im->height; y++, to += row) {
        if (is_widened) {
            widen_row(to, stk_image_row(im, y), row / sizeof(uint16_t));
        } else {
            memcpy(to, stk_image_row(im, y), row);
        }
    }
    return out;
}

// Decodes into the thread's own memory, because sizes aren't known beforehand.
static enum stoker_status decode_all(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_image_context *c[2];
    struct stk_image_jpeg_job jobs[2];
    for (int64_t i = 0; i < r->n;) {
        if (!stk_op_image_contexts(r, c)) {
            return stk_err_nomem(err);
        }
        int count = stk_op_decode_some(r, i, c, jobs);
        for (int k = 0; k < count; k++, i++) {
            if (jobs[k].status != STOKER_OK) {
                return stk_op_image_failed(r, i, &jobs[k].err);
            }
            if (!append_image(r, &jobs[k].out, err)) {
                return err->code;
            }
        }
    }
    return STOKER_OK;
}

static enum stoker_status decode_run(struct stk_op_run *r, struct stoker_err *err)
{
    enum stoker_status s = decode_all(r, err);
    stk_op_image_rest(r);
    return s;
}

#define DECODE(id, which, rows, about)                                                             \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .cost_ns = 5e5,                                             \
                                       .at_once = 2,                                               \
                                       .infer = decode_infer,                                      \
                                       .decodes = true,                                            \
                                       .scratch_bytes = sizeof(struct stk_op_image_scratch),       \
                                       .scratch_end = stk_op_image_scratch_end,                    \
                                       .run = decode_run,                                          \
                                       .args = rows,                                               \
                                       .arg = which};
DECODE(decode_jpeg, JPEG, jpeg_args, "Decodes a JPEG file")
DECODE(decode_and_crop_jpeg, CROP_JPEG, crop_args, "Decodes part of a JPEG file")
DECODE(decode_png, PNG, png_args, "Decodes a PNG file")
DECODE(decode_image, ANY, any_args, "Decodes an image file")
DECODE(decode_part, PART, part_args, "decode_jpeg and a crop in one step")

// From the headers only. ANY: the shape that decode_jpeg would return, for any format.
static enum stoker_status shape_of(const struct stk_op_run *r, struct stk_image_context *c,
                                   struct stk_bytes s, struct stk_image_shape *shape,
                                   struct stoker_err *err)
{
    return r->op->arg == JPEG
               ? stk_image_jpeg_shape(c, s.data, s.size, shape, err)
               : stk_image_any_shape(c, s.data, s.size, (uint32_t)r->args[ARG_SHAPE_CHANNELS].i,
                                     shape, err);
}

static enum stoker_status shape_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_image_context *c = stk_op_image_context(r);
    struct stk_shape three = {1, {3}};
    void *out = c ? stk_op_out(r, 0, r->spec[0].dtype, &three, err) : NULL;
    if (!out) {
        return c ? err->code : stk_err_nomem(err);
    }
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_image_shape shape;
        struct stoker_err why;
        stk_err_init(&why);
        if (shape_of(r, c, file_of(r, i), &shape, &why) != STOKER_OK) {
            return stk_op_image_failed(r, i, &why);
        }
        uint32_t v[3] = {shape.height, shape.width, shape.channels};
        for (int k = 0; k < 3; k++) {
            stk_op_put_place(out, r->spec[0].dtype, 3 * i + k, v[k]);
        }
    }
    return STOKER_OK;
}

#define SHAPE(id, which, rows, about)                                                              \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .cost_ns = 1000,                                            \
                                       .signature = "string[] -> @output_type[3]",                 \
                                       .scratch_bytes = sizeof(struct stk_op_image_scratch),       \
                                       .scratch_end = stk_op_image_scratch_end,                    \
                                       .run = shape_run,                                           \
                                       .args = rows,                                               \
                                       .arg = which};
SHAPE(extract_jpeg_shape, JPEG, shape_args, "Height, width and channels of a JPEG file")
SHAPE(decoded_shape, ANY, decoded_args, "Shape of decode_jpeg's result, without decoding")

static enum stoker_status encode_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stk_image_type type;
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    bool fits = s == STOKER_OK && (c->in[0].shape.rank < 0 || c->in[0].shape.rank == 3) &&
                stk_op_image_type(c->in[0].dtype, &type) && type != STK_IMAGE_F32 &&
                (c->op->arg == PNG || type == STK_IMAGE_U8);
    int64_t format = c->op->arg == JPEG ? c->args[ARG_FORMAT].i : CHANNELS_BY_SHAPE;
    int64_t channels = c->in[0].shape.rank == 3 ? c->in[0].shape.dim[2] : STK_UNKNOWN;
    if (fits && format && channels > 0 && channels != (format == GREY ? 1 : 3)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: format '%s' of %lld channels", c->op->name,
                           c->args[ARG_FORMAT].text, (long long)channels);
    }
    c->out[0] = (struct stk_spec){.dtype = STK_DT_STRING};
    return s != STOKER_OK || fits
               ? s
               : stk_err_set(err, STOKER_EINVAL, "%s: takes one image of uint8%s", c->op->name,
                             c->op->arg == PNG ? " or uint16" : "");
}

static enum stoker_status encode_one(struct stk_op_run *r, struct stk_image_context *c,
                                     const struct stk_image *im, const uint8_t **bytes,
                                     size_t *size, struct stoker_err *err)
{
    if (r->op->arg == PNG) {
        return stk_image_encode_png(c, im, (int)r->args[ARG_COMPRESSION].i, bytes, size, err);
    }
    struct stk_image_jpeg_encoding e;
    stk_image_jpeg_defaults(&e);
    e.quality = (int)r->args[ARG_QUALITY].i;
    e.is_progressive = r->args[ARG_PROGRESSIVE].i != 0;
    e.is_optimized = r->args[ARG_OPTIMIZE_SIZE].i != 0;
    e.is_chroma_full = r->args[ARG_CHROMA_DOWNSAMPLING].i == 0;
    e.is_density_in_cm = r->args[ARG_DENSITY_UNIT].i == CENTIMETRES;
    e.x_density = (uint16_t)r->args[ARG_X_DENSITY].i;
    e.y_density = (uint16_t)r->args[ARG_Y_DENSITY].i;
    return stk_image_encode_jpeg(c, im, &e, bytes, size, err);
}

static enum stoker_status encode_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_image_context *c = stk_op_image_context(r);
    struct stk_shape scalar = {0};
    const struct stk_shape *s = &r->in[0]->shape;
    enum stk_image_type type;
    struct stk_bytes *out = c ? stk_op_out(r, 0, STK_DT_STRING, &scalar, err) : NULL;
    if (!out) {
        return c ? err->code : stk_err_nomem(err);
    }
    (void)stk_op_image_type(r->in[0]->dtype, &type);
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_image im =
            stk_op_image_over(stk_col_at(r->in[0], i), s->dim[0], s->dim[1], s->dim[2], type);
        const uint8_t *bytes;
        size_t size;
        struct stoker_err why;
        stk_err_init(&why);
        if (s->rank != 3 || encode_one(r, c, &im, &bytes, &size, &why) != STOKER_OK) {
            return stk_op_image_failed(r, i, &why);
        }
        if (!stk_col_own_bytes(&r->out[0], r->pool, bytes, size, &out[i])) {
            return stk_op_no_memory(r, err);
        }
    }
    return STOKER_OK;
}

#define ENCODE(id, which, rows, about)                                                             \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .cost_ns = 1e6,                                             \
                                       .infer = encode_infer,                                      \
                                       .scratch_bytes = sizeof(struct stk_op_image_scratch),       \
                                       .scratch_end = stk_op_image_scratch_end,                    \
                                       .run = encode_run,                                          \
                                       .args = rows,                                               \
                                       .arg = which};
ENCODE(encode_png, PNG, encode_png_args, "Encodes an image as a PNG file")
ENCODE(encode_jpeg, JPEG, encode_jpeg_args, "Encodes an image as a JPEG file")

// --- jpeg_random_resized_crop

static enum stoker_status augment_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct stk_op_augment g;
    enum stoker_status s = stk_op_augment_read(c, 3, &g, err);
    if (s == STOKER_OK) {
        c->out[0].dtype = g.is_float ? STK_DT_F32 : STK_DT_U8;
        c->out[0].shape = stk_op_augment_shape(&g, 3);
    }
    return s;
}

// One element being augmented.
struct augmented {
    struct stk_image_resize_options resize;
    struct stk_image out;
};

// Draws the crop and sets up the decoder's job for it.
static enum stoker_status augment_plan(const struct stk_op_run *r, int64_t i,
                                       struct stk_image_context *c, const struct stk_op_augment *g,
                                       struct stk_image_jpeg_job *job, struct augmented *e,
                                       struct stoker_err *err)
{
    struct stk_image_shape shape;
    struct stk_image_box box;
    enum stoker_status status = stk_image_jpeg_shape(c, job->data, job->size, &shape, err);
    e->resize = g->resize;
    if (status == STOKER_OK) {
        status = stk_op_augment_draw(r, i, g, shape.height, shape.width, &box,
                                     &e->resize.is_mirrored, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    job->opt = (struct stk_image_jpeg_options){.channels = 3,
                                               .crop_y = box.y,
                                               .crop_x = box.x,
                                               .crop_height = box.height,
                                               .crop_width = box.width};
    if (g->is_fast) {
        stk_image_jpeg_scale_crop(&job->opt, &e->out);
    }
    return STOKER_OK;
}

// Elements i and, with count 2, i + 1. *made: how many were done, also on failure.
static enum stoker_status augment_some(const struct stk_op_run *r, int64_t i, int count,
                                       const struct stk_op_augment *g,
                                       struct stk_image_context *const *c, uint8_t *pixels,
                                       int *made, struct stoker_err *why)
{
    struct stk_image_jpeg_job jobs[2];
    struct augmented e[2];
    struct stk_shape shape = stk_op_augment_shape(g, 3);
    size_t bytes = (size_t)stk_shape_count(&shape) * stk_dtype_bytes(r->spec[0].dtype);
    enum stoker_status s = STOKER_OK;
    int planned = 0;
    for (; planned < count && s == STOKER_OK; planned += s == STOKER_OK) {
        struct stk_bytes file = file_of(r, i + planned);
        e[planned].out =
            stk_op_image_over(pixels + (size_t)planned * bytes, g->size[0], g->size[1],
                              g->is_planar ? 1 : 3, g->is_float ? STK_IMAGE_F32 : STK_IMAGE_U8);
        e[planned].out.channels = 3;
        jobs[planned] = (struct stk_image_jpeg_job){
            .context = c[planned], .data = file.data, .size = file.size};
        stk_err_init(&jobs[planned].err);
        s = augment_plan(r, i + planned, c[planned], g, &jobs[planned], &e[planned], why);
    }
    stk_image_decode_jpegs(jobs, planned);
    for (*made = 0; *made < planned; ++*made) {
        struct stk_image_jpeg_job *job = &jobs[*made];
        if (job->status != STOKER_OK) {
            *why = job->err;
            return job->status;
        }
        enum stoker_status resized =
            stk_image_resize(job->context, &job->out, &e[*made].resize, &e[*made].out, why);
        if (resized != STOKER_OK) {
            return resized;
        }
    }
    return s;
}

static enum stoker_status augment_prepare(const struct stk_op_infer *c, void **out,
                                          struct stoker_err *err)
{
    return stk_op_augment_prepare(c, 3, out, err);
}

static enum stoker_status augment_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_image_context *c[2];
    const struct stk_op_augment *g = r->prepared;
    if (!stk_op_image_contexts(r, c)) {
        return stk_err_nomem(err);
    }
    enum stoker_status s = STOKER_OK;
    struct stk_shape shape = stk_op_augment_shape(g, 3);
    uint8_t *out = stk_op_out(r, 0, r->spec[0].dtype, &shape, err);
    size_t bytes = (size_t)stk_shape_count(&shape) * stk_dtype_bytes(r->spec[0].dtype);
    if (!out) {
        return err->code;
    }
    for (int64_t i = 0; s == STOKER_OK && i < r->n;) {
        struct stoker_err why;
        int made, count = r->n - i < 2 || !c[1] ? 1 : 2;
        stk_err_init(&why);
        s = augment_some(r, i, count, g, c, out + (size_t)i * bytes, &made, &why);
        if (s != STOKER_OK) {
            stk_op_image_rest(r);
            return stk_op_image_failed(r, i + made, &why);
        }
        i += count;
    }
    stk_op_image_rest(r);
    return STOKER_OK;
}

static const struct stk_arg_row jpeg_crop_args[] = {
    STK_OP_AUGMENT_ROWS,
    [STK_OP_AUGMENT_FAST] = STK_ARG("fast", BOOL, "allow decoding at a smaller scale"),
    {0}};

const struct stk_op stk_op_jpeg_random_resized_crop = {
    .name = "jpeg_random_resized_crop",
    .summary = "A random crop of a JPEG file, resized, randomly mirrored, normalized",
    .is_random = true,
    .cost_ns = 5e5,
    .at_once = 2,
    .signature = "string[]",
    .infer = augment_infer,
    .prepare = augment_prepare,
    .unprepare = stk_free,
    .decodes = true,
    .args = jpeg_crop_args,
    .scratch_bytes = sizeof(struct stk_op_image_scratch),
    .scratch_end = stk_op_image_scratch_end,
    .run = augment_run};
