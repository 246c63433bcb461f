// SPDX-License-Identifier: Apache-2.0
// Shared by the files that build a trace. Private to src/profile/store (and its tests).
//
// finish() runs these stages in order, each in a file of its own:
//   build_merge.c   strings and tracks of all shards get common ids
//   build_config.c  so do their launch configurations
//   build_time.c    rows with impossible times are dropped, base_ns is found
//   build_scatter.c rows go to the columns, track by track; their memory is freed
//   build_details.c details of events are stored with their values
//   build_program.c programs that the profile holds, and their arguments
//   build_order.c   each track is sorted, nested, split into sub-rows   (build_sort.c,
//   build_nest.c) build_link.c    launch calls and device work are linked
#pragma once

#include <pthread.h>

#include "base/map.h"
#include "base/vec.h"
#include "profile/store/build.h"

#define STK_CHUNK_ROWS 8000u
#define STK_POS_MAX ((1ull << 40) - 1)
#define STK_DAY_NS (86400ll * 1000000000ll)
#define STK_DUR_MAX_NS (7 * STK_DAY_NS)
#define STK_FACTS_MAX (1u << 20) // of a kind: processes, moves, devices
// While building: this row's correlation is in link and next of its ext.
#define STK_EXT_HAS_CORR 128u

// build_pool.c: memory for rows that wait for their columns.
struct stk_slab {
    uint8_t *p;
    size_t size, used;
    uint32_t parts; // in use
};
struct stk_pool_part {
    void *p;
    struct stk_slab *slab;
};
struct stk_pool {
    pthread_mutex_t lock;
    struct stk_vec slabs;  // struct stk_slab *
    struct stk_slab *open; // where the next part comes from
    size_t next_size;
};
void stk_pool_init(struct stk_pool *pool);
void stk_pool_deinit(struct stk_pool *pool);
struct stk_pool_part stk_pool_take(struct stk_pool *pool, size_t size); // p NULL: no memory
void stk_pool_give(struct stk_pool *pool, struct stk_pool_part *part);  // takes an empty one
void stk_pool_close(struct stk_pool *pool);                             // no more will be taken

// Rows of one track as a shard keeps them, in the form of the columns they become.
struct stk_chunk {
    struct stk_pool_part part;
    uint32_t capacity, count, track;
    bool has_exts, has_long, has_gone; // any row with an ext; of UINT32_MAX ns or more; taken out
};
#define STK_CHUNK_ROW_BYTES 26u
struct stk_chunk_columns {
    int64_t *start_ns;
    uint32_t *dur_low, *name, *pos_low;
    uint32_t *ext; // index in the shard's calls for runtime calls, in its exts for others, STK_NONE
    uint8_t *pos_high, *kind;
};
static inline struct stk_chunk_columns stk_chunk_columns(const struct stk_chunk *c)
{
    size_t n = c->capacity;
    int64_t *start_ns = c->part.p;
    uint32_t *words = (uint32_t *)(void *)(start_ns + n);
    uint8_t *bytes = (uint8_t *)(words + 4 * n);
    return (struct stk_chunk_columns){start_ns,      words, words + n, words + 2 * n,
                                      words + 3 * n, bytes, bytes + n};
}
#define STK_KIND_GONE 254u // while building: this row was taken out again

struct stk_raw_detail {
    uint32_t ext; // index in the shard's ext rows, then in the trace's; STK_NONE: not stored
    struct stk_detail detail;
};
struct stk_raw_ext {
    int64_t corr, value;
    uint8_t dir, src_mem, dst_mem, flags;
    bool has_corr;
};
// Launch configurations, each once.
#define STK_CONFIGS_RECENT 64
struct stk_config_set {
    struct stk_vec items;                // struct stk_launch_config
    struct stk_map known;                // hash -> index
    uint32_t recent[STK_CONFIGS_RECENT]; // index + 1 of those met last, 0 none
};
#define STK_CONFIGS_MAX (1u << 22)
void stk_configs_init(struct stk_config_set *set);
void stk_configs_deinit(struct stk_config_set *set);
// Index of the configuration; STK_NONE: no memory, or too many (set->items.count is then the cap).
uint32_t stk_configs_put(struct stk_config_set *set, const struct stk_launch_config *config);

