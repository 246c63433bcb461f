// SPDX-License-Identifier: Apache-2.0
// Image files: decode_jpeg, decode_and_crop_jpeg, decode_png, decode_image, extract_jpeg_shape,
// encode_png, encode_jpeg; and jpeg_random_resized_crop, which does in one pass what a training
// set's first steps do: decode a random part, resize, mirror, normalise.
//
// jpeg_random_resized_crop: contents; attributes as random_resized_crop has them (op_augment.c),
// and "fast" (1: the decoder may scale).
#include <string.h>

#include "base/str.h"
#include "data/ops/op_augment.h"
#include "data/ops/op_codec.h"
#include "data/ops/op_image.h"

enum { JPEG = 1, CROP_JPEG, PNG, ANY, PART }; // other operations have none of them

static enum stk_status decode_infer(struct stk_op_infer *c, struct stk_err *err)
{
    int64_t window[4];
    int count;
    enum stk_status s = stk_op_want_inputs(c, 1, c->op->arg == PART ? 5 : 2, err);
    if (s == STK_OK && (c->in[0].dtype != STK_DT_STRING || c->in[0].shape.rank > 0)) {
        s = stk_err_set(err, STK_EINVAL, "%s: takes the bytes of one file", c->op->name);
    }
    int64_t channels = stk_attrs_int(c->attrs, "channels", 0);
    enum stk_dtype t = (enum stk_dtype)stk_attrs_int(c->attrs, "dtype", STK_DT_U8);
    bool is_wide = t == STK_DT_U16 && c->op->arg == PNG;
    bool is_jpeg_only = c->op->arg == JPEG || c->op->arg == CROP_JPEG || c->op->arg == PART;
    bool fits = channels == 0 || channels == 1 || channels == 3 ||
                (!is_jpeg_only && (channels == 2 || channels == 4));
    if (s == STK_OK && (!fits || (t != STK_DT_U8 && !is_wide))) {
        s = stk_err_set(err, STK_EINVAL, "%s: cannot give %lld channels of %s", c->op->name,
                        (long long)channels, stk_dtype_name(t));
    }
    if (s != STK_OK) {
        return s;
    }
    c->out[0].dtype = t;
    c->out[0].shape =
        (struct stk_shape){3, {STK_UNKNOWN, STK_UNKNOWN, channels ? channels : STK_UNKNOWN}};
    bool has_window = c->op->arg == CROP_JPEG ||
                      (c->op->arg == PART && stk_attrs_int(c->attrs, "crop", 0) == STK_OP_CROP_BOX);
    if (has_window && stk_op_static_ints(c, "crop_window", 1, window, 4, &count) && count == 4) {
        c->out[0].shape.dim[0] = window[2];
        c->out[0].shape.dim[1] = window[3];
    }
    if (c->op->arg == PART && stk_op_static_ints(c, "slice_size", c->n_in, window, 2, &count) &&
        count == 2) {
        c->out[0].shape.dim[0] = window[0];
        c->out[0].shape.dim[1] = window[1];
    }
    return STK_OK;
}

static struct stk_image_jpeg_options jpeg_options(const struct stk_attrs *a)
{
    return (struct stk_image_jpeg_options){
        .channels = (uint32_t)stk_attrs_int(a, "channels", 0),
        .ratio = (uint32_t)stk_attrs_int(a, "ratio", 1),
        .is_box_upsampled = stk_attrs_int(a, "fancy_upscaling", 1) == 0,
        .is_accurate_dct = strcmp(stk_attrs_text(a, "dct_method", ""), "INTEGER_ACCURATE") == 0,
        .is_recovered = stk_attrs_int(a, "try_recover_truncated", 0) != 0,
        .missing_fraction = 1 - (float)stk_attrs_float(a, "acceptable_fraction", 1)};
}

static enum stk_op_crop crop_of(const struct stk_op_run *r)
{
    if (r->op == &stk_op_decode_and_crop_jpeg) {
        return STK_OP_CROP_WINDOW;
    }
    return (enum stk_op_crop)stk_attrs_int(r->attrs, "crop", STK_OP_CROP_NONE);
}

