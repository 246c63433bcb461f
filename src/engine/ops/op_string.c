// SPDX-License-Identifier: Apache-2.0
// Elementwise string operations: lower, upper, strip, to_number, read_file, read_files. Letters are
// ASCII, as in TensorFlow without an encoding.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/remote_name.h"
#include "engine/memory/growing.h"
#include "engine/formats/text_number.h"
#include "engine/ops/op_move.h"

enum { ARG_OUT_TYPE };
static const struct stk_arg_row number_args[] = {
    [ARG_OUT_TYPE] = STK_ARG("out_type", DTYPE, "of the numbers", .fallback = STK_DT_F32,
                             .choices = "float32,float64,int32,int64"),
    {0}};

#define FILE_MAX ((off_t)1 << 34)
#define READ_MAX ((size_t)1 << 30)    // for one read call
#define UNSIZED ((size_t)4096)        // initial size for files that don't report one
#define UNSIZED_MAX ((size_t)1 << 30) // for pipes and files of the system
#define DEVICE_MAX ((size_t)16 << 20) // for terminals and devices like /dev/zero

enum { LOWER, UPPER, STRIP, READ_FILE, READ_FILES };

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Copies the bytes with the case of letters changed into the result's memory.
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

static enum stoker_status file_error(struct stk_op_run *r, int64_t i, const char *path, int why)
{
    return stk_op_fail(r, i, stk_err_of_file(why, STOKER_EINPUT), "%.300s: %s%s", path,
                       strerror(why), stk_remote_hint(path));
}

// The most a file may contain, and the expected size. Pipes and files of the system don't report a
// size and are read until they end; a device may never end.
static size_t most_of(const struct stat *info, size_t *first)
{
    bool is_sized = S_ISREG(info->st_mode) && info->st_size > 0;
    *first = is_sized ? (size_t)info->st_size : UNSIZED;
    return is_sized                                           ? (size_t)info->st_size
           : S_ISCHR(info->st_mode) || S_ISBLK(info->st_mode) ? DEVICE_MAX
                                                              : UNSIZED_MAX;
}

// Reads all bytes of the file. A file that grew meanwhile (is_sized) keeps its old size; otherwise
// more than `most` bytes are an error. Returns an errno; ENOMEM: the budget lacks memory for
// *wanted bytes.
static int read_all(int fd, struct stk_growing *to, size_t most, bool is_sized, size_t *wanted)
{
    for (;;) {
        size_t room = 0, left = most - stk_growing_size(to);
        if (is_sized && left == 0) {
            return 0;
        }
        uint8_t *at = stk_growing_room(to, &room, wanted);
        if (!at) {
            return ENOMEM;
        }
        room = is_sized && room > left ? left : room;
        ssize_t n = read(fd, at, room < READ_MAX ? room : READ_MAX);
        if (n < 0 && errno != EINTR) {
            return errno;
        }
        if (n == 0) {
            return 0; // the file may have shrunk meanwhile: return what it has
        }
        stk_growing_took(to, n > 0 ? (size_t)n : 0);
        if (stk_growing_size(to) > most) {
            return EFBIG;
        }
    }
}

// Turns the bytes read into the result.
static enum stoker_status give_bytes(struct stk_op_run *r, struct stk_growing *from,
                                     struct stk_bytes *out, struct stoker_err *err)
{
    size_t size = stk_growing_size(from);
    *out = (struct stk_bytes){0};
    if (size == 0) {
        stk_growing_drop(from);
        return STOKER_OK;
    }
    struct stk_buf *b = stk_growing_end(from);
    bool ok = b && stk_keep_add(&r->out[0].keep, b);
    if (ok) {
        *out = (struct stk_bytes){b->data, size};
    }
    stk_buf_drop(b);
    return ok ? STOKER_OK : stk_op_no_memory_for(r, size, err);
}

