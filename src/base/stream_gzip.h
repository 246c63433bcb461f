// SPDX-License-Identifier: Apache-2.0
// gzip framing (RFC 1952) over a deflate decoder: headers, trailers, members one after the other;
// and zlib framing (RFC 1950), the same with a shorter header and trailer and one member.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/inflate.h"

enum stk_gzip_phase { STK_GZIP_HEADER, STK_GZIP_BODY, STK_GZIP_TRAILER };

struct stk_gzip {
    const struct stk_inflate_engine *engine;
    void *inflate;
    bool is_zlib; // set it after stk_gzip_open, before any run
    enum stk_gzip_phase phase;
    int field;      // the part of the header being read
    uint32_t count; // bytes of that part, or of the trailer, read so far
    uint32_t extra_len;
    uint8_t flags;
    uint8_t trailer[8];
    uint32_t adler;        // of this member, zlib only
    uint64_t member_bytes; // decompressed, of this member
    uint64_t members;      // complete members
    const char *why;       // after STK_INFLATE_BAD: what is wrong; static
};

// State in the middle of a member, for resuming there.
struct stk_gzip_mark {
    void *saved; // the engine's state
    uint64_t member_bytes;
    uint32_t adler;
};

int stk_gzip_open(struct stk_gzip *g, const struct stk_inflate_engine *engine); // -1: no memory
void stk_gzip_close(struct stk_gzip *g);
// Restarts at the start of a member; `members` says whether any came before it.
void stk_gzip_restart(struct stk_gzip *g, uint64_t members);
// MORE: io->in is used up or io->out is full. END: a member is complete; others may follow.
enum stk_inflate_result stk_gzip_run(struct stk_gzip *g, struct stk_inflate_io *io);
// May the input end here? True between members.
bool stk_gzip_may_end(const struct stk_gzip *g);
// Only in the body phase. save: -1 if memory is short.
int stk_gzip_save(const struct stk_gzip *g, struct stk_gzip_mark *mark);
int stk_gzip_load(struct stk_gzip *g, const struct stk_gzip_mark *mark);