// decode_and_crop_jpeg's window of element i.
static enum stk_status read_window(const struct stk_op_run *r, int64_t i,
                                   struct stk_image_jpeg_options *o, struct stk_err *err)
{
    int64_t window[4];
    int count;
    bool fits =
        stk_op_ints(r->attrs, "crop_window", r->n_in > 1 ? r->in[1] : NULL, i, window, 4, &count) &&
        count == 4 && window[0] >= 0 && window[1] >= 0 && window[2] > 0 && window[3] > 0 &&
        window[0] <= UINT32_MAX && window[1] <= UINT32_MAX && window[2] <= UINT32_MAX &&
        window[3] <= UINT32_MAX;
    if (!fits) {
        return stk_err_set(err, STK_EINVAL, "crop_window must be y, x, height and width");
    }
    o->crop_y = (uint32_t)window[0];
    o->crop_x = (uint32_t)window[1];
    o->crop_height = (uint32_t)window[2];
    o->crop_width = (uint32_t)window[3];
    return STK_OK;
}

// slice's begin of element i, and its static size. A size of the file's image bounds both.
static enum stk_status read_slice(const struct stk_op_run *r, int64_t i,
                                  const struct stk_image_shape *shape, struct stk_image_box *box,
                                  struct stk_err *err)
{
    int64_t begin[3], size[2];
    int count, sizes;
    bool fits =
        stk_op_ints(r->attrs, "crop_window", r->n_in > 1 ? r->in[1] : NULL, i, begin, 3, &count) &&
        count >= 2 && (count == 2 || begin[2] == 0) &&
        stk_op_ints(r->attrs, "slice_size", NULL, i, size, 2, &sizes) && sizes == 2 &&
        begin[0] >= 0 && begin[1] >= 0 && size[0] > 0 && size[1] > 0 &&
        begin[0] <= shape->height - size[0] && begin[1] <= shape->width - size[1];
    if (!fits) {
        return stk_err_set(err, STK_EINVAL, "a slice does not lie within the image of %u x %u",
                           shape->height, shape->width);
    }
    *box = (struct stk_image_box){(uint32_t)begin[0], (uint32_t)begin[1], (uint32_t)size[0],
                                  (uint32_t)size[1]};
    return STK_OK;
}

// Rows and columns of an index. One that selects nothing has `empty` as its size; then a place of
// the image is decoded all the same, since a damaged file is an error.
static enum stk_status read_ranges(const struct stk_op_run *r, int64_t i,
                                   const struct stk_image_shape *shape, struct stk_image_box *box,
                                   struct stk_image_box *empty, struct stk_err *err)
{
    const struct stk_attr *t = stk_attrs_get(r->attrs, "ranges");
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
        return stk_err_set(err, STK_EINVAL, "an index is no integer");
    }
    *box = (struct stk_image_box){(uint32_t)first[0], (uint32_t)first[1], (uint32_t)count[0],
                                  (uint32_t)count[1]};
    if (count[0] == 0 || count[1] == 0) {
        *empty = *box;
        *box = (struct stk_image_box){0, 0, 1, 1};
    }
    return STK_OK;
}

