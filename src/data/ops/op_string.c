// SPDX-License-Identifier: Apache-2.0
// Strings, place by place: lower, upper, strip, length, substr, to_number, as_string; split of one
// string into a vector; read_file. Letters are ASCII, as TensorFlow has it without an encoding.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/ops/op_move.h"

#define FILE_MAX ((off_t)1 << 34)

enum { LOWER, UPPER, STRIP, SUBSTR, READ_FILE };

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static enum stk_status text_infer(struct stk_op_infer *c, struct stk_err *err)
{
    enum stk_status s = stk_op_want_inputs(c, 1, 3, err);
    if (s == STK_OK && c->in[0].dtype != STK_DT_STRING) {
        s = stk_err_set(err, STK_EINVAL, "%s: takes strings, not %s", c->op->name,
                        stk_dtype_name(c->in[0].dtype));
    }
    if (s == STK_OK && c->op->arg == READ_FILE && c->in[0].shape.rank > 0) {
        s = stk_err_set(err, STK_EINVAL, "read_file: takes one name");
    }
    if (s == STK_OK) {
        stk_spec_copy(&c->out[0], &c->in[0]);
    }
    return s;
}

// The same bytes with letters changed, in memory of the result.
static bool change_case(struct stk_op_run *r, struct stk_bytes in, struct stk_bytes *out)
{
    if (!stk_col_own_bytes(&r->out[0], r->pool, in.data, in.size, out)) {
        return false;
    }
    uint8_t *p = (uint8_t *)(uintptr_t)out->data, from = r->op->arg == LOWER ? 'A' : 'a';
    for (size_t k = 0; k < in.size; k++) {
        if (p[k] >= from && p[k] <= from + 25) {
            p[k] ^= 0x20;
        }
    }
    return true;
}

static struct stk_bytes strip(struct stk_bytes s)
{
    while (s.size && is_space(s.data[0])) {
        s.data++;
        s.size--;
    }
    while (s.size && is_space(s.data[s.size - 1])) {
        s.size--;
    }
    return s;
}

// pos may be negative; outside the string is an error, as in TensorFlow.
static bool cut(struct stk_bytes s, int64_t pos, int64_t length, struct stk_bytes *out)
{
    int64_t size = (int64_t)s.size;
    pos = pos < 0 ? pos + size : pos;
    if (pos < 0 || pos > size || length < 0) {
        return false;
    }
    *out = (struct stk_bytes){s.data + pos, (size_t)(length < size - pos ? length : size - pos)};
    return true;
}

static enum stk_status file_error(struct stk_op_run *r, int64_t i, const char *path, int why)
{
    return stk_op_fail(r, i, why == ENOENT ? STK_EMISSING : STK_EINPUT, "%.300s: %s", path,
                       strerror(why));
}

static enum stk_status read_whole(struct stk_op_run *r, int64_t i, struct stk_bytes name,
                                  struct stk_bytes *out, struct stk_err *err)
{
    char path[4096];
    struct stat info;
    if (name.size >= sizeof path ||
        memchr(name.data ? name.data : (const uint8_t *)"", 0, name.size)) {
        return stk_op_fail(r, i, STK_EINVAL, "a name of %zu bytes, or with a zero byte", name.size);
    }
    memcpy(path, name.data ? name.data : (const uint8_t *)"", name.size);
    path[name.size] = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) || S_ISDIR(info.st_mode) || info.st_size > FILE_MAX) {
        int why = fd < 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : EFBIG;
        if (fd >= 0) {
            close(fd);
        }
        return file_error(r, i, path, why);
    }
    struct stk_buf *b = stk_buf_get(r->pool, (size_t)info.st_size);
    bool ok = b && stk_keep_add(&r->out[0].keep, b);
    size_t used = 0;
    while (ok && used < (size_t)info.st_size) {
        ssize_t n = read(fd, b->data + used, (size_t)info.st_size - used);
        if (n < 0 && errno != EINTR) {
            (void)file_error(r, i, path, errno);
            break;
        }
        if (n == 0) {
            break; // shorter than a moment ago: what is there is the file
        }
        used += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    if (ok) {
        *out = (struct stk_bytes){b->data, used};
    }
    stk_buf_drop(b);
    return ok ? STK_OK : stk_op_no_room(r, err);
}

static enum stk_status text_each(struct stk_op_run *r, int64_t i, struct stk_bytes in,
                                 struct stk_bytes *out, struct stk_err *err)
{
    int64_t pos = 0, length = 0;
    int count;
    switch (r->op->arg) {
    case STRIP:
        *out = strip(in);
        return STK_OK;
    case READ_FILE:
        return read_whole(r, i, in, out, err);
    case SUBSTR:
        if (!stk_op_ints(r->attrs, "pos", r->n_in > 1 ? r->in[1] : NULL, i, &pos, 1, &count) ||
            !stk_op_ints(r->attrs, "len", r->n_in > 2 ? r->in[2] : NULL, i, &length, 1, &count) ||
            !cut(in, pos, length, out)) {
            return stk_op_fail(r, i, STK_EINVAL, "position %lld is outside a string of %zu bytes",
                               (long long)pos, in.size);
        }
        return STK_OK;
    default:
        return change_case(r, in, out) ? STK_OK : stk_op_no_room(r, err);
    }
}

