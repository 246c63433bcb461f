// SPDX-License-Identifier: Apache-2.0
// reduce_*: values along axes become one. Sums of integers wrap; means of integers are those of
// 64-bit sums, truncated, as in TensorFlow; half precision adds in float32.
//
// Axes need not be adjacent: values are walked in order, each adding to the result that its other
// coordinates select. If the axes are the last ones, each result is one run of values. Sums and
// products of floats over a run of at least LANES_LEAST are reduced in LANES parts, value i of the
// run in part i mod LANES, which are then joined in halves (part k with part k + 8, then k + 4 and
// so on); the rest of the run follows one by one. The same in double (mean and the like).
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "engine/ops/op_util.h"

enum { ARG_AXIS, ARG_KEEPDIMS };
static const struct stk_arg_row reduce_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INTS, "the axes; default: all", .is_open = true),
    [ARG_KEEPDIMS] = STK_ARG("keepdims", BOOL, "keep the axes with length 1"),
    {0}};

enum reduce { SUM, MEAN, PROD, MAX, MIN, ANY, ALL, NORM, VARIANCE, STD };

enum { LANES = 16, LANES_LEAST = 64 };

// Maps each value to its result; the same for all elements of a block.
struct plan {
    struct stk_shape out;
    int64_t in_count, out_count, run; // run: adjacent values of one result; 0: use steps
    int64_t step[STK_RANK_MAX];
    struct stk_shape in;
};

static enum stoker_status shape_of(struct stk_shape *out, uint32_t *axes, const struct stk_op *op,
                                   const struct stk_arg_value *args, const struct stk_shape *in,
                                   struct stoker_err *err)
{
    enum stoker_status s = stk_op_axes(op, &args[ARG_AXIS], in->rank, axes, err);
    *out = (struct stk_shape){0};
    for (int i = 0; s == STOKER_OK && i < in->rank; i++) {
        if (!(*axes >> i & 1)) {
            out->dim[out->rank++] = in->dim[i];
        } else if (args[ARG_KEEPDIMS].i != 0) {
            out->dim[out->rank++] = 1;
        }
    }
    return s;
}

// in: the shape of an element. If it is empty, there may be more results than memory.
static enum stoker_status make_plan(struct plan *p, const struct stk_op *op,
                                    const struct stk_arg_value *args, const struct stk_shape *in,
                                    struct stoker_err *err)
{
    uint32_t axes;
    *p = (struct plan){.in = *in};
    enum stoker_status s = shape_of(&p->out, &axes, op, args, in, err);
    if (s != STOKER_OK) {
        return s;
    }
    p->in_count = stk_shape_count(in);
    p->out_count = stk_shape_count(&p->out);
    if (p->in_count < 0 || p->out_count < 0) {
        return stk_err_set(err, STOKER_EINVAL, "%s: too many results", op->name);
    }
    bool is_tail = true;
    int64_t step = 1;
    for (int i = in->rank - 1; i >= 0; i--) {
        bool is_axis = axes >> i & 1;
        is_tail = is_tail && (!is_axis || axes >> i == (1u << (in->rank - i)) - 1);
        p->step[i] = is_axis ? 0 : step;
        step *= is_axis || p->out_count == 0 ? 1 : in->dim[i];
    }
    p->run = is_tail && p->out_count ? p->in_count / p->out_count : 0;
    STK_ASSERT(p->out.rank <= in->rank);
    return STOKER_OK;
}

// Walks the results' positions in the order of the values.
struct walk {
    int64_t at[STK_RANK_MAX], place;
};
static inline void advance(struct walk *w, const struct plan *p)
{
    for (int i = p->in.rank - 1; i >= 0; i--) {
        w->place += p->step[i];
        if (++w->at[i] < p->in.dim[i]) {
            return;
        }
        w->place -= p->step[i] * p->in.dim[i];
        w->at[i] = 0;
    }
}

