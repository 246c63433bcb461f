// SPDX-License-Identifier: Apache-2.0
// Operations that rewrites make from several others, with the same bits (see rewrite_fn.c; users
// never name them):
//
// arithmetic: float32 (or uint8, cast first) through a chain of sums, differences, products,
//   quotients and bounds with constants, or with one value per element as further inputs.
// brightness_delta: what random_brightness adds, with its random bits.
// image_chain: an image, or a JPEG's contents, resized, perhaps mirrored (by chance as
//   random_flip_left_right does), then steps.
#include <string.h>

#include "base/assert.h"
#include "base/alloc.h"
#include "engine/ops/op_codec.h"
#include "engine/ops/op_image.h"

// arithmetic's rows; then those of a chain, which follow the decoder's.
enum { ARG_STEPS, ARG_COUNTS, ARG_CONSTANTS };
enum {
    ARG_DECODE = STK_OP_DECODE_ROWS,
    ARG_SIZE,
    ARG_METHOD,
    ARG_ANTIALIAS,
    ARG_PRESERVE_ASPECT_RATIO,
    ARG_MIRROR,
    ARG_SEED,
    ARG_CHAIN_STEPS // and the two others
};
#define STEP_ROWS(first)                                                                           \
    [(first) + ARG_STEPS] = STK_ARG(                                                               \
        "steps", INTS, "enum stk_image_step_kind of each; without it none", .is_open = true),      \
               [(first) + ARG_COUNTS] =                                                            \
                   STK_ARG("counts", INTS,                                                         \
                           "how many constants each has: 1, or one for each of the last "          \
                           "dimension; 0: the next input",                                         \
                           .is_open = true),                                                       \
               [(first) + ARG_CONSTANTS] =                                                         \
                   STK_ARG("constants", FLOATS, "four of each step", .is_open = true)

static const struct stk_arg_row arithmetic_args[] = {STEP_ROWS(0), {0}};
static const struct stk_arg_row chain_args[] = {
    STK_OP_PART_ROWS,
    [ARG_DECODE] = STK_ARG("decode", BOOL, "the input is a file, as in decode_jpeg"),
    [ARG_SIZE] = STK_ARG("size", INTS, "height and width", .is_required = true),
    [ARG_METHOD] = STK_OP_METHOD_ROW,
    [ARG_ANTIALIAS] = STK_ARG("antialias", BOOL, "as in resize"),
    [ARG_PRESERVE_ASPECT_RATIO] =
        STK_ARG("preserve_aspect_ratio", BOOL, "not supported; see resize"),
    [ARG_MIRROR] = STK_ARG("mirror", INT, "left to right", .choices = "no,yes,by chance"),
    [ARG_SEED] = STK_OP_SEED_ROW,
    STEP_ROWS(ARG_CHAIN_STEPS),
    {0}};

enum mirror { NOT_MIRRORED, MIRRORED, MIRRORED_BY_CHANCE };

struct chain {
    struct stk_image_steps steps;
    int n_given, given[STK_IMAGE_STEPS_MAX]; // steps whose constants are inputs, in order
    bool is_decoded;
    int64_t size[2]; // 0: not an image
    enum mirror mirror;
    int64_t seed; // of the random mirroring; negative: the run's
    struct stk_image_resize_options resize;
};

// `a` starts at the row of the steps.
static bool read_steps(const struct stk_arg_value *a, struct chain *chain)
{
    struct stk_image_steps *s = &chain->steps;
    const struct stk_attr *kinds = a[ARG_STEPS].attr, *counts = a[ARG_COUNTS].attr,
                          *constants = a[ARG_CONSTANTS].attr;
    if (!kinds) {
        return true;
    }
    bool ok = counts && constants && kinds->kind == STK_ATTR_INTS &&
              counts->kind == STK_ATTR_INTS && constants->kind == STK_ATTR_FLOATS &&
              counts->count == kinds->count &&
              constants->count == STK_IMAGE_STEP_CHANNELS * kinds->count;
    for (int64_t k = 0; ok && k < kinds->count; k++) {
        float c[STK_IMAGE_STEP_CHANNELS];
        for (int i = 0; i < STK_IMAGE_STEP_CHANNELS; i++) {
            c[i] = (float)constants->floats[STK_IMAGE_STEP_CHANNELS * k + i];
        }
        ok = kinds->ints[k] >= 0 && kinds->ints[k] < STK_IMAGE_STEP_KINDS &&
             stk_image_steps_add(s, (enum stk_image_step_kind)kinds->ints[k], c,
                                 counts->ints[k] == 0 ? 1 : (int)counts->ints[k]);
        if (ok && counts->ints[k] == 0) {
            chain->given[chain->n_given++] = (int)k;
        }
    }
    return ok;
}

