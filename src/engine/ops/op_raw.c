// SPDX-License-Identifier: Apache-2.0
// decode_raw: the bytes of strings as numbers, in a new last dimension (little-endian unless the
// attribute "little_endian" is 0; attribute "dtype"; with "fixed_length" each string is truncated
// or zero-padded to so many bytes). host_call: a function of the embedding language, called for
// each element or, with "takes_many", for as many at once as it chooses (attributes "id", and the
// results' "dtypes", "ranks", "dims").
#include "engine/ops/op_move.h"

// The argument rows of each operation start at 0.
enum { ARG_DTYPE, ARG_LITTLE_ENDIAN, ARG_FIXED_LENGTH };
enum { ARG_ID, ARG_DTYPES, ARG_RANKS, ARG_DIMS, ARG_TAKES_MANY };
static const struct stk_arg_row raw_args[] = {
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "the result's type", .is_required = true),
    [ARG_LITTLE_ENDIAN] = STK_ARG("little_endian", BOOL, "little-endian", .fallback = 1),
    [ARG_FIXED_LENGTH] =
        STK_ARG("fixed_length", INT, "bytes to cut or pad each string to; default: its own length",
                .is_open = true),
    {0}};
static const struct stk_arg_row host_args[] = {
    [ARG_ID] = STK_ARG("id", INT, "the function's number", .is_required = true),
    [ARG_DTYPES] = STK_ARG("dtypes", INTS, "types of the results", .is_required = true),
    [ARG_RANKS] = STK_ARG("ranks", INTS, "ranks of the results; -1: unknown", .is_required = true),
    [ARG_DIMS] = STK_ARG("dims", INTS, "shapes of the results, concatenated", .is_required = true),
    [ARG_TAKES_MANY] = STK_ARG("takes_many", BOOL, "call it with many elements at once"),
    {0}};

static enum stoker_status raw_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    int64_t t = c->args[ARG_DTYPE].i;
    if (s == STOKER_OK && (c->in[0].dtype != STK_DT_STRING || t < 0 || t >= STK_DT_STRING)) {
        s = stk_err_set(err, STOKER_EINVAL, "decode_raw: makes numbers of strings");
    }
    int64_t fixed = c->args[ARG_FIXED_LENGTH].i;
    bool has_fixed = c->args[ARG_FIXED_LENGTH].attr != NULL;
    if (s == STOKER_OK && has_fixed &&
        (fixed < 1 || fixed % (int64_t)stk_dtype_bytes((enum stk_dtype)t))) {
        s = stk_err_set(err, STOKER_EINVAL, "decode_raw: fixed_length %lld isn't a multiple of %s",
                        (long long)fixed, stk_dtype_name((enum stk_dtype)t));
    }
    if (s == STOKER_OK) {
        c->out[0].dtype = (enum stk_dtype)t;
        c->out[0].shape = c->in[0].shape;
        if (c->in[0].shape.rank == STK_RANK_MAX) {
            return stk_err_set(err, STOKER_EINVAL, "decode_raw: too many dimensions");
        }
        if (c->in[0].shape.rank >= 0) {
            c->out[0].shape.dim[c->out[0].shape.rank++] =
                has_fixed ? fixed / (int64_t)stk_dtype_bytes((enum stk_dtype)t) : STK_UNKNOWN;
        }
    }
    return s;
}

static void turn(uint8_t *p, int64_t n, size_t size)
{
    for (int64_t k = 0; k < n; k++, p += size) {
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            uint8_t x = p[a];
            p[a] = p[b];
            p[b] = x;
        }
    }
}

