// SPDX-License-Identifier: Apache-2.0
// The trace: every event of one input, as columns, ordered by track and time.
//
//   processes -- devices -- tracks (thread, stream, ...) -- events [first, first + count)
//
// Events of one track are contiguous, sorted by start ascending, then duration descending, so a
// parent precedes its children; `depth` is the nesting level. Events that overlap without nesting
// go to a sub-row: a track of its own, right after the original one, which is its `parent`; depth
// counts from 0 there. Host calls and the device work they launched are linked both ways. A store
// is built through profile/store/build.h, is immutable afterwards, and may be read by any number of
// threads.
//
// Memory: 27 bytes an event plus 24 for those that carry values (device work, step markers,
// allocator events), plus strings; 16 for each detail, if an analysis asked for them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/terms.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strpool.h"
#include "profile/store/told.h"

#define STK_NONE UINT32_MAX

enum stk_kind {
#define K(id, key, meaning) STK_KIND_##id,
#include "profile/store/kinds.def"
#undef K
    STK_KIND_COUNT,
    STK_KIND_UNSET = 255 // while building: decided from the track and the name at finish
};
const char *stk_kind_key(enum stk_kind kind); // "host_op", ...

enum stk_issue_id {
#define I(id, key, severity, meaning, remedy) STK_ISSUE_##id,
#include "profile/store/issues.def"
#undef I
    STK_ISSUE_COUNT
};
struct stk_issue_info {
    const char *key, *meaning, *remedy;
    enum stk_severity severity;
};
const struct stk_issue_info *stk_issue_info(enum stk_issue_id id);

// Details that a reader only keeps on request (struct stk_read_ctx, struct stk_view_hook).
#define STK_WANT_MEMORY 1u
#define STK_WANT_COUNTERS 2u
#define STK_WANT_COLLECTIVES 4u
#define STK_WANT_INPUT 8u
#define STK_WANT_LAUNCHES 16u  // launch configurations
#define STK_WANT_SCOPES 32u    // the framework's own names of device operations
#define STK_WANT_SHAPES 64u    // dimensions of operations' inputs
#define STK_WANT_GRIDS 128u    // only launch configurations of kernels, without their costs
#define STK_WANT_MESSAGES 256u // only sizes and groups of collectives, without gradients
static inline bool stk_wants_grids(uint32_t wants)
{
    return wants & (STK_WANT_LAUNCHES | STK_WANT_GRIDS);
}

static inline bool stk_wants_messages(uint32_t wants)
{
    return wants & (STK_WANT_COLLECTIVES | STK_WANT_MESSAGES);
}

// Values that only some events have, kept only on request (profile/store/details.def).
enum stk_detail_key {
#define D(id, key, type, meaning) STK_DETAIL_##id,
#include "profile/store/details.def"
#undef D
    STK_DETAIL_COUNT
};
enum stk_detail_type { STK_DETAIL_INT, STK_DETAIL_REAL, STK_DETAIL_TEXT };
enum stk_detail_type stk_detail_type_of(enum stk_detail_key key);
const char *stk_detail_key_text(enum stk_detail_key key); // "address", ...
struct stk_detail {
    enum stk_detail_key key;
    union {
        int64_t number;
        double real;
        uint32_t text; // string id
    };
};

enum stk_track_kind {
    STK_TRACK_THREAD,  // host thread
    STK_TRACK_STREAM,  // device queue: its events are device work
    STK_TRACK_DERIVED, // computed by the profiler or an analyzer: hints, never busy time
    STK_TRACK_COUNTER, // sampled values
    STK_TRACK_OTHER
};

// Ways a copy can go, and memories it can touch.
enum stk_dir { STK_DIR_UNKNOWN, STK_DIR_H2D, STK_DIR_D2H, STK_DIR_D2D, STK_DIR_P2P, STK_DIR_H2H };
enum stk_mem {
    STK_MEM_UNKNOWN,
    STK_MEM_PAGEABLE,
    STK_MEM_PINNED,
    STK_MEM_DEVICE,
    STK_MEM_ARRAY,
    STK_MEM_MANAGED
};

const char *stk_dir_key(uint8_t dir); // "h2d", ...; NULL unknown
const char *stk_mem_key(uint8_t mem); // "pinned", ...; NULL unknown

enum stk_device_kind { STK_DEVICE_GPU, STK_DEVICE_TPU, STK_DEVICE_OTHER };

struct stk_process {
    int64_t pid;   // as recorded
    int32_t rank;  // -1 unknown
    uint32_t name; // string id, 0 unknown
    uint32_t host; // string id, 0 unknown
};

// A device's capacities and rates, from the file; 0 unknown.
struct stk_device_limits {
    int32_t sm_threads, sm_blocks, sm_registers, sm_shared_bytes; // of one SM
    int32_t warp_threads;
    int64_t memory_bytes_per_s, flops_per_s;
};