#define STK_BLOCK_EXTS 4096u
#define STK_BLOCK_CALLS 8192u // correlations of runtime calls
#define STK_BLOCK_DETAILS 4096u
// A duration that does not fit the column.
struct stk_raw_long {
    uint32_t chunk, row;
    int64_t dur_ns;
};

// Tracks by key. The string ids in the entries are those of the pool next to the table.
struct stk_track_entry {
    enum stk_track_kind kind;
    uint32_t sid;
    int64_t process, device, id;
    uint64_t rows;        // shard: rows stored
    uint32_t chunk;       // shard: the one that rows go to, plus one; 0: none yet
    uint32_t exts, calls; // shard: rows with ext that are not, and that are, runtime calls
    int64_t min_start_ns, max_start_ns; // shard: of these rows
    uint32_t name;                      // facts
    enum stk_track_kind becomes_kind;   // facts, valid if becomes
    int64_t becomes_device;
    bool becomes;
    bool left_out; // shard: more tracks than a trace holds
};
struct stk_track_table {
    struct stk_vec entries; // struct stk_track_entry
    uint32_t *slots; // open addressing; 0: free, else entry index + 1 and a part of the key's hash
    uint32_t slot_count;
};
void stk_tracks_init(struct stk_track_table *t);
void stk_tracks_deinit(struct stk_track_table *t);
static inline bool stk_tracks_full(const struct stk_track_table *t)
{
    return t->entries.count == t->entries.max_count;
}
// Index of the entry with the key of *e (created with the key and nothing else), or STK_NONE: no
// memory, or full.
uint32_t stk_tracks_put(struct stk_track_table *t, const struct stk_track_entry *e);
static inline struct stk_track_entry *stk_tracks_at(const struct stk_track_table *t, uint32_t i)
{
    return (struct stk_track_entry *)stk_vec_at(&t->entries, i);
}

// Where the next row of a shard's track goes: in the columns, in ext, in the calls' correlations.
struct stk_cursor {
    uint32_t row, ext, call;
};

struct stk_shard {
    struct stk_pool *pool;
    struct stk_vec chunks;        // struct stk_chunk, oldest first
    struct stk_vec ext_blocks;    // struct stk_pool_part, each STK_BLOCK_EXTS struct stk_raw_ext
    struct stk_vec call_blocks;   // struct stk_pool_part, each STK_BLOCK_CALLS int64_t
    struct stk_vec detail_blocks; // struct stk_raw_detail *, each STK_BLOCK_DETAILS: they stay
                                  // when the rows of a slab are given back
    struct stk_vec longs;         // struct stk_raw_long
    uint64_t row_count;
    uint32_t ext_count, call_count;
    uint32_t detail_count; // by ext
    struct stk_config_set configs;
    struct stk_strpool strings;
    bool strings_ready;
    struct stk_track_table tracks;
    uint64_t read, dropped, max_rows;
    uint64_t by_kind[STK_KIND_COUNT];         // counted, not stored
    struct stk_issue issues[STK_ISSUE_COUNT]; // notes: ids of this shard's pool
    enum stoker_status failure;
    bool limit_reached;
    // Filled by finish: shard's ids -> trace's.
    uint32_t *string_map; // NULL: identity
    uint32_t *track_map;
    uint32_t *config_map;       // NULL: identity
    struct stk_cursor *cursors; // per shard track
};

struct stk_fact_process {
    int64_t process;
    int32_t rank;
    uint32_t name, host; // builder's pool
};
struct stk_fact_move {
    int64_t process, to;
};
struct stk_fact_device {
    int64_t process, device;
    struct stk_device_facts facts; // strings unused
    uint32_t source_id, name;
};

struct stk_build {
    struct stk_pool pool;
    struct stk_vec shards; // struct stk_shard *
    struct stk_strpool strings;
    bool strings_ready;
    struct stk_track_table tracks; // facts about tracks
    struct stk_vec processes;      // struct stk_fact_process
    struct stk_vec moves;          // struct stk_fact_move, one per process
    struct stk_map move_map;       // process -> index in moves
    struct stk_vec devices;        // struct stk_fact_device
    struct stk_vec programs;       // struct stk_program; strings of the builder's pool
    struct stk_vec arguments;      // struct stk_argument
    uint32_t programs_left_out;
    struct stk_build_facts facts; // strings unused
    uint32_t producer, host;
    struct stk_told told;
    enum stk_cut cut;
    int64_t whole_until_ns; // in the file's clock
    uint64_t max_rows;      // UINT32_MAX - 1; tests lower it
    enum stoker_status failure;
};

