// SPDX-License-Identifier: Apache-2.0
// Raw deflate by ISA-L (igzip_lib.h; tested with 2.30). It copies through an internal buffer for
// the first 64 KiB of each call, so calls should request much. A trap handled here: when it finds
// damage it may still hold bytes decoded before it.
#include "base/inflate.h"

#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

#define RUN_MAX ((size_t)1 << 28)

struct engine {
    bool damaged;
    struct inflate_state state;
};

// What save() stores: everything up to the output history, and only the valid part of that.
struct saved {
    size_t size;
    _Alignas(struct inflate_state) unsigned char bytes[];
};

static void reset_engine(void *p)
{
    struct engine *e = p;
    e->damaged = false;
    isal_inflate_reset(&e->state);
    e->state.crc_flag = ISAL_GZIP_NO_HDR;
}

static void *open_engine(void)
{
    struct engine *e = stk_alloc_zero(1, sizeof *e);
    if (!e) {
        return NULL;
    }
    isal_inflate_init(&e->state);
    reset_engine(e);
    return e;
}

// Outputs what was decoded before the damage; true once nothing is left.
static bool drain(struct inflate_state *s, struct stk_inflate_io *io)
{
    size_t left = (size_t)(s->tmp_out_valid - s->tmp_out_processed);
    size_t n = left < io->out_len ? left : io->out_len;
    memcpy(io->out, s->tmp_out_buffer + s->tmp_out_processed, n);
    s->tmp_out_processed += (int32_t)n;
    io->out += n;
    io->out_len -= n;
    return n == left;
}

static enum stk_inflate_result run(void *p, struct stk_inflate_io *io)
{
    struct engine *e = p;
    struct inflate_state *s = &e->state;
    if (!e->damaged) {
        size_t in = io->in_len < RUN_MAX ? io->in_len : RUN_MAX;
        size_t out = io->out_len < RUN_MAX ? io->out_len : RUN_MAX;
        s->next_in = (uint8_t *)io->in; // not written to
        s->avail_in = (uint32_t)in;
        s->next_out = io->out;
        s->avail_out = (uint32_t)out;
        e->damaged = isal_inflate(s) < 0;
        if (s->avail_in > in) { // seen on damaged input: counted below zero
            s->avail_in = 0;
            e->damaged = true;
        }
        io->in += in - s->avail_in;
        io->in_len -= in - s->avail_in;
        io->out += out - s->avail_out;
        io->out_len -= out - s->avail_out;
    }
    if (e->damaged) {
        return drain(s, io) ? STK_INFLATE_BAD : STK_INFLATE_MORE;
    }
    return s->block_state == ISAL_BLOCK_FINISH ? STK_INFLATE_END : STK_INFLATE_MORE;
}

static uint32_t crc(const void *p)
{
    return ((const struct engine *)p)->state.crc;
}

static size_t surplus(void *p, uint8_t bytes[8])
{
    struct inflate_state *s = &((struct engine *)p)->state;
    int32_t bits = s->read_in_length > 0 ? s->read_in_length : 0;
    uint64_t held = s->read_in >> bits % 8;
    size_t n = (size_t)bits / 8;
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(held >> 8 * i);
    }
    s->read_in = 0;
    s->read_in_length = 0;
    return n;
}

static void *save(const void *p)
{
    const struct inflate_state *s = &((const struct engine *)p)->state;
    size_t size = offsetof(struct inflate_state, tmp_out_buffer) + (size_t)s->tmp_out_valid;
    struct saved *saved = stk_alloc(sizeof *saved + size);
    if (!saved) {
        return NULL;
    }
    saved->size = size;
    memcpy(saved->bytes, s, size);
    return saved;
}

static int load(void *p, const void *q)
{
    const struct saved *saved = q;
    struct engine *e = p;
    e->damaged = false;
    memcpy(&e->state, saved->bytes, saved->size);
    return 0;
}

const struct stk_inflate_engine stk_inflate_isal = {
    .name = "ISA-L",
    .open = open_engine,
    .close = stk_free,
    .reset = reset_engine,
    .run = run,
    .crc = crc,
    .surplus = surplus,
    .save = save,
    .load = load,
    .free_saved = stk_free,
};
