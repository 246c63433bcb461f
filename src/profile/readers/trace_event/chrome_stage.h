// SPDX-License-Identifier: Apache-2.0
// A worker's results for one block: rows and notes, held until it is certain that the block begins
// with an event (then chrome_sink.h takes them).
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/readers/trace_event/chrome_raw.h"
#include "profile/store/build.h"

// Device rows don't have the process that drives the device. Until the end of the input they belong
// to a stand-in: one per rank in files with several ranks, else that of rank -1.
#define STK_CHROME_STAND_IN(rank) (INT64_MIN + 2 + (rank))
#define STK_CHROME_RANK_MAX 0xfffff

// A worker's own entry of a track.
struct stk_chrome_track {
    struct stk_track_key key;      // sid is in the worker's arena
    struct stk_chrome_id pid, tid; // as recorded; texts in the arena
    uint64_t hash_a, hash_b;       // of the track's whole key
    int32_t rank;                  // from its events; -1 none
    uint32_t open_begin;           // newest unmatched B of block `block`, or STK_NONE
    uint64_t block;
    uint32_t sink_track; // STK_NONE until a row is certain
};

struct stk_chrome_staged {
    struct stk_row row; // track: index of a stk_chrome_track; name: id in the worker's names
    struct stk_row_ext ext;
};

#define STK_CHROME_DETAILS_MAX 64 // of one row
// A value of row `row` that only some analyses ask for.
struct stk_chrome_detail {
    uint32_t row;
    struct stk_detail detail; // text: id in the worker's names
};

// Launch configuration of row `row`, or the cost of its operator.
struct stk_chrome_config {
    uint32_t row;
    struct stk_launch_config config;
};

// Half of an event written as a pair (ph B, E) whose other half is not in the same block.
struct stk_chrome_half {
    struct stk_chrome_time ts;
    uint64_t pos;
    uint32_t name, track; // track: STK_NONE once it is matched
    uint32_t below;       // B: next older open one of the track in this block
    uint8_t kind;
    bool begins;
};

enum stk_chrome_label { STK_CHROME_PROCESS_NAME, STK_CHROME_THREAD_NAME };
struct stk_chrome_meta {
    enum stk_chrome_label type;
    struct stk_chrome_id pid, tid;
    struct stk_str label;
};

struct stk_chrome_issue {
    uint64_t count, events_lost, first_pos;
    struct stk_str note; // in an arena once committed
};

// Top-level values that are kept, as their JSON text.
enum stk_chrome_capture {
    STK_CHROME_DEVICES,     // deviceProperties
    STK_CHROME_DISTRIBUTED, // distributedInfo
    STK_CHROME_BASE_TIME,   // baseTimeNanoseconds
    STK_CHROME_HOST_NAME,
    STK_CHROME_SCHEMA,  // schemaVersion
    STK_CHROME_HIP,     // hip_runtime_version, roctracer_version
    STK_CHROME_CUDA,    // cuda_runtime_version
    STK_CHROME_TOLD,    // stoker
    STK_CHROME_WARNING, // log lines of the profiler
    STK_CHROME_ERROR,
    STK_CHROME_CAPTURES
};

// Counts that are summed over blocks.
struct stk_chrome_counts {
    uint64_t by_kind[STK_KIND_COUNT]; // read and not stored
    struct stk_chrome_issue issues[STK_ISSUE_COUNT];
    uint64_t kernels, known_cats, foreign, raw_pids, without_ph;
    uint64_t foreign_pos; // first event of an unknown accelerator
    uint64_t span_pos;    // last row of cat "Trace", which Kineto writes last; 0 none
    struct stk_str foreign_cat;
};

