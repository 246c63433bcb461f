// SPDX-License-Identifier: Apache-2.0
// Image operations that give an image for an image: resizing, cropping, padding, turning, colours;
// and the random ones among them. One row of the table below for each: what comes out (its size and
// type), and what is called for one image.
#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "engine/image/image_colour.h"
#include "engine/image/image_geometry.h"
#include "engine/image/image_resize.h"
#include "engine/ops/op_image.h"

#define UNSET (-2) // a size that is not known yet

// What one element asks for.
struct plan {
    int64_t height, width, channels; // of the result; negative: not known yet
    enum stk_dtype dtype;
    int64_t v[4];
    double f;
};

// The rows of each operation begin with 0.
enum { ARG_SIZE, ARG_METHOD, ARG_PRESERVE_ASPECT_RATIO, ARG_ANTIALIAS };
enum { ARG_TARGET_HEIGHT, ARG_TARGET_WIDTH };
enum { ARG_OFFSET_HEIGHT, ARG_OFFSET_WIDTH, ARG_BOX_HEIGHT, ARG_BOX_WIDTH };
enum { ARG_CENTRAL_FRACTION = 0, ARG_K = 0, ARG_DELTA = 0, ARG_GAMMA = 0, ARG_GAIN = 1 };
enum { ARG_DTYPE, ARG_SATURATE };
enum { ARG_SEED, ARG_MAX_DELTA, ARG_LOWER = ARG_MAX_DELTA, ARG_UPPER };

static const struct stk_arg_row resize_args[] = {
    [ARG_SIZE] = STK_ARG("size", INTS, "height and width", .is_input_too = true),
    [ARG_METHOD] = STK_OP_METHOD_ROW,
    [ARG_PRESERVE_ASPECT_RATIO] =
        STK_ARG("preserve_aspect_ratio", BOOL,
                "the largest size within that has the proportions of the image"),
    [ARG_ANTIALIAS] =
        STK_ARG("antialias", BOOL,
                "pixels are means of all that they stand for, where the image becomes smaller"),
    {0}};
static const struct stk_arg_row target_args[] = {
    [ARG_TARGET_HEIGHT] = STK_ARG("target_height", INT, "rows of the result", .is_input_too = true),
    [ARG_TARGET_WIDTH] =
        STK_ARG("target_width", INT, "columns of the result", .is_input_too = true),
    {0}};
static const struct stk_arg_row box_args[] = {
    [ARG_OFFSET_HEIGHT] = STK_ARG("offset_height", INT, "rows above it", .is_input_too = true),
    [ARG_OFFSET_WIDTH] = STK_ARG("offset_width", INT, "columns left of it", .is_input_too = true),
    [ARG_BOX_HEIGHT] = STK_ARG("target_height", INT, "rows of the result", .is_input_too = true),
    [ARG_BOX_WIDTH] = STK_ARG("target_width", INT, "columns of the result", .is_input_too = true),
    {0}};
static const struct stk_arg_row central_args[] = {
    [ARG_CENTRAL_FRACTION] = STK_ARG("central_fraction", FLOAT,
                                     "of each side, above 0 and at most 1", .is_required = true),
    {0}};
static const struct stk_arg_row turn_args[] = {
    [ARG_K] = STK_ARG("k", INT, "how many right angles", .fallback = 1), {0}};
static const struct stk_arg_row delta_args[] = {
    [ARG_DELTA] = STK_ARG("delta", FLOAT, "what is added", .is_input_too = true), {0}};
static const struct stk_arg_row contrast_factor_args[] = {
    [ARG_DELTA] = STK_ARG("contrast_factor", FLOAT, "how many times as far from the mean",
                          .is_input_too = true),
    {0}};
static const struct stk_arg_row saturation_factor_args[] = {
    [ARG_DELTA] =
        STK_ARG("saturation_factor", FLOAT, "how many times as saturated", .is_input_too = true),
    {0}};
static const struct stk_arg_row gamma_args[] = {
    [ARG_GAMMA] = STK_ARG("gamma", FLOAT, "the power", .fallback_float = 1),
    [ARG_GAIN] = STK_ARG("gain", FLOAT, "what it is multiplied by", .fallback_float = 1),
    {0}};
static const struct stk_arg_row type_args[] = {
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "uint8, uint16 or float32", .is_required = true),
    [ARG_SATURATE] = STK_ARG("saturate", BOOL, "values beyond the range become its ends"),
    {0}};
