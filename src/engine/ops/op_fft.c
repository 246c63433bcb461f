// SPDX-License-Identifier: Apache-2.0
// Frames of a signal, and Fourier transforms of rows of float32 (fft.h):
//   frame        overlapping parts of the last dimension, as rows
//   rfft_parts   of rows, truncated or zero-padded to "fft_length"
//   stft_parts   of windows of a signal: frame, multiply by the window, transform, without rows in
//                between
// A transform has fft_length / 2 + 1 results: real and imaginary parts in a new last dimension,
// because there is no complex type, or ("absolute") magnitudes.
#include <string.h>

#include "engine/ops/fft.h"
#include "engine/ops/op_util.h"

enum { LENGTH_MAX = 1 << 24 };
enum { ARG_LENGTH, ARG_ABSOLUTE, ARG_FRAME, ARG_STEP };
#define LENGTH_ROW                                                                                 \
    STK_ARG("fft_length", INT, "values of each row to transform", .is_required = true, .min = 1,   \
            .max = LENGTH_MAX)
#define ABSOLUTE_ROW STK_ARG("absolute", BOOL, "magnitudes instead of both parts")
#define FRAME_ROW                                                                                  \
    STK_ARG("frame_length", INT, "values of a frame", .is_required = true, .min = 1,               \
            .max = LENGTH_MAX)
#define STEP_ROW                                                                                   \
    STK_ARG("frame_step", INT, "values from frame to frame", .is_required = true, .min = 1,        \
            .max = INT32_MAX)
static const struct stk_arg_row fft_args[] = {
    [ARG_LENGTH] = LENGTH_ROW, [ARG_ABSOLUTE] = ABSOLUTE_ROW, {0}};
static const struct stk_arg_row stft_args[] = {[ARG_LENGTH] = LENGTH_ROW,
                                               [ARG_ABSOLUTE] = ABSOLUTE_ROW,
                                               [ARG_FRAME] = FRAME_ROW,
                                               [ARG_STEP] = STEP_ROW,
                                               {0}};
enum { FRAME_LENGTH, FRAME_STEP };
static const struct stk_arg_row frame_args[] = {
    [FRAME_LENGTH] = FRAME_ROW, [FRAME_STEP] = STEP_ROW, {0}};

static int64_t frames_of(int64_t samples, int64_t length, int64_t step)
{
    return samples < 0 ? STK_UNKNOWN : samples < length ? 0 : (samples - length) / step + 1;
}

// The last dimension becomes frames, and one more follows.
static bool frame_shape(struct stk_shape *shape, int64_t length, int64_t step)
{
    int rank = shape->rank;
    if (rank < 1 || rank >= STK_RANK_MAX) {
        return false;
    }
    shape->dim[rank - 1] = frames_of(shape->dim[rank - 1], length, step);
    shape->dim[rank] = length;
    shape->rank = rank + 1;
    return true;
}

// The last dimension becomes results.
static bool result_shape(struct stk_shape *shape, const struct stk_arg_value *args)
{
    int rank = shape->rank;
    bool is_absolute = args[ARG_ABSOLUTE].i != 0;
    if (rank < 1 || rank + !is_absolute > STK_RANK_MAX) {
        return false;
    }
    shape->dim[rank - 1] = args[ARG_LENGTH].i / 2 + 1;
    if (!is_absolute) {
        shape->dim[rank] = 2;
        shape->rank = rank + 1;
    }
    return true;
}

static enum stoker_status frame_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    stk_spec_copy(&c->out[0], &c->in[0]);
    if (c->in[0].dtype == STK_DT_DATASET ||
        (c->in[0].shape.rank >= 0 &&
         !frame_shape(&c->out[0].shape, c->args[FRAME_LENGTH].i, c->args[FRAME_STEP].i))) {
        return stk_err_set(err, STOKER_EINVAL,
                           "frame: takes a signal (..., samples) of at most %d "
                           "dimensions",
                           STK_RANK_MAX - 1);
    }
    return STOKER_OK;
}

static enum stoker_status frame_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int64_t length = r->args[FRAME_LENGTH].i, step = r->args[FRAME_STEP].i;
    struct stk_shape shape = in->shape;
    if (!frame_shape(&shape, length, step)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "takes a signal, not a scalar");
    }
    size_t each = stk_dtype_bytes(in->dtype), bytes = (size_t)length * each;
    int64_t samples = in->shape.dim[in->shape.rank - 1];
    int64_t frames = frames_of(samples, length, step);
    int64_t signals = stk_op_span(&in->shape, 0, in->shape.rank - 1);
    uint8_t *out = stk_op_out(r, 0, in->dtype, &shape, err);
    if (!out) {
        return err->code;
    }
    for (int64_t i = 0; i < r->n * signals; i++) {
        const uint8_t *from =
            (uint8_t *)stk_col_at(in, i / signals) + (size_t)(i % signals * samples) * each;
        for (int64_t k = 0; k < frames; k++, out += bytes) {
            memcpy(out, from + (size_t)(k * step) * each, bytes);
        }
    }
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

