// SPDX-License-Identifier: Apache-2.0
// Operations from image to image: resizing, cropping, padding, turning, colors, also random ones.
// Each is one row of the table below: the result's size and type, and the function called for each
// image.
#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "engine/image/image_colour.h"
#include "engine/image/image_geometry.h"
#include "engine/image/image_resize.h"
#include "engine/ops/op_image.h"

#define UNSET (-2) // a size that is still unknown

// What one element requests.
struct plan {
    int64_t height, width, channels; // of the result; negative: unknown yet
    enum stk_dtype dtype;
    int64_t v[2];
    double f;         // the amount of adjustment
    double low, high; // or the range it is drawn from
};

// The argument rows of each operation start at 0.
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
        STK_ARG("preserve_aspect_ratio", BOOL, "keep the image's aspect ratio"),
    [ARG_ANTIALIAS] = STK_ARG("antialias", BOOL, "average the pixels when shrinking"),
    {0}};
static const struct stk_arg_row target_args[] = {
    [ARG_TARGET_HEIGHT] =
        STK_ARG("target_height", INT, "height of the result", .is_input_too = true),
    [ARG_TARGET_WIDTH] = STK_ARG("target_width", INT, "width of the result", .is_input_too = true),
    {0}};
static const struct stk_arg_row box_args[] = {
    [ARG_OFFSET_HEIGHT] = STK_ARG("offset_height", INT, "rows to add on top", .is_input_too = true),
    [ARG_OFFSET_WIDTH] =
        STK_ARG("offset_width", INT, "columns to add on the left", .is_input_too = true),
    [ARG_BOX_HEIGHT] = STK_ARG("target_height", INT, "height of the result", .is_input_too = true),
    [ARG_BOX_WIDTH] = STK_ARG("target_width", INT, "width of the result", .is_input_too = true),
    {0}};
static const struct stk_arg_row central_args[] = {
    [ARG_CENTRAL_FRACTION] =
        STK_ARG("central_fraction", FLOAT, "share of each side, above 0 and at most 1",
                .is_required = true),
    {0}};
static const struct stk_arg_row turn_args[] = {
    [ARG_K] = STK_ARG("k", INT, "number of quarter turns", .fallback = 1), {0}};
static const struct stk_arg_row delta_args[] = {
    [ARG_DELTA] = STK_ARG("delta", FLOAT, "value to add", .is_input_too = true), {0}};
static const struct stk_arg_row contrast_factor_args[] = {
    [ARG_DELTA] = STK_ARG("contrast_factor", FLOAT, "contrast factor", .is_input_too = true), {0}};
static const struct stk_arg_row saturation_factor_args[] = {
    [ARG_DELTA] = STK_ARG("saturation_factor", FLOAT, "saturation factor", .is_input_too = true),
    {0}};
static const struct stk_arg_row gamma_args[] = {
    [ARG_GAMMA] = STK_ARG("gamma", FLOAT, "the exponent", .fallback_float = 1),
    [ARG_GAIN] = STK_ARG("gain", FLOAT, "factor", .fallback_float = 1),
    {0}};
static const struct stk_arg_row type_args[] = {
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "uint8, uint16 or float32", .is_required = true),
    [ARG_SATURATE] = STK_ARG("saturate", BOOL, "clip values to the range"),
    {0}};
static const struct stk_arg_row seed_args[] = {[ARG_SEED] = STK_OP_SEED_ROW, {0}};
static const struct stk_arg_row random_delta_args[] = {
    [ARG_SEED] = STK_OP_SEED_ROW,
    [ARG_MAX_DELTA] =
        STK_ARG("max_delta", FLOAT, "maximum change, either way", .is_required = true),
    {0}};
static const struct stk_arg_row between_args[] = {
    [ARG_SEED] = STK_OP_SEED_ROW,
    [ARG_LOWER] = STK_ARG("lower", FLOAT, "lower end of the factors", .is_required = true),
    [ARG_UPPER] = STK_ARG("upper", FLOAT, "upper end of the factors", .is_required = true),
    {0}};

// Input of a row's plan(): an element's arguments and its image's size. On failure, false and why.
struct planning {
    struct stk_op_image_args a;
    struct stk_shape image;
    struct plan p;
    const char *why;
};

// One image being processed.
struct job {
    struct stk_image_context *c;
    const struct stk_op_run *r;
    const struct plan *p;
    const struct stk_image *in, *out;
};

