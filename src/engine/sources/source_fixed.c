// SPDX-License-Identifier: Apache-2.0
// fixed_records: files split into strings of record_bytes, after header_bytes and before
// footer_bytes. A file whose middle isn't a whole number of records is an error, found before its
// first record if its length is known (plain files), else at its end.
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "engine/run/iter.h"
#include "engine/sources/files.h"

#define READ_BYTES ((size_t)1 << 20)

struct fixed {
    struct stk_file_bytes in;
    size_t record, header, footer; // bytes
};

static int64_t bytes_of(const struct stk_dataset *ds, const char *name)
{
    return stk_attrs_int(ds->attrs, name, 0);
}

static enum stoker_status fixed_open(struct stk_iter *it, struct stoker_err *err)
{
    struct fixed *t = it->state;
    (void)err;
    t->record = (size_t)bytes_of(it->ds, "record_bytes");
    t->header = (size_t)bytes_of(it->ds, "header_bytes");
    t->footer = (size_t)bytes_of(it->ds, "footer_bytes");
    return STOKER_OK;
}

static enum stoker_status excess(const struct stk_iter *it, int64_t bytes, struct stoker_err *err)
{
    const struct fixed *t = it->state;
    return stk_err_set(err, STOKER_EINVAL,
                       "%.300s: %lld bytes between header and footer aren't a multiple of "
                       "records of %lld",
                       t->in.path, (long long)bytes, (long long)t->record);
}

static enum stoker_status open_file(struct stk_iter *it, struct stoker_err *err)
{
    struct fixed *t = it->state;
    struct stat info;
    enum stoker_status s = stk_files_open(it, t->in.file++, t->in.path, &t->in.open, err);
    if (s == STOKER_OK && stk_stream_codec(t->in.open.stream) == STK_CODEC_PLAIN &&
        stat(t->in.path, &info) == 0 && S_ISREG(info.st_mode)) {
        int64_t body = info.st_size - (int64_t)t->header - (int64_t)t->footer;
        if (body < 0 || body % (int64_t)t->record) {
            return excess(it, body, err); // the caller ends the file
        }
    }
    return s;
}

// Reads bytes for at least one record and the footer after it.
static enum stoker_status read_more(struct stk_iter *it, size_t need, struct stoker_err *err)
{
    struct fixed *t = it->state;
    return stk_files_whole(&t->in, stk_files_fill(it, &t->in, need, 0, need, err), err);
}

static enum stoker_status give(struct stk_iter *it, int64_t n, struct stk_block *out,
                               struct stoker_err *err)
{
    struct fixed *t = it->state;
    struct stk_shape scalar = {0};
    size_t size = t->record;
    STK_ASSERT(n > 0 && (size_t)n * size <= t->in.end - t->in.pos);
    if (!stk_block_reset(out, 1) ||
        !stk_col_uniform(&out->cols[0], it->run->pool, STK_DT_STRING, &scalar, n) ||
        !stk_keep_add(&out->cols[0].keep, t->in.buf)) {
        return stk_err_set(err, STOKER_ELIMIT, "fixed_records: no memory for %lld records",
                           (long long)n);
    }
    struct stk_bytes *to = (struct stk_bytes *)out->cols[0].data;
    for (int64_t k = 0; k < n; k++, t->in.pos += size) {
        to[k] = (struct stk_bytes){t->in.buf->data + t->in.pos, size};
    }
    out->n = n;
    return STOKER_OK;
}

// Skips the header of a file just opened.
static enum stoker_status pass_header(struct stk_iter *it, struct stoker_err *err)
{
    struct fixed *t = it->state;
    size_t header = t->header;
    enum stoker_status s = header ? read_more(it, header, err) : STOKER_OK;
    if (s == STOKER_OK && header && t->in.end < header) {
        s = excess(it, (int64_t)t->in.end - (int64_t)header, err);
    }
    t->in.pos = t->in.end;
    return s;
}

static enum stoker_status fixed_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct fixed *t = it->state;
    size_t size = t->record, footer = t->footer;
    size_t most = stk_files_share(it, READ_BYTES) / size;
    want = (size_t)want < most ? want : most ? (int64_t)most : 1;
    for (;;) {
        if (!t->in.open.stream && t->in.file >= stk_files_count(it->ds)) {
            return STOKER_OK;
        }
        enum stoker_status s = STOKER_OK;
        if (!t->in.open.stream) {
            s = open_file(it, err);
            s = s == STOKER_OK ? pass_header(it, err) : s;
        }
        size_t left = t->in.end - t->in.pos;
        if (s == STOKER_OK && left < size + footer && !t->in.at_end) {
            s = read_more(it, (size_t)want * size + footer, err);
            left = t->in.end - t->in.pos;
        }
        if (s == STOKER_OK && left >= size + footer) {
            int64_t whole = (int64_t)((left - footer) / size);
            return give(it, whole < want ? whole : want, out, err);
        }
        if (s == STOKER_OK && left != footer) {
            s = excess(it, (int64_t)left - (int64_t)footer, err);
        }
        stk_files_end(&t->in);
        if (s != STOKER_OK) {
            return s;
        }
    }
}

static void fixed_close(struct stk_iter *it)
{
    stk_files_end(&((struct fixed *)it->state)->in);
}

static const struct stk_arg_row fixed_args[] = {
    STK_FILES_NAMES_ROW,
    STK_ARG("record_bytes", INT, "bytes of a record", .is_required = true, .min = 1,
            .max = 1 << 30),
    STK_ARG("header_bytes", INT, "bytes to skip at a file's start", .min = 0, .max = 1 << 30),
    STK_ARG("footer_bytes", INT, "bytes to skip at its end", .min = 0, .max = 1 << 30),
    STK_FILES_COMPRESSION_ROW,
    {0}};

const struct stk_dataset_kind stk_dataset_fixed_records = {.name = "fixed_records",
                                                           .summary = "Fixed-length records",
                                                           .role = STK_DS_FILES,
                                                           .args = fixed_args,
                                                           .infer = stk_files_infer_strings,
                                                           .state_bytes = sizeof(struct fixed),
                                                           .open = fixed_open,
                                                           .next = fixed_next,
                                                           .close = fixed_close};
