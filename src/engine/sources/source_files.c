// SPDX-License-Identifier: Apache-2.0
// File names as given to sources.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/remote_name.h"
#include "engine/run/iter.h"
#include "engine/sources/files.h"

#define BUDGET_PARTS 64 // reads at most 1/64 of the budget at once
#define PIECE_MIN ((size_t)16 << 10)
#define INPUT_MIN ((size_t)64 << 10) // the least compressed input a stream buffers
#define INPUT_MAX ((size_t)1 << 20)
#define STREAM_BYTES ((size_t)192 << 10) // per open file, besides the compressed input

static const struct stk_attr *names(const struct stk_dataset *ds)
{
    return stk_attrs_get(ds->attrs, "filenames");
}

int64_t stk_files_count(const struct stk_dataset *ds)
{
    const struct stk_attr *t = names(ds);
    if (t->kind == STK_ATTR_COLS) {
        struct stk_shape shape = stk_col_shape(&t->cols[0], 0);
        return stk_shape_count(&shape);
    }
    return t->kind == STK_ATTR_TEXTS ? t->count : t->kind == STK_ATTR_TEXT ? 1 : -1;
}

enum stoker_status stk_files_name(const struct stk_dataset *ds, int64_t i, char path[STK_PATH_MAX],
                                  struct stoker_err *err)
{
    const struct stk_attr *t = names(ds);
    STK_ASSERT(i >= 0 && i < stk_files_count(ds));
    struct stk_bytes s = t->kind == STK_ATTR_TEXTS ? t->texts[i]
                         : t->kind == STK_ATTR_TEXT
                             ? (struct stk_bytes){(const uint8_t *)t->text, (size_t)t->count}
                             : ((const struct stk_bytes *)stk_col_at(&t->cols[0], 0))[i];
    if (s.size == 0 || s.size >= STK_PATH_MAX || memchr(s.data, 0, s.size)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "%s: file %lld has a name of %zu bytes, or a zero byte in it",
                           ds->kind->name, (long long)i, s.size);
    }
    memcpy(path, s.data, s.size);
    path[s.size] = 0;
    return STOKER_OK;
}

enum stoker_status stk_files_infer(const struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_attr *t = names(ds);
    const struct stk_spec *bound = t && t->kind == STK_ATTR_BOUND ? &t->specs->items[0] : NULL;
    bool fits =
        t && (t->kind == STK_ATTR_TEXTS || t->kind == STK_ATTR_TEXT ||
              (bound && bound->dtype == STK_DT_STRING && bound->shape.rank <= 1) ||
              (t->kind == STK_ATTR_COLS && t->count == 1 && t->cols[0].dtype == STK_DT_STRING &&
               stk_col_shape(&t->cols[0], 0).rank <= 1));
    return fits ? STOKER_OK
                : stk_err_set(err, STOKER_EINVAL,
                              "%s: filenames must be a string or a vector of strings",
                              ds->kind->name);
}

enum stoker_status stk_files_look(const char *path, struct stoker_err *err)
{
    struct stat info;
    int why = stat(path, &info)       ? errno
              : S_ISDIR(info.st_mode) ? EISDIR
              : access(path, R_OK)    ? errno
                                      : 0;
    if (why == 0) {
        return STOKER_OK;
    }
    bool is_pattern = why == ENOENT && strpbrk(path, "*?[") != NULL;
    return stk_err_set(err, stk_err_of_file(why, STOKER_EINPUT), "%s: %s%s", path, strerror(why),
                       is_pattern ? "; patterns are for list_files" : stk_remote_hint(path));
}

enum stoker_status stk_files_codec(const struct stk_dataset *ds, enum stk_record_codec *codec,
                                   struct stoker_err *err)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "compression_type");
    const char *word = stk_attrs_text(ds->attrs, "compression_type", "");
    *codec = strcmp(word, "GZIP") == 0   ? STK_RECORD_GZIP
             : strcmp(word, "ZLIB") == 0 ? STK_RECORD_ZLIB
                                         : STK_RECORD_PLAIN;
    return !t || t->kind == STK_ATTR_TEXT
               ? STOKER_OK
               : stk_err_set(err, STOKER_EINVAL,
                             "%s: compression_type must be a text, not what a function computes",
                             ds->kind->name);
}

enum stoker_status stk_files_string_spec(struct stk_dataset *ds, struct stoker_err *err)
{
    ds->specs = stk_specs_new(1);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    ds->specs->items[0].dtype = STK_DT_STRING;
    return STOKER_OK;
}

