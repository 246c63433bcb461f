// SPDX-License-Identifier: Apache-2.0
// Splitting strings: string_split (at a separator or white space), string_bytes (into bytes),
// unicode_split and unicode_decode (UTF-8; invalid bytes become U+FFFD). One string becomes a
// vector of parts. A vector of strings becomes one vector of all parts, with the start of each
// string's parts. string_substr and string_length count bytes, or characters of UTF-8.
#include <string.h>

#include "engine/ops/op_util.h"

// The argument rows of each operation start at 0.
enum { ARG_SEP, ARG_MAXSPLIT, ARG_UNIT = 0 };
static const struct stk_arg_row split_args[] = {
    [ARG_SEP] = STK_ARG("sep", TEXT, "separator; default: whitespace", .is_open = true),
    [ARG_MAXSPLIT] = STK_ARG("maxsplit", INT, "maximum number of splits; -1: any", .fallback = -1),
    {0}};
static const struct stk_arg_row unit_args[] = {
    [ARG_UNIT] = STK_ARG("unit", INT, "unit to count", .choices = "BYTE,UTF8_CHAR"), {0}};

enum { SPLIT, BYTES, CHARACTERS, CODES };

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static enum stoker_status parts_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    const struct stk_shape *shape = &c->in[0].shape;
    if (s == STOKER_OK && (c->in[0].dtype != STK_DT_STRING || shape->rank < 0 || shape->rank > 1)) {
        s = stk_err_set(err, STOKER_EINVAL,
                        "%s: takes a string or a vector of strings, whose rank is "
                        "known",
                        c->op->name);
    }
    enum stk_dtype t = c->op->arg == CODES ? STK_DT_I32 : STK_DT_STRING;
    c->out[0] = (struct stk_spec){.dtype = t, .shape = {1, {STK_UNKNOWN}}};
    if (s == STOKER_OK && shape->rank == 1) {
        c->n_out = 2;
        int64_t rows = shape->dim[0];
        c->out[1] = (struct stk_spec){.dtype = STK_DT_I64,
                                      .shape = {1, {rows < 0 ? STK_UNKNOWN : rows + 1}}};
    }
    return s;
}

struct cut {
    struct stk_bytes s;
    size_t at;
    int64_t left; // splits still allowed; negative: any number
    bool has_cut, is_over;
    const struct stk_attr *sep;
};

static bool next_word(struct cut *c, struct stk_bytes *out)
{
    while ((c->left != 0 || c->has_cut) && c->at < c->s.size && is_space(c->s.data[c->at])) {
        c->at++;
    }
    size_t first = c->at;
    if (c->left == 0) { // the rest, including trailing white space, even if it is empty
        *out = (struct stk_bytes){c->s.data + first, c->s.size - first};
        c->at = c->s.size;
        c->is_over = true;
        return true;
    }
    while (c->at < c->s.size && !is_space(c->s.data[c->at])) {
        c->at++;
    }
    c->left--;
    c->has_cut = true;
    *out = (struct stk_bytes){c->s.data + first, c->at - first};
    return out->size > 0;
}

static bool next_field(struct cut *c, struct stk_bytes *out)
{
    size_t n = c->sep ? (size_t)c->sep->count : 0;
    if (n == 0) {
        return !c->is_over && next_word(c, out);
    }
    if (c->at > c->s.size) {
        return false;
    }
    const uint8_t *hit = c->left != 0 && c->s.size > c->at
                             ? memmem(c->s.data + c->at, c->s.size - c->at, c->sep->text, n)
                             : NULL;
    size_t end = hit ? (size_t)(hit - c->s.data) : c->s.size;
    *out = (struct stk_bytes){c->s.data + c->at, end - c->at};
    c->at = hit ? end + n : c->s.size + 1;
    c->left--;
    return true;
}

// The UTF-8 character at `at`, which moves past it. Invalid bytes give U+FFFD, one per "maximal
// subpart" (Unicode Standard, section 3.9).
static int32_t next_code(struct stk_bytes s, size_t *at)
{
    uint8_t c = s.data[(*at)++];
    int more = c < 0x80                ? 0
               : c >= 0xc2 && c < 0xe0 ? 1
               : (c & 0xf0) == 0xe0    ? 2
               : c >= 0xf0 && c < 0xf5 ? 3
                                       : -1;
    if (more < 0) {
        return 0xfffd;
    }
    int32_t code = more == 0 ? c : c & (0x3f >> more);
    uint8_t least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    uint8_t most = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    for (; more > 0; more--) {
        if (*at == s.size || s.data[*at] < least || s.data[*at] > most) {
            return 0xfffd;
        }
        code = code << 6 | (s.data[(*at)++] & 0x3f);
        least = 0x80;
        most = 0xbf;
    }
    return code;
}

