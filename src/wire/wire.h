// SPDX-License-Identifier: Apache-2.0
// stoker's own records of a run (*.stk), version 1: shared by who writes them (the input pipeline,
// capture) and who reads them.
//
//   file    struct stk_wire_header, then consecutive blocks, each 8-byte aligned
//   block   struct stk_wire_block, then `length` bytes: `count` records of the block's type
//   zeros   between blocks: room that was laid out ahead and is not written (wire_slab.h)
//
// Everything is little-endian. Times are nanoseconds of the writer's monotonic clock; anchors tie
// them to the time of day. Names are strings by number, defined in a block before their first use
// by the same writer (numbers are unique in the file). Several writers append blocks in any order:
// `writer` and `sequence` tell theirs apart. A block of an unknown type is passed over by its
// length; a block whose checksum is wrong costs itself, and the next one is found by its magic. A
// file without an END block comes from a killed run, and is still read.
#pragma once

#include <stdint.h>

#define STK_WIRE_MAGIC "stkwire\1"
#define STK_WIRE_BLOCK_MAGIC 0x424b5453u // "STKB"
#define STK_WIRE_VERSION 1
#define STK_WIRE_BLOCK_MAX (64u << 20) // bytes; a longer one is damage

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "wire records are little-endian");

// Events of input stages hold the elements that their calls gave (in older files something else),
// with those of calls that were left out before.
#define STK_WIRE_HAS_ELEMENTS 1u

struct stk_wire_header {
    char magic[8];
    uint16_t version, header_bytes;
    uint32_t flags;    // STK_WIRE_HAS_ELEMENTS
    uint64_t pid;      // of the process that was recorded
    uint64_t mono_ns;  // first anchor: the same moment on both clocks
    uint64_t real_ns;  // since 1970
    char producer[24]; // "stoker.data 0.1.0", padded with zeros
};

enum stk_wire_type {
    STK_WIRE_STRINGS = 1, // struct stk_wire_string and its bytes, padded to 8
    STK_WIRE_TRACKS,      // struct stk_wire_track
    STK_WIRE_EVENTS,      // struct stk_wire_event: what host threads and devices did
    STK_WIRE_STEPS,       // struct stk_wire_step
    STK_WIRE_STAGES,      // struct stk_wire_stage: an input stage's counts at a moment
    STK_WIRE_COUNTERS,    // struct stk_wire_counter
    STK_WIRE_LOSSES,      // struct stk_wire_loss: what was not recorded, and how much
    STK_WIRE_ANCHORS,     // struct stk_wire_anchor
    STK_WIRE_END,         // no records: the writer ended well
    STK_WIRE_WORK,        // struct stk_wire_work: what a device did, with what is known of it
    STK_WIRE_CONFIGS,     // struct stk_wire_config: how kernels are launched
    STK_WIRE_CLOCKS,      // struct stk_wire_clock: a clock of a device against the writer's
    STK_WIRE_DEVICES,     // struct stk_wire_device
    STK_WIRE_WINDOWS,     // struct stk_wire_window: when it was recorded
    STK_WIRE_FACTS        // struct stk_wire_fact: what is known of the program
};

struct stk_wire_block {
    uint32_t magic;
    uint16_t type, flags;
    uint32_t length; // of the payload, a multiple of 8
    uint32_t count;  // records
    uint32_t writer, sequence;
    uint32_t crc;               // CRC-32C of the payload
    uint32_t head_crc;          // of this header with head_crc 0
    uint64_t first_ns, last_ns; // of the records; 0 where they have no time
};

struct stk_wire_string {
    uint32_t id, bytes;
};

// STK_WIRE_SAMPLED: what counters are of, see samples.h. STK_WIRE_ASIDE: neither a thread nor a
// queue: synchronizations as the device's driver tells them.
enum stk_wire_track_kind {
    STK_WIRE_HOST = 0,
    STK_WIRE_DEVICE = 1,
    STK_WIRE_SAMPLED = 2,
    STK_WIRE_ASIDE = 3
};
struct stk_wire_track {
    uint32_t id, kind;
    int64_t number; // thread id, or stream
    int32_t device; // -1: none
    uint32_t name;  // string, 0: none
};