// The part of the file's image that an operation wants which a rewrite made. `empty`: its size, if
// there is nothing in it.
static enum stk_status read_part(const struct stk_op_run *r, int64_t i, enum stk_op_crop crop,
                                 struct stk_image_jpeg_job *job, struct stk_image_box *empty)
{
    struct stk_image_jpeg_options *o = &job->opt;
    struct stk_image_shape shape;
    struct stk_image_box box;
    if (crop == STK_OP_CROP_BOX) {
        enum stk_status s = read_window(r, i, o, &job->err);
        box = (struct stk_image_box){o->crop_y, o->crop_x, o->crop_height, o->crop_width};
        if (s != STK_OK) {
            return s;
        }
    }
    enum stk_status s = stk_image_any_shape(job->context, job->data, job->size,
                                            (uint32_t)job->opt.channels, &shape, &job->err);
    if (s == STK_OK && crop == STK_OP_CROP_CENTRAL) {
        s = stk_image_central_box(shape.height, shape.width,
                                  stk_attrs_float(r->attrs, "central_fraction", 1), &box,
                                  &job->err);
    } else if (s == STK_OK && crop == STK_OP_CROP_SLICE) {
        s = read_slice(r, i, &shape, &box, &job->err);
    } else if (s == STK_OK && crop == STK_OP_CROP_RANGES) {
        s = read_ranges(r, i, &shape, &box, empty, &job->err);
    }
    if (s != STK_OK) {
        return s;
    }
    if ((uint64_t)box.y + box.height > shape.height || (uint64_t)box.x + box.width > shape.width) {
        return stk_err_set(&job->err, STK_EINVAL,
                           "a box of %u x %u at (%u, %u) does not lie in %u x %u", box.height,
                           box.width, box.y, box.x, shape.height, shape.width);
    }
    o->is_checked = true;
    o->crop_y = box.y;
    o->crop_x = box.x;
    o->crop_height = box.height;
    o->crop_width = box.width;
    return STK_OK;
}

static struct stk_bytes file_of(const struct stk_op_run *r, int64_t i)
{
    return *(const struct stk_bytes *)stk_col_at(r->in[0], i);
}

static bool is_jpeg(const struct stk_op_run *r, struct stk_bytes s)
{
    if (r->op->arg == PNG || r->op->arg == ANY) {
        return false;
    }
    return crop_of(r) == STK_OP_CROP_WINDOW || stk_image_sniff(s.data, s.size) == STK_IMAGE_JPEG;
}

// Files that are no JPEG, one at a time.
static void decode_other(const struct stk_op_run *r, struct stk_image_jpeg_job *job)
{
    uint32_t channels = (uint32_t)stk_attrs_int(r->attrs, "channels", 0);
    enum stk_image_format format = stk_image_sniff(job->data, job->size);
    if (r->op->arg == PNG && format == STK_IMAGE_PNG) {
        job->status = stk_image_decode_png(job->context, job->data, job->size, channels,
                                           r->spec[0].dtype == STK_DT_U16, &job->out, &job->err);
    } else if (r->op->arg == PNG || r->op->arg == ANY || format == STK_IMAGE_PNG) {
        job->status = stk_image_decode_any(job->context, job->data, job->size, channels, &job->out,
                                           &job->err);
    } else {
        stk_image_decode_jpegs(job, 1); // which says what is wrong with it
    }
    if (job->status != STK_OK || job->opt.crop_height == 0 || r->op->arg == PNG ||
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
    if (job->status == STK_OK && (empty->height == 0 || empty->width == 0)) {
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
            .context = c[count], .data = s.data, .size = s.size, .opt = jpeg_options(r->attrs)};
        job->out.type = t == STK_DT_U16 ? STK_IMAGE_U16 : STK_IMAGE_U8;
        stk_err_init(&job->err);
        if (crop != STK_OP_CROP_NONE) {
            job->status = crop == STK_OP_CROP_WINDOW
                              ? read_window(r, i + count, &job->opt, &job->err)
                              : read_part(r, i + count, crop, job, &empty[count]);
        }
        if (job->status != STK_OK && count > 0) {
            break; // the next round says so
        }
        if (job->status != STK_OK) {
            return 1;
        }
        if (!goes_with_others) {
            decode_other(r, job);
            cut_to_nothing(job, &empty[0]);
            return 1;
        }
    }
    stk_image_decode_jpegs(jobs, count);
    for (int k = 0; k < count; k++) {
        cut_to_nothing(&jobs[k], &empty[k]);
    }
    return count;
}

// decode_png's uint16 of a file with bytes, such as a JPEG: 256 times their value, as TensorFlow's.
static void widen_row(uint8_t *to, const uint8_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t v = (uint16_t)(from[i] << 8);
        memcpy(to + i * sizeof v, &v, sizeof v);
    }
}

static uint8_t *append_image(struct stk_op_run *r, const struct stk_image *im, struct stk_err *err)
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