struct stk_chrome_stager {
    struct stk_arena arena; // texts of tracks
    struct stk_vec tracks;  // struct stk_chrome_track
    struct stk_map track_map;
    struct stk_strpool names;
    uint32_t *name_class; // by name id: bits, see chrome_stage.c
    size_t name_classes;
    // Of the block being read:
    struct stk_vec rows;    // struct stk_chrome_staged
    struct stk_vec details; // struct stk_chrome_detail, by row
    struct stk_vec configs; // struct stk_chrome_config, by row
    struct stk_vec metas;   // struct stk_chrome_meta, texts in the block
    struct stk_vec halves;  // struct stk_chrome_half
    struct stk_chrome_counts counts;
    struct stk_str captures[STK_CHROME_CAPTURES]; // slices of the block's text
    uint64_t block;                               // counts blocks and new attempts at one
    // For the sink: name id -> string id in the shard with number `shard_number`.
    uint32_t *name_in_shard;
    size_t names_in_shard;
    uint64_t shard_number;
    char *scratch;
    size_t scratch_size;
    struct {
        uint64_t a, b;
        uint32_t track;
    } recent[16];
    uint32_t wants; // bits STK_WANT_...
    bool failed;    // no memory
};

// Row of a reader that fills it itself; NULL: no memory.
struct stk_chrome_staged *stk_chrome_stage_row(struct stk_chrome_stager *s);
bool stk_chrome_stager_init(struct stk_chrome_stager *s); // false: no memory; deinit in any case
void stk_chrome_stager_deinit(struct stk_chrome_stager *s);
// Forget the block's rows and begin another (or the same again).
void stk_chrome_stage_begin(struct stk_chrome_stager *s);
void stk_chrome_stage_event(struct stk_chrome_stager *s, const struct stk_chrome_raw *r);
void stk_chrome_stage_issue(struct stk_chrome_stager *s, enum stk_issue_id id, uint64_t events_lost,
                            uint64_t pos, struct stk_str note);
// Text without escapes, valid UTF-8: the same, or in the worker's scratch buffer until the next
// call.
struct stk_str stk_chrome_stage_clean(struct stk_chrome_stager *s, struct stk_str raw);

// Details of the row staged last, out of the event's args (chrome_details.c), if they are wanted.
void stk_chrome_detail_memory(struct stk_chrome_stager *s, const struct stk_chrome_raw *r);
void stk_chrome_detail_counter(struct stk_chrome_stager *s, const struct stk_chrome_raw *r);
void stk_chrome_detail_shapes(struct stk_chrome_stager *s, const struct stk_chrome_raw *r);
void stk_chrome_detail_collective(struct stk_chrome_stager *s, const struct stk_chrome_raw *r);

// Each value of the object `args`; arrays and objects as their text.
typedef void stk_chrome_take_fn(void *arg, struct stk_str key, struct stk_str value, bool quoted);
void stk_chrome_each_value(struct stk_str args, stk_chrome_take_fn *take, void *arg);
// Bytes of an element of the type; 0: not known.
int64_t stk_chrome_element_bytes(struct stk_str type);

// The same for launch configurations and costs of operators (chrome_launch.c).
bool stk_chrome_has_cost(struct stk_str name);
void stk_chrome_config_kernel(struct stk_chrome_stager *s, const struct stk_chrome_raw *r);
void stk_chrome_config_operator(struct stk_chrome_stager *s, const struct stk_chrome_raw *r);

// Tracks of rows (chrome_track.c), or STK_NONE without memory.
uint32_t stk_chrome_track_host(struct stk_chrome_stager *s, const struct stk_chrome_raw *r);
uint32_t stk_chrome_track_device(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                                 enum stk_track_kind kind);
// Rows of the profiler or of an unknown device: neither host thread nor stream.
uint32_t stk_chrome_track_other(struct stk_chrome_stager *s, const struct stk_chrome_raw *r,
                                enum stk_track_kind kind, struct stk_str sid);
// A track given only by its key.
uint32_t stk_chrome_track_of_key(struct stk_chrome_stager *s, const struct stk_track_key *key);
// An event of a file that was merged from several ranks.
static inline bool stk_chrome_is_merged(const struct stk_chrome_raw *r)
{
    const uint32_t both = STK_CHROME_HAS_RANK | STK_CHROME_HAS_RAW_PID;
    return (r->flags & both) == both && r->rank >= 0 && r->rank <= STK_CHROME_RANK_MAX;
}

// Row of a pair of halves; end may be before begin.
void stk_chrome_pair_row(const struct stk_chrome_half *begin, struct stk_chrome_time end,
                         struct stk_row *row);
uint64_t stk_chrome_id_hash(const struct stk_chrome_id *id);
void stk_chrome_issue_merge(struct stk_chrome_issue *into, const struct stk_chrome_issue *from);
