// SPDX-License-Identifier: Apache-2.0
// Writes wire records from within another program's process, into a file that is allocated ahead
// and mapped: without allocations, locks or system calls. Committed blocks survive any way the
// process ends; at most one block is torn.
//
//   file    header | epilogue, up to STK_WIRE_SLAB_BYTES | slab | slab | ...
//   slab    blocks of one writer, then zeros
//
// A writer belongs to one thread and takes a slab by one atomic addition. A record is written
// directly to its place in the open block; committing fills in the block's header, its magic last
// with a release store. If no slab is left, records are counted as lost. The file's owner extends
// it (stk_wire_slabs_grow) from a thread that may make system calls.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "wire/wire.h"

enum { STK_WIRE_SLAB_BYTES = 64 << 10, STK_WIRE_EPILOGUE_BYTES = 4096 };

struct stk_wire_slabs {
    uint8_t *base;              // start of the mapping and of the header
    atomic_uint_least64_t end;  // end of the reserved space
    atomic_uint_least64_t next; // next free slab
    atomic_uint next_id, next_writer;
    atomic_uint_least64_t lost; // records without space
};

// One writer: all zero but `slabs`.
struct stk_wire_slab {
    struct stk_wire_slabs *slabs;
    uint64_t at, end; // offsets in the file: [at, end) of the slab is free
    uint64_t block;   // where the open block starts; 0: none is open
    uint64_t first_ns, last_ns;
    uint32_t count, number, sequence;
    uint32_t crc;       // of the published part of the open block,
    uint64_t published; // up to here
    uint16_t type;
    bool is_numbered;
};

// File size with `slabs` slabs.
uint64_t stk_wire_slabs_bytes(uint64_t slabs);
// Writes the header of a file whose first `bytes` (from stk_wire_slabs_bytes) are mapped at `base`.
void stk_wire_slabs_begin(struct stk_wire_slabs *s, uint8_t *base, uint64_t bytes,
                          const char *producer, uint64_t pid, uint64_t mono_ns, uint64_t real_ns);
// Extends the file; the address stays the same.
void stk_wire_slabs_grow(struct stk_wire_slabs *s, uint64_t bytes);
// Slabs not taken yet.
uint64_t stk_wire_slabs_left(const struct stk_wire_slabs *s);
// A writer to the epilogue, which always has room: for losses, the reason the recording ended, and
// the END mark.
struct stk_wire_slab stk_wire_slabs_epilogue(struct stk_wire_slabs *s);

// Space for a record of `size` bytes (a multiple of 8), to be filled before the next call; NULL:
// none is left, and the record counts as lost. first_ns and last_ns: its time, 0 for none.
void *stk_wire_slab_put(struct stk_wire_slab *w, enum stk_wire_type type, size_t size,
                        uint64_t first_ns, uint64_t last_ns);
// Makes the records of the open block valid and leaves it open: for writers that are rarely called.
void stk_wire_slab_publish(struct stk_wire_slab *w);
// The same, and closes the block.
void stk_wire_slab_commit(struct stk_wire_slab *w);
// A string of n bytes, truncated to 4096; returns its number, 0 if there is no space.
uint32_t stk_wire_slab_string(struct stk_wire_slab *w, const char *text, size_t n);
uint32_t stk_wire_slab_track(struct stk_wire_slab *w, enum stk_wire_track_kind kind, int64_t number,
                             int device, uint32_t name);
// Writes the END mark; no record may follow.
void stk_wire_slab_end(struct stk_wire_slab *w);
