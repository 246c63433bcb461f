// SPDX-License-Identifier: Apache-2.0
// as_string: numbers as text, in C's formats: %f, %e (scientific) or %g (shortest), with precision,
// width and one flag to fill it.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "engine/ops/op_util.h"

enum { ARG_PRECISION, ARG_SCIENTIFIC, ARG_SHORTEST, ARG_WIDTH, ARG_FILL };
static const struct stk_arg_row as_string_args[] = {
    [ARG_PRECISION] =
        STK_ARG("precision", INT, "digits after the point; -1: C's default", .fallback = -1),
    [ARG_SCIENTIFIC] = STK_ARG("scientific", BOOL, "use an exponent"),
    [ARG_SHORTEST] = STK_ARG("shortest", BOOL, "use an exponent if that is shorter"),
    [ARG_WIDTH] = STK_ARG("width", INT, "minimum number of characters; -1: any", .fallback = -1),
    [ARG_FILL] = STK_ARG("fill", TEXT, "padding character: one of ' ', '+', '-', '0' and '#'"),
    {0}};

#define WIDTH_MAX 4096

static bool is_float(enum stk_dtype t)
{
    return stk_dtype_is_float(t);
}

static enum stoker_status as_string_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    const char *fill = c->args[ARG_FILL].text;
    bool is_scientific = c->args[ARG_SCIENTIFIC].i != 0;
    bool is_shortest = c->args[ARG_SHORTEST].i != 0;
    int64_t precision = c->args[ARG_PRECISION].i;
    int64_t width = c->args[ARG_WIDTH].i;
    enum stk_dtype t = c->in[0].dtype;
    if (s == STOKER_OK && !stk_op_is_number(t) && t != STK_DT_BOOL) {
        s = stk_err_set(err, STOKER_EINVAL, "as_string: not for %s", stk_dtype_name(t));
    } else if (s == STOKER_OK && !is_float(t) && (is_scientific || is_shortest || precision >= 0)) {
        s = stk_err_set(err, STOKER_EINVAL,
                        "as_string: precision, scientific and shortest are not for %s",
                        stk_dtype_name(t));
    } else if (s == STOKER_OK && is_scientific && is_shortest) {
        s = stk_err_set(err, STOKER_EINVAL, "as_string: scientific or shortest, not both");
    } else if (s == STOKER_OK && (strlen(fill) > 1 || !strchr(" +-0#", *fill))) {
        s = stk_err_set(err, STOKER_EINVAL, "as_string: fill is one of ' ', '+', '-', '0' and '#'");
    } else if (s == STOKER_OK && (width > WIDTH_MAX || precision > WIDTH_MAX)) {
        s = stk_err_set(err, STOKER_EINVAL, "as_string: width and precision are at most %d",
                        WIDTH_MAX);
    }
    c->out[0] = (struct stk_spec){.dtype = STK_DT_STRING, .shape = c->in[0].shape};
    return s;
}

// The format of one number.
static void make_format(const struct stk_arg_value *args, enum stk_dtype t, char format[40])
{
    char width[12] = "", precision[12] = "";
    int64_t w = args[ARG_WIDTH].i, p = args[ARG_PRECISION].i;
    const char *kind = t == STK_DT_U64               ? "llu"
                       : !is_float(t)                ? "lld"
                       : args[ARG_SCIENTIFIC].i != 0 ? "e"
                       : args[ARG_SHORTEST].i != 0   ? "g"
                                                     : "f";
    if (w >= 0) {
        snprintf(width, sizeof width, "%d", (int)w);
    }
    if (p >= 0) {
        snprintf(precision, sizeof precision, ".%d", (int)p);
    }
    snprintf(format, 40, "%%%.1s%s%s%s", args[ARG_FILL].text, width, precision, kind);
}

static double float_at(enum stk_dtype t, const void *p, int64_t k)
{
    switch (t) {
    case STK_DT_F32:
        return (double)((const float *)p)[k];
    case STK_DT_F64:
        return ((const double *)p)[k];
    case STK_DT_F16:
        return (double)stk_half_to_float(((const uint16_t *)p)[k]);
    default:
        return (double)stk_bfloat_to_float(((const uint16_t *)p)[k]);
    }
}

static long long int_at(enum stk_dtype t, const void *p, int64_t k)
{
    switch (t) {
#define INT(N, T, W)                                                                               \
    case STK_DT_##N:                                                                               \
        return (long long)((const T *)p)[k];
        STK_FOR_INTS(INT)
    default:
        return 0;
    }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int show(char *text, size_t capacity, const char *format, const struct stk_col *c, int64_t i,
                int64_t k)
{
    const void *p = stk_col_at(c, i);
    if (c->dtype == STK_DT_BOOL) {
        return snprintf(text, capacity, "%s", ((const uint8_t *)p)[k] ? "true" : "false");
    }
    if (!is_float(c->dtype)) {
        return snprintf(text, capacity, format, int_at(c->dtype, p, k));
    }
    double v = float_at(c->dtype, p, k);
    return stk_text_printf(text, capacity, format, v != v ? __builtin_nan("") : v); // no "-nan"
}
#pragma GCC diagnostic pop

static enum stoker_status as_string_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_bytes *out = stk_op_out(r, 0, STK_DT_STRING, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    struct stk_col_capacity capacity = {0};
    char format[40];
    make_format(r->args, in->dtype, format);
    for (int64_t k = 0; out && k < r->n * each; k++) {
        char text[2 * WIDTH_MAX + 400];
        int n = show(text, sizeof text, format, in, k / each, k % each);
        uint8_t *to = stk_col_capacity_for(&r->out[0], r->pool, &capacity, (size_t)n);
        if (!to) {
            return stk_op_no_memory(r, err);
        }
        memcpy(to, text, (size_t)n);
        out[k] = (struct stk_bytes){to, (size_t)n};
    }
    return out ? STOKER_OK : err->code;
}

const struct stk_op stk_op_as_string = {.name = "as_string",
                                        .summary = "Numbers as text",
                                        .is_elementwise = true,
                                        .cost_ns = 100,
                                        .infer = as_string_infer,
                                        .run = as_string_run,
                                        .args = as_string_args};