static const struct stk_arg_row seed_args[] = {[ARG_SEED] = STK_OP_SEED_ROW, {0}};
static const struct stk_arg_row random_delta_args[] = {
    [ARG_SEED] = STK_OP_SEED_ROW,
    [ARG_MAX_DELTA] = STK_ARG("max_delta", FLOAT, "up to which, both ways", .is_required = true),
    {0}};
static const struct stk_arg_row between_args[] = {
    [ARG_SEED] = STK_OP_SEED_ROW,
    [ARG_LOWER] = STK_ARG("lower", FLOAT, "the least factor", .is_required = true),
    [ARG_UPPER] = STK_ARG("upper", FLOAT, "the end of the factors", .is_required = true),
    {0}};
struct row {
    bool (*plan)(struct stk_op_image_args *a, const struct stk_shape *image, struct plan *p,
                 const char **why);
    enum stoker_status (*run)(struct stk_image_context *c, struct stk_op_run *r, int64_t i,
                              const struct plan *p, const struct stk_image *in,
                              const struct stk_image *out, struct stoker_err *err);
};

bool stk_op_image_ints(struct stk_op_image_args *a, int row, int64_t *values, int count)
{
    bool is_attr = a->args[row].attr != NULL;
    const struct stk_col *input = NULL;
    int got;
    if (!is_attr) {
        input = a->next < a->n_in ? a->in[a->next] : NULL;
        a->next++;
    }
    return (is_attr || input) && stk_op_ints(&a->args[row], input, a->i, values, count, &got) &&
           got == count;
}

bool stk_op_image_float(struct stk_op_image_args *a, int row, double *value)
{
    if (a->args[row].attr) {
        *value = a->args[row].f;
        return true;
    }
    const struct stk_col *input = a->next < a->n_in ? a->in[a->next] : NULL;
    a->next++;
    if (!input || (input->dtype != STK_DT_F32 && input->dtype != STK_DT_F64)) {
        return false;
    }
    const void *p = stk_op_scalar(input, a->i);
    if (!p) {
        return false;
    }
    *value = input->dtype == STK_DT_F32 ? (double)*(const float *)p : *(const double *)p;
    return true;
}

enum stoker_status stk_op_image_failed(struct stk_op_run *r, int64_t i,
                                       const struct stoker_err *why)
{
    // An image that is too large is a fault of its data, not of the run's memory.
    return stk_op_fail(r, i, why->code == STOKER_ENOMEM ? STOKER_ENOMEM : STOKER_EINVAL, "%s",
                       why->message);
}

// --- sizes

static bool plan_same(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                      const char **why)
{
    (void)a;
    (void)s;
    (void)p;
    (void)why;
    return true;
}

#define BAD_SIDES "sizes must be positive, and at most 2^20"

static bool is_side(int64_t size)
{
    return size > 0 && size <= STK_IMAGE_MAX_SIDE;
}

static bool plan_resize(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                        const char **why)
{
    int64_t size[2] = {UNSET, UNSET};
    enum stk_image_method method = (enum stk_image_method)a->args[ARG_METHOD].i;
    *why = "";
    bool has_size = stk_op_image_ints(a, ARG_SIZE, size, 2);
    const struct stk_attr *given = a->args[ARG_SIZE].attr;
    if (!has_size && given) {
        *why = "size is two integers, height and width";
        return false;
    }
    bool keeps_ratio = a->args[ARG_PRESERVE_ASPECT_RATIO].i != 0;
    p->height = has_size ? size[0] : UNSET;
    p->width = has_size ? size[1] : UNSET;
    if (has_size && (!is_side(size[0]) || !is_side(size[1]))) {
        *why = BAD_SIDES;
        return false;
    }
    if (keeps_ratio && (!has_size || s->dim[0] < 0 || s->dim[1] < 0)) {
        p->height = p->width = UNSET;
    } else if (keeps_ratio) {
        uint32_t h = (uint32_t)size[0], w = (uint32_t)size[1];
        stk_image_preserve_ratio((uint32_t)s->dim[0], (uint32_t)s->dim[1], &h, &w);
        p->height = h;
        p->width = w;
    }
    p->dtype = method == STK_IMAGE_NEAREST ? p->dtype : STK_DT_F32;
    return true;
}

