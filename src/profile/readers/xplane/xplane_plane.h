// SPDX-License-Identifier: Apache-2.0
// The structure of one plane of an XSpace, without events: its name and facts, the two maps that
// give its ids a meaning, and the positions of its lines. Ids are only valid inside their plane,
// and the maps may come after the lines that use them. So a plane is always scanned before its
// events are decoded; the scan skips lines by their length.
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/readers/xplane/xplane_text.h"
#include "base/protobuf.h"
#include "profile/store/build.h"

// Stats that stoker understands, resolved from their names once per plane.
enum stk_xp_stat {
    STK_XP_STAT_NONE,
    STK_XP_STAT_CORRELATION,
    STK_XP_STAT_STEP_NUM,
    STK_XP_STAT_MEMCPY, // detail strings
    STK_XP_STAT_MEMSET,
    STK_XP_STAT_MEMALLOC,
    STK_XP_STAT_ALLOCATION_BYTES,
    STK_XP_STAT_REQUESTED_BYTES,
    STK_XP_STAT_GRAPH,       // belongs to a device graph
    STK_XP_STAT_INPUT_STAGE, // a loader that marks its own stages
    STK_XP_STAT_HLO_CATEGORY,
    STK_XP_STAT_RAW_BYTES_ACCESSED,
    STK_XP_STAT_BYTES_ACCESSED,
    STK_XP_STAT_KIND, // written by stoker export: a word of profile/store/kinds.def
    // of planes
    STK_XP_STAT_DEVICE_VENDOR,
    STK_XP_STAT_DEVICE_NAME,
    STK_XP_STAT_DEVICE_TYPE,
    STK_XP_STAT_CORE_COUNT,
    STK_XP_STAT_CC_MAJOR,
    STK_XP_STAT_CC_MINOR,
    STK_XP_STAT_MEMORY_SIZE,
    STK_XP_STAT_MEMORY_RATE,      // bytes per second
    STK_XP_STAT_PEAK_TERAFLOPS,   // per second
    STK_XP_STAT_PEAK_MEMORY_RATE, // 1e9 bytes per second
    STK_XP_STAT_PROFILE_START,
    STK_XP_STAT_JAX_VERSION,
    STK_XP_STAT_COUNT
};
enum stk_xp_stat stk_xp_stat_of(struct stk_str name);

// int64 id -> index: directly for small ids, which is nearly all, by hash for the rest.
struct stk_xp_ids {
    uint32_t *dense;
    uint64_t dense_count;
    struct stk_map sparse;
};
uint32_t stk_xp_ids_sparse(const struct stk_xp_ids *ids, uint64_t id);
static inline uint32_t stk_xp_ids_get(const struct stk_xp_ids *ids, int64_t id)
{
    return (uint64_t)id < ids->dense_count ? ids->dense[id] : stk_xp_ids_sparse(ids, (uint64_t)id);
}

struct stk_xp_stat_meta {
    int64_t id;
    struct stk_str name;
    enum stk_xp_stat stat;
    uint8_t second; // enum stk_xp_second
};

// Values of stats, of an event or of all occurrences of a metadata entry.
struct stk_xp_values {
    uint32_t present; // bits 1 << enum stk_xp_stat
    int64_t correlation, step_num, bytes;
    struct stk_str details; // of the last detail string
    struct stk_str category;
    struct stk_str kind;
};

// Events on a stream's line that aren't its work. They go to a separate row.
enum stk_xp_derived {
    STK_XP_DERIVED_NOT,
    STK_XP_DERIVED_SYNC,
    STK_XP_DERIVED_MEMORY, // lifetimes of allocations
    STK_XP_DERIVED_OVERHEAD,
    STK_XP_DERIVED_UNIFIED, // page faults and migrations of unified memory
    STK_XP_DERIVED_COUNT
};

// An XEventMetadata: a name, and what it says about its events.
struct stk_xp_event_meta {
    int64_t id;
    struct stk_str name, display;
    struct stk_str raw_stats;       // XStat messages as found, each after its tag and length
    struct stk_str shown;           // name that events get
    struct stk_xp_values *defaults; // of raw_stats; NULL: none of interest
    uint8_t kind;
    uint8_t dir, src_mem, dst_mem, flags;
    uint8_t derived; // enum stk_xp_beside
};

