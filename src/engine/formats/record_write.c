// SPDX-License-Identifier: Apache-2.0
// TFRecord writer: one buffer, through zlib's deflate if compression is requested.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "engine/formats/record.h"

#define BUFFER_SIZE ((size_t)256 << 10)
#define DEFLATE_MAX ((size_t)1 << 30) // zlib counts in 32 bits

struct stk_record_writer {
    int fd;
    bool compressed;
    int error;   // errno of the first write that failed; 0: none
    size_t used; // of buffer
    stk_crc32c_fn *crc;
    z_stream z;
    uint8_t buffer[BUFFER_SIZE];
    char path[];
};

static voidpf allocate(voidpf opaque, uInt count, uInt size)
{
    (void)opaque;
    return stk_alloc_zero(count, size);
}

static void release(voidpf opaque, voidpf p)
{
    (void)opaque;
    stk_free(p);
}

static enum stoker_status failed(struct stk_record_writer *w, int error, struct stoker_err *err)
{
    w->error = error;
    return stk_err_set(err, stk_err_of_file(error, STOKER_EOUTPUT), "can't write %s: %s", w->path,
                       strerror(error));
}

static enum stoker_status write_all(struct stk_record_writer *w, const uint8_t *p, size_t n,
                                    struct stoker_err *err)
{
    while (n > 0) {
        ssize_t done = write(w->fd, p, n < DEFLATE_MAX ? n : DEFLATE_MAX);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            return failed(w, done ? errno : ENOSPC, err);
        }
        p += done;
        n -= (size_t)done;
    }
    return STOKER_OK;
}

static enum stoker_status flush(struct stk_record_writer *w, struct stoker_err *err)
{
    enum stoker_status status = write_all(w, w->buffer, w->used, err);
    w->used = 0;
    return status;
}

static enum stoker_status put_plain(struct stk_record_writer *w, const uint8_t *p, size_t n,
                                    struct stoker_err *err)
{
    if (n > BUFFER_SIZE - w->used) {
        enum stoker_status status = flush(w, err);
        if (status) {
            return status;
        }
        if (n >= BUFFER_SIZE) {
            return write_all(w, p, n, err);
        }
    }
    if (n) {
        memcpy(w->buffer + w->used, p, n);
    }
    w->used += n;
    return STOKER_OK;
}

static enum stoker_status put_deflated(struct stk_record_writer *w, const uint8_t *p, size_t n,
                                       int how, struct stoker_err *err)
{
    int result = Z_OK;
    do {
        size_t step = n < DEFLATE_MAX ? n : DEFLATE_MAX;
        w->z.next_in = (Bytef *)p; // zlib doesn't write to it
        w->z.avail_in = (uInt)step;
        w->z.next_out = w->buffer + w->used;
        w->z.avail_out = (uInt)(BUFFER_SIZE - w->used);
        result = deflate(&w->z, how);
        size_t taken = step - w->z.avail_in;
        p = taken > 0 ? p + taken : p; // p is NULL if the chunk is empty
        n -= taken;
        w->used = BUFFER_SIZE - w->z.avail_out;
        if (result == Z_STREAM_ERROR) {
            return failed(w, EIO, err);
        }
        if (w->used == BUFFER_SIZE) {
            enum stoker_status status = flush(w, err);
            if (status) {
                return status;
            }
        }
    } while (n > 0 || (how == Z_FINISH && result != Z_STREAM_END));
    return STOKER_OK;
}

static enum stoker_status put(struct stk_record_writer *w, const void *p, size_t n,
                              struct stoker_err *err)
{
    return w->compressed ? put_deflated(w, p, n, Z_NO_FLUSH, err) : put_plain(w, p, n, err);
}

static void dispose(struct stk_record_writer *w)
{
    if (w->compressed) {
        deflateEnd(&w->z);
    }
    if (w->fd >= 0) {
        close(w->fd);
    }
    stk_free(w);
}

static int start_deflate(struct stk_record_writer *w, enum stk_record_codec codec, int level)
{
    int bits = codec == STK_RECORD_GZIP ? MAX_WBITS + 16 : MAX_WBITS;
    w->z = (z_stream){.zalloc = allocate, .zfree = release};
    if (deflateInit2(&w->z, level ? level : Z_DEFAULT_COMPRESSION, Z_DEFLATED, bits, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        return -1;
    }
    w->compressed = true;
    return 0;
}

enum stoker_status stk_record_create(struct stk_record_writer **out, const char *path,
                                     enum stk_record_codec codec, int level, struct stoker_err *err)
{
    return stk_record_create_at(out, -1, path, codec, level, err);
}

enum stoker_status stk_record_create_at(struct stk_record_writer **out, int fd, const char *path,
                                        enum stk_record_codec codec, int level,
                                        struct stoker_err *err)
{
    *out = NULL;
    if (level < 0 || level > 9) {
        if (fd >= 0) {
            close(fd);
        }
        return stk_err_set(err, STOKER_EINVAL, "compression level must be 0 to 9, not %d", level);
    }
    size_t size = strlen(path) + 1;
    struct stk_record_writer *w = stk_alloc(sizeof *w + size);
    if (!w) {
        if (fd >= 0) {
            close(fd);
        }
        return stk_err_nomem(err);
    }
    memcpy(w->path, path, size);
    w->compressed = false;
    w->error = 0;
    w->used = 0;
    w->crc = stk_crc32c_best();
    w->fd = fd;
    enum stoker_status status = STOKER_OK;
    if (codec != STK_RECORD_PLAIN && start_deflate(w, codec, level)) {
        status = stk_err_nomem(err);
    }
    if (!status && fd < 0) {
        do {
            w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        } while (w->fd < 0 && errno == EINTR);
        if (w->fd < 0) {
            status = failed(w, errno, err);
        }
    }
    if (status) {
        dispose(w);
    } else {
        *out = w;
    }
    return status;
}

static void put_le32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> 8 * i);
    }
}

enum stoker_status stk_record_write(struct stk_record_writer *w, const void *data, size_t size,
                                    struct stoker_err *err)
{
    if (w->error) {
        return failed(w, w->error, err);
    }
    uint8_t header[STK_RECORD_HEADER], footer[4];
    put_le32(header, (uint32_t)size);
    put_le32(header + 4, (uint32_t)((uint64_t)size >> 32));
    put_le32(header + 8, stk_crc32c_mask(w->crc(0, header, 8)));
    put_le32(footer, stk_crc32c_mask(w->crc(0, data, size)));
    enum stoker_status status = put(w, header, sizeof header, err);
    if (!status) {
        status = put(w, data, size, err);
    }
    if (!status) {
        status = put(w, footer, sizeof footer, err);
    }
    return status;
}

enum stoker_status stk_record_finish(struct stk_record_writer *w, struct stoker_err *err)
{
    if (!w) {
        return STOKER_OK;
    }
    enum stoker_status status = STOKER_OK;
    if (w->error) {
        status = failed(w, w->error, err);
    }
    if (!status && w->compressed) {
        status = put_deflated(w, NULL, 0, Z_FINISH, err);
    }
    if (!status) {
        status = flush(w, err);
    }
    if (!status) {
        int fd = w->fd;
        w->fd = -1;
        if (close(fd)) {
            status = failed(w, errno, err);
        }
    }
    dispose(w);
    return status;
}