// The height's row; the width's is the next.
static bool plan_sides(struct stk_op_image_args *a, int row, struct plan *p, const char **why)
{
    bool has_height = stk_op_image_ints(a, row, &p->height, 1);
    bool has_width = stk_op_image_ints(a, row + 1, &p->width, 1);
    p->height = has_height ? p->height : UNSET;
    p->width = has_width ? p->width : UNSET;
    *why = BAD_SIDES;
    return (!has_height || is_side(p->height)) && (!has_width || is_side(p->width));
}

static bool plan_target(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                        const char **why)
{
    (void)s;
    return plan_sides(a, ARG_TARGET_HEIGHT, p, why);
}

static bool plan_offset(struct stk_op_image_args *a, int row, int64_t *at)
{
    bool is_known = stk_op_image_ints(a, row, at, 1);
    *at = is_known ? *at : UNSET;
    return !is_known || (*at >= 0 && *at <= STK_IMAGE_MAX_SIDE);
}

static bool plan_box(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                     const char **why)
{
    (void)s;
    bool fits = plan_offset(a, ARG_OFFSET_HEIGHT, &p->v[0]);
    fits = plan_offset(a, ARG_OFFSET_WIDTH, &p->v[1]) && fits;
    if (!plan_sides(a, ARG_BOX_HEIGHT, p, why)) {
        return false;
    }
    *why = "offsets must not be negative, and at most 2^20";
    return fits;
}

static bool plan_central(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                         const char **why)
{
    struct stk_image_box box;
    struct stoker_err err;
    p->f = a->args[ARG_CENTRAL_FRACTION].f;
    *why = "central_fraction must be above 0 and at most 1";
    p->height = p->width = UNSET;
    if (!(p->f > 0 && p->f <= 1)) {
        return false;
    }
    if (s->dim[0] > 0 && s->dim[1] > 0 &&
        stk_image_central_box((uint32_t)s->dim[0], (uint32_t)s->dim[1], p->f, &box, &err) ==
            STOKER_OK) {
        p->v[0] = box.y;
        p->v[1] = box.x;
        p->height = box.height;
        p->width = box.width;
    }
    return true;
}

static bool plan_turned(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                        const char **why)
{
    (void)why;
    p->v[0] = a->args[ARG_K].i;
    if (p->v[0] % 2) {
        p->height = s->dim[1];
        p->width = s->dim[0];
    }
    return true;
}

static bool plan_transposed(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                            const char **why)
{
    (void)a;
    (void)why;
    p->height = s->dim[1];
    p->width = s->dim[0];
    return true;
}

static bool plan_delta(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                       const char **why)
{
    bool is_known = a->args[ARG_DELTA].attr || (a->next < a->n_in && a->in[a->next]);
    (void)s;
    *why = "by how much must be a scalar of float32 or float64";
    return stk_op_image_float(a, ARG_DELTA, &p->f) || !is_known;
}

static bool plan_drawn(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                       const char **why)
{
    (void)s;
    (void)p;
    *why = "max_delta is at least 0";
    return a->args[ARG_MAX_DELTA].f >= 0;
}

static bool plan_hue(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                     const char **why)
{
    (void)s;
    (void)p;
    double most = a->args[ARG_MAX_DELTA].f;
    *why = "max_delta is at least 0 and at most 0.5";
    return most >= 0 && most <= 0.5;
}

static bool plan_grey(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                      const char **why)
{
    (void)a;
    *why = "the last dimension must be 3";
    p->channels = 1;
    return s->dim[2] < 0 || s->dim[2] == 3;
}

static bool plan_coloured(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                          const char **why)
{
    (void)a;
    *why = "the last dimension must be 1";
    p->channels = 3;
    return s->dim[2] < 0 || s->dim[2] == 1;
}

static bool plan_float(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                       const char **why)
{
    (void)a;
    (void)s;
    (void)why;
    p->dtype = STK_DT_F32;
    return true;
}

static bool plan_type(struct stk_op_image_args *a, const struct stk_shape *s, struct plan *p,
                      const char **why)
{
    enum stk_image_type type;
    (void)s;
    p->dtype = (enum stk_dtype)a->args[ARG_DTYPE].i;
    *why = "the types are uint8, uint16 and float32";
    return stk_op_image_type(p->dtype, &type);
}

// --- one image

#define RUN(name)                                                                                  \
    static enum stoker_status name(struct stk_image_context *c, struct stk_op_run *r, int64_t i,   \
                                   const struct plan *p, const struct stk_image *in,               \
                                   const struct stk_image *out, struct stoker_err *err)
#define UNUSED ((void)c, (void)r, (void)i, (void)p)