// By way of the thread's own memory, since sizes are not known beforehand.
static enum stk_status decode_all(struct stk_op_run *r, struct stk_err *err)
{
    struct stk_image_context *c[2];
    struct stk_image_jpeg_job jobs[2];
    for (int64_t i = 0; i < r->n;) {
        if (!stk_op_image_contexts(r, c)) {
            return stk_err_nomem(err);
        }
        int count = stk_op_decode_some(r, i, c, jobs);
        for (int k = 0; k < count; k++, i++) {
            if (jobs[k].status != STK_OK) {
                return stk_op_image_failed(r, i, &jobs[k].err);
            }
            if (!append_image(r, &jobs[k].out, err)) {
                return err->code;
            }
        }
    }
    stk_col_settle(&r->out[0]);
    return STK_OK;
}

static enum stk_status decode_run(struct stk_op_run *r, struct stk_err *err)
{
    enum stk_status s = decode_all(r, err);
    stk_op_image_rest(r);
    return s;
}

#define DECODE(id, which, about)                                                                   \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .cost_ns = 5e5,                                             \
                                       .at_once = 2,                                               \
                                       .infer = decode_infer,                                      \
                                       .scratch_bytes = sizeof(struct stk_op_image_scratch),       \
                                       .scratch_end = stk_op_image_scratch_end,                    \
                                       .run = decode_run,                                          \
                                       .arg = which};
DECODE(decode_jpeg, JPEG, "Pixels of a JPEG file")
DECODE(decode_and_crop_jpeg, CROP_JPEG, "Pixels of a part of a JPEG file")
DECODE(decode_png, PNG, "Pixels of a PNG file")
DECODE(decode_image, ANY, "Pixels of a JPEG or PNG file")
DECODE(decode_part, PART, "decode_jpeg and a crop, in one")

static enum stk_status shape_infer(struct stk_op_infer *c, struct stk_err *err)
{
    enum stk_status s = stk_op_want_inputs(c, 1, 1, err);
    c->out[0].dtype = (enum stk_dtype)stk_attrs_int(c->attrs, "output_type", STK_DT_I32);
    c->out[0].shape = (struct stk_shape){1, {3}};
    bool fits = s == STK_OK && c->in[0].dtype == STK_DT_STRING && c->in[0].shape.rank <= 0 &&
                (c->out[0].dtype == STK_DT_I32 || c->out[0].dtype == STK_DT_I64);
    return s != STK_OK || fits ? s
                               : stk_err_set(err, STK_EINVAL,
                                             "%s: takes the bytes of one file, gives int32 or "
                                             "int64",
                                             c->op->name);
}

// From the headers alone; ANY: of what decode_jpeg would give, whatever the format.
static enum stk_status shape_of(const struct stk_op_run *r, struct stk_image_context *c,
                                struct stk_bytes s, struct stk_image_shape *shape,
                                struct stk_err *err)
{
    return r->op->arg == JPEG
               ? stk_image_jpeg_shape(c, s.data, s.size, shape, err)
               : stk_image_any_shape(c, s.data, s.size,
                                     (uint32_t)stk_attrs_int(r->attrs, "channels", 0), shape, err);
}

static enum stk_status shape_run(struct stk_op_run *r, struct stk_err *err)
{
    struct stk_image_context *c = stk_op_image_context(r);
    struct stk_shape three = {1, {3}};
    void *out = c ? stk_op_out(r, 0, r->spec[0].dtype, &three, err) : NULL;
    if (!out) {
        return c ? err->code : stk_err_nomem(err);
    }
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_image_shape shape;
        struct stk_err why;
        stk_err_init(&why);
        if (shape_of(r, c, file_of(r, i), &shape, &why) != STK_OK) {
            return stk_op_image_failed(r, i, &why);
        }
        uint32_t v[3] = {shape.height, shape.width, shape.channels};
        for (int k = 0; k < 3; k++) {
            if (r->spec[0].dtype == STK_DT_I32) {
                ((int32_t *)out)[3 * i + k] = (int32_t)v[k];
            } else {
                ((int64_t *)out)[3 * i + k] = v[k];
            }
        }
    }
    return STK_OK;
}