// State of one finish().
struct stk_finish {
    struct stk_build *b;
    struct stk_trace *t;
    int threads;
    uint32_t *builder_map;         // builder's string ids -> trace's; NULL: identity
    struct stk_track_table merged; // tracks of all shards, by their final keys, trace's string ids
    bool has_left_out;             // some track of a shard is
    uint64_t total_rows;           // stored
    int64_t base_ns;
    _Atomic uint8_t *name_class; // per string: its kind on a device, see build_scatter.c
    int64_t *call_corr;          // correlations of runtime rows, by their ref while building
    uint32_t call_count;
    uint32_t *track_final;     // merged entry -> index in t->tracks before sub-rows
    struct stk_sub_rows *subs; // per track: its sub-rows
    uint32_t sub_count;        // tracks there
    _Atomic uint32_t
        *track_kinds; // per track before sub-rows: bits 1 << enum stk_kind of its events
};
// Sub-rows that a track needs in addition to itself.
struct stk_sub_rows {
    uint32_t *counts; // events of each; caller frees
    uint32_t count;
    uint64_t moved; // events on sub-rows
    uint32_t first; // first moved event (index in the columns), STK_NONE if none
};

static inline struct stk_shard *stk_build_shard_at(const struct stk_build *b, size_t i)
{
    return *(struct stk_shard **)stk_vec_at(&b->shards, i);
}
static inline struct stk_chunk *stk_shard_chunk(const struct stk_shard *s, size_t i)
{
    return stk_vec_at(&s->chunks, i);
}
static inline struct stk_raw_ext *stk_shard_ext(const struct stk_shard *s, uint32_t i)
{
    const struct stk_pool_part *block = stk_vec_at(&s->ext_blocks, i / STK_BLOCK_EXTS);
    return (struct stk_raw_ext *)block->p + i % STK_BLOCK_EXTS;
}
static inline int64_t *stk_shard_call(const struct stk_shard *s, uint32_t i)
{
    const struct stk_pool_part *block = stk_vec_at(&s->call_blocks, i / STK_BLOCK_CALLS);
    return (int64_t *)block->p + i % STK_BLOCK_CALLS;
}
static inline struct stk_raw_detail *stk_shard_detail(const struct stk_shard *s, uint32_t i)
{
    struct stk_raw_detail *const *block = stk_vec_at(&s->detail_blocks, i / STK_BLOCK_DETAILS);
    return *block + i % STK_BLOCK_DETAILS;
}
void stk_shard_give_rows(struct stk_shard *s); // all chunks and blocks back to the pool
void stk_shard_free_details(struct stk_shard *s);
void stk_shard_deinit(struct stk_shard *s);
void stk_issue_add(struct stk_issue *issue, uint64_t n, uint64_t events_lost, int64_t offset,
                   uint32_t note);

enum stoker_status stk_build_merge(struct stk_finish *f, struct stoker_err *err);
enum stoker_status stk_build_configs(struct stk_finish *f, struct stoker_err *err);
enum stoker_status stk_build_check_times(struct stk_finish *f, struct stoker_err *err);
enum stoker_status stk_build_place(struct stk_finish *f, struct stoker_err *err);
enum stoker_status stk_build_scatter(struct stk_finish *f, struct stoker_err *err);
enum stoker_status stk_build_details(struct stk_finish *f, struct stoker_err *err);
enum stoker_status stk_build_order(struct stk_finish *f, struct stoker_err *err);
enum stoker_status stk_build_link(struct stk_finish *f, struct stoker_err *err);
enum stoker_status stk_build_programs(struct stk_finish *f, struct stoker_err *err);

// String id in the builder's pool, 0 for an empty one; a lack of memory is remembered.
uint32_t stk_build_intern(struct stk_build *b, struct stk_str s);

// The kind of an unset or kernel row, by its name; cached per string in f->name_class.
enum stk_kind stk_build_kind(struct stk_finish *f, uint8_t kind, enum stk_track_kind track,
                             uint32_t name);