static enum stoker_status raw_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    enum stk_dtype t = r->spec[0].dtype;
    size_t size = stk_dtype_bytes(t);
    int64_t count = stk_shape_count(&in->shape);
    bool is_little = r->args[ARG_LITTLE_ENDIAN].i != 0;
    size_t fixed = (size_t)r->args[ARG_FIXED_LENGTH].i;
    for (int64_t i = 0; i < r->n; i++) {
        if (in->shape.rank == STK_RANK_MAX) {
            return stk_op_fail(r, i, STOKER_EINVAL, "the strings have %d dimensions already",
                               STK_RANK_MAX);
        }
        const struct stk_bytes *v = stk_col_at(in, i);
        size_t bytes = fixed ? fixed : count ? v[0].size : 0;
        for (int64_t k = 0; !fixed && k < count; k++) {
            if (v[k].size != bytes || bytes % size) {
                return stk_op_fail(r, i, STOKER_EINVAL, "a string of %zu bytes %s %s", v[k].size,
                                   v[k].size != bytes
                                       ? "has another length than the first, so they can't become"
                                       : "is not a whole number of",
                                   stk_dtype_name(t));
            }
        }
        struct stk_shape shape = in->shape;
        shape.dim[shape.rank++] = (int64_t)(bytes / size);
        uint8_t *out = stk_op_append(r, 0, t, &shape, err);
        if (!out) {
            return err->code;
        }
        for (int64_t k = 0; k < count && bytes; k++) {
            size_t n = v[k].size < bytes ? v[k].size : bytes;
            uint8_t *to = out + (size_t)k * bytes;
            if (n) {
                memcpy(to, v[k].data, n);
            }
            memset(to + n, 0, bytes - n);
        }
        bool is_host_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
        if (is_little != is_host_little) {
            turn(out, count * shape.dim[shape.rank - 1], size);
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_decode_raw = {.name = "decode_raw",
                                         .summary = "Reads the bytes of strings as numbers",
                                         .infer = raw_infer,
                                         .run = raw_run,
                                         .args = raw_args};

static enum stoker_status host_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    const struct stk_attr *dtypes = c->args[ARG_DTYPES].attr;
    const struct stk_attr *ranks = c->args[ARG_RANKS].attr;
    const struct stk_attr *dims = c->args[ARG_DIMS].attr;
    int64_t at = 0, count = dtypes && dtypes->kind == STK_ATTR_INTS ? dtypes->count : -1;
    if (count < 0 || count > STK_OP_OUTPUTS_MAX ||
        (ranks && (ranks->kind != STK_ATTR_INTS || ranks->count != count))) {
        return stk_err_set(err, STOKER_EINVAL, "host_call: needs the types of at most %d results",
                           STK_OP_OUTPUTS_MAX);
    }
    c->n_out = (int)count;
    for (int64_t k = 0; k < count; k++) {
        struct stk_shape *s = &c->out[k].shape;
        c->out[k].dtype = (enum stk_dtype)dtypes->ints[k];
        s->rank = ranks ? (int)ranks->ints[k] : STK_UNKNOWN;
        for (int d = 0; d < s->rank; d++) {
            if (!dims || dims->kind != STK_ATTR_INTS || at >= dims->count || d >= STK_RANK_MAX) {
                return stk_err_set(err, STOKER_EINVAL, "host_call: a shape is missing");
            }
            s->dim[d] = dims->ints[at++];
        }
    }
    return STOKER_OK;
}

// Do the results match the declared types and shapes?
static enum stoker_status check_results(struct stk_op_run *r)
{
    for (int k = 0; k < r->n_out; k++) {
        const struct stk_col *c = &r->out[k];
        for (int64_t i = 0; i < r->failed; i++) {
            struct stk_shape shape = stk_col_shape(c, i);
            char have[STK_SHAPE_TEXT], want[STK_SHAPE_TEXT];
            if (c->dtype != r->spec[k].dtype) {
                return stk_op_fail(r, 0, STOKER_EINVAL, "result %d is %s, not %s as declared", k,
                                   stk_dtype_name(c->dtype), stk_dtype_name(r->spec[k].dtype));
            }
            if (!stk_shape_fits(&r->spec[k].shape, &shape)) {
                return stk_op_fail(
                    r, i, STOKER_EINVAL, "result %d has shape %s, not %s as declared", k,
                    stk_shape_text(&shape, have), stk_shape_text(&r->spec[k].shape, want));
            }
            if (!c->is_varied) {
                break;
            }
        }
    }
    return STOKER_OK;
}

static enum stoker_status host_run(struct stk_op_run *r, struct stoker_err *err)
{
    if (!r->host || !r->host->call) {
        return stk_err_set(err, STOKER_EINVAL,
                           "host_call: the program provides no functions to call");
    }
    for (int k = 0; k < r->n_out; k++) {
        stk_col_clear(&r->out[k]);
    }
    bool takes_many = r->args[ARG_TAKES_MANY].i != 0;
    enum stoker_status s = (takes_many ? r->host->call_many : r->host->call)(
        r->host->arg, r->args[ARG_ID].i, r->n, r->in, r->n_in, r->pool, r->out, r->n_out,
        &r->failed, r->err, err);
    return s == STOKER_OK ? check_results(r) : s;
}

const struct stk_op stk_op_host_call = {.name = "host_call",
                                        .summary = "Calls a Python function",
                                        .takes_varied = true,
                                        .is_stateful = true,
                                        .is_host_call = true,
                                        .cost_ns = 2000,
                                        .infer = host_infer,
                                        .run = host_run,
                                        .args = host_args};