RUN(run_resize)
{
    (void)i;
    (void)p;
    enum stk_image_method method = (enum stk_image_method)r->args[ARG_METHOD].i;
    if (in->height == out->height && in->width == out->width && in->type == out->type &&
        !stk_image_blurs(method)) {
        return stk_image_copy(in, out, err);
    }
    struct stk_image_resize_options o = {.method = method,
                                         .antialias = r->args[ARG_ANTIALIAS].i != 0};
    return stk_image_resize(c, in, &o, out, err);
}
static enum stoker_status no_offset(struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINVAL, "an offset is no integer");
}
RUN(run_crop)
{
    struct stk_image view;
    struct stk_image_box box = {(uint32_t)p->v[0], (uint32_t)p->v[1], out->height, out->width};
    UNUSED;
    if (p->v[0] < 0 || p->v[1] < 0) {
        return no_offset(err);
    }
    if (p->v[0] + out->height > in->height || p->v[1] + out->width > in->width) {
        return stk_err_set(
            err, STOKER_EINVAL, "a box of %u x %u at (%lld, %lld) does not lie in %u x %u",
            out->height, out->width, (long long)p->v[0], (long long)p->v[1], in->height, in->width);
    }
    enum stoker_status s = stk_image_crop(in, &box, &view, err);
    return s == STOKER_OK ? stk_image_copy(&view, out, err) : s;
}
RUN(run_pad)
{
    UNUSED;
    if (p->v[0] < 0 || p->v[1] < 0) {
        return no_offset(err);
    }
    return stk_image_pad(in, (uint32_t)p->v[0], (uint32_t)p->v[1], out, err);
}
RUN(run_crop_or_pad)
{
    UNUSED;
    return stk_image_crop_or_pad(in, out, err);
}
RUN(run_mirror)
{
    UNUSED;
    return stk_image_flip_left_right(in, out, err);
}
RUN(run_flip)
{
    UNUSED;
    return stk_image_flip_up_down(in, out, err);
}
RUN(run_turn)
{
    UNUSED;
    return stk_image_rot90(in, (int)(p->v[0] & 3), out, err);
}
RUN(run_transpose)
{
    UNUSED;
    return stk_image_transpose(in, out, err);
}
RUN(run_brightness)
{
    UNUSED;
    return stk_image_adjust_brightness(in, (float)p->f, out, err);
}
RUN(run_contrast)
{
    UNUSED;
    return stk_image_adjust_contrast(in, (float)p->f, out, err);
}
RUN(run_saturation)
{
    UNUSED;
    return stk_image_adjust_saturation(in, (float)p->f, out, err);
}
RUN(run_hue)
{
    UNUSED;
    return stk_image_adjust_hue(in, (float)p->f, out, err);
}
RUN(run_gamma)
{
    UNUSED;
    return stk_image_adjust_gamma(in, (float)r->args[ARG_GAMMA].f, (float)r->args[ARG_GAIN].f, out,
                                  err);
}
RUN(run_grey)
{
    UNUSED;
    return stk_image_rgb_to_grayscale(in, out, err);
}
RUN(run_coloured)
{
    UNUSED;
    return stk_image_grayscale_to_rgb(in, out, err);
}
RUN(run_to_hsv)
{
    UNUSED;
    return stk_image_change_space(in, STK_IMAGE_RGB_TO_HSV, out, err);
}
RUN(run_from_hsv)
{
    UNUSED;
    return stk_image_change_space(in, STK_IMAGE_HSV_TO_RGB, out, err);
}
RUN(run_standardize)
{
    UNUSED;
    return stk_image_standardize(in, out, err);
}
RUN(run_type)
{
    UNUSED;
    return stk_image_convert_type(in, r->args[ARG_SATURATE].i != 0, out, err);
}