struct stk_device {
    uint32_t process;   // index
    int64_t ordinal;    // the process's number of the device
    uint32_t source_id; // string id: the file's id (pid, process/deviceId, plane name)
    uint32_t name;      // string id: "H100 80GB HBM3"; 0 unknown
    enum stk_device_kind kind;
    int32_t sm_count, cc_major, cc_minor; // 0 unknown
    int64_t memory_bytes;                 // 0 unknown
    struct stk_device_limits limits;
};

struct stk_track {
    enum stk_track_kind kind;
    uint32_t process;      // index
    uint32_t device;       // index, STK_NONE for host tracks
    int64_t id;            // thread id, stream id, line id
    uint32_t name;         // string id, 0 unknown
    uint32_t parent;       // track index for a sub-row, else STK_NONE
    uint32_t first, count; // its events
};

// How a kernel was launched and the cost of one run, or a host operation's cost on the device. Kept
// once for all equal events.
struct stk_launch_config {
    int64_t flops, bytes;       // of one run: -1 unknown
    uint32_t grid[3], block[3]; // 0 unknown
    int32_t registers;          // of a thread, -1 unknown
    int32_t shared_bytes;       // of a block, static and dynamic; -1 unknown
    int32_t occupancy_pct;      // as recorded, -1 unknown
    bool occupancy_of_grid;     // it counts at most the grid's blocks
};
#define STK_LAUNCH_CONFIG_UNKNOWN                                                                  \
    ((struct stk_launch_config){                                                                   \
        .flops = -1, .bytes = -1, .registers = -1, .shared_bytes = -1, .occupancy_pct = -1})

// A compiled program that is completely in the profile (XLA's HLO), and the arrays that it takes,
// without those that its function never uses.
struct stk_argument {
    uint32_t name; // string id: "params[0]", the function's own parameter; 0 unknown
    uint32_t type; // string id: "f32[8,82,64]"
};
struct stk_program {
    uint32_t name;         // string id: "jit_train_step"; several programs may have it
    int64_t id;            // the process's number of it, by age; 0 without numbers
    uint32_t first, count; // its arguments, in order
    bool differentiates;   // computes gradients: an operation is in a function's transpose
};

// Values that only some events have.
#define STK_EXT_VALUE 1u // `value` is set: bytes of a copy, memset or allocation, number of a step
#define STK_EXT_STEP 2u  // a step marker; value is the step's number if STK_EXT_VALUE
#define STK_EXT_ASYNC 4u // copy recorded as asynchronous
#define STK_EXT_SYNCHRONOUS 8u // copy recorded as synchronous
#define STK_EXT_GRAPH 16u      // belongs to a device graph launch
#define STK_EXT_WAITS 32u  // device operation that only waits for a transfer (TPU copy-done, ...)
#define STK_EXT_CONFIG 64u // value is an index into the trace's launch configurations
struct stk_ext {
    uint32_t link; // device work: event index of its launch call, STK_NONE if not recorded
    uint32_t next; // device work: next operation of the same launch (graphs), STK_NONE
    int64_t value;
    uint8_t dir, src_mem, dst_mem, flags;
};

struct stk_issue {
    uint64_t count;
    uint64_t events_lost; // of these, complete events that aren't in the store
    int64_t first_offset; // position in the input where it was first seen, -1 unknown
    uint32_t note;        // string id: first example or the profiler's own text, 0 none
};

// Whether the input ends early.
enum stk_cut {
    STK_CUT_NOT,       // it was read to its end
    STK_CUT_SOMEWHERE, // at a place of the file: the records' positions show what came before
    STK_CUT_AT         // at a known time
};

struct stk_trace {
    // Columns, `count` long.
    uint32_t count;
    int64_t *start_ns;
    uint32_t *dur_low; // duration in ns; UINT32_MAX: look it up (stk_dur_ns does)
    uint32_t *name;    // string id
    uint32_t *ref;     // runtime: first linked device event; others: index into ext; STK_NONE
    uint32_t *pos_low; // position of the record in the decompressed input,
    uint8_t *pos_high; // 40 bits
    uint8_t *kind;
    uint8_t *depth; // nesting on its track, saturated at 255

    struct stk_ext *ext;
    uint32_t ext_count;
    struct stk_detail *details; // those of ext i: [detail_first[i], detail_first[i + 1])
    uint32_t *detail_first;     // NULL: none at all
    uint32_t detail_count;
    struct stk_launch_config *configs; // of launches, if an analysis asked for them
    uint32_t config_count;
    struct stk_long_dur {
        uint32_t event;
        int64_t dur_ns;
    } *long_durs; // sorted by event
    uint32_t long_dur_count;

    struct stk_process *processes;
    struct stk_device *devices;
    struct stk_track *tracks;
    uint32_t process_count, device_count, track_count;

    struct stk_program *programs; // ordered by name and id
    struct stk_argument *arguments;
    uint32_t program_count, argument_count;
    uint32_t programs_left_out; // beyond what is kept

    struct stk_strpool strings;
    struct stk_issue issues[STK_ISSUE_COUNT];