static enum stk_status text_run(struct stk_op_run *r, struct stk_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_bytes *out = stk_op_out(r, 0, STK_DT_STRING, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    enum stk_status s = out ? STK_OK : err->code;
    for (int64_t k = 0; s == STK_OK && k < r->n * each && k / each < r->failed; k++) {
        s = text_each(r, k / each, ((struct stk_bytes *)stk_col_at(in, k / each))[k % each],
                      &out[k], err);
    }
    return s == STK_OK && !stk_keep_join(&r->out[0].keep, in->keep) ? stk_op_no_room(r, err) : s;
}

#define TEXT(id, text, which, about)                                                               \
    const struct stk_op stk_op_##id = {.name = text,                                               \
                                       .summary = about,                                           \
                                       .is_elementwise = true,                                     \
                                       .cost_ns = 20,                                              \
                                       .infer = text_infer,                                        \
                                       .run = text_run,                                            \
                                       .arg = which};
TEXT(string_lower, "string_lower", LOWER, "ASCII letters made small")
TEXT(string_upper, "string_upper", UPPER, "ASCII letters made capital")
TEXT(string_strip, "string_strip", STRIP, "Without white space at both ends")
TEXT(string_substr, "string_substr", SUBSTR, "`len` bytes from `pos` on")
TEXT(read_file, "read_file", READ_FILE, "The bytes of the file of that name")

enum { LENGTH, TO_NUMBER };

static enum stk_status number_infer(struct stk_op_infer *c, struct stk_err *err)
{
    enum stk_status s = stk_op_want_inputs(c, 1, 1, err);
    enum stk_dtype t = (enum stk_dtype)stk_attrs_int(c->attrs, "out_type", STK_DT_F32);
    if (s == STK_OK && c->in[0].dtype != STK_DT_STRING) {
        s = stk_err_set(err, STK_EINVAL, "%s: takes strings", c->op->name);
    }
    if (s == STK_OK && c->op->arg == TO_NUMBER && t != STK_DT_F32 && t != STK_DT_F64 &&
        t != STK_DT_I32 && t != STK_DT_I64) {
        s = stk_err_set(err, STK_EINVAL, "%s: gives float32, float64, int32 or int64", c->op->name);
    }
    if (s == STK_OK) {
        c->out[0].dtype = c->op->arg == LENGTH ? STK_DT_I32 : t;
        c->out[0].shape = c->in[0].shape;
    }
    return s;
}

static bool parse_number(struct stk_bytes s, enum stk_dtype t, void *out, int64_t k)
{
    char text[128], *end;
    s = strip(s);
    if (s.size == 0 || s.size >= sizeof text) {
        return false;
    }
    memcpy(text, s.data, s.size);
    text[s.size] = 0;
    errno = 0;
    if (t == STK_DT_F32 || t == STK_DT_F64) {
        double v = strtod(text, &end);
        if (t == STK_DT_F32) {
            ((float *)out)[k] = strtof(text, NULL);
        } else {
            ((double *)out)[k] = v;
        }
        return *end == 0;
    }
    long long v = strtoll(text, &end, 10);
    if (*end || errno || (t == STK_DT_I32 && (v < INT32_MIN || v > INT32_MAX))) {
        return false;
    }
    if (t == STK_DT_I32) {
        ((int32_t *)out)[k] = (int32_t)v;
    } else {
        ((int64_t *)out)[k] = v;
    }
    return true;
}

