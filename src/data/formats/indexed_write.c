// SPDX-License-Identifier: Apache-2.0
// Writing indexed files: records through a buffer, the index kept in memory (8 bytes a record)
// until the end.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "data/formats/crc32c.h"
#include "data/formats/indexed_impl.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define RECORDS_MAX ((size_t)1 << 40)

struct stk_indexed_writer {
    int fd;
    char *path, *beside;
    struct stk_specs *specs;
    struct stk_vec index; // uint64_t
    uint8_t *record;      // being put together
    size_t record_size, record_capacity;
    uint8_t *buffer;
    size_t used;
    uint64_t written;
    uint32_t header_crc;
};

static enum stk_status cannot_write(const struct stk_indexed_writer *w, int why,
                                    struct stk_err *err)
{
    return stk_err_set(err, STK_EOUTPUT, "%s: cannot be written: %s", w->path, strerror(why));
}

static enum stk_status flush(struct stk_indexed_writer *w, struct stk_err *err)
{
    for (size_t done = 0; done < w->used;) {
        ssize_t n = write(w->fd, w->buffer + done, w->used - done);
        if (n < 0 && errno != EINTR) {
            return cannot_write(w, errno, err);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    w->used = 0;
    return STK_OK;
}

static enum stk_status put(struct stk_indexed_writer *w, const void *bytes, size_t n,
                           struct stk_err *err)
{
    const uint8_t *p = bytes;
    w->written += n;
    while (n) {
        size_t part = BUFFER_BYTES - w->used < n ? BUFFER_BYTES - w->used : n;
        memcpy(w->buffer + w->used, p, part);
        w->used += part;
        p += part;
        n -= part;
        enum stk_status s = w->used == BUFFER_BYTES ? flush(w, err) : STK_OK;
        if (s != STK_OK) {
            return s;
        }
    }
    return STK_OK;
}

static enum stk_status put_head(struct stk_indexed_writer *w, const void *bytes, size_t n,
                                struct stk_err *err)
{
    w->header_crc = stk_crc32c(w->header_crc, bytes, n);
    return put(w, bytes, n, err);
}

static enum stk_status put_header(struct stk_indexed_writer *w, struct stk_err *err)
{
    uint64_t count = (uint64_t)w->specs->count;
    enum stk_status s = put_head(w, STK_INDEXED_MAGIC, 8, err);
    s = s == STK_OK ? put_head(w, &count, 8, err) : s;
    for (int k = 0; s == STK_OK && k < w->specs->count; k++) {
        struct stk_indexed_component c = {.dtype = (int64_t)w->specs->items[k].dtype,
                                          .rank = w->specs->items[k].shape.rank};
        for (int d = 0; d < c.rank; d++) {
            c.dim[d] = w->specs->items[k].shape.dim[d];
        }
        s = put_head(w, &c, sizeof c, err);
    }
    return s;
}

enum stk_status stk_indexed_create(struct stk_indexed_writer **out, const char *path,
                                   const struct stk_specs *specs, struct stk_err *err)
{
    *out = NULL;
    for (int k = 0; k < specs->count; k++) {
        if (specs->items[k].dtype == STK_DT_DATASET) {
            return stk_err_set(err, STK_EINVAL,
                               "%s: component %d holds datasets, which no file can", path, k);
        }
    }
    struct stat there; // the rename at the end would put a file in a device's place
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        return stk_err_set(err, STK_EOUTPUT, "%s: cannot be written: it is there and no file",
                           path);
    }
    struct stk_indexed_writer *w = stk_alloc_zero(1, sizeof *w);
    if (!w) {
        return stk_err_nomem(err);
    }
    size_t size = strlen(path) + 64;
    w->fd = -1;
    stk_vec_init(&w->index, sizeof(uint64_t), RECORDS_MAX);
    w->specs = stk_specs_hold((struct stk_specs *)(uintptr_t)specs);
    w->path = stk_alloc(size);
    w->beside = stk_alloc(size);
    w->buffer = stk_alloc(BUFFER_BYTES);
    enum stk_status s = w->path && w->beside && w->buffer ? STK_OK : stk_err_nomem(err);
    if (s == STK_OK) {
        memcpy(w->path, path, strlen(path) + 1);
        // Several iterators of one process may write the same cache: each beside it on its own.
        static unsigned long writers;
        snprintf(w->beside, size, "%s.%ld.%lu.part", path, (long)getpid(),
                 __atomic_add_fetch(&writers, 1, __ATOMIC_RELAXED));
        w->fd = open(w->beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        s = w->fd >= 0 ? put_header(w, err) : cannot_write(w, errno, err);
    }
    if (s != STK_OK) {
        struct stk_err ignored;
        return stk_indexed_finish(w, false, &ignored) == STK_OK ? s : ignored.code;
    }
    *out = w;
    return STK_OK;
}

static bool add(struct stk_indexed_writer *w, const void *bytes, size_t n)
{
    if (n > w->record_capacity - w->record_size) {
        size_t capacity = w->record_size + n + w->record_capacity;
        uint8_t *record = stk_realloc_array(w->record, capacity, 1);
        if (!record) {
            return false;
        }
        w->record = record;
        w->record_capacity = capacity;
    }
    if (n) {
        memcpy(w->record + w->record_size, bytes, n);
    }
    w->record_size += n;
    return true;
}

static bool pad(struct stk_indexed_writer *w)
{
    static const uint8_t zeros[8];
    return add(w, zeros, (8 - w->record_size % 8) % 8);
}

static bool add_component(struct stk_indexed_writer *w, const struct stk_spec *spec,
                          const struct stk_col *c, int64_t i)
{
    struct stk_shape shape = stk_col_shape(c, i);
    int64_t count = stk_shape_count(&shape), rank = shape.rank;
    const void *p = stk_col_at(c, i);
    bool ok = spec->shape.rank >= 0 || add(w, &rank, sizeof rank);
    if (ok && !stk_shape_is_known(&spec->shape)) {
        ok = add(w, shape.dim, (size_t)rank * sizeof shape.dim[0]);
    }
    if (c->dtype != STK_DT_STRING) {
        return ok && add(w, p, (size_t)count * stk_dtype_bytes(c->dtype)) && pad(w);
    }
    const struct stk_bytes *s = p;
    for (int64_t k = 0; ok && k < count; k++) {
        uint64_t size = s[k].size;
        ok = add(w, &size, sizeof size) && add(w, s[k].data, s[k].size) && pad(w);
    }
    return ok;
}

enum stk_status stk_indexed_append(struct stk_indexed_writer *w, const struct stk_block *block,
                                   struct stk_err *err)
{
    for (int64_t i = 0; i < block->n; i++) {
        uint64_t *at = stk_vec_push(&w->index);
        bool ok = at != NULL;
        w->record_size = 0;
        for (int k = 0; ok && k < block->count; k++) {
            ok = add_component(w, &w->specs->items[k], &block->cols[k], i);
        }
        if (!ok) {
            return stk_err_nomem(err);
        }
        *at = w->written;
        uint64_t crc = stk_crc32c_mask(stk_crc32c(0, w->record, w->record_size));
        enum stk_status s = put(w, w->record, w->record_size, err);
        s = s == STK_OK ? put(w, &crc, sizeof crc, err) : s;
        if (s != STK_OK) {
            return s;
        }
    }
    return STK_OK;
}

static enum stk_status put_index(struct stk_indexed_writer *w, struct stk_err *err)
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
    enum stk_status s = put(w, w->index.items, bytes, err);
    s = s == STK_OK ? put(w, &crc, sizeof crc, err) : s;
    s = s == STK_OK ? put(w, &t, sizeof t, err) : s;
    return s == STK_OK ? flush(w, err) : s;
}

enum stk_status stk_indexed_finish(struct stk_indexed_writer *w, bool keeps, struct stk_err *err)
{
    enum stk_status s = STK_OK;
    if (!w) {
        return STK_OK;
    }
    if (keeps && w->fd >= 0) {
        s = put_index(w, err);
    }
    if (w->fd >= 0 && close(w->fd) && keeps && s == STK_OK) {
        s = cannot_write(w, errno, err);
    }
    if (w->fd >= 0 && keeps && s == STK_OK && rename(w->beside, w->path)) {
        s = cannot_write(w, errno, err);
    }
    if (w->fd >= 0 && (!keeps || s != STK_OK)) {
        unlink(w->beside);
    }
    stk_specs_drop(w->specs);
    stk_vec_deinit(&w->index);
    stk_free(w->record);
    stk_free(w->buffer);
    stk_free(w->path);
    stk_free(w->beside);
    stk_free(w);
    return s;
}
