// SPDX-License-Identifier: Apache-2.0
// Writing wire records from inside another program's process: into a file that is allocated ahead
// and mapped, without allocations, locks or system calls. Committed
// blocks survive any way the process dies; at most one block is torn.
//
//   file    header | epilogue, up to STK_WIRE_SLAB_BYTES | slab | slab | ...
//   slab    blocks of one writer, then zeros
//
// A writer belongs to one thread and takes a slab by one atomic addition; a record goes straight to
// its place in the block that is open, and committing fills in the block's header, its magic last
// and by a release store. Where no slab is left, records are counted as lost. Who owns the file
// lays out more of it (stk_wire_slabs_grow) from a thread that may call the system.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "wire/wire.h"

enum { STK_WIRE_SLAB_BYTES = 64 << 10, STK_WIRE_EPILOGUE_BYTES = 4096 };

struct stk_wire_slabs {
    uint8_t *base;              // start of the mapping and of the header
    atomic_uint_least64_t end;  // of what is laid out
    atomic_uint_least64_t next; // slab
    atomic_uint next_id, next_writer;
    atomic_uint_least64_t lost; // records that found no room
};

// One writer: all zeros but for `slabs`, which makes it one.
struct stk_wire_slab {
    struct stk_wire_slabs *slabs;
    uint64_t at, end; // of the slab in the file: [at, end) is free
    uint64_t block;   // where the open block begins; 0: none is open
    uint64_t first_ns, last_ns;
    uint32_t count, number, sequence;
    uint32_t crc;       // of what is published of the open block,
    uint64_t published; // up to here
    uint16_t type;
    bool is_numbered;
};

// Bytes of the file up to which `slabs` slabs lie.
uint64_t stk_wire_slabs_bytes(uint64_t slabs);
// The header of a file whose first `bytes` (stk_wire_slabs_bytes of some) are laid out at `base`.
void stk_wire_slabs_begin(struct stk_wire_slabs *s, uint8_t *base, uint64_t bytes,
                          const char *producer, uint64_t pid, uint64_t mono_ns, uint64_t real_ns);
// Extends the file; the address stays the same.
void stk_wire_slabs_grow(struct stk_wire_slabs *s, uint64_t bytes);
// Slabs that nobody took.
uint64_t stk_wire_slabs_left(const struct stk_wire_slabs *s);
// A writer into the epilogue, which always has room: for what was lost, why
// the record ends, and the END mark.
struct stk_wire_slab stk_wire_slabs_epilogue(struct stk_wire_slabs *s);

// Room for a record of `size` bytes (a multiple of 8), to be filled before the next call; NULL:
// none is left, and the record counts as lost. first_ns and last_ns: its time, 0 for none.
void *stk_wire_slab_put(struct stk_wire_slab *w, enum stk_wire_type type, size_t size,
                        uint64_t first_ns, uint64_t last_ns);
// Makes the records of the open block count and leaves it open: for writers that come by seldom.
void stk_wire_slab_publish(struct stk_wire_slab *w);
// The same, and closes the block.
void stk_wire_slab_commit(struct stk_wire_slab *w);
// Text of n bytes, cut to 4096; its number, 0 where no room is left.
uint32_t stk_wire_slab_string(struct stk_wire_slab *w, const char *text, size_t n);
uint32_t stk_wire_slab_track(struct stk_wire_slab *w, enum stk_wire_track_kind kind, int64_t number,
                             int device, uint32_t name);
// The END mark; no record may follow.
void stk_wire_slab_end(struct stk_wire_slab *w);