#define STK_XP_NAMES_MAX (1u << 20)         // of events and of stats, in a file
#define STK_XP_ARENA_MAX ((size_t)16 << 30) // strings of the planes that are held

struct stk_xp_line {
    uint32_t plane; // index
    enum stk_xp_line_kind kind;
    int64_t id, timestamp_ns;
    struct stk_str name;
    uint64_t offset, size; // of the payload (clamped to the file's size)
    bool cut;              // the file ends inside it, which is reported
    uint64_t events;       // position of the first field that is an event
};

struct stk_xp_plane {
    uint32_t index;
    enum stk_xp_plane_kind kind;
    int64_t device;  // number in the trace, -1: host
    int64_t ordinal; // from its name, -1: none
    struct stk_str name;
    uint64_t offset, size;      // of the payload
    struct stk_vec stat_metas;  // struct stk_xp_stat_meta
    struct stk_vec event_metas; // struct stk_xp_event_meta
    struct stk_xp_ids stat_ids, event_ids;
    uint8_t *stat_by_id;   // enum stk_xp_stat of dense ids, only those wanted from events
    uint8_t *second_by_id; // enum stk_xp_second of dense ids (xplane_second.h)
    uint32_t stats_wanted; // bits 1 << enum stk_xp_stat
    // Facts.
    struct stk_str vendor, device_name, device_type, jax_version;
    int64_t core_count, cc_major, cc_minor, memory_bytes;
    int64_t memory_bytes_per_s, flops_per_s; // 0 unknown
    int64_t profile_start_ns;                // 0 unknown
    uint32_t framework_hint;
    uint64_t lines_ignored; // of a plane that stoker added
};

// Errors in the structure.
struct stk_xp_trouble {
    uint64_t bad;                    // malformed messages
    int64_t bad_offset;              // first, -1 none
    bool limited;                    // a cap was reached: part of the structure was left out
    uint32_t lines_left, names_left; // of the file, that may still come
    uint64_t lines_left_out;
    int64_t cut_offset; // where the file ends inside a message, -1: it does not
};

// None yet.
static inline struct stk_xp_trouble stk_xp_trouble_none(void)
{
    return (struct stk_xp_trouble){.bad_offset = -1,
                                   .cut_offset = -1,
                                   .lines_left = STK_TRACKS_MAX,
                                   .names_left = STK_XP_NAMES_MAX};
}

// Scan the plane whose payload is [offset, offset + size). The caller clamps it to the file's size;
// `cut`: it did. Lines are appended to `lines` (struct stk_xp_line). Strings go to the arena.
// STOKER_ENOMEM, STOKER_ELIMIT or a read error end it; damage does not.
STK_MUST_CHECK enum stoker_status
stk_xp_plane_scan(struct stk_xp_plane *plane, struct stk_pb_walk *walk, uint64_t offset,
                  uint64_t size, bool cut, struct stk_arena *arena, struct stk_vec *lines,
                  struct stk_xp_trouble *trouble, struct stoker_err *err);
void stk_xp_plane_deinit(struct stk_xp_plane *plane);

// xplane_meta.c: resolves the plane's maps. Called once they are read. False: no memory.
bool stk_xp_plane_resolve(struct stk_xp_plane *plane, struct stk_arena *arena);
bool stk_xp_ids_build(struct stk_xp_ids *ids, const struct stk_vec *items);
void stk_xp_ids_deinit(struct stk_xp_ids *ids);

// Value of a stat in any of its wire variants. Strings borrow.
struct stk_xp_value {
    enum {
        STK_XP_ABSENT,
        STK_XP_I64,
        STK_XP_U64,
        STK_XP_DOUBLE,
        STK_XP_STR,
        STK_XP_BYTES,
        STK_XP_REF
    } type;
    uint64_t bits; // integers, double
    struct stk_str text;
};
// One XStat message. False if it is malformed.
bool stk_xp_stat_parse(const struct stk_xp_plane *plane, const uint8_t *p, size_t n, int64_t *id,
                       struct stk_xp_value *value);
bool stk_xp_value_i64(const struct stk_xp_value *v, int64_t *out);
bool stk_xp_value_text(const struct stk_xp_value *v, struct stk_str *out);
// Stores a stat's value. `bits` are those of the wanted stats.
void stk_xp_values_take(struct stk_xp_values *values, enum stk_xp_stat stat,
                        const struct stk_xp_value *v);
