// SPDX-License-Identifier: Apache-2.0
// Shared by the operations: types with their C types, axes, broadcasting, half precision.
//
// Convention: inputs are tensors in TensorFlow's argument order; static arguments are attributes
// with TensorFlow's argument names: "axis" INT or INTS, "keepdims" INT, "dtype" INT, shapes and the
// like INTS. An argument that may be static or computed (a shape, a size) is the attribute if
// present, else the next input.
#pragma once

#include "base/assert.h"
#include "engine/graph/op.h"

// X(NAME, type, type whose arithmetic wraps)
#define STK_FOR_INTS(X)                                                                            \
    X(U8, uint8_t, uint32_t)                                                                       \
    X(I8, int8_t, uint32_t)                                                                        \
    X(U16, uint16_t, uint32_t)                                                                     \
    X(I16, int16_t, uint32_t)                                                                      \
    X(U32, uint32_t, uint32_t)                                                                     \
    X(I32, int32_t, uint32_t)                                                                      \
    X(U64, uint64_t, uint64_t)                                                                     \
    X(I64, int64_t, uint64_t)
#define STK_FOR_FLOATS(X)                                                                          \
    X(F32, float, float)                                                                           \
    X(F64, double, double)
#define STK_FOR_NUMBERS(X) STK_FOR_INTS(X) STK_FOR_FLOATS(X)

static inline bool stk_op_is_half(enum stk_dtype t)
{
    return t == STK_DT_F16 || t == STK_DT_BF16;
}
static inline bool stk_op_is_number(enum stk_dtype t)
{
    return stk_dtype_is_int(t) || stk_dtype_is_float(t);
}
float stk_half_to_float(uint16_t h);
uint16_t stk_half_from_float(float f); // to nearest, ties to even
static inline float stk_bfloat_to_float(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    __builtin_memcpy(&f, &bits, sizeof f);
    return f;
}
uint16_t stk_bfloat_from_float(float f);

// The value of element i of an input that must be a scalar. NULL if it isn't: the shape may be
// unknown until now.
const void *stk_op_scalar(const struct stk_col *c, int64_t i);

// Runs `run` with half-precision inputs and outputs as float32, and rounds at the end.
enum stoker_status stk_op_run_halves(struct stk_op_run *r, struct stoker_err *err,
                                     enum stoker_status (*run)(struct stk_op_run *,
                                                               struct stoker_err *));

// The common shape of two values combined element by element. -1: they don't match. Unknown
// dimensions stay unknown.
int stk_op_broadcast(struct stk_shape *out, const struct stk_shape *a, const struct stk_shape *b);
enum stoker_status stk_op_bad_broadcast(const char *op, const struct stk_shape *a,
                                        const struct stk_shape *b, struct stoker_err *err);
// Broadcasts the input's values to `shape`, one element (of r->n) after another, into a new column;
// shares if there is nothing to broadcast.
bool stk_op_spread(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                   const struct stk_shape *shape, int64_t n);

// -rank..rank-1 to 0..rank-1. False: outside.
bool stk_op_axis(int64_t axis, int rank, int *out);
// An argument as a set of axes, bit by bit; absent: all of them.
enum stoker_status stk_op_axes(const struct stk_op *op, const struct stk_arg_value *given, int rank,
                               uint32_t *axes, struct stoker_err *err);
// Number of values in dimensions [first, last) of the shape.
static inline int64_t stk_op_span(const struct stk_shape *s, int first, int last)
{
    int64_t n = 1;
    STK_ASSERT(first >= 0 && last <= s->rank);
    for (int i = first; i < last; i++) {
        n *= s->dim[i];
    }
    return n;
}

#define STK_OP_PLACES "int32,int64" // types of indices and counts, as requested
static inline int64_t stk_op_get_place(const void *p, enum stk_dtype t, int64_t i)
{
    return t == STK_DT_I32 ? ((const int32_t *)p)[i] : ((const int64_t *)p)[i];
}
static inline void stk_op_put_place(void *out, enum stk_dtype t, int64_t i, int64_t place)
{
    if (t == STK_DT_I32) {
        ((int32_t *)out)[i] = (int32_t)place;
    } else {
        ((int64_t *)out)[i] = place;
    }
}

// A list of numbers: an argument, or if `given` is NULL, element i of an input (int32 or int64).
// *count: how many. False: neither, or more than `capacity`.
bool stk_op_ints(const struct stk_arg_value *given, const struct stk_col *input, int64_t i,
                 int64_t *values, int capacity, int *count);
// The same while inferring: from the argument of row k or from constant input j.
bool stk_op_static_ints(const struct stk_op_infer *c, int k, int j, int64_t *values, int capacity,
                        int *count);

// The argument row of operations that draw their own random bits.
#define STK_OP_SEED_ROW                                                                            \
    STK_ARG("seed", INT, "seed of its random numbers; default: the stage's and epoch's",           \
            .is_open = true, .fallback = -1)

// One item of strided_slice's index, as its attribute holds it.
struct stk_op_index_item {
    int64_t kind, begin, end, step, flags;
};
enum { STK_OP_INTEGER, STK_OP_SLICE, STK_OP_NEW_AXIS, STK_OP_ELLIPSIS }; // kinds
enum { STK_OP_NO_BEGIN = 1, STK_OP_NO_END = 2 };                         // flags
enum { STK_OP_BEGIN_INPUT = 4, STK_OP_END_INPUT = 8, STK_OP_STEP_INPUT = 16 };
// begin:end:step on a length, as in Python: first index and count. False: step 0.
bool stk_op_index_clamp(const struct stk_op_index_item *it, int64_t length, int64_t *first,
                        int64_t *count);
// Reads the item at `ints`, with the next of the computed numbers (*next of n). False: one isn't an
// integer.
bool stk_op_index_read(struct stk_op_index_item *it, const int64_t *ints,
                       const struct stk_col *const *inputs, int n, int64_t element, int *next);

// For results whose shape may differ between elements: call it once per element. The evaluator
// makes a uniform column if all have one shape.
static inline void *stk_op_append(struct stk_op_run *r, int k, enum stk_dtype dtype,
                                  const struct stk_shape *shape, struct stoker_err *err)
{
    struct stk_col *c = &r->out[k];
    STK_ASSERT(k >= 0 && k < r->n_out && stk_shape_is_known(shape));
    if (!c->is_varied) {
        stk_col_clear(c);
        if (!stk_col_varied(c, r->pool, dtype, r->n, r->n * (stk_shape_count(shape) + 1))) {
            (void)stk_op_no_memory(r, err);
            return NULL;
        }
    }
    void *at = stk_col_append(c, r->pool, shape);
    if (!at) {
        (void)stk_op_no_memory(r, err);
    }
    return at;
}