static bool read_chain(const struct stk_op_infer *in, struct chain *c)
{
    const struct stk_arg_value *a = in->args;
    *c = (struct chain){.seed = -1};
    if (in->op == &stk_op_arithmetic) {
        return read_steps(a, c);
    }
    const struct stk_attr *size = a[ARG_SIZE].attr;
    c->is_decoded = a[ARG_DECODE].i != 0;
    c->mirror = (enum mirror)a[ARG_MIRROR].i;
    c->seed = a[ARG_SEED].i;
    if (!size || size->kind != STK_ATTR_INTS || size->count != 2 || size->ints[0] < 1 ||
        size->ints[1] < 1 || size->ints[0] > STK_IMAGE_MAX_SIDE ||
        size->ints[1] > STK_IMAGE_MAX_SIDE) {
        return false;
    }
    memcpy(c->size, size->ints, sizeof c->size);
    c->resize.method = (enum stk_image_method)a[ARG_METHOD].i;
    c->resize.antialias = a[ARG_ANTIALIAS].i != 0;
    return read_steps(a + ARG_CHAIN_STEPS, c) && c->n_given == 0;
}

static enum stoker_status chain_prepare(const struct stk_op_infer *in, void **out,
                                        struct stoker_err *err)
{
    struct chain *c = stk_alloc(sizeof *c);
    if (!c) {
        return stk_err_nomem(err);
    }
    if (!read_chain(in, c)) {
        stk_free(c);
        return stk_err_set(err, STOKER_EINVAL, "invalid chain of operations");
    }
    *out = c;
    return STOKER_OK;
}

// --- arithmetic

static enum stoker_status arithmetic_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct chain chain;
    enum stoker_status s = stk_op_want_inputs(c, 1, 1 + STK_IMAGE_STEPS_MAX, err);
    if (s == STOKER_OK && c->in[0].dtype != STK_DT_F32 && c->in[0].dtype != STK_DT_U8) {
        s = stk_err_set(err, STOKER_EINVAL, "%s: takes float32 or uint8", c->op->name);
    }
    bool fits = s == STOKER_OK && read_chain(c, &chain) && chain.n_given == c->n_in - 1;
    for (int j = 1; fits && j < c->n_in; j++) {
        fits = c->in[j].dtype == STK_DT_F32 && c->in[j].shape.rank == 0;
    }
    if (s == STOKER_OK && !fits) {
        s = stk_err_set(err, STOKER_EINVAL,
                        "%s: needs a float32 scalar for each step without constants", c->op->name);
    }
    if (s == STOKER_OK) {
        c->out[0].dtype = STK_DT_F32;
        c->out[0].shape = c->in[0].shape;
    }
    return s;
}

static void to_floats(const struct stk_col *in, const void *from, float *to, int64_t n)
{
    if (in->dtype == STK_DT_F32) {
        if (from != to && n > 0) {
            memcpy(to, from, (size_t)n * sizeof *to);
        }
        return;
    }
    stk_image_steps_widen(from, to, (size_t)n);
}