enum stk_wire_event_kind {
    STK_WIRE_HOST_OP = 0,
    STK_WIRE_RUNTIME,
    STK_WIRE_KERNEL,
    STK_WIRE_MEMCPY,
    STK_WIRE_MEMSET,
    STK_WIRE_SYNC,
    STK_WIRE_ANNOTATION,
    STK_WIRE_PYTHON,
    STK_WIRE_INPUT,
    STK_WIRE_OVERHEAD // of the profiler
};
// The name of an annotation that says which stage limited a run: this, the time that its consumer
// waited in ns (20 digits), and "|what|where it is written|stage|percent of the stages' time";
// what: a word of wire/limits.def.
#define STK_WIRE_LIMIT "stoker.data limit: "
// The name of an event in which the consumer asks stoker.data for a batch. Fetches from iterators
// of others, as the hooks of `stoker run` see them, have these iterators' names.
#define STK_WIRE_NEXT "stoker.data next"
// What a record of a DataLoader's worker (stoker.trace_worker) calls a batch, and putting its items
// together; the items themselves have the names of Python's frames.
#define STK_WIRE_WORKER_BATCH "stoker worker: batch"
#define STK_WIRE_WORKER_COLLATE "stoker worker: collate"
// What a step is named in the trace, before its number.
#define STK_WIRE_STEP_NAME "StokerStep#"
struct stk_wire_event {
    uint64_t start_ns, dur_ns;
    uint32_t name, track;
    uint32_t kind;
    uint32_t value;       // of an input stage: elements given, where the header says so
    uint64_t correlation; // host call and device work with the same number belong together; 0: none
};

struct stk_wire_step {
    uint64_t start_ns, dur_ns, number;
    uint32_t track, reserved;
};

struct stk_wire_stage {
    uint64_t time_ns, elements, errors, skipped;
    uint64_t busy_ns, wait_ns,
        starve_ns; // since the start: own CPU; blocked on its input; its consumer on it
    uint32_t name, stage,
        parent; // string; number of the stage, and of the one it feeds (itself: the last)
    uint32_t threads, fill, capacity; // now
};

struct stk_wire_counter {
    uint64_t time_ns;
    uint32_t name, track; // track 0: of none
    double value;
};

// What a loss is: left out on purpose; lost, though it was to be recorded; a sentence for the
// reader, of which nothing was lost.
enum stk_wire_loss_kind { STK_WIRE_LEFT_OUT = 0, STK_WIRE_DROPPED = 1, STK_WIRE_REMARK = 2 };
struct stk_wire_loss {
    uint64_t count;
    uint32_t what, kind; // string; enum stk_wire_loss_kind
};

struct stk_wire_anchor {
    uint64_t mono_ns, real_ns;
};

// Work of a device. Directions and memories are CUPTI's numbers: copies 1 host to device, 2 device
// to host, 8 within a device, 9 within the host, 10 between devices; memories 1 pageable, 2 pinned,
// 3 device, 4 array, 5 managed.
struct stk_wire_work {
    uint64_t start_ns, dur_ns;
    uint32_t name, track;
    uint16_t kind; // STK_WIRE_KERNEL, _MEMCPY, _MEMSET or _SYNC
    uint8_t direction, from, to, is_async;
    uint8_t in_graph, reserved;
    uint64_t bytes; // of a copy or memset
    uint64_t correlation;
    uint32_t config; // of a kernel: number of a struct stk_wire_config; 0: none
    uint32_t graph;  // number of the launched graph; 0: none
};

struct stk_wire_config {
    uint32_t id, grid[3], block[3];
    uint32_t registers, shared_bytes, local_bytes; // of a thread, a block, a thread
};

// At mono_ns of the writer's clock the device's records say source_ns; known to width_ns.
struct stk_wire_clock {
    uint64_t mono_ns, source_ns, width_ns;
};

struct stk_wire_device {
    int32_t ordinal, sm_count, cc_major, cc_minor; // 0: unknown
    uint64_t memory_bytes;
    uint32_t name, reserved;
    uint32_t sm_threads, sm_blocks, sm_registers, sm_shared_bytes; // 0: unknown
};

// One window: calls and work are recorded between these moments.
struct stk_wire_window {
    uint64_t start_ns, dur_ns; // dur_ns 0: still open
    uint32_t number, reserved;
    uint64_t records, dropped;
    uint64_t own_ns; // processor time that the recorder took in it
};

// A fact of the program: both are strings. More than one of a key may be there.
struct stk_wire_fact {
    uint32_t key, value;
};
// A framework that the hooks saw at work: "pytorch", "tensorflow" or "jax".
#define STK_WIRE_FRAMEWORK "framework"

_Static_assert(sizeof(struct stk_wire_header) == 64 && sizeof(struct stk_wire_block) == 48 &&
                   sizeof(struct stk_wire_event) == 40 && sizeof(struct stk_wire_stage) == 80 &&
                   sizeof(struct stk_wire_track) == 24 && sizeof(struct stk_wire_step) == 32 &&
                   sizeof(struct stk_wire_counter) == 24 && sizeof(struct stk_wire_work) == 56 &&
                   sizeof(struct stk_wire_config) == 40 && sizeof(struct stk_wire_clock) == 24 &&
                   sizeof(struct stk_wire_device) == 48 && sizeof(struct stk_wire_window) == 48 &&
                   sizeof(struct stk_wire_fact) == 8,
               "records have no holes and one layout everywhere");
