// SPDX-License-Identifier: Apache-2.0
// stoker's own recording of a run (*.stk), version 1: shared by its writers (the input pipeline,
// capture) and readers.
//
//   file    struct stk_wire_header, then consecutive blocks, each 8-byte aligned
//   block   struct stk_wire_block, then `length` bytes: `count` records of the block's type
//   zeros   between blocks: space that was reserved and not written (wire_slab.h)
//
// Everything is little-endian. Times are nanoseconds of the writer's monotonic clock; anchors tie
// them to the time of day. Names are string numbers, defined in a block before their first use by
// the same writer (numbers are unique in the file). Several writers append blocks in any order;
// `writer` and `sequence` identify them. A block of an unknown type is skipped by its length; a
// block with a wrong checksum is lost, and the next one is found by its magic. A file without an
// END block comes from a killed run, and is still read.
#pragma once

#include <stdint.h>

#define STK_WIRE_MAGIC "stkwire\1"
#define STK_WIRE_BLOCK_MAGIC 0x424b5453u // "STKB"
#define STK_WIRE_VERSION 1
#define STK_WIRE_BLOCK_MAX (64u << 20) // bytes; a longer one is damage

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "wire records are little-endian");

// Events of input stages have the number of elements that their calls returned (something else in
// older files), including those of calls left out before.
#define STK_WIRE_HAS_ELEMENTS 1u

struct stk_wire_header {
    char magic[8];
    uint16_t version, header_bytes;
    uint32_t flags;    // STK_WIRE_HAS_ELEMENTS
    uint64_t pid;      // the recorded process
    uint64_t mono_ns;  // first anchor: the same moment on both clocks
    uint64_t real_ns;  // since 1970
    char producer[24]; // "stoker.data 0.1.0", padded with zeros
};

enum stk_wire_type {
    STK_WIRE_STRINGS = 1, // struct stk_wire_string and its bytes, padded to 8
    STK_WIRE_TRACKS,      // struct stk_wire_track
    STK_WIRE_EVENTS,      // what CPU threads and devices did
    STK_WIRE_STEPS,       // struct stk_wire_step
    STK_WIRE_STAGES,      // an input stage's counts at one time
    STK_WIRE_COUNTERS,    // struct stk_wire_counter
    STK_WIRE_LOSSES,      // what wasn't recorded, and how much
    STK_WIRE_ANCHORS,     // struct stk_wire_anchor
    STK_WIRE_END,         // no records: the writer ended normally
    STK_WIRE_WORK,        // device work, with its details
    STK_WIRE_CONFIGS,     // launch configurations of kernels
    STK_WIRE_CLOCKS,      // a device clock relative to the writer's
    STK_WIRE_DEVICES,     // struct stk_wire_device
    STK_WIRE_WINDOWS,     // recorded time ranges
    STK_WIRE_FACTS        // facts about the program
};

struct stk_wire_block {
    uint32_t magic;
    uint16_t type, flags;
    uint32_t length; // of the payload, a multiple of 8
    uint32_t count;  // records
    uint32_t writer, sequence;
    uint32_t crc;               // CRC-32C of the payload
    uint32_t head_crc;          // of this header with head_crc 0
    uint64_t first_ns, last_ns; // of the records; 0 if they have no time
};

struct stk_wire_string {
    uint32_t id, bytes;
};

// STK_WIRE_SAMPLED: what counters belong to, see samples.h. STK_WIRE_ASIDE: neither a thread nor a
// queue: synchronizations reported by the device's driver.
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
    STK_WIRE_OVERHEAD // the profiler's
};
// The name of an annotation about the stage that limited a run: this text, the time its consumer
// waited in ns (20 digits), and "|what|source line|stage|percent of the stages' time"; what: a word
// of wire/limits.def.
#define STK_WIRE_LIMIT "stoker.data limit: "
// The name of an event in which the consumer asks stoker.data for a batch. Fetches from other
// iterators, recorded by the hooks of `stoker run`, have those iterators' names.
#define STK_WIRE_NEXT "stoker.data next"
// The name of a batch in the recording of a DataLoader worker (stoker.trace_worker), including
// collating its items; the items have the names of Python's frames.
#define STK_WIRE_WORKER_BATCH "stoker worker: batch"
#define STK_WIRE_WORKER_COLLATE "stoker worker: collate"
// A step's name in the trace, before its number.
#define STK_WIRE_STEP_NAME "StokerStep#"
struct stk_wire_event {
    uint64_t start_ns, dur_ns;
    uint32_t name, track;
    uint32_t kind;
    uint32_t value;       // input stage: elements returned, if the header says so
    uint64_t correlation; // joins a CPU call and the device work with the same number; 0: none
};