static enum stoker_status arithmetic_run(struct stk_op_run *r, struct stoker_err *err)
{
    enum { PIECE = 48 * 64 }; // values that fit the nearest cache; a multiple of the pattern
    const struct stk_col *in = r->in[0];
    const struct chain *c = r->prepared;
    const struct stk_image_steps *steps = &c->steps;
    struct stk_image_steps own; // for one element, if its constants differ
    float *out = stk_op_out(r, 0, STK_DT_F32, &in->shape, err);
    if (!out) {
        return err->code;
    }
    if (c->n_given > 0) {
        own = c->steps;
        steps = &own;
    }
    int64_t each = stk_shape_count(&in->shape);
    for (int64_t i = 0; i < r->n; i++) {
        const uint8_t *from = stk_col_at(in, i);
        for (int j = 0; j < c->n_given; j++) {
            stk_image_steps_set(&own, c->given[j], *(const float *)stk_col_at(r->in[1 + j], i));
        }
        float *to = out + i * each;
        for (int64_t k = 0; k < each; k += PIECE) {
            int64_t n = each - k < PIECE ? each - k : PIECE;
            to_floats(in, from + (size_t)k * stk_dtype_bytes(in->dtype), to + k, n);
            stk_image_steps_run(steps, to + k, (size_t)n);
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_arithmetic = {.name = "arithmetic",
                                         .summary =
                                             "A chain of sums, products and bounds with constants",
                                         .is_elementwise = true,
                                         .cost_ns = 0.5,
                                         .infer = arithmetic_infer,
                                         .args = arithmetic_args,
                                         .prepare = chain_prepare,
                                         .unprepare = stk_free,
                                         .run = arithmetic_run};

// --- brightness_delta

enum { ARG_DELTA_SEED, ARG_MAX_DELTA };

static enum stoker_status delta_run(struct stk_op_run *r, struct stoker_err *err)
{
    double most = r->args[ARG_MAX_DELTA].f;
    float *out = stk_op_out(r, 0, STK_DT_F32, &r->spec[0].shape, err);
    for (int64_t i = 0; out && i < r->n; i++) {
        out[i] = (float)stk_op_image_drawn(r, r->args[ARG_DELTA_SEED].i, i, -most, most);
    }
    return out ? STOKER_OK : err->code;
}

static const struct stk_arg_row delta_args[] = {
    [ARG_DELTA_SEED] = STK_OP_SEED_ROW,
    [ARG_MAX_DELTA] =
        STK_ARG("max_delta", FLOAT, "maximum change, either way", .is_required = true),
    {0}};

const struct stk_op stk_op_brightness_delta = {.name = "brightness_delta",
                                               .summary = "The random delta of random_brightness",
                                               .is_random = true,
                                               .cost_ns = 20,
                                               .signature = "-> float32[]",
                                               .args = delta_args,
                                               .run = delta_run};

// --- image_chain

static enum stoker_status chain_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct chain chain;
    bool fits = read_chain(c, &chain) && chain.size[0] > 0;
    int64_t channels = c->args[STK_OP_DECODE_CHANNELS].i;
    if (fits && !chain.is_decoded) {
        const struct stk_shape *in = &c->in[0].shape;
        fits = in->rank == 3 && (c->in[0].dtype == STK_DT_U8 || c->in[0].dtype == STK_DT_F32);
        channels = fits ? in->dim[2] : 0;
    }
    if (!fits || channels < 1 || channels > STK_IMAGE_STEP_CHANNELS ||
        (chain.is_decoded && c->in[0].dtype != STK_DT_STRING)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: not for these inputs", c->op->name);
    }
    c->out[0].dtype = STK_DT_F32;
    c->out[0].shape = (struct stk_shape){3, {chain.size[0], chain.size[1], channels}};
    return STOKER_OK;
}

static bool is_mirrored(const struct stk_op_run *r, const struct chain *c, int64_t i)
{
    return c->mirror == MIRRORED ||
           (c->mirror == MIRRORED_BY_CHANCE && stk_op_image_drawn(r, c->seed, i, 0, 1) < 0.5);
}

// The image already has the size: copies floats, as resize then does.
static void copy_rows(const struct stk_image *in, const struct chain *c, bool is_turned,
                      const struct stk_image *out)
{
    size_t channels = in->channels, n = in->width * channels;
    for (uint32_t y = 0; y < in->height; y++) {
        const float *from = stk_image_row(in, y);
        float *to = stk_image_row(out, y);
        for (size_t x = 0; x < in->width; x++) {
            size_t at = is_turned ? in->width - 1 - x : x;
            memcpy(to + x * channels, from + at * channels, channels * sizeof *to);
        }
        stk_image_steps_run(&c->steps, to, n);
    }
}

static enum stoker_status run_image(struct stk_op_run *r, int64_t i,
                                    struct stk_image_context *context, const struct stk_image *in,
                                    uint8_t *results)
{
    const struct chain *c = r->prepared;
    struct stk_image_resize_options o = c->resize;
    STK_ASSERT(c->size[0] > 0 && c->size[1] > 0 && i >= 0 && i < r->n);
    size_t bytes = (size_t)stk_shape_count(&r->spec[0].shape) * sizeof(float);
    struct stk_image out = stk_op_image_over(results + (size_t)i * bytes, c->size[0], c->size[1],
                                             r->spec[0].shape.dim[2], STK_IMAGE_F32);
    struct stoker_err why;
    stk_err_init(&why);
    o.is_mirrored = is_mirrored(r, c, i);
    o.steps = &c->steps;
    if (in->height == out.height && in->width == out.width && in->type == STK_IMAGE_F32 &&
        !stk_image_blurs(o.method)) {
        copy_rows(in, c, o.is_mirrored, &out);
    } else if (stk_image_resize(context, in, &o, &out, &why) != STOKER_OK) {
        return stk_op_image_failed(r, i, &why);
    }
    return STOKER_OK;
}

static enum stoker_status run_decoded(struct stk_op_run *r, uint8_t *results,
                                      struct stoker_err *err)
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
            enum stoker_status s = run_image(r, i, c[k], &jobs[k].out, results);
            if (s != STOKER_OK || r->failed <= i) {
                return s;
            }
        }
    }
    return STOKER_OK;
}