    int64_t base_ns;  // the file's own clock at time 0 of the columns: add it to get file time
    uint64_t read;    // records read, of any kind, metadata and derived rows too
    uint64_t dropped; // events that couldn't be stored
    uint64_t by_kind[STK_KIND_COUNT]; // of all records read
    int32_t rank, world_size;         // -1 unknown
    uint32_t host;                    // string id
    struct stk_told told;             // by the hooks of `stoker run`
    uint32_t producer;  // string id: "PyTorch 2.x Kineto", "TensorFlow", "Nsight Systems 2025.5"
    const char *format; // reader's name
    uint32_t framework_hint; // bit per enum stk_framework seen in metadata
    enum stk_cut cut;
    // From here on, rows of any track may be missing (earlier ones too for STK_CUT_SOMEWHERE).
    // INT64_MIN: nothing is known to be complete; INT64_MAX: the input ends after everything that
    // matters.
    int64_t whole_until_ns;
    bool is_frozen;     // the columns are owned elsewhere (profile/store/trace_frozen.h)
    uint32_t *track_at; // per STK_TRACK_SPAN events: the track of the first; may be NULL
};

struct stk_trace *stk_trace_new(void);                    // NULL: no memory
void stk_trace_free(struct stk_trace *t);                 // takes NULL
uint64_t stk_trace_size_bytes(const struct stk_trace *t); // memory held, about

// The input ends early, and rows that matter are missing.
static inline bool stk_trace_lacks_rows(const struct stk_trace *t)
{
    return t->cut == STK_CUT_SOMEWHERE || (t->cut == STK_CUT_AT && t->whole_until_ns != INT64_MAX);
}

int64_t stk_dur_long(const struct stk_trace *t, uint32_t event);
static inline int64_t stk_dur_ns(const struct stk_trace *t, uint32_t event)
{
    uint32_t low = t->dur_low[event];
    return low != UINT32_MAX ? (int64_t)low : stk_dur_long(t, event);
}
static inline int64_t stk_end_ns(const struct stk_trace *t, uint32_t event)
{
    return t->start_ns[event] + stk_dur_ns(t, event);
}
static inline uint64_t stk_pos(const struct stk_trace *t, uint32_t event)
{
    return t->pos_low[event] | (uint64_t)t->pos_high[event] << 32;
}
static inline bool stk_kind_is_device_work(uint8_t kind)
{
    return kind == STK_KIND_KERNEL || kind == STK_KIND_MEMCPY || kind == STK_KIND_MEMSET ||
           kind == STK_KIND_COLLECTIVE;
}
// Values of an event, or NULL if it carries none. Runtime calls never do.
static inline const struct stk_ext *stk_ext_of(const struct stk_trace *t, uint32_t event)
{
    if (t->kind[event] == STK_KIND_RUNTIME || t->ref[event] == STK_NONE) {
        return NULL;
    }
    return &t->ext[t->ref[event]];
}
// How a kernel was launched, or NULL if unknown.
static inline const struct stk_launch_config *stk_config_of(const struct stk_trace *t,
                                                            uint32_t event)
{
    const struct stk_ext *x = stk_ext_of(t, event);
    return x && x->flags & STK_EXT_CONFIG ? &t->configs[x->value] : NULL;
}
// Details of an event in the order of the file; NULL: none.
static inline const struct stk_detail *stk_details_of(const struct stk_trace *t, uint32_t event,
                                                      uint32_t *count)
{
    *count = 0;
    if (!t->detail_first || t->kind[event] == STK_KIND_RUNTIME || t->ref[event] == STK_NONE) {
        return NULL;
    }
    uint32_t first = t->detail_first[t->ref[event]];
    *count = t->detail_first[t->ref[event] + 1] - first;
    return *count ? &t->details[first] : NULL;
}
// The first detail of that key, or NULL.
static inline const struct stk_detail *stk_detail_find(const struct stk_trace *t, uint32_t event,
                                                       enum stk_detail_key key)
{
    uint32_t count;
    const struct stk_detail *d = stk_details_of(t, event, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (d[i].key == key) {
            return &d[i];
        }
    }
    return NULL;
}
// Its text, or an empty one.
static inline struct stk_str stk_detail_text(const struct stk_trace *t, uint32_t event,
                                             enum stk_detail_key key)
{
    const struct stk_detail *d = stk_detail_find(t, event, key);
    return d ? stk_strpool_get(&t->strings, d->text) : STK_STR("");
}
// Device work: its launch call. Runtime call: the first operation it launched (follow ext.next).
static inline uint32_t stk_link_of(const struct stk_trace *t, uint32_t event)
{
    if (t->kind[event] == STK_KIND_RUNTIME || t->ref[event] == STK_NONE) {
        return t->ref[event];
    }
    return t->ext[t->ref[event]].link;
}
static inline struct stk_str stk_name_of(const struct stk_trace *t, uint32_t event)
{
    return stk_strpool_get(&t->strings, t->name[event]);
}
// Track of an event, sub-rows included: a binary search, limited to the tracks of its span if the
// trace is indexed. Analyses call this for most events, so built traces are indexed.
uint32_t stk_track_of(const struct stk_trace *t, uint32_t event);
#define STK_TRACK_SPAN 1024
void stk_trace_index_tracks(struct stk_trace *t); // without memory, the trace stays unindexed
