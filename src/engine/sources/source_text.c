// SPDX-License-Identifier: Apache-2.0
// text_lines: the lines of text files, without their ends (\n, and any \r, as TensorFlow takes
// them). A last line without an end counts. Plain, gzip and zlib.
#include <string.h>

#include "base/assert.h"
#include "engine/run/iter.h"
#include "engine/sources/files.h"

#define READ_BYTES ((size_t)256 << 10)
#define LINE_MAX_BYTES ((size_t)1 << 30)

struct text {
    struct stk_file open; // no stream: the next file is to be opened
    int64_t file;
    struct stk_buf *buf; // bytes [pos, end) are not given yet
    size_t pos, end;
    bool at_end; // of the file
    char path[STK_PATH_MAX];
};

static enum stoker_status open_file(struct stk_iter *it, struct stoker_err *err)
{
    struct text *t = it->state;
    t->at_end = false;
    return stk_files_open(it, t->file++, t->path, &t->open, err);
}

static void end_file(struct text *t)
{
    stk_files_close(&t->open);
    stk_buf_drop(t->buf);
    t->buf = NULL;
    t->pos = t->end = 0;
}

// Reads more bytes after the rest, in a new buffer: lines may hold the old one.
static enum stoker_status read_more(struct stk_iter *it, struct stoker_err *err)
{
    struct text *t = it->state;
    STK_ASSERT(t->open.stream && t->pos <= t->end);
    size_t left = t->end - t->pos, got, piece = stk_files_share(it, READ_BYTES),
           capacity = left + (left > piece ? left : piece);
    if (left >= LINE_MAX_BYTES) {
        return stk_err_set(err, STOKER_ELIMIT, "%.300s: a line of 1 GiB or more", t->path);
    }
    capacity = capacity < LINE_MAX_BYTES ? capacity : LINE_MAX_BYTES;
    struct stk_buf *b = stk_buf_get(it->run->pool, capacity);
    if (!b) {
        return stk_err_set(err, STOKER_ELIMIT, "%.300s: no memory for a line of %zu bytes", t->path,
                           left);
    }
    if (left) {
        memcpy(b->data, t->buf->data + t->pos, left);
    }
    stk_buf_drop(t->buf);
    t->buf = b;
    t->pos = 0;
    t->end = left;
    enum stoker_status s =
        stk_stream_read(t->open.stream, b->data + left, capacity - left, &got, err);
    t->end += s == STOKER_OK ? got : 0;
    t->at_end = s == STOKER_OK && got == 0;
    const char *why = t->at_end ? stk_stream_damage(t->open.stream) : NULL;
    return why ? stk_err_set(err, STOKER_EDAMAGE, "%.300s: %s", t->path, why) : s;
}

// Without \r: lines with one inside are copied.
static bool take_line(struct stk_iter *it, struct stk_col *c, const uint8_t *line, size_t size,
                      struct stk_bytes *out)
{
    if (size && line[size - 1] == '\r') {
        size--;
    }
    *out = (struct stk_bytes){line, size};
    if (!size || !memchr(line, '\r', size)) {
        return true;
    }
    if (!stk_col_own_bytes(c, it->run->pool, line, size, out)) {
        return false;
    }
    uint8_t *to = (uint8_t *)(uintptr_t)out->data;
    size_t kept = 0;
    for (size_t k = 0; k < size; k++) {
        to[kept] = line[k];
        kept += line[k] != '\r';
    }
    out->size = kept;
    return true;
}

static enum stoker_status give_lines(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct text *t = it->state;
    struct stk_shape scalar = {0};
    if (!stk_block_reset(out, 1) ||
        !stk_col_uniform(&out->cols[0], it->run->pool, STK_DT_STRING, &scalar, want) ||
        !stk_keep_add(&out->cols[0].keep, t->buf)) {
        return stk_err_set(err, STOKER_ELIMIT, "text_lines: no memory for %lld lines",
                           (long long)want);
    }
    struct stk_bytes *to = (struct stk_bytes *)out->cols[0].data;
    while (out->n < want && t->pos < t->end) {
        const uint8_t *line = t->buf->data + t->pos, *end = memchr(line, '\n', t->end - t->pos);
        if (!end && !t->at_end) {
            break;
        }
        size_t size = end ? (size_t)(end - line) : t->end - t->pos;
        if (!take_line(it, &out->cols[0], line, size, &to[out->n])) {
            return stk_err_set(err, STOKER_ELIMIT, "text_lines: no memory for a line of %zu bytes",
                               size);
        }
        out->n++;
        t->pos += size + (end != NULL);
    }
    STK_ASSERT(out->n <= want && t->pos <= t->end);
    out->cols[0].n = out->n;
    return STOKER_OK;
}

static enum stoker_status text_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                    struct stoker_err *err)
{
    struct text *t = it->state;
    want = want < 4096 ? want : 4096;
    for (;;) {
        enum stoker_status s = STOKER_OK;
        if (!t->open.stream) {
            if (t->file >= stk_files_count(it->ds)) {
                return STOKER_OK;
            }
            s = open_file(it, err);
        } else if (t->buf && (t->pos < t->end)) {
            s = give_lines(it, want, out, err);
            if (s != STOKER_OK || out->n > 0) {
                return s;
            }
        }
        if (s == STOKER_OK && !t->at_end) {
            s = read_more(it, err);
        } else if (s == STOKER_OK) {
            end_file(t);
        }
        if (s != STOKER_OK) {
            end_file(t);
            return s;
        }
    }
}

static void text_close(struct stk_iter *it)
{
    end_file(it->state);
}

static const struct stk_arg_row text_args[] = {STK_FILES_NAMES_ROW, STK_FILES_COMPRESSION_ROW, {0}};

const struct stk_dataset_kind stk_dataset_text_lines = {.name = "text_lines",
                                                        .summary = "Lines of text files",
                                                        .role = STK_DS_FILES,
                                                        .args = text_args,
                                                        .infer = stk_files_infer_strings,
                                                        .state_bytes = sizeof(struct text),
                                                        .next = text_next,
                                                        .close = text_close};