#define SHAPE(id, which, about)                                                                    \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .cost_ns = 1000,                                            \
                                       .infer = shape_infer,                                       \
                                       .scratch_bytes = sizeof(struct stk_op_image_scratch),       \
                                       .scratch_end = stk_op_image_scratch_end,                    \
                                       .run = shape_run,                                           \
                                       .arg = which};
SHAPE(extract_jpeg_shape, JPEG, "Height, width and channels of a JPEG file")
SHAPE(decoded_shape, ANY, "Shape of what decode_jpeg gives, without decoding")

static enum stk_status encode_infer(struct stk_op_infer *c, struct stk_err *err)
{
    enum stk_image_type type;
    enum stk_status s = stk_op_want_inputs(c, 1, 1, err);
    bool fits = s == STK_OK && (c->in[0].shape.rank < 0 || c->in[0].shape.rank == 3) &&
                stk_op_image_type(c->in[0].dtype, &type) && type != STK_IMAGE_F32 &&
                (c->op->arg == PNG || type == STK_IMAGE_U8);
    c->out[0] = (struct stk_spec){.dtype = STK_DT_STRING};
    return s != STK_OK || fits ? s
                               : stk_err_set(err, STK_EINVAL, "%s: takes one image of uint8%s",
                                             c->op->name, c->op->arg == PNG ? " or uint16" : "");
}

static enum stk_status encode_one(struct stk_op_run *r, struct stk_image_context *c,
                                  const struct stk_image *im, const uint8_t **bytes, size_t *size,
                                  struct stk_err *err)
{
    if (r->op->arg == PNG) {
        return stk_image_encode_png(c, im, (int)stk_attrs_int(r->attrs, "compression", -1), bytes,
                                    size, err);
    }
    struct stk_image_jpeg_encoding e;
    stk_image_jpeg_defaults(&e);
    e.quality = (int)stk_attrs_int(r->attrs, "quality", 95);
    e.is_progressive = stk_attrs_int(r->attrs, "progressive", 0) != 0;
    e.is_optimized = stk_attrs_int(r->attrs, "optimize_size", 0) != 0;
    e.is_chroma_full = stk_attrs_int(r->attrs, "chroma_downsampling", 1) == 0;
    e.is_density_in_cm = strcmp(stk_attrs_text(r->attrs, "density_unit", "in"), "cm") == 0;
    e.x_density = (uint16_t)stk_attrs_int(r->attrs, "x_density", 300);
    e.y_density = (uint16_t)stk_attrs_int(r->attrs, "y_density", 300);
    return stk_image_encode_jpeg(c, im, &e, bytes, size, err);
}

static enum stk_status encode_run(struct stk_op_run *r, struct stk_err *err)
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
        struct stk_err why;
        stk_err_init(&why);
        if (s->rank != 3 || encode_one(r, c, &im, &bytes, &size, &why) != STK_OK) {
            return stk_op_image_failed(r, i, &why);
        }
        if (!stk_col_own_bytes(&r->out[0], r->pool, bytes, size, &out[i])) {
            return stk_op_no_memory(r, err);
        }
    }
    return STK_OK;
}

#define ENCODE(id, which, about)                                                                   \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .cost_ns = 1e6,                                             \
                                       .infer = encode_infer,                                      \
                                       .scratch_bytes = sizeof(struct stk_op_image_scratch),       \
                                       .scratch_end = stk_op_image_scratch_end,                    \
                                       .run = encode_run,                                          \
                                       .arg = which};
ENCODE(encode_png, PNG, "An image as a PNG file")
ENCODE(encode_jpeg, JPEG, "An image as a JPEG file")

// --- jpeg_random_resized_crop