// A run in parts: sets up the parts and joins them; *at is how far that goes.
#define IN_LANES(name, T, A, start, step)                                                          \
    static A name##_lanes(const T *in, int64_t run, int64_t *at)                                   \
    {                                                                                              \
        A lane[LANES];                                                                             \
        int64_t whole = run < LANES_LEAST ? 0 : run - run % LANES;                                 \
        *at = whole;                                                                               \
        if (whole == 0) {                                                                          \
            return start;                                                                          \
        }                                                                                          \
        for (int k = 0; k < LANES; k++) {                                                          \
            lane[k] = start;                                                                       \
        }                                                                                          \
        for (int64_t i = 0; i < whole; i += LANES) {                                               \
            for (int k = 0; k < LANES; k++) {                                                      \
                A acc = lane[k];                                                                   \
                A x = (A)in[i + k];                                                                \
                lane[k] = (step);                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (int half = LANES / 2; half > 0; half /= 2) {                                          \
            for (int k = 0; k < half; k++) {                                                       \
                A acc = lane[k], x = lane[k + half];                                               \
                lane[k] = (step);                                                                  \
            }                                                                                      \
        }                                                                                          \
        return lane[0];                                                                            \
    }
// The order doesn't matter for integers: the compiler vectorizes.
#define IN_ORDER(name, T, A, start, step)                                                          \
    static inline A name##_lanes(const T *in, int64_t run, int64_t *at)                            \
    {                                                                                              \
        (void)in;                                                                                  \
        (void)run;                                                                                 \
        *at = 0;                                                                                   \
        return start;                                                                              \
    }
#define REDUCE(name, T, A, start, step)                                                            \
    static void name(void *out_, const void *in_, const struct plan *p)                            \
    {                                                                                              \
        T *out = out_;                                                                             \
        const T *in = in_;                                                                         \
        if (p->run) {                                                                              \
            for (int64_t o = 0; o < p->out_count; o++) {                                           \
                int64_t i;                                                                         \
                A acc = name##_lanes(in + o * p->run, p->run, &i);                                 \
                for (; i < p->run; i++) {                                                          \
                    T x = in[o * p->run + i];                                                      \
                    acc = (A)(step);                                                               \
                }                                                                                  \
                out[o] = (T)acc;                                                                   \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        struct walk w = {0};                                                                       \
        for (int64_t o = 0; o < p->out_count; o++) {                                               \
            out[o] = (T)(start);                                                                   \
        }                                                                                          \
        for (int64_t i = 0; i < p->in_count; i++, advance(&w, p)) {                                \
            T x = in[i];                                                                           \
            A acc = (A)out[w.place];                                                               \
            out[w.place] = (T)(step);                                                              \
        }                                                                                          \
    }
typedef void loop_fn(void *out, const void *in, const struct plan *p);
#define LOW(T) ((T) - 1 < (T)1 ? (T)((uint64_t)1 << (sizeof(T) * 8 - 1)) : (T)0)
#define HIGH(T) ((T)~LOW(T))
#define WHOLE(name, T, A, start, step)                                                             \
    IN_ORDER(name, T, A, start, step) REDUCE(name, T, A, start, step)
#define PARTED(name, T, A, start, step)                                                            \
    IN_LANES(name, T, A, start, step) REDUCE(name, T, A, start, step)
#define INT_LOOPS(N, T, U)                                                                         \
    WHOLE(sum_##N, T, U, 0, acc + (U)x)                                                            \
    WHOLE(prod_##N, T, U, 1, acc *(U)x)                                                            \
    WHOLE(max_##N, T, T, LOW(T), x > acc ? x : acc)                                                \
    WHOLE(min_##N, T, T, HIGH(T), x < acc ? x : acc)
#define FLOAT_LOOPS(N, T, U)                                                                       \
    PARTED(sum_##N, T, T, 0, acc + x)                                                              \
    PARTED(prod_##N, T, T, 1, acc *x)                                                              \
    WHOLE(max_##N, T, T, (T) - INFINITY, x != x || x > acc ? x : acc)                              \
    WHOLE(min_##N, T, T, (T)INFINITY, x != x || x < acc ? x : acc)
STK_FOR_INTS(INT_LOOPS)
STK_FOR_FLOATS(FLOAT_LOOPS)
WHOLE(any_BOOL, uint8_t, uint8_t, 0, acc | x)
WHOLE(all_BOOL, uint8_t, uint8_t, 1, acc &x)

static loop_fn *const loops[][STK_DT_COUNT] = {
#define ROWS(N, T, U)                                                                              \
    [SUM][STK_DT_##N] = sum_##N, [PROD][STK_DT_##N] = prod_##N, [MAX][STK_DT_##N] = max_##N,       \
    [MIN][STK_DT_##N] = min_##N,
    STK_FOR_NUMBERS(ROWS)[ANY][STK_DT_BOOL] = any_BOOL,
    [ALL][STK_DT_BOOL] = all_BOOL,
};

// mean, norm, variance and the like: two passes over float32 or float64 with a double per result.
#define MOMENTS(name, T)                                                                           \
    IN_LANES(name##_sum, T, double, 0, acc + x)                                                    \
    static double name##_squares(const T *in, int64_t run, double mean)                            \
    {                                                                                              \
        double lane[LANES] = {0};                                                                  \
        int64_t whole = run < LANES_LEAST ? 0 : run - run % LANES;                                 \
        for (int64_t i = 0; i < whole; i += LANES) {                                               \
            for (int k = 0; k < LANES; k++) {                                                      \
                double d = (double)in[i + k] - mean;                                               \
                lane[k] += d * d;                                                                  \
            }                                                                                      \
        }                                                                                          \
        for (int half = LANES / 2; half > 0; half /= 2) {                                          \
            for (int k = 0; k < half; k++) {                                                       \
                lane[k] += lane[k + half];                                                         \
            }                                                                                      \
        }                                                                                          \
        for (int64_t i = whole; i < run; i++) {                                                    \
            lane[0] += ((double)in[i] - mean) * ((double)in[i] - mean);                            \
        }                                                                                          \
        return lane[0];                                                                            \
    }                                                                                              \
    static void name##_runs(T *out, const T *in, const struct plan *p, int op)                     \
    {                                                                                              \
        double count = (double)p->run;                                                             \
        for (int64_t o = 0; o < p->out_count; o++, in += p->run) {                                 \
            int64_t i;                                                                             \
            double sum = op == NORM ? 0 : name##_sum_lanes(in, p->run, &i), squares = 0;           \
            for (; op != NORM && i < p->run; i++) {                                                \
                sum += in[i];                                                                      \
            }                                                                                      \
            for (i = 0; op == NORM && i < p->run; i++) {                                           \
                squares += (double)in[i] * in[i];                                                  \
            }                                                                                      \
            if (op == VARIANCE || op == STD) {                                                     \
                squares = name##_squares(in, p->run, sum / count);                                 \
            }                                                                                      \
            out[o] = (T)(op == MEAN       ? sum / count                                            \
                         : op == NORM     ? sqrt(squares)                                          \
                         : op == VARIANCE ? squares / count                                        \
                                          : sqrt(squares / count));                                \
        }                                                                                          \
    }                                                                                              \
    static void name(void *out_, const void *in_, const struct plan *p, int op, double *sums)      \
    {                                                                                              \
        T *out = out_;                                                                             \
        const T *in = in_;                                                                         \
        double count = p->out_count ? (double)p->in_count / (double)p->out_count : 0;              \
        if (p->run) {                                                                              \
            name##_runs(out, in, p, op);                                                           \
            return;                                                                                \
        }                                                                                          \
        memset(sums, 0, (size_t)p->out_count * 2 * sizeof sums[0]);                                \
        double *second = sums + p->out_count;                                                      \
        struct walk w = {0};                                                                       \
        for (int64_t i = 0; i < p->in_count; i++, advance(&w, p)) {                                \
            double x = in[i];                                                                      \
            sums[w.place] += op == NORM ? x * x : x;                                               \
        }                                                                                          \
        w = (struct walk){0};                                                                      \
        for (int64_t i = 0; (op == VARIANCE || op == STD) && i < p->in_count;                      \
             i++, advance(&w, p)) {                                                                \
            double d = (double)in[i] - sums[w.place] / count;                                      \
            second[w.place] += d * d;                                                              \
        }                                                                                          \
        for (int64_t o = 0; o < p->out_count; o++) {                                               \
            out[o] = (T)(op == MEAN       ? sums[o] / count                                        \
                         : op == NORM     ? sqrt(sums[o])                                          \
                         : op == VARIANCE ? second[o] / count                                      \
                                          : sqrt(second[o] / count));                              \
        }                                                                                          \
    }
MOMENTS(moments_f32, float)
MOMENTS(moments_f64, double)

static bool is_moment(int op)
{
    return op == MEAN || op >= NORM;
}

static enum stoker_status reduce_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    int op = c->op->arg;
    enum stk_dtype t = stk_op_is_half(c->in[0].dtype) ? STK_DT_F32 : c->in[0].dtype;
    bool fits = is_moment(op)
                    ? t == STK_DT_F32 || t == STK_DT_F64 || (op == MEAN && stk_dtype_is_int(t))
                    : loops[op][t] != NULL;
    if (!fits) {
        return stk_err_set(err, STOKER_EINVAL, "%s: not for %s", c->op->name,
                           stk_dtype_name(c->in[0].dtype));
    }
    c->out[0].dtype = c->in[0].dtype;
    if (c->in[0].shape.rank >= 0) {
        uint32_t axes;
        s = shape_of(&c->out[0].shape, &axes, c->op, c->args, &c->in[0].shape, err);
    } else if (!c->args[ARG_AXIS].attr && !c->args[ARG_KEEPDIMS].i) {
        c->out[0].shape.rank = 0;
    }
    return s;
}

// 64-bit sums, for means of integers.
#define WIDE(N, T, U)                                                                              \
    static void mean_##N(void *out_, const void *in_, const struct plan *p, uint64_t *sums)        \
    {                                                                                              \
        T *out = out_;                                                                             \
        const T *in = in_;                                                                         \
        int64_t count = p->out_count ? p->in_count / p->out_count : 0;                             \
        struct walk w = {0};                                                                       \
        memset(sums, 0, (size_t)p->out_count * sizeof sums[0]);                                    \
        for (int64_t o = 0; o < p->out_count && p->run; o++) {                                     \
            for (int64_t i = 0; i < p->run; i++) {                                                 \
                sums[o] += (uint64_t)in[o * p->run + i];                                           \
            }                                                                                      \
        }                                                                                          \
        for (int64_t i = 0; i < p->in_count && !p->run; i++, advance(&w, p)) {                     \
            sums[w.place] += (uint64_t)in[i];                                                      \
        }                                                                                          \
        for (int64_t o = 0; o < p->out_count; o++) {                                               \
            out[o] = count == 0       ? (T)0                                                       \
                     : (T) - 1 < (T)1 ? (T)((int64_t)sums[o] / count)                              \
                                      : (T)(sums[o] / (uint64_t)count);                            \
        }                                                                                          \
    }
STK_FOR_INTS(WIDE)

static enum stoker_status int_mean(struct stk_op_run *r, const struct plan *p, uint8_t *out,
                                   struct stoker_err *err)
{
    static void (*const means[STK_DT_COUNT])(void *, const void *, const struct plan *,
                                             uint64_t *) = {
#define MEAN_ROW(N, T, U) [STK_DT_##N] = mean_##N,
        STK_FOR_INTS(MEAN_ROW)};
    const struct stk_col *in = r->in[0];
    struct stk_buf *sums = stk_buf_get(r->pool, (size_t)p->out_count * sizeof(uint64_t));
    if (!sums) {
        return stk_op_no_memory(r, err);
    }
    for (int64_t i = 0; i < r->n; i++) {
        uint8_t *to = out + (size_t)(i * p->out_count) * stk_dtype_bytes(in->dtype);
        means[in->dtype](to, stk_col_at(in, i), p, (uint64_t *)sums->data);
    }
    stk_buf_drop(sums);
    return STOKER_OK;
}

static enum stoker_status reduce_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int op = r->op->arg;
    struct plan p;
    if (stk_op_is_half(in->dtype)) {
        return stk_op_run_halves(r, err, reduce_run);
    }
    enum stoker_status s = make_plan(&p, r->op, r->args, &in->shape, err);
    uint8_t *out = s == STOKER_OK ? stk_op_out(r, 0, in->dtype, &p.out, err) : NULL;
    if (!out) {
        return s == STOKER_OK ? err->code : s;
    }
    if (op == MEAN && stk_dtype_is_int(in->dtype)) {
        return int_mean(r, &p, out, err);
    }
    struct stk_buf *sums = NULL;
    if (is_moment(op)) {
        sums = stk_buf_get(r->pool, (size_t)p.out_count * 2 * sizeof(double));
        if (!sums) {
            return stk_op_no_memory(r, err);
        }
    }
    for (int64_t i = 0; i < r->n; i++) {
        void *to = out + (size_t)(i * p.out_count) * stk_dtype_bytes(in->dtype);
        if (!is_moment(op)) {
            STK_ASSERT(loops[op][in->dtype]);
            loops[op][in->dtype](to, stk_col_at(in, i), &p);
        } else if (in->dtype == STK_DT_F32) {
            moments_f32(to, stk_col_at(in, i), &p, op, (double *)sums->data);
        } else {
            moments_f64(to, stk_col_at(in, i), &p, op, (double *)sums->data);
        }
    }
    stk_buf_drop(sums);
    return STOKER_OK;
}

#define ROW_OP(id, which, about)                                                                   \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .cost_ns = 0.5,                                             \
                                       .signature = "any",                                         \
                                       .infer = reduce_infer,                                      \
                                       .run = reduce_run,                                          \
                                       .args = reduce_args,                                        \
                                       .arg = which};
ROW_OP(reduce_sum, SUM, "Sum along axes")
ROW_OP(reduce_mean, MEAN, "Mean along axes")
ROW_OP(reduce_prod, PROD, "Product along axes")
ROW_OP(reduce_max, MAX, "Largest along axes")
ROW_OP(reduce_min, MIN, "Smallest along axes")
ROW_OP(reduce_any, ANY, "Whether any is true, along axes")
ROW_OP(reduce_all, ALL, "Whether all are true, along axes")
ROW_OP(norm, NORM, "Euclidean norm along axes")
ROW_OP(reduce_variance, VARIANCE, "Variance along axes")
ROW_OP(reduce_std, STD, "Standard deviation along axes")
