// SPDX-License-Identifier: Apache-2.0
// text_lines: the lines of text files without their ends (
// , and any \r, as in TensorFlow). A last line without an end counts. Plain, gzip and zlib.
#include <string.h>

#include "base/assert.h"
#include "engine/run/iter.h"
#include "engine/sources/files.h"

#define READ_BYTES ((size_t)256 << 10)
#define LINE_MAX_BYTES ((size_t)1 << 30)

struct text {
    struct stk_file_bytes in;
};

static enum stoker_status read_more(struct stk_iter *it, struct stoker_err *err)
{
    struct text *t = it->state;
    size_t left = t->in.end - t->in.pos, piece = stk_files_share(it, READ_BYTES),
           capacity = left + (left > piece ? left : piece);
    if (left >= LINE_MAX_BYTES) {
        return stk_err_set(err, STOKER_ELIMIT, "%.300s: a line of 1 GiB or more", t->in.path);
    }
    capacity = capacity < LINE_MAX_BYTES ? capacity : LINE_MAX_BYTES;
    return stk_files_whole(&t->in, stk_files_fill(it, &t->in, capacity, 0, left + 1, err), err);
}

// Removes \r: lines with one inside are copied.
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
        !stk_keep_add(&out->cols[0].keep, t->in.buf)) {
        return stk_err_set(err, STOKER_ELIMIT, "text_lines: no memory for %lld lines",
                           (long long)want);
    }
    struct stk_bytes *to = (struct stk_bytes *)out->cols[0].data;
    while (out->n < want && t->in.pos < t->in.end) {
        const uint8_t *line = t->in.buf->data + t->in.pos,
                      *end = memchr(line, '\n', t->in.end - t->in.pos);
        if (!end && !t->in.at_end) {
            break;
        }
        size_t size = end ? (size_t)(end - line) : t->in.end - t->in.pos;
        if (!take_line(it, &out->cols[0], line, size, &to[out->n])) {
            return stk_err_set(err, STOKER_ELIMIT, "text_lines: no memory for a line of %zu bytes",
                               size);
        }
        out->n++;
        t->in.pos += size + (end != NULL);
    }
    STK_ASSERT(out->n <= want && t->in.pos <= t->in.end);
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
        if (!t->in.open.stream) {
            if (t->in.file >= stk_files_count(it->ds)) {
                return STOKER_OK;
            }
            s = stk_files_open(it, t->in.file++, t->in.path, &t->in.open, err);
        } else if (t->in.buf && (t->in.pos < t->in.end)) {
            s = give_lines(it, want, out, err);
            if (s != STOKER_OK || out->n > 0) {
                return s;
            }
        }
        if (s == STOKER_OK && !t->in.at_end) {
            s = read_more(it, err);
        } else if (s == STOKER_OK) {
            stk_files_end(&t->in);
        }
        if (s != STOKER_OK) {
            stk_files_end(&t->in);
            return s;
        }
    }
}

static void text_close(struct stk_iter *it)
{
    stk_files_end(&((struct text *)it->state)->in);
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