size_t stk_files_share(const struct stk_iter *it, size_t most)
{
    size_t share = stk_pool_stats_of(it->run->pool).cap_bytes / BUDGET_PARTS;
    share = share < PIECE_MIN ? PIECE_MIN : share;
    return share < most ? share : most;
}

enum stoker_status stk_files_open_as(const struct stk_iter *it, int64_t i,
                                     struct stk_stream_opts how, char path[STK_PATH_MAX],
                                     struct stk_file *out, struct stoker_err *err)
{
    struct stk_pool *pool = it->run->pool;
    *out = (struct stk_file){.pool = pool};
    how.input_bytes = stk_files_share(it, INPUT_MAX);
    how.input_bytes = how.input_bytes < INPUT_MIN ? INPUT_MIN : how.input_bytes;
    enum stoker_status s = stk_files_name(it->ds, i, path, err);
    s = s == STOKER_OK ? stk_files_look(path, err) : s;
    s = s == STOKER_OK ? stk_stream_open(&out->stream, path, &how, err) : s;
    if (s != STOKER_OK) {
        return s;
    }
    size_t bytes =
        STREAM_BYTES + (stk_stream_codec(out->stream) == STK_CODEC_PLAIN ? 0 : how.input_bytes);
    if (!stk_pool_claim_waiting(pool, bytes)) {
        struct stk_pool_stats have = stk_pool_stats_of(pool);
        stk_files_close(out);
        return stk_err_set(
            err, STOKER_ELIMIT,
            "no memory for %zu bytes to read %.300s (%llu of %llu bytes of %s in use)", bytes, path,
            (unsigned long long)have.in_use_bytes, (unsigned long long)have.cap_bytes,
            have.cap_name);
    }
    out->claimed = bytes;
    return STOKER_OK;
}

enum stoker_status stk_files_open(const struct stk_iter *it, int64_t i, char path[STK_PATH_MAX],
                                  struct stk_file *out, struct stoker_err *err)
{
    enum stk_record_codec codec;
    *out = (struct stk_file){0};
    enum stoker_status s = stk_files_codec(it->ds, &codec, err);
    s = s == STOKER_OK ? stk_files_name(it->ds, i, path, err) : s;
    if (s != STOKER_OK) {
        return s;
    }
    struct stk_stream_opts how = {.codec_given = 1, .codec = stk_record_stream_codec(codec, path)};
    return stk_files_open_as(it, i, how, path, out, err);
}

void stk_files_close(struct stk_file *f)
{
    stk_stream_close(f->stream);
    if (f->claimed) {
        stk_pool_unclaim(f->pool, f->claimed);
    }
    *f = (struct stk_file){0};
}

void stk_files_end(struct stk_file_bytes *b)
{
    stk_files_close(&b->open);
    stk_buf_drop(b->buf);
    b->buf = NULL;
    b->pos = b->end = 0;
    b->base = 0;
    b->at_end = false;
}

enum stoker_status stk_files_fill(const struct stk_iter *it, struct stk_file_bytes *b,
                                  size_t capacity, size_t pad, size_t need, struct stoker_err *err)
{
    STK_ASSERT(b->open.stream && b->pos <= b->end && need <= capacity);
    STK_ASSERT(b->end - b->pos <= capacity);
    size_t left = b->end - b->pos;
    struct stk_buf *buf = stk_buf_get(it->run->pool, capacity + pad);
    if (!buf) {
        return stk_err_set(err, STOKER_ELIMIT, "%.300s: no memory for %zu bytes", b->path,
                           capacity);
    }
    if (left) {
        memcpy(buf->data, b->buf->data + b->pos, left);
    }
    b->base += b->pos;
    stk_buf_drop(b->buf);
    b->buf = buf;
    b->pos = 0;
    b->end = left;
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK && b->end < need && !b->at_end) {
        size_t got = 0;
        s = stk_stream_read(b->open.stream, buf->data + b->end, capacity - b->end, &got, err);
        b->end += got;
        b->at_end = s == STOKER_OK && got == 0;
    }
    return s;
}

enum stoker_status stk_files_whole(const struct stk_file_bytes *b, enum stoker_status s,
                                   struct stoker_err *err)
{
    const char *why = s == STOKER_OK && b->at_end ? stk_stream_damage(b->open.stream) : NULL;
    return why ? stk_err_set(err, STOKER_EDAMAGE, "%.300s: %s", b->path, why) : s;
}

enum stoker_status stk_files_infer_strings(struct stk_dataset *ds, struct stoker_err *err)
{
    enum stk_record_codec codec;
    enum stoker_status s = stk_files_infer(ds, err);
    s = s == STOKER_OK ? stk_files_codec(ds, &codec, err) : s;
    return s == STOKER_OK ? stk_files_string_spec(ds, err) : s;
}