struct row {
    bool (*plan)(struct planning *q); // NULL: the result has the image's size and type
    // One of these is set. For a random operation, `plain` is done by chance, and the amount of
    // `adjust` is drawn.
    enum stoker_status (*run)(const struct job *j, struct stoker_err *err);
    enum stoker_status (*plain)(const struct stk_image *in, const struct stk_image *out,
                                struct stoker_err *err);
    enum stoker_status (*adjust)(const struct stk_image *in, float by, const struct stk_image *out,
                                 struct stoker_err *err);
    bool moves; // moves pixels without looking at them
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
    // An image that is too large is its data's fault, not the run's memory's.
    return stk_op_fail(r, i, why->code == STOKER_ENOMEM ? STOKER_ENOMEM : STOKER_EINVAL, "%s",
                       why->message);
}

// --- sizes

#define BAD_SIDES "sizes must be positive, and at most 2^20"

static bool is_side(int64_t size)
{
    return size > 0 && size <= STK_IMAGE_MAX_SIDE;
}

static bool plan_resize(struct planning *q)
{
    int64_t size[2] = {UNSET, UNSET};
    enum stk_image_method method = (enum stk_image_method)q->a.args[ARG_METHOD].i;
    q->why = "";
    bool has_size = stk_op_image_ints(&q->a, ARG_SIZE, size, 2);
    const struct stk_attr *given = q->a.args[ARG_SIZE].attr;
    if (!has_size && given) {
        q->why = "size is two integers, height and width";
        return false;
    }
    bool keeps_ratio = q->a.args[ARG_PRESERVE_ASPECT_RATIO].i != 0;
    q->p.height = has_size ? size[0] : UNSET;
    q->p.width = has_size ? size[1] : UNSET;
    if (has_size && (!is_side(size[0]) || !is_side(size[1]))) {
        q->why = BAD_SIDES;
        return false;
    }
    if (keeps_ratio && (!has_size || q->image.dim[0] < 0 || q->image.dim[1] < 0)) {
        q->p.height = q->p.width = UNSET;
    } else if (keeps_ratio) {
        uint32_t h = (uint32_t)size[0], w = (uint32_t)size[1];
        stk_image_preserve_ratio((uint32_t)q->image.dim[0], (uint32_t)q->image.dim[1], &h, &w);
        q->p.height = h;
        q->p.width = w;
    }
    q->p.dtype = stk_image_is_nearest(method) ? q->p.dtype : STK_DT_F32;
    return true;
}

// The row of the height; the width's is the next.
static bool plan_sides(struct planning *q, int row)
{
    bool has_height = stk_op_image_ints(&q->a, row, &q->p.height, 1);
    bool has_width = stk_op_image_ints(&q->a, row + 1, &q->p.width, 1);
    q->p.height = has_height ? q->p.height : UNSET;
    q->p.width = has_width ? q->p.width : UNSET;
    q->why = BAD_SIDES;
    return (!has_height || is_side(q->p.height)) && (!has_width || is_side(q->p.width));
}

static bool plan_target(struct planning *q)
{
    return plan_sides(q, ARG_TARGET_HEIGHT);
}

static bool plan_offset(struct planning *q, int row, int64_t *at)
{
    bool is_known = stk_op_image_ints(&q->a, row, at, 1);
    *at = is_known ? *at : UNSET;
    return !is_known || (*at >= 0 && *at <= STK_IMAGE_MAX_SIDE);
}

static bool plan_box(struct planning *q)
{
    bool fits = plan_offset(q, ARG_OFFSET_HEIGHT, &q->p.v[0]);
    fits = plan_offset(q, ARG_OFFSET_WIDTH, &q->p.v[1]) && fits;
    if (!plan_sides(q, ARG_BOX_HEIGHT)) {
        return false;
    }
    q->why = "offsets must not be negative, and at most 2^20";
    return fits;
}

static bool plan_central(struct planning *q)
{
    struct stk_image_box box;
    struct stoker_err err;
    q->p.f = q->a.args[ARG_CENTRAL_FRACTION].f;
    q->why = "central_fraction must be above 0 and at most 1";
    q->p.height = q->p.width = UNSET;
    if (!(q->p.f > 0 && q->p.f <= 1)) {
        return false;
    }
    if (q->image.dim[0] > 0 && q->image.dim[1] > 0 &&
        stk_image_central_box((uint32_t)q->image.dim[0], (uint32_t)q->image.dim[1], q->p.f, &box,
                              &err) == STOKER_OK) {
        q->p.v[0] = box.y;
        q->p.v[1] = box.x;
        q->p.height = box.height;
        q->p.width = box.width;
    }
    return true;
}

static bool plan_turned(struct planning *q)
{
    q->p.v[0] = q->a.args[ARG_K].i;
    if (q->p.v[0] % 2) {
        q->p.height = q->image.dim[1];
        q->p.width = q->image.dim[0];
    }
    return true;
}

static bool plan_transposed(struct planning *q)
{
    q->p.height = q->image.dim[1];
    q->p.width = q->image.dim[0];
    return true;
}