// Evenly in [low, high) for this element.
double stk_op_image_drawn(const struct stk_op_run *r, int64_t seed, int64_t i, double low,
                          double high)
{
    uint64_t base = seed >= 0 ? stk_hash_u64((uint64_t)seed + 1) : r->seed;
    uint64_t bits = stk_random_bits(base, 4, r->first_index + i, 0);
    return low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
}
RUN(run_random_mirror)
{
    UNUSED;
    return stk_op_image_drawn(r, r->args[ARG_SEED].i, i, 0, 1) < 0.5
               ? stk_image_flip_left_right(in, out, err)
               : stk_image_copy(in, out, err);
}
RUN(run_random_flip)
{
    UNUSED;
    return stk_op_image_drawn(r, r->args[ARG_SEED].i, i, 0, 1) < 0.5
               ? stk_image_flip_up_down(in, out, err)
               : stk_image_copy(in, out, err);
}
RUN(run_random_brightness)
{
    double most = r->args[ARG_MAX_DELTA].f;
    UNUSED;
    return stk_image_adjust_brightness(
        in, (float)stk_op_image_drawn(r, r->args[ARG_SEED].i, i, -most, most), out, err);
}
RUN(run_random_hue)
{
    double most = r->args[ARG_MAX_DELTA].f;
    UNUSED;
    return stk_image_adjust_hue(
        in, (float)stk_op_image_drawn(r, r->args[ARG_SEED].i, i, -most, most), out, err);
}
static float between(const struct stk_op_run *r, int64_t i)
{
    return (float)stk_op_image_drawn(r, r->args[ARG_SEED].i, i, r->args[ARG_LOWER].f,
                                     r->args[ARG_UPPER].f);
}
RUN(run_random_contrast)
{
    UNUSED;
    return stk_image_adjust_contrast(in, between(r, i), out, err);
}
RUN(run_random_saturation)
{
    UNUSED;
    return stk_image_adjust_saturation(in, between(r, i), out, err);
}

static const struct row rows[] = {
#define ROW(id, planned, run, rows, random, about) {planned, run},
#include "engine/ops/op_image.def"
#undef ROW
};
enum {
#define ROW(id, planned, run, rows, random, about) AT_##id,
#include "engine/ops/op_image.def"
#undef ROW
};

// The image's own dimensions: the last three.
static struct stk_shape image_shape(const struct stk_shape *s)
{
    struct stk_shape image = {.rank = 3};
    memcpy(image.dim, s->dim + s->rank - 3, 3 * sizeof image.dim[0]);
    return image;
}

static struct plan plan_of(const struct stk_shape *image, enum stk_dtype dtype)
{
    return (struct plan){
        .height = image->dim[0], .width = image->dim[1], .channels = image->dim[2], .dtype = dtype};
}

// What moves pixels and looks at none takes any type of number, as one of the same size; 64 bits as
// two values (`parts`) of 32.
static bool type_of(const struct stk_op *op, enum stk_dtype t, enum stk_image_type *type,
                    int64_t *parts)
{
    *parts = 1;
    if (stk_op_image_type(t, type)) {
        return true;
    }
    switch (op->arg) {
    case AT_resize_with_crop_or_pad:
    case AT_central_crop:
    case AT_crop_to_bounding_box:
    case AT_pad_to_bounding_box:
    case AT_flip_left_right:
    case AT_flip_up_down:
    case AT_rot90:
    case AT_transpose_image:
    case AT_random_flip_left_right:
    case AT_random_flip_up_down:
        break;
    default:
        return false;
    }
    size_t size = t < STK_DT_STRING ? stk_dtype_bytes(t) : 0;
    *parts = size == 8 ? 2 : 1;
    *type = size == 1 ? STK_IMAGE_U8 : size == 2 ? STK_IMAGE_U16 : STK_IMAGE_F32;
    return size > 0;
}

static enum stoker_status image_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t parts;
    enum stk_image_type type;
    const struct stk_shape *in = &c->in[0].shape;
    const char *why = "";
    if (c->n_in < 1 || !type_of(c->op, c->in[0].dtype, &type, &parts)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "%s: takes images of uint8, uint16 or float32, not %s; cast first",
                           c->op->name, c->n_in ? stk_dtype_name(c->in[0].dtype) : "nothing");
    }
    if (in->rank >= 0 && in->rank != 3 && in->rank != 4) {
        return stk_err_set(err, STOKER_EINVAL,
                           "%s: an image has 3 dimensions (or 4, a stack), not %d", c->op->name,
                           in->rank);
    }
    struct stk_shape image = {3, {STK_UNKNOWN, STK_UNKNOWN, STK_UNKNOWN}};
    if (in->rank >= 3) {
        image = image_shape(in);
    }
    struct plan p = plan_of(&image, c->in[0].dtype);
    struct stk_op_image_args a = {.args = c->args, .in = c->constant, .n_in = c->n_in, .next = 1};
    if (!rows[c->op->arg].plan(&a, &image, &p, &why)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: %s", c->op->name, why);
    }
    c->out[0].dtype = p.dtype;
    c->out[0].shape = *in;
    if (in->rank >= 3) {
        int64_t *dim = c->out[0].shape.dim + in->rank - 3;
        dim[0] = p.height < 0 ? STK_UNKNOWN : p.height;
        dim[1] = p.width < 0 ? STK_UNKNOWN : p.width;
        dim[2] = p.channels < 0 ? STK_UNKNOWN : p.channels;
    }
    return STOKER_OK;
}