static enum stk_status number_run(struct stk_op_run *r, struct stk_err *err)
{
    const struct stk_col *in = r->in[0];
    void *out = stk_op_out(r, 0, r->spec[0].dtype, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    for (int64_t k = 0; out && k < r->n * each; k++) {
        struct stk_bytes s = ((struct stk_bytes *)stk_col_at(in, k / each))[k % each];
        if (r->op->arg == LENGTH) {
            ((int32_t *)out)[k] = (int32_t)s.size;
        } else if (!parse_number(s, r->spec[0].dtype, out, k)) {
            return stk_op_fail(r, k / each, STK_EINVAL, "'%.*s' is no %s",
                               (int)(s.size < 60 ? s.size : 60), (const char *)s.data,
                               stk_dtype_name(r->spec[0].dtype));
        }
    }
    return out ? STK_OK : err->code;
}

const struct stk_op stk_op_string_length = {.name = "string_length",
                                            .summary = "Bytes of each string",
                                            .is_elementwise = true,
                                            .infer = number_infer,
                                            .run = number_run,
                                            .arg = LENGTH};
const struct stk_op stk_op_string_to_number = {.name = "string_to_number",
                                               .summary = "The number a string shows",
                                               .is_elementwise = true,
                                               .cost_ns = 50,
                                               .infer = number_infer,
                                               .run = number_run,
                                               .arg = TO_NUMBER};

static enum stk_status as_string_infer(struct stk_op_infer *c, struct stk_err *err)
{
    enum stk_status s = stk_op_want_inputs(c, 1, 1, err);
    if (s == STK_OK && !stk_op_is_number(c->in[0].dtype) && c->in[0].dtype != STK_DT_BOOL) {
        s = stk_err_set(err, STK_EINVAL, "as_string: not for %s", stk_dtype_name(c->in[0].dtype));
    }
    c->out[0] = (struct stk_spec){.dtype = STK_DT_STRING, .shape = c->in[0].shape};
    return s;
}

static int show(char *text, size_t room, const struct stk_col *c, int64_t i, int64_t k)
{
    const void *p = stk_col_at(c, i);
    switch (c->dtype) {
    case STK_DT_BOOL:
        return snprintf(text, room, "%s", ((const uint8_t *)p)[k] ? "true" : "false");
    case STK_DT_F32:
        return snprintf(text, room, "%f", (double)((const float *)p)[k]);
    case STK_DT_F64:
        return snprintf(text, room, "%f", ((const double *)p)[k]);
    case STK_DT_F16:
        return snprintf(text, room, "%f", (double)stk_half_to_float(((const uint16_t *)p)[k]));
    case STK_DT_BF16:
        return snprintf(text, room, "%f", (double)stk_bfloat_to_float(((const uint16_t *)p)[k]));
    case STK_DT_U64:
        return snprintf(text, room, "%llu", (unsigned long long)((const uint64_t *)p)[k]);
#define SHOW(N, T)                                                                                 \
    case STK_DT_##N:                                                                               \
        return snprintf(text, room, "%lld", (long long)((const T *)p)[k]);
        SHOW(U8, uint8_t)
        SHOW(I8, int8_t) SHOW(U16, uint16_t) SHOW(I16, int16_t) SHOW(U32, uint32_t)
            SHOW(I32, int32_t) SHOW(I64, int64_t) default : return 0;
    }
}

static enum stk_status as_string_run(struct stk_op_run *r, struct stk_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_bytes *out = stk_op_out(r, 0, STK_DT_STRING, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    for (int64_t k = 0; out && k < r->n * each; k++) {
        char text[400];
        int n = show(text, sizeof text, in, k / each, k % each);
        if (!stk_col_own_bytes(&r->out[0], r->pool, text, (size_t)n, &out[k])) {
            return stk_op_no_room(r, err);
        }
    }
    return out ? STK_OK : err->code;
}

const struct stk_op stk_op_as_string = {.name = "as_string",
                                        .summary = "Numbers as text",
                                        .is_elementwise = true,
                                        .cost_ns = 100,
                                        .infer = as_string_infer,
                                        .run = as_string_run};

// string_split: one string into parts; attribute "sep" ("": white space, runs of it count once).
static enum stk_status split_infer(struct stk_op_infer *c, struct stk_err *err)
{
    enum stk_status s = stk_op_want_inputs(c, 1, 1, err);
    if (s == STK_OK && (c->in[0].dtype != STK_DT_STRING || c->in[0].shape.rank > 0)) {
        s = stk_err_set(err, STK_EINVAL, "string_split: takes one string, not a list of them");
    }
    c->out[0] = (struct stk_spec){.dtype = STK_DT_STRING, .shape = {1, {STK_UNKNOWN}}};
    return s;
}

// Next part at *at; false: none is left.
static bool next_part(struct stk_bytes s, const struct stk_attr *sep, size_t *at,
                      struct stk_bytes *out)
{
    size_t n = sep ? (size_t)sep->count : 0;
    if (n == 0) {
        while (*at < s.size && is_space(s.data[*at])) {
            (*at)++;
        }
        size_t first = *at;
        while (*at < s.size && !is_space(s.data[*at])) {
            (*at)++;
        }
        *out = (struct stk_bytes){s.data + first, *at - first};
        return out->size > 0;
    }
    if (*at > s.size) {
        return false;
    }
    const uint8_t *hit = s.size ? memmem(s.data + *at, s.size - *at, sep->text, n) : NULL;
    size_t end = hit ? (size_t)(hit - s.data) : s.size;
    *out = (struct stk_bytes){s.data + *at, end - *at};
    *at = hit ? end + n : s.size + 1;
    return true;
}

static enum stk_status split_run(struct stk_op_run *r, struct stk_err *err)
{
    const struct stk_attr *sep = stk_attrs_get(r->attrs, "sep");
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_bytes s = *(struct stk_bytes *)stk_col_at(r->in[0], i), part;
        struct stk_shape shape = {1, {0}};
        size_t at = 0;
        while (next_part(s, sep, &at, &part)) {
            shape.dim[0]++;
        }
        struct stk_bytes *out = stk_op_append(r, 0, STK_DT_STRING, &shape, err);
        if (!out) {
            return err->code;
        }
        at = 0;
        while (next_part(s, sep, &at, &part)) {
            *out++ = part;
        }
    }
    stk_col_settle(&r->out[0]);
    return stk_keep_join(&r->out[0].keep, r->in[0]->keep) ? STK_OK : stk_op_no_room(r, err);
}

const struct stk_op stk_op_string_split = {.name = "string_split",
                                           .summary = "The parts of a string",
                                           .infer = split_infer,
                                           .run = split_run};