// Writes the next part to out[k], or skips it if out is NULL. False at the end.
static bool next_part(const struct stk_op *op, struct cut *c, void *out, int64_t k)
{
    static const uint8_t unknown[] = {0xef, 0xbf, 0xbd}; // U+FFFD
    struct stk_bytes part;
    if (op->arg == SPLIT) {
        if (!next_field(c, &part)) {
            return false;
        }
    } else {
        size_t first = c->at;
        if (first == c->s.size) {
            return false;
        }
        int32_t code = op->arg == BYTES ? c->s.data[c->at++] : next_code(c->s, &c->at);
        part = (struct stk_bytes){c->s.data + first, c->at - first};
        if (op->arg == CODES) {
            if (out) {
                ((int32_t *)out)[k] = code;
            }
            return true;
        }
        bool is_itself = part.size == 3 && memcmp(part.data, unknown, 3) == 0;
        if (op->arg == CHARACTERS && code == 0xfffd && !is_itself) {
            part = (struct stk_bytes){unknown, sizeof unknown};
        }
    }
    if (out) {
        ((struct stk_bytes *)out)[k] = part;
    }
    return true;
}

static enum stoker_status parts_run(struct stk_op_run *r, struct stoker_err *err)
{
    bool is_split = r->op->arg == SPLIT;
    const struct stk_attr *sep = is_split ? r->args[ARG_SEP].attr : NULL;
    const struct stk_col *in = r->in[0];
    int64_t rows = in->shape.rank == 1 ? in->shape.dim[0] : 1;
    int64_t left = is_split ? r->args[ARG_MAXSPLIT].i : -1;
    for (int64_t i = 0; i < r->n; i++) {
        const struct stk_bytes *s = stk_col_at(in, i);
        struct stk_shape shape = {1, {0}}, ends = {1, {rows + 1}};
        int64_t *splits = in->shape.rank == 1 ? stk_op_append(r, 1, STK_DT_I64, &ends, err) : NULL;
        if (in->shape.rank == 1 && !splits) {
            return err->code;
        }
        for (int64_t row = 0; row < rows; row++) {
            struct cut c = {.s = s[row], .left = left, .sep = sep};
            if (splits) {
                splits[row] = shape.dim[0];
            }
            while (next_part(r->op, &c, NULL, 0)) {
                shape.dim[0]++;
            }
        }
        if (splits) {
            splits[rows] = shape.dim[0];
        }
        void *out = stk_op_append(r, 0, r->spec[0].dtype, &shape, err);
        if (!out) {
            return err->code;
        }
        int64_t k = 0;
        for (int64_t row = 0; row < rows; row++) {
            struct cut c = {.s = s[row], .left = left, .sep = sep};
            while (next_part(r->op, &c, out, k)) {
                k++;
            }
        }
    }
    bool ok = r->op->arg == CODES || stk_keep_join(&r->out[0].keep, in->keep);
    return ok ? STOKER_OK : stk_op_no_memory(r, err);
}

#define PARTS(id, text, which, cost, rows, about)                                                  \
    const struct stk_op stk_op_##id = {.name = text,                                               \
                                       .summary = about,                                           \
                                       .cost_ns = cost,                                            \
                                       .infer = parts_infer,                                       \
                                       .run = parts_run,                                           \
                                       .args = rows,                                               \
                                       .arg = which};
PARTS(string_split, "string_split", SPLIT, 100, split_args, "Splits a string")
PARTS(string_bytes, "string_bytes", BYTES, 100, NULL, "Bytes of a string")
PARTS(unicode_split, "unicode_split", CHARACTERS, 100, NULL, "Characters of a UTF-8 string")
PARTS(unicode_decode, "unicode_decode", CODES, 100, NULL, "Code points of a UTF-8 string")

// Counts characters by their first byte: all but 10xxxxxx.
static bool begins(uint8_t c)
{
    return (c & 0xc0) != 0x80;
}