static enum stoker_status wrong_shape(const char *op, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINVAL, "%s: takes rows of float32", op);
}

static enum stoker_status fft_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    c->out[0].dtype = STK_DT_F32;
    c->out[0].shape = c->in[0].shape;
    bool fits = c->in[0].shape.rank < 0 || result_shape(&c->out[0].shape, c->args);
    return fits ? STOKER_OK : wrong_shape(c->op->name, err);
}

static enum stoker_status stft_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    c->out[0].dtype = STK_DT_F32;
    c->out[0].shape = c->in[0].shape;
    bool fits = c->in[0].shape.rank < 0 ||
                (frame_shape(&c->out[0].shape, c->args[ARG_FRAME].i, c->args[ARG_STEP].i) &&
                 result_shape(&c->out[0].shape, c->args));
    if (fits && c->n_in > 1 && c->in[1].shape.rank == 1 && c->in[1].shape.dim[0] >= 0) {
        fits = c->in[1].shape.dim[0] == c->args[ARG_FRAME].i;
    }
    return fits ? STOKER_OK
                : stk_err_set(err, STOKER_EINVAL,
                              "%s: takes a signal (..., samples) and a window of frame_length",
                              c->op->name);
}

static enum stoker_status fft_prepare(const struct stk_op_infer *c, void **out,
                                      struct stoker_err *err)
{
    *out = stk_fft_plan(c->args[ARG_LENGTH].i);
    return *out ? STOKER_OK : stk_err_nomem(err);
}

static void fft_unprepare(void *prepared)
{
    stk_fft_free(prepared);
}

// Rows of each element, `rows` for each of `signals`.
static enum stoker_status transform(struct stk_op_run *r, const struct stk_shape *shape,
                                    struct stk_fft_rows job, int64_t signals, int64_t signal_step,
                                    const struct stk_col *window, struct stoker_err *err)
{
    float *out = stk_op_out(r, 0, STK_DT_F32, shape, err);
    struct stk_buf *b = out ? stk_buf_get(r->pool, stk_fft_room(r->prepared)) : NULL;
    if (!b) {
        return out ? stk_op_no_memory(r, err) : err->code;
    }
    int64_t results = r->n * signals > 0 ? stk_shape_count(shape) / signals : 0;
    for (int64_t i = 0; i < r->n * signals; i++, out += results) {
        job.first = (float *)stk_col_at(r->in[0], i / signals) + i % signals * signal_step;
        job.window = window ? stk_col_at(window, i / signals) : NULL;
        job.out = out;
        stk_fft_rows(r->prepared, &job, b->data);
    }
    stk_buf_drop(b);
    return STOKER_OK;
}

static enum stoker_status fft_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_shape shape = r->in[0]->shape;
    int rank = shape.rank;
    if (!result_shape(&shape, r->args)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "takes rows, not a scalar");
    }
    int64_t width = r->in[0]->shape.dim[rank - 1];
    struct stk_fft_rows job = {.step = width,
                               .rows = stk_op_span(&r->in[0]->shape, 0, rank - 1),
                               .width = width,
                               .is_absolute = r->args[ARG_ABSOLUTE].i != 0};
    return transform(r, &shape, job, 1, 0, NULL, err);
}

static enum stoker_status stft_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0], *window = r->n_in > 1 ? r->in[1] : NULL;
    int64_t length = r->args[ARG_FRAME].i, step = r->args[ARG_STEP].i;
    struct stk_shape shape = in->shape;
    int rank = shape.rank;
    if (!frame_shape(&shape, length, step) || !result_shape(&shape, r->args)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "takes a signal, not a scalar");
    }
    if (window && (window->shape.rank != 1 || window->shape.dim[0] != length)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "the window must have %lld values",
                           (long long)length);
    }
    int64_t samples = in->shape.dim[rank - 1];
    struct stk_fft_rows job = {.step = step,
                               .rows = frames_of(samples, length, step),
                               .width = length,
                               .is_absolute = r->args[ARG_ABSOLUTE].i != 0};
    return transform(r, &shape, job, stk_op_span(&in->shape, 0, rank - 1), samples, window, err);
}

const struct stk_op stk_op_frame = {.name = "frame",
                                    .summary = "Overlapping parts of a signal, as rows",
                                    .signature = "any",
                                    .infer = frame_infer,
                                    .run = frame_run,
                                    .args = frame_args};

#define TRANSFORM(id, takes, about, how_infer, how_run, rows_of_args)                              \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .cost_ns = 5,                                               \
                                       .is_slow = true, /* of millions of values */                \
                                       .signature = takes,                                         \
                                       .infer = how_infer,                                         \
                                       .prepare = fft_prepare,                                     \
                                       .unprepare = fft_unprepare,                                 \
                                       .run = how_run,                                             \
                                       .args = rows_of_args};
TRANSFORM(rfft_parts, "float32", "Fourier transforms of rows", fft_infer, fft_run, fft_args)
TRANSFORM(stft_parts, "float32, float32?", "Fourier transforms of windows of a signal", stft_infer,
          stft_run, stft_args)