static bool plan_delta(struct planning *q)
{
    bool is_known = q->a.args[ARG_DELTA].attr || (q->a.next < q->a.n_in && q->a.in[q->a.next]);
    q->why = "the amount must be a scalar of float32 or float64";
    return stk_op_image_float(&q->a, ARG_DELTA, &q->p.f) || !is_known;
}

static bool plan_drawn(struct planning *q)
{
    q->p.high = q->a.args[ARG_MAX_DELTA].f;
    q->p.low = -q->p.high;
    q->why = "max_delta is at least 0";
    return q->p.high >= 0;
}

static bool plan_hue(struct planning *q)
{
    bool fits = plan_drawn(q) && q->p.high <= 0.5;
    q->why = "max_delta is at least 0 and at most 0.5";
    return fits;
}

static bool plan_between(struct planning *q)
{
    q->p.low = q->a.args[ARG_LOWER].f;
    q->p.high = q->a.args[ARG_UPPER].f;
    return true;
}

static bool plan_grey(struct planning *q)
{
    q->why = "the last dimension must be 3";
    q->p.channels = 1;
    return q->image.dim[2] < 0 || q->image.dim[2] == 3;
}

static bool plan_coloured(struct planning *q)
{
    q->why = "the last dimension must be 1";
    q->p.channels = 3;
    return q->image.dim[2] < 0 || q->image.dim[2] == 1;
}

static bool plan_float(struct planning *q)
{
    q->p.dtype = STK_DT_F32;
    return true;
}

static bool plan_type(struct planning *q)
{
    enum stk_image_type type;
    q->p.dtype = (enum stk_dtype)q->a.args[ARG_DTYPE].i;
    q->why = "the types are uint8, uint16 and float32";
    return stk_op_image_type(q->p.dtype, &type);
}

// --- one image

static enum stoker_status run_resize(const struct job *j, struct stoker_err *err)
{
    const struct stk_arg_value *args = j->r->args;
    enum stk_image_method method = (enum stk_image_method)args[ARG_METHOD].i;
    if (j->in->height == j->out->height && j->in->width == j->out->width &&
        j->in->type == j->out->type && !stk_image_blurs(method)) {
        return stk_image_copy(j->in, j->out, err);
    }
    struct stk_image_resize_options o = {.method = method, .antialias = args[ARG_ANTIALIAS].i != 0};
    return stk_image_resize(j->c, j->in, &o, j->out, err);
}

static enum stoker_status no_offset(struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINVAL, "an offset isn't an integer");
}

static enum stoker_status run_crop(const struct job *j, struct stoker_err *err)
{
    const struct stk_image *in = j->in, *out = j->out;
    int64_t y = j->p->v[0], x = j->p->v[1];
    struct stk_image view;
    struct stk_image_box box = {(uint32_t)y, (uint32_t)x, out->height, out->width};
    if (y < 0 || x < 0) {
        return no_offset(err);
    }
    if (y + out->height > in->height || x + out->width > in->width) {
        return stk_err_set(
            err, STOKER_EINVAL, "a box of %u x %u at (%lld, %lld) exceeds the image's %u x %u",
            out->height, out->width, (long long)y, (long long)x, in->height, in->width);
    }
    enum stoker_status s = stk_image_crop(in, &box, &view, err);
    return s == STOKER_OK ? stk_image_copy(&view, out, err) : s;
}

static enum stoker_status run_pad(const struct job *j, struct stoker_err *err)
{
    int64_t y = j->p->v[0], x = j->p->v[1];
    return y < 0 || x < 0 ? no_offset(err)
                          : stk_image_pad(j->in, (uint32_t)y, (uint32_t)x, j->out, err);
}

static enum stoker_status run_turn(const struct job *j, struct stoker_err *err)
{
    return stk_image_rot90(j->in, (int)(j->p->v[0] & 3), j->out, err);
}

static enum stoker_status run_gamma(const struct job *j, struct stoker_err *err)
{
    const struct stk_arg_value *args = j->r->args;
    return stk_image_adjust_gamma(j->in, (float)args[ARG_GAMMA].f, (float)args[ARG_GAIN].f, j->out,
                                  err);
}

static enum stoker_status run_to_hsv(const struct job *j, struct stoker_err *err)
{
    return stk_image_change_space(j->in, STK_IMAGE_RGB_TO_HSV, j->out, err);
}

static enum stoker_status run_from_hsv(const struct job *j, struct stoker_err *err)
{
    return stk_image_change_space(j->in, STK_IMAGE_HSV_TO_RGB, j->out, err);
}

static enum stoker_status run_type(const struct job *j, struct stoker_err *err)
{
    return stk_image_convert_type(j->in, j->r->args[ARG_SATURATE].i != 0, j->out, err);
}