// All images of one element.
static enum stoker_status image_element(struct stk_op_run *r, int64_t i, const struct plan *p,
                                        uint8_t *out, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_shape image = image_shape(&in->shape);
    struct stk_image_context *c = stk_op_image_context(r);
    enum stk_image_type from, to;
    struct stoker_err why;
    stk_err_init(&why);
    if (!c) {
        return stk_err_nomem(err);
    }
    int64_t parts;
    (void)type_of(r->op, p->dtype, &to, &parts);
    (void)type_of(r->op, in->dtype, &from, &parts);
    int64_t count = in->shape.rank == 4 ? in->shape.dim[0] : 1;
    size_t in_bytes = (size_t)stk_shape_count(&image) * stk_dtype_bytes(in->dtype);
    size_t out_bytes = (size_t)(p->height * p->width * p->channels) * stk_dtype_bytes(p->dtype);
    STK_ASSERT(p->height > 0 && p->width > 0 && p->channels > 0);
    for (int64_t k = 0; k < count; k++) {
        struct stk_image a =
            stk_op_image_over((uint8_t *)stk_col_at(in, i) + (size_t)k * in_bytes, image.dim[0],
                              image.dim[1], image.dim[2] * parts, from);
        struct stk_image b = stk_op_image_over(out + (size_t)k * out_bytes, p->height, p->width,
                                               p->channels * parts, to);
        if (rows[r->op->arg].run(c, r, i, p, &a, &b, &why) != STOKER_OK) {
            return stk_op_image_failed(r, i, &why);
        }
    }
    return STOKER_OK;
}

static enum stoker_status image_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    bool is_same = true;
    for (int j = 1; j < r->n_in; j++) {
        is_same = is_same && r->in[j]->stride == 0;
    }
    if (in->shape.rank != 3 && in->shape.rank != 4) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "an image has 3 dimensions (or 4, a stack), not %d",
                           in->shape.rank);
    }
    struct stk_shape image = image_shape(&in->shape);
    uint8_t *out = NULL;
    size_t bytes = 0;
    for (int64_t i = 0; i < r->n && i < r->failed; i++) {
        struct plan p = plan_of(&image, in->dtype);
        struct stk_op_image_args a = {
            .args = r->args, .in = r->in, .n_in = r->n_in, .next = 1, .i = i};
        const char *why = "";
        bool fits = rows[r->op->arg].plan(&a, &image, &p, &why) && p.height > 0 && p.width > 0 &&
                    p.channels > 0;
        if (!fits) {
            return stk_op_fail(
                r, i, STOKER_EINVAL, "%s",
                *why ? why : "an image without pixels, or sizes that are no positive numbers");
        }
        p.dtype = r->spec[0].dtype;
        struct stk_shape shape = in->shape;
        memcpy(shape.dim + shape.rank - 3, (int64_t[]){p.height, p.width, p.channels},
               3 * sizeof shape.dim[0]);
        if (!is_same) {
            out = stk_op_append(r, 0, p.dtype, &shape, err);
        } else if (i == 0) {
            bytes = (size_t)stk_shape_count(&shape) * stk_dtype_bytes(p.dtype);
            out = stk_op_out(r, 0, p.dtype, &shape, err);
        }
        enum stoker_status s =
            out ? image_element(r, i, &p, is_same ? out + (size_t)i * bytes : out, err) : err->code;
        if (s != STOKER_OK) {
            return s;
        }
    }
    stk_col_settle(&r->out[0]);
    return STOKER_OK;
}

#define ROW(id, planned, run_one, rows, random, about)                                             \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .is_random = random,                                        \
                                       .cost_ns = 2,                                               \
                                       .infer = image_infer,                                       \
                                       .scratch_bytes = sizeof(struct stk_op_image_scratch),       \
                                       .scratch_end = stk_op_image_scratch_end,                    \
                                       .run = image_run,                                           \
                                       .args = rows,                                               \
                                       .arg = AT_##id};
#include "engine/ops/op_image.def"
#undef ROW