static int64_t length(struct stk_bytes s, bool is_utf8)
{
    int64_t n = 0;
    for (size_t i = 0; is_utf8 && i < s.size; i++) {
        n += begins(s.data[i]);
    }
    return is_utf8 ? n : (int64_t)s.size;
}

static enum stoker_status length_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int32_t *out = stk_op_out(r, 0, STK_DT_I32, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    bool is_utf8 = r->args[ARG_UNIT].i == 1;
    for (int64_t k = 0; out && k < r->n * each; k++) {
        out[k] = (int32_t)length(((struct stk_bytes *)stk_col_at(in, k / each))[k % each], is_utf8);
    }
    return out ? STOKER_OK : err->code;
}

const struct stk_op stk_op_string_length = {.name = "string_length",
                                            .summary =
                                                "Length of each string in bytes or characters",
                                            .is_elementwise = true,
                                            .signature = "string -> int32",
                                            .run = length_run,
                                            .args = unit_args};

static enum stoker_status substr_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    if (c->in[0].dtype != STK_DT_STRING) {
        return stk_err_set(err, STOKER_EINVAL, "string_substr: takes strings, not %s",
                           stk_dtype_name(c->in[0].dtype));
    }
    for (int j = 1; j < 3; j++) {
        enum stk_dtype t = c->in[j].dtype;
        bool fits = c->in[j].shape.rank == 0 || stk_shape_fits(&c->in[0].shape, &c->in[j].shape);
        if ((t != STK_DT_I32 && t != STK_DT_I64) || !fits) {
            return stk_err_set(err, STOKER_EINVAL,
                               "string_substr: pos and len are int32 or int64, one number or of "
                               "the strings' shape");
        }
    }
    c->out[0] = (struct stk_spec){.dtype = STK_DT_STRING, .shape = c->in[0].shape};
    return STOKER_OK;
}

static int64_t int_at(const struct stk_col *c, int64_t i, int64_t k)
{
    const void *p = stk_col_at(c, i);
    k = c->shape.rank == 0 ? 0 : k;
    return stk_op_get_place(p, c->dtype, k);
}

// Offset of the n-th character; the string's size if there are fewer.
static size_t place(struct stk_bytes s, int64_t n, bool is_utf8)
{
    if (!is_utf8) {
        return n < (int64_t)s.size ? (size_t)n : s.size;
    }
    size_t i = 0;
    for (; i < s.size; i++) {
        if (begins(s.data[i]) && n-- == 0) {
            break;
        }
    }
    return i;
}

// pos may be negative; a position outside the string is an error, as in TensorFlow.
static bool cut_out(struct stk_bytes s, int64_t pos, int64_t len, bool is_utf8,
                    struct stk_bytes *out)
{
    int64_t size = length(s, is_utf8);
    pos = pos < 0 ? pos + size : pos;
    if (pos < 0 || pos > size || len < 0) {
        return false;
    }
    len = len < size - pos ? len : size - pos;
    size_t first = place(s, pos, is_utf8), end = place(s, pos + len, is_utf8);
    *out = (struct stk_bytes){s.data + first, end - first};
    return true;
}

static enum stoker_status substr_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_bytes *out = stk_op_out(r, 0, STK_DT_STRING, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    bool is_utf8 = r->args[ARG_UNIT].i == 1;
    for (int j = 1; out && j < 3; j++) {
        if (r->in[j]->shape.rank > 0 && !stk_shape_equal(&r->in[j]->shape, &in->shape)) {
            return stk_op_fail(r, 0, STOKER_EINVAL, "pos and len differ from the strings in shape");
        }
    }
    for (int64_t k = 0; out && k < r->n * each; k++) {
        struct stk_bytes s = ((struct stk_bytes *)stk_col_at(in, k / each))[k % each];
        int64_t pos = int_at(r->in[1], k / each, k % each);
        if (!cut_out(s, pos, int_at(r->in[2], k / each, k % each), is_utf8, &out[k])) {
            return stk_op_fail(r, k / each, STOKER_EINVAL,
                               "position %lld is outside a string of %zu bytes, or a length is "
                               "negative",
                               (long long)pos, s.size);
        }
    }
    return !out                                       ? err->code
           : stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK
                                                      : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_string_substr = {.name = "string_substr",
                                            .summary = "`len` bytes, or characters, from `pos` on",
                                            .is_elementwise = true,
                                            .cost_ns = 20,
                                            .signature = "any, any, any",
                                            .infer = substr_infer,
                                            .run = substr_run,
                                            .args = unit_args};
