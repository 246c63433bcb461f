// SPDX-License-Identifier: Apache-2.0
// rfft_parts: Fourier transforms of rows of float32 (the last dimension), cut or filled up with
// zeros to "fft_length": its first fft_length / 2 + 1 values, each as real and imaginary part, in
// another last dimension, for there are no complex numbers here. By kissfft (fft.c), where it was
// built with it.
#include "engine/ops/fft.h"
#include "engine/ops/op_util.h"

enum { ARG_LENGTH, LENGTH_MAX = 1 << 24 };
static const struct stk_arg_row fft_args[] = {
    [ARG_LENGTH] = STK_ARG("fft_length", INT, "values of each row to transform",
                           .is_required = true, .min = 1, .max = LENGTH_MAX),
    {0}};

static enum stoker_status fft_infer(struct stk_op_infer *c, struct stoker_err *err)
{
#if !STOKER_HAVE_KISSFFT
    (void)c;
    return stk_err_set(err, STOKER_EINVAL,
                       "rfft_parts: this build has no kissfft, which Fourier transforms need");
#else
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    const struct stk_shape *in = &c->in[0].shape;
    if (s == STOKER_OK &&
        (c->in[0].dtype != STK_DT_F32 || in->rank == 0 || in->rank >= STK_RANK_MAX)) {
        return stk_err_set(err, STOKER_EINVAL, "rfft_parts: takes rows of float32");
    }
    c->out[0].dtype = STK_DT_F32;
    c->out[0].shape = *in;
    if (s == STOKER_OK && in->rank > 0) {
        c->out[0].shape.rank = in->rank + 1;
        c->out[0].shape.dim[in->rank - 1] = c->args[ARG_LENGTH].i / 2 + 1;
        c->out[0].shape.dim[in->rank] = 2;
    }
    return s;
#endif
}

#if STOKER_HAVE_KISSFFT
// Of one thread.
struct scratch {
    struct stk_fft *plan; // NULL: none yet
};

static void scratch_end(void *scratch)
{
    stk_fft_free(((struct scratch *)scratch)->plan);
}

static struct stk_fft *plan_of(struct stk_op_run *r, int64_t length)
{
    struct scratch *s = r->scratch;
    if (!s->plan) {
        s->plan = stk_fft_plan(length);
    }
    return s->plan;
}

static enum stoker_status fft_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int64_t length = r->args[ARG_LENGTH].i, bins = length / 2 + 1;
    int rank = in->shape.rank;
    if (rank < 1 || rank >= STK_RANK_MAX) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "takes rows, not a scalar");
    }
    struct stk_shape shape = in->shape;
    shape.rank = rank + 1;
    shape.dim[rank - 1] = bins;
    shape.dim[rank] = 2;
    struct stk_fft *plan = plan_of(r, length);
    float *out = plan ? stk_op_out(r, 0, STK_DT_F32, &shape, err) : NULL;
    struct stk_buf *b = out ? stk_buf_get(r->pool, stk_fft_room(plan)) : NULL;
    if (!b) {
        return plan && !out ? err->code : stk_op_no_memory(r, err);
    }
    int64_t width = in->shape.dim[rank - 1], rows = stk_op_span(&in->shape, 0, rank - 1);
    for (int64_t i = 0; i < r->n; i++) {
        const float *row = stk_col_at(in, i);
        for (int64_t k = 0; k < rows; k++, row += width, out += 2 * bins) {
            stk_fft_row(plan, row, width, b->data, out);
        }
    }
    stk_buf_drop(b);
    return STOKER_OK;
}
#else
static enum stoker_status fft_run(struct stk_op_run *r, struct stoker_err *err)
{
    (void)r;
    return stk_err_set(err, STOKER_EBUG, "rfft_parts ran without kissfft");
}
#endif

const struct stk_op stk_op_rfft_parts = {.name = "rfft_parts",
                                         .summary = "Fourier transforms of rows, as pairs of parts",
                                         .cost_ns = 20,
                                         .is_slow = true, // of millions of values
                                         .infer = fft_infer,
#if STOKER_HAVE_KISSFFT
                                         .scratch_bytes = sizeof(struct scratch),
                                         .scratch_end = scratch_end,
#endif
                                         .run = fft_run,
                                         .args = fft_args};
