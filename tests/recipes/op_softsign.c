// SPDX-License-Identifier: Apache-2.0
// softsign: x / (scale + |x|), of floats of any shape.
//
// Recipe of an operation: src/engine/ops/op_softsign.c and X(softsign) in src/engine/ops.def. The
// function in Python, `stoker data --list` and docs/pipelines.md come from the descriptor at the
// end. Operations that share a loop are rows of a table instead (ops_unary.def).
#include <math.h>

#include "engine/ops/op_util.h"

// What it takes by name; other arguments are refused, and these are looked up once.
enum { ARG_SCALE };
static const struct stk_arg_row softsign_args[] = {
    [ARG_SCALE] = STK_ARG("scale", FLOAT, "where it is one half", .fallback_float = 1), {0}};

// Once, while a function is built: types and shapes, of which some may be unknown.
static enum stoker_status softsign_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    if (s == STOKER_OK && c->in[0].dtype != STK_DT_F32 && c->in[0].dtype != STK_DT_F64) {
        s = stk_err_set(err, STOKER_EINVAL, "softsign: takes float32 or float64, not %s",
                        stk_dtype_name(c->in[0].dtype));
    }
    c->out[0] = (struct stk_spec){.dtype = c->in[0].dtype, .shape = c->in[0].shape};
    return s;
}

// For r->n elements at a time, all of one shape, by several threads at once.
static enum stoker_status softsign_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    void *out = stk_op_out(r, 0, in->dtype, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    double scale = r->args[ARG_SCALE].f;
    for (int64_t i = 0; out && i < r->n; i++) { // an input may be the same for all elements
        const float *x32 = stk_col_at(in, i);
        const double *x64 = stk_col_at(in, i);
        for (int64_t k = 0; k < each; k++) {
            if (in->dtype == STK_DT_F32) {
                ((float *)out)[i * each + k] = x32[k] / ((float)scale + fabsf(x32[k]));
            } else {
                ((double *)out)[i * each + k] = x64[k] / (scale + fabs(x64[k]));
            }
        }
    }
    return out ? STOKER_OK : err->code;
}

const struct stk_op stk_op_softsign = {.name = "softsign",
                                       .summary = "x / (scale + |x|)",
                                       .is_elementwise = true,
                                       .cost_ns = 1,
                                       .infer = softsign_infer,
                                       .run = softsign_run,
                                       .args = softsign_args};