static enum stoker_status read_whole(struct stk_op_run *r, int64_t i, struct stk_bytes name,
                                     struct stk_bytes *out, struct stoker_err *err)
{
    char path[4096];
    struct stat info;
    if (name.size >= sizeof path ||
        memchr(name.data ? name.data : (const uint8_t *)"", 0, name.size)) {
        return stk_op_fail(r, i, STOKER_EINVAL, "a name of %zu bytes, or with a zero byte",
                           name.size);
    }
    memcpy(path, name.data ? name.data : (const uint8_t *)"", name.size);
    path[name.size] = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || fstat(fd, &info) || S_ISDIR(info.st_mode) || info.st_size > FILE_MAX) {
        int why = fd < 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : EFBIG;
        if (fd >= 0) {
            close(fd);
        }
        return file_error(r, i, path, why);
    }
    size_t first, wanted = 0, most = most_of(&info, &first);
    bool is_sized = first == most;
    struct stk_growing to;
    stk_growing_begin(&to, r->pool, first);
    int why = read_all(fd, &to, most, is_sized, &wanted);
    close(fd);
    if (!why) {
        return give_bytes(r, &to, out, err);
    }
    size_t size = stk_growing_size(&to);
    stk_growing_drop(&to);
    if (why == ENOMEM) {
        return stk_op_no_memory_for(r, size + wanted, err);
    }
    return why == EFBIG ? stk_op_fail(r, i, STOKER_ELIMIT,
                                      "%.300s: more than %zu MiB of what has no size; copy what is "
                                      "wanted of it into a file",
                                      path, most >> 20)
                        : file_error(r, i, path, why);
}

static enum stoker_status text_each(struct stk_op_run *r, int64_t i, struct stk_bytes in,
                                    struct stk_bytes *out, struct stoker_err *err)
{
    switch (r->op->arg) {
    case STRIP:
        *out = strip(in);
        return STOKER_OK;
    case READ_FILES:
        if (in.size == 0) {
            *out = in;
            return STOKER_OK;
        }
        return read_whole(r, i, in, out, err);
    case READ_FILE:
        return read_whole(r, i, in, out, err);
    default:
        return change_case(r, in, out) ? STOKER_OK : stk_op_no_memory(r, err);
    }
}

static enum stoker_status text_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_bytes *out = stk_op_out(r, 0, STK_DT_STRING, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    enum stoker_status s = out ? STOKER_OK : err->code;
    for (int64_t k = 0; s == STOKER_OK && k < r->n * each && k / each < r->failed; k++) {
        s = text_each(r, k / each, ((struct stk_bytes *)stk_col_at(in, k / each))[k % each],
                      &out[k], err);
    }
    return s == STOKER_OK && !stk_keep_join(&r->out[0].keep, in->keep) ? stk_op_no_memory(r, err)
                                                                       : s;
}

#define TEXT(id, text, which, about)                                                               \
    const struct stk_op stk_op_##id = {.name = text,                                               \
                                       .summary = about,                                           \
                                       .is_elementwise = true,                                     \
                                       .waits = (which) >= READ_FILE,                              \
                                       .cost_ns = 20,                                              \
                                       .signature = (which) == READ_FILE ? "string[] -> same"      \
                                                                         : "string -> same",       \
                                       .run = text_run,                                            \
                                       .arg = which};
TEXT(string_lower, "string_lower", LOWER, "Lowercases ASCII letters")
TEXT(string_upper, "string_upper", UPPER, "Uppercases ASCII letters")
TEXT(string_strip, "string_strip", STRIP, "Strips whitespace at both ends")
TEXT(read_file, "read_file", READ_FILE, "Reads the file with that name")
TEXT(read_files, "read_files", READ_FILES, "Reads files; an empty name gives no bytes")

static bool parse_number(struct stk_bytes s, enum stk_dtype t, void *out, int64_t k)
{
    switch (t) {
    case STK_DT_F32:
        return stk_text_f32(s.data, s.size, 0, (float *)out + k);
    case STK_DT_F64:
        return stk_text_f64(s.data, s.size, 0, (double *)out + k);
    case STK_DT_I32:
        return stk_text_i32(s.data, s.size, 0, (int32_t *)out + k);
    default:
        return stk_text_i64(s.data, s.size, 0, (int64_t *)out + k);
    }
}

static enum stoker_status number_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    void *out = stk_op_out(r, 0, r->spec[0].dtype, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    for (int64_t k = 0; out && k < r->n * each; k++) {
        struct stk_bytes s = ((struct stk_bytes *)stk_col_at(in, k / each))[k % each];
        if (!parse_number(s, r->spec[0].dtype, out, k)) {
            return stk_op_fail(r, k / each, STOKER_EINVAL, "'%.*s' is not a valid %s",
                               (int)(s.size < 60 ? s.size : 60), (const char *)s.data,
                               stk_dtype_name(r->spec[0].dtype));
        }
    }
    return out ? STOKER_OK : err->code;
}

const struct stk_op stk_op_string_to_number = {.name = "string_to_number",
                                               .summary = "Parses strings as numbers",
                                               .is_elementwise = true,
                                               .cost_ns = 20,
                                               .signature = "string -> @out_type",
                                               .run = number_run,
                                               .args = number_args};
