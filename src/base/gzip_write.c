// SPDX-License-Identifier: Apache-2.0
// gzip output by zlib.
#include "base/gzip_write.h"

#include <stdbool.h>
#include <zlib.h>

#include "base/alloc.h"

#define GZIP_WINDOW_BITS (15 + 16) // with a gzip header and trailer
#define BUFFER_BYTES ((size_t)256 << 10)

struct stk_gzip_write {
    z_stream z;
    stk_gzip_write_fn *write;
    void *arg;
    bool failed;
    unsigned char buffer[BUFFER_BYTES];
};

static void *allocate(void *unused, uInt count, uInt size)
{
    (void)unused;
    return stk_alloc_array(count, size);
}

static void release(void *unused, void *p)
{
    (void)unused;
    stk_free(p);
}

struct stk_gzip_write *stk_gzip_write_open(enum stk_gzip_level level, stk_gzip_write_fn *write,
                                           void *arg)
{
    struct stk_gzip_write *w = stk_alloc(sizeof *w);
    if (!w) {
        return NULL;
    }
    w->z = (z_stream){.zalloc = allocate, .zfree = release};
    w->write = write;
    w->arg = arg;
    w->failed = false;
    if (deflateInit2(&w->z, (int)level, Z_DEFLATED, GZIP_WINDOW_BITS, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        stk_free(w);
        return NULL;
    }
    return w;
}

// Until the input is used up, or with Z_FINISH all output is written.
static void run(struct stk_gzip_write *w, int flush)
{
    int rc = Z_OK;
    do {
        w->z.next_out = w->buffer;
        w->z.avail_out = BUFFER_BYTES;
        rc = deflate(&w->z, flush);
        size_t n = BUFFER_BYTES - w->z.avail_out;
        if (rc == Z_STREAM_ERROR || (n && w->write(w->arg, (const char *)w->buffer, n) != 0)) {
            w->failed = true;
        }
    } while (!w->failed && (w->z.avail_out == 0 || (flush == Z_FINISH && rc != Z_STREAM_END)));
}

int stk_gzip_write_bytes(void *writer, const char *bytes, size_t n)
{
    struct stk_gzip_write *w = writer;
    while (n > 0 && !w->failed) {
        uInt part = n < (1u << 30) ? (uInt)n : 1u << 30;
        w->z.next_in = (Bytef *)(uintptr_t)bytes;
        w->z.avail_in = part;
        run(w, Z_NO_FLUSH);
        bytes += part;
        n -= part;
    }
    return w->failed;
}

int stk_gzip_write_finish(struct stk_gzip_write *w)
{
    if (!w->failed) {
        run(w, Z_FINISH);
    }
    return w->failed;
}

void stk_gzip_write_close(struct stk_gzip_write *w)
{
    if (!w) {
        return;
    }
    deflateEnd(&w->z);
    stk_free(w);
}