static enum stk_status augment_infer(struct stk_op_infer *c, struct stk_err *err)
{
    struct stk_op_augment g;
    enum stk_status s = stk_op_want_inputs(c, 1, 1, err);
    if (s == STK_OK && (c->in[0].dtype != STK_DT_STRING || c->in[0].shape.rank > 0)) {
        s = stk_err_set(err, STK_EINVAL, "jpeg_random_resized_crop: takes the bytes of one file");
    }
    s = s == STK_OK ? stk_op_augment_read(c->attrs, c->op->name, 3, &g, err) : s;
    if (s == STK_OK) {
        c->out[0].dtype = g.is_float ? STK_DT_F32 : STK_DT_U8;
        c->out[0].shape = stk_op_augment_shape(&g, 3);
    }
    return s;
}

// One element on its way.
struct augmented {
    struct stk_image_resize_options resize;
    struct stk_image out;
};

// Draws the crop and makes the decoder's job of it.
static enum stk_status augment_plan(const struct stk_op_run *r, int64_t i,
                                    struct stk_image_context *c, const struct stk_op_augment *g,
                                    struct stk_image_jpeg_job *job, struct augmented *e,
                                    struct stk_err *err)
{
    struct stk_image_shape shape;
    struct stk_image_box box;
    enum stk_status status = stk_image_jpeg_shape(c, job->data, job->size, &shape, err);
    e->resize = g->resize;
    if (status == STK_OK) {
        status = stk_op_augment_draw(r, i, g, shape.height, shape.width, &box,
                                     &e->resize.is_mirrored, err);
    }
    if (status != STK_OK) {
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
    return STK_OK;
}

// Elements i and, with count 2, i + 1. *made: how many of them there are, also on failure.
static enum stk_status augment_some(const struct stk_op_run *r, int64_t i, int count,
                                    const struct stk_op_augment *g,
                                    struct stk_image_context *const *c, uint8_t *pixels, int *made,
                                    struct stk_err *why)
{
    struct stk_image_jpeg_job jobs[2];
    struct augmented e[2];
    struct stk_shape shape = stk_op_augment_shape(g, 3);
    size_t bytes = (size_t)stk_shape_count(&shape) * stk_dtype_bytes(r->spec[0].dtype);
    enum stk_status s = STK_OK;
    int planned = 0;
    for (; planned < count && s == STK_OK; planned += s == STK_OK) {
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
        if (job->status != STK_OK) {
            *why = job->err;
            return job->status;
        }
        enum stk_status resized =
            stk_image_resize(job->context, &job->out, &e[*made].resize, &e[*made].out, why);
        if (resized != STK_OK) {
            return resized;
        }
    }
    return s;
}

static enum stk_status augment_run(struct stk_op_run *r, struct stk_err *err)
{
    struct stk_image_context *c[2];
    struct stk_op_augment g;
    enum stk_status s = stk_op_image_contexts(r, c)
                            ? stk_op_augment_read(r->attrs, r->op->name, 3, &g, err)
                            : stk_err_nomem(err);
    if (s != STK_OK) {
        return s;
    }
    struct stk_shape shape = stk_op_augment_shape(&g, 3);
    uint8_t *out = stk_op_out(r, 0, r->spec[0].dtype, &shape, err);
    size_t bytes = (size_t)stk_shape_count(&shape) * stk_dtype_bytes(r->spec[0].dtype);
    if (!out) {
        return err->code;
    }
    for (int64_t i = 0; s == STK_OK && i < r->n;) {
        struct stk_err why;
        int made, count = r->n - i < 2 || !c[1] ? 1 : 2;
        stk_err_init(&why);
        s = augment_some(r, i, count, &g, c, out + (size_t)i * bytes, &made, &why);
        if (s != STK_OK) {
            stk_op_image_rest(r);
            return stk_op_image_failed(r, i + made, &why);
        }
        i += count;
    }
    stk_op_image_rest(r);
    return STK_OK;
}

const struct stk_op stk_op_jpeg_random_resized_crop = {
    .name = "jpeg_random_resized_crop",
    .summary = "A random part of a JPEG file, resized, mirrored by chance, normalised",
    .is_random = true,
    .cost_ns = 5e5,
    .at_once = 2,
    .infer = augment_infer,
    .scratch_bytes = sizeof(struct stk_op_image_scratch),
    .scratch_end = stk_op_image_scratch_end,
    .run = augment_run};