static enum stoker_status run_images(struct stk_op_run *r, uint8_t *results, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_image_context *c = stk_op_image_context(r);
    enum stk_image_type type;
    if (!c) {
        return stk_err_nomem(err);
    }
    (void)stk_op_image_type(in->dtype, &type);
    for (int64_t i = 0; i < r->n && i < r->failed; i++) {
        struct stk_shape s = stk_col_shape(in, i);
        if (s.rank != 3 || stk_shape_count(&s) == 0 || s.dim[2] != r->spec[0].shape.dim[2]) {
            return stk_op_fail(r, i, STOKER_EINVAL, "an image without pixels");
        }
        struct stk_image im =
            stk_op_image_over(stk_col_at(in, i), s.dim[0], s.dim[1], s.dim[2], type);
        enum stoker_status status = run_image(r, i, c, &im, results);
        if (status != STOKER_OK) {
            return status;
        }
    }
    return STOKER_OK;
}

static enum stoker_status chain_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct chain *c = r->prepared;
    uint8_t *results = stk_op_out(r, 0, STK_DT_F32, &r->spec[0].shape, err);
    if (!results) {
        return err->code;
    }
    enum stoker_status s =
        c->is_decoded ? run_decoded(r, results, err) : run_images(r, results, err);
    stk_op_image_rest(r);
    return s;
}

#define IMAGE_CHAIN(id, random, about)                                                             \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .takes_varied = true,                                       \
                                       .is_random = random,                                        \
                                       .at_once = 2,                                               \
                                       .cost_ns = 5e5,                                             \
                                       .signature = "any, any?",                                   \
                                       .infer = chain_infer,                                       \
                                       .args = chain_args,                                         \
                                       .prepare = chain_prepare,                                   \
                                       .unprepare = stk_free,                                      \
                                       .scratch_bytes = sizeof(struct stk_op_image_scratch),       \
                                       .scratch_end = stk_op_image_scratch_end,                    \
                                       .run = chain_run};
IMAGE_CHAIN(image_chain, false, "Decodes, resizes, mirrors and computes in one pass")
IMAGE_CHAIN(random_image_chain, true, "The same, randomly mirrored")
