// SPDX-License-Identifier: Apache-2.0
// Writes indexed files: records through a buffer; the index stays in memory (8 bytes a record)
// until the end.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/vec.h"
#include "engine/formats/element_file.h"
#include "base/crc32c.h"
#include "engine/formats/indexed_impl.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define RECORDS_MAX ((size_t)1 << 40)

struct stk_indexed_writer {
    int fd;
    struct stk_atomic_file file;
    struct stk_specs *specs;
    struct stk_vec index;            // uint64_t
    struct stk_element_bytes record; // being built
    uint8_t *buffer;
    size_t used;
    uint64_t written;
    uint32_t header_crc;
};

static enum stoker_status flush(struct stk_indexed_writer *w, struct stoker_err *err)
{
    STK_ASSERT(w->used <= BUFFER_BYTES);
    for (size_t done = 0; done < w->used;) {
        ssize_t n = write(w->fd, w->buffer + done, w->used - done);
        if (n < 0 && errno != EINTR) {
            return stk_element_file_fail(w->file.path, errno, err);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    w->used = 0;
    return STOKER_OK;
}

static enum stoker_status put(struct stk_indexed_writer *w, const void *bytes, size_t n,
                              struct stoker_err *err)
{
    STK_ASSERT(w->used <= BUFFER_BYTES);
    const uint8_t *p = bytes;
    w->written += n;
    while (n) {
        size_t part = BUFFER_BYTES - w->used < n ? BUFFER_BYTES - w->used : n;
        memcpy(w->buffer + w->used, p, part);
        w->used += part;
        p += part;
        n -= part;
        enum stoker_status s = w->used == BUFFER_BYTES ? flush(w, err) : STOKER_OK;
        if (s != STOKER_OK) {
            return s;
        }
    }
    return STOKER_OK;
}

static enum stoker_status put_head(struct stk_indexed_writer *w, const void *bytes, size_t n,
                                   struct stoker_err *err)
{
    w->header_crc = stk_crc32c(w->header_crc, bytes, n);
    return put(w, bytes, n, err);
}

static enum stoker_status put_header(struct stk_indexed_writer *w, struct stoker_err *err)
{
    enum stoker_status s = put_head(w, STK_INDEXED_MAGIC, 8, err);
    if (s == STOKER_OK && !stk_element_encode_specs(&w->record, w->specs)) {
        s = stk_err_nomem(err);
    }
    return s == STOKER_OK ? put_head(w, w->record.data, w->record.size, err) : s;
}

enum stoker_status stk_indexed_create(struct stk_indexed_writer **out, const char *path,
                                      const struct stk_specs *specs, struct stoker_err *err)
{
    *out = NULL;
    enum stoker_status s = stk_element_file_check(path, specs, err);
    if (s != STOKER_OK) {
        return s;
    }
    struct stk_indexed_writer *w = stk_alloc_zero(1, sizeof *w);
    if (!w) {
        return stk_err_nomem(err);
    }
    w->fd = -1;
    stk_vec_init(&w->index, sizeof(uint64_t), RECORDS_MAX);
    w->specs = stk_specs_hold((struct stk_specs *)(uintptr_t)specs);
    w->buffer = stk_alloc(BUFFER_BYTES);
    s = w->buffer ? stk_element_file_open(&w->file, path, err) : stk_err_nomem(err);
    if (s == STOKER_OK) {
        w->fd = w->file.fd;
        w->file.fd = -1;
        s = put_header(w, err);
    }
    if (s != STOKER_OK) {
        struct stoker_err ignored;
        return stk_indexed_finish(w, false, &ignored) == STOKER_OK ? s : ignored.code;
    }
    *out = w;
    return STOKER_OK;
}

enum stoker_status stk_indexed_append(struct stk_indexed_writer *w, const struct stk_block *block,
                                      struct stoker_err *err)
{
    for (int64_t i = 0; i < block->n; i++) {
        uint64_t *at = stk_vec_push(&w->index);
        if (!at || !stk_element_encode(&w->record, w->specs, block, i)) {
            return stk_err_nomem(err);
        }
        *at = w->written;
        uint64_t crc = stk_crc32c_mask(stk_crc32c(0, w->record.data, w->record.size));
        enum stoker_status s = put(w, w->record.data, w->record.size, err);
        s = s == STOKER_OK ? put(w, &crc, sizeof crc, err) : s;
        if (s != STOKER_OK) {
            return s;
        }
    }
    return STOKER_OK;
}

static enum stoker_status put_index(struct stk_indexed_writer *w, struct stoker_err *err)
{
    uint64_t *end = stk_vec_push(&w->index);
    if (!end) {
        return stk_err_nomem(err);
    }
    *end = w->written;
    struct stk_indexed_trailer t = {.index = w->written, .count = w->index.count - 1};
    memcpy(t.magic, STK_INDEXED_END, sizeof t.magic);
    size_t bytes = w->index.count * sizeof(uint64_t);
    uint64_t crc = stk_crc32c_mask(stk_crc32c(w->header_crc, w->index.items, bytes));
    enum stoker_status s = put(w, w->index.items, bytes, err);
    s = s == STOKER_OK ? put(w, &crc, sizeof crc, err) : s;
    s = s == STOKER_OK ? put(w, &t, sizeof t, err) : s;
    return s == STOKER_OK ? flush(w, err) : s;
}

enum stoker_status stk_indexed_finish(struct stk_indexed_writer *w, bool keeps,
                                      struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    if (!w) {
        return STOKER_OK;
    }
    if (keeps && w->fd >= 0) {
        s = put_index(w, err);
    }
    if (w->fd >= 0 && close(w->fd) && keeps && s == STOKER_OK) {
        s = stk_element_file_fail(w->file.path, errno, err);
    }
    bool is_whole = w->fd >= 0 && keeps && s == STOKER_OK;
    enum stoker_status closed = stk_element_file_close(&w->file, is_whole, err);
    s = s == STOKER_OK ? closed : s;
    stk_specs_drop(w->specs);
    stk_vec_deinit(&w->index);
    stk_element_bytes_free(&w->record);
    stk_free(w->buffer);
    stk_free(w);
    return s;
}