struct stk_wire_step {
    uint64_t start_ns, dur_ns, number;
    uint32_t track, reserved;
};

struct stk_wire_stage {
    uint64_t time_ns, elements, errors, skipped;
    uint64_t busy_ns, wait_ns,
        starve_ns; // since the start: own CPU time; blocked on its input; its consumer blocked on
                   // it
    uint32_t name, stage,
        parent; // string; number of the stage, and of the one it feeds (the last: itself)
    uint32_t threads, fill, capacity; // now
};

struct stk_wire_counter {
    uint64_t time_ns;
    uint32_t name, track; // track 0: none
    double value;
};

// Kinds of losses: left out on purpose; dropped, although it should have been recorded; a remark
// for the reader, without a loss.
enum stk_wire_loss_kind { STK_WIRE_LEFT_OUT = 0, STK_WIRE_DROPPED = 1, STK_WIRE_REMARK = 2 };
struct stk_wire_loss {
    uint64_t count;
    uint32_t what, kind; // string; enum stk_wire_loss_kind
};

struct stk_wire_anchor {
    uint64_t mono_ns, real_ns;
};

// Device work. Directions and memories are CUPTI's numbers: copies 1 host to device, 2 device to
// host, 8 within a device, 9 within the host, 10 between devices; memories 1 pageable, 2 pinned, 3
// device, 4 array, 5 managed.
struct stk_wire_work {
    uint64_t start_ns, dur_ns;
    uint32_t name, track;
    uint16_t kind; // STK_WIRE_KERNEL, _MEMCPY, _MEMSET or _SYNC
    uint8_t direction, from, to, is_async;
    uint8_t in_graph, reserved;
    uint64_t bytes; // of a copy or memset
    uint64_t correlation;
    uint32_t config; // kernel: number of a struct stk_wire_config; 0: none
    uint32_t graph;  // number of the launched graph; 0: none
};

struct stk_wire_config {
    uint32_t id, grid[3], block[3];
    uint32_t registers, shared_bytes, local_bytes; // per thread, per block, per thread
};

// At mono_ns of the writer's clock, the device's clock is source_ns, with an uncertainty of
// width_ns.
struct stk_wire_clock {
    uint64_t mono_ns, source_ns, width_ns;
};

struct stk_wire_device {
    int32_t ordinal, sm_count, cc_major, cc_minor; // 0: unknown
    uint64_t memory_bytes;
    uint32_t name, reserved;
    uint32_t sm_threads, sm_blocks, sm_registers, sm_shared_bytes; // 0: unknown
};

// One window: calls and work were recorded during this time.
struct stk_wire_window {
    uint64_t start_ns, dur_ns; // dur_ns 0: still open
    uint32_t number, reserved;
    uint64_t records, dropped;
    uint64_t own_ns; // CPU time of the recorder during the window
};

// A fact about the program: both are strings. A key may occur more than once.
struct stk_wire_fact {
    uint32_t key, value;
};
// A framework that the hooks saw in use: "pytorch", "tensorflow" or "jax".
#define STK_WIRE_FRAMEWORK "framework"

_Static_assert(sizeof(struct stk_wire_header) == 64 && sizeof(struct stk_wire_block) == 48 &&
                   sizeof(struct stk_wire_event) == 40 && sizeof(struct stk_wire_stage) == 80 &&
                   sizeof(struct stk_wire_track) == 24 && sizeof(struct stk_wire_step) == 32 &&
                   sizeof(struct stk_wire_counter) == 24 && sizeof(struct stk_wire_work) == 56 &&
                   sizeof(struct stk_wire_config) == 40 && sizeof(struct stk_wire_clock) == 24 &&
                   sizeof(struct stk_wire_device) == 48 && sizeof(struct stk_wire_window) == 48 &&
                   sizeof(struct stk_wire_fact) == 8,
               "records have no holes and one layout everywhere");