// Uniform in [low, high) for this element.
double stk_op_image_drawn(const struct stk_op_run *r, int64_t seed, int64_t i, double low,
                          double high)
{
    uint64_t base = seed >= 0 ? stk_hash_u64((uint64_t)seed + 1) : r->seed;
    uint64_t bits = stk_random_bits(base, 4, r->first_index + i, 0);
    return low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
}

static const struct row rows[] = {
#define RUN(function) .run = function
#define PLAIN(function) .plain = function
#define ADJUST(function) .adjust = function
#define MOVES(how) how, .moves = true
#define ROW(id, planned, how, rows, random, about) {.plan = planned, how},
#include "engine/ops/op_image.def"
#undef ROW
};
enum {
#define ROW(id, planned, how, rows, random, about) AT_##id,
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

// Plans the result for an image of q->image. False: impossible, and q->why.
static bool plan_from(struct planning *q, const struct stk_op *op, enum stk_dtype dtype)
{
    q->p = (struct plan){.height = q->image.dim[0],
                         .width = q->image.dim[1],
                         .channels = q->image.dim[2],
                         .dtype = dtype};
    q->why = "";
    return !rows[op->arg].plan || rows[op->arg].plan(q);
}

static enum stoker_status run_one(const struct job *j, int64_t i, struct stoker_err *err)
{
    const struct row *row = &rows[j->r->op->arg];
    bool is_random = j->r->op->is_random;
    int64_t seed = is_random ? j->r->args[ARG_SEED].i : 0;
    if (row->run) {
        return row->run(j, err);
    }
    if (row->adjust) {
        double by = is_random ? stk_op_image_drawn(j->r, seed, i, j->p->low, j->p->high) : j->p->f;
        return row->adjust(j->in, (float)by, j->out, err);
    }
    bool is_done = !is_random || stk_op_image_drawn(j->r, seed, i, 0, 1) < 0.5;
    return is_done ? row->plain(j->in, j->out, err) : stk_image_copy(j->in, j->out, err);
}

// Operations that only move pixels take any type of number, as one of the same size; 64 bits as two
// values (`parts`) of 32.
static bool type_of(const struct stk_op *op, enum stk_dtype t, enum stk_image_type *type,
                    int64_t *parts)
{
    *parts = 1;
    if (stk_op_image_type(t, type)) {
        return true;
    }
    if (!rows[op->arg].moves) {
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
    struct planning q = {
        .a = {.args = c->args, .in = c->constant, .n_in = c->n_in, .next = 1},
        .image = in->rank >= 3 ? image_shape(in)
                               : (struct stk_shape){3, {STK_UNKNOWN, STK_UNKNOWN, STK_UNKNOWN}}};
    if (!plan_from(&q, c->op, c->in[0].dtype)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: %s", c->op->name, q.why);
    }
    c->out[0].dtype = q.p.dtype;
    c->out[0].shape = *in;
    if (in->rank >= 3) {
        int64_t *dim = c->out[0].shape.dim + in->rank - 3;
        dim[0] = q.p.height < 0 ? STK_UNKNOWN : q.p.height;
        dim[1] = q.p.width < 0 ? STK_UNKNOWN : q.p.width;
        dim[2] = q.p.channels < 0 ? STK_UNKNOWN : q.p.channels;
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
        struct job job = {.c = c, .r = r, .p = p, .in = &a, .out = &b};
        if (run_one(&job, i, &why) != STOKER_OK) {
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
    uint8_t *out = NULL;
    size_t bytes = 0;
    for (int64_t i = 0; i < r->n && i < r->failed; i++) {
        struct planning q = {
            .a = {.args = r->args, .in = r->in, .n_in = r->n_in, .next = 1, .i = i},
            .image = image_shape(&in->shape)};
        struct plan *p = &q.p;
        if (!plan_from(&q, r->op, in->dtype) || p->height <= 0 || p->width <= 0 ||
            p->channels <= 0) {
            return stk_op_fail(r, i, STOKER_EINVAL, "%s",
                               *q.why ? q.why
                                      : "an image without pixels, or sizes that aren't positive");
        }
        p->dtype = r->spec[0].dtype;
        struct stk_shape shape = in->shape;
        memcpy(shape.dim + shape.rank - 3, (int64_t[]){p->height, p->width, p->channels},
               3 * sizeof shape.dim[0]);
        if (!is_same) {
            out = stk_op_append(r, 0, p->dtype, &shape, err);
        } else if (i == 0) {
            bytes = (size_t)stk_shape_count(&shape) * stk_dtype_bytes(p->dtype);
            out = stk_op_out(r, 0, p->dtype, &shape, err);
        }
        enum stoker_status s =
            out ? image_element(r, i, p, is_same ? out + (size_t)i * bytes : out, err) : err->code;
        if (s != STOKER_OK) {
            return s;
        }
    }
    return STOKER_OK;
}

#define ROW(id, planned, how, rows, random, about)                                                 \
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
