// SPDX-License-Identifier: Apache-2.0
// Raw deflate by zlib: the fallback without ISA-L, and the reference in tests.
#include "base/inflate.h"

#include <limits.h>
#include <stdbool.h>
#include <zlib.h>

#include "base/alloc.h"

struct engine {
    z_stream z;
    uint32_t crc;
    bool live; // z holds an initialized stream
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

static int start(struct engine *e)
{
    e->z = (z_stream){.zalloc = allocate, .zfree = release};
    e->crc = 0;
    e->live = inflateInit2(&e->z, -MAX_WBITS) == Z_OK;
    return e->live ? 0 : -1;
}

static void *open_engine(void)
{
    struct engine *e = stk_alloc_zero(1, sizeof *e);
    if (e && start(e)) {
        stk_free(e);
        return NULL;
    }
    return e;
}

static void close_engine(void *p)
{
    struct engine *e = p;
    if (e && e->live) {
        inflateEnd(&e->z);
    }
    stk_free(e);
}

static void reset_engine(void *p)
{
    struct engine *e = p;
    e->crc = 0;
    if (e->live) {
        inflateReset(&e->z);
    } else {
        start(e); // run() reports it if this fails
    }
}

static enum stk_inflate_result run(void *p, struct stk_inflate_io *io)
{
    struct engine *e = p;
    if (!e->live) {
        return STK_INFLATE_NOMEM;
    }
    uInt in = io->in_len < UINT_MAX ? (uInt)io->in_len : UINT_MAX;
    uInt out = io->out_len < UINT_MAX ? (uInt)io->out_len : UINT_MAX;
    e->z.next_in = (Bytef *)io->in; // not written to
    e->z.avail_in = in;
    e->z.next_out = io->out;
    e->z.avail_out = out;
    int result = inflate(&e->z, Z_NO_FLUSH);
    uInt made = out - e->z.avail_out;
    e->crc = (uint32_t)crc32_z(e->crc, io->out, made);
    io->in += in - e->z.avail_in;
    io->in_len -= in - e->z.avail_in;
    io->out += made;
    io->out_len -= made;
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR: // no progress possible without more input or room
        return STK_INFLATE_MORE;
    case Z_STREAM_END:
        return STK_INFLATE_END;
    case Z_MEM_ERROR:
        return STK_INFLATE_NOMEM;
    default:
        return STK_INFLATE_BAD;
    }
}

static uint32_t crc(const void *p)
{
    return ((const struct engine *)p)->crc;
}

static size_t surplus(void *p, uint8_t bytes[8])
{
    (void)p;
    (void)bytes;
    return 0; // zlib only takes the bytes it needs
}

static int copy(struct engine *to, const struct engine *from)
{
    *to = (struct engine){.crc = from->crc};
    // inflateCopy doesn't change its source, though the parameter isn't const.
    to->live = inflateCopy(&to->z, (z_stream *)&from->z) == Z_OK;
    return to->live ? 0 : -1;
}

static void *save(const void *p)
{
    const struct engine *e = p;
    struct engine *saved = e->live ? stk_alloc_zero(1, sizeof *saved) : NULL;
    if (saved && copy(saved, e)) {
        stk_free(saved);
        return NULL;
    }
    return saved;
}

static int load(void *p, const void *saved)
{
    struct engine *e = p;
    if (e->live) {
        inflateEnd(&e->z);
    }
    return copy(e, saved);
}

const struct stk_inflate_engine stk_inflate_zlib = {
    .name = "zlib",
    .open = open_engine,
    .close = close_engine,
    .reset = reset_engine,
    .run = run,
    .crc = crc,
    .surplus = surplus,
    .save = save,
    .load = load,
    .free_saved = close_engine,
};
