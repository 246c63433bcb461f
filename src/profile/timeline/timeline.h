// SPDX-License-Identifier: Apache-2.0
// The index of a viewer's timeline, over the traces of a query (which must outlive it).
//
// A viewer's track is a track of the store with its sub-rows. Each of its rows is one depth of one
// of these, so the events of a row don't overlap: of the events that start in a bucket of time, all
// but the last are shorter than it. Events that still overlap (depths beyond 255, rows beyond the
// last) share a row; there all but the last of a bucket are merged, even long ones.
//
// A row whose events are consecutive in the store, like a stream's, needs no list of them. Above
// the level at which a bucket has eight events on average, each row's buckets are precomputed
// (tl_levels.c) and a tile copies them. Below it, a tile reads about eight events per bucket.
//
// Memory: 4 bytes an event for the lists of rows that need one, 1 to 2 for the buckets.
#pragma once

#include "base/arena.h"
#include "base/frozen.h"
#include "base/sink.h"
#include "base/vec.h"
#include "answers/query/query_source.h"
#include "results/view.h"

#define STK_TL_ROWS 256 // of a track
#define STK_TL_LEVEL_MAX 52
#define STK_TL_BUCKETS 1024
#define STK_TL_DENSE 8 // events of a bucket, on average, from which on buckets are precomputed

struct stk_tl_row {
    uint32_t first, end; // places: rows are contiguous
    uint32_t from;       // the first event, where `follows`; else where its list begins
    uint32_t steps;      // the first of its levels in the trace's `steps`
    bool follows;        // its events are from, from + 1, ...
    uint8_t lowest;      // level of its first buckets
    uint8_t levels;      // levels with buckets; beyond the last there is one bucket
};

// The events that start in a stretch of 2^level ns; not empty.
struct stk_tl_bucket {
    uint32_t first;   // place; the next bucket's is where it ends
    uint32_t longest; // place of the longest merged event; if none is merged, of the one that
                      // stands alone
};

struct stk_tl_track { // of a root track; counts are 0 for sub-rows and unselected tracks
    uint32_t first_row, row_count, event_count, last_sub; // sub-rows: up to last_sub, inclusive
};

struct stk_tl_trace {
    const struct stk_query_trace *x;
    const struct stk_trace *t;
    uint32_t index;
    uint32_t name_base;          // id of its string 0 among all traces' names
    struct stk_tl_track *tracks; // as the trace's
    uint32_t *roots;             // of each track its root
    uint32_t *row_base;          // of each track its first row within the root
    struct stk_tl_row *rows;
    uint32_t row_count, list_count, step_count, bucket_count;
    uint32_t *list;  // events by row and start, of rows that need one
    uint32_t *steps; // of each row and level where its buckets begin; one more at the end
    struct stk_tl_bucket *buckets;
    int64_t *outliers; // of each string: a longer event is an outlier
};

// What a device does at each moment (profile/model/ribbon.h), for the viewer.
struct stk_tl_ribbon {
    const char *id, *name; // of the device, as the report has it; name may be ""
    uint32_t trace;        // index
    struct stk_ribbon ribbon;
};

struct stk_timeline {
    struct stk_query *q;
    struct stk_arena arena;
    struct stk_tl_trace *traces;
    uint32_t trace_count;
    struct stk_tl_ribbon *ribbons;
    uint32_t ribbon_count;
    uint64_t events;
    int64_t first_ns, last_ns; // of all events; both 0 without events
    bool is_thawed;            // arrays of the events' length are in the map (tl_frozen.c)
};

struct stk_tl_place { // of an event
    const struct stk_tl_trace *x;
    uint32_t event, root, row, at; // at: its place
};

STK_MUST_CHECK enum stoker_status stk_timeline_make(struct stk_timeline *t, struct stk_query *q,
                                                    struct stoker_err *err);
void stk_timeline_free(struct stk_timeline *t);
// Follows the query (answers/query/query_frozen.h); free *t after a failure, too.
void stk_timeline_freeze(const struct stk_timeline *t, struct stk_frost *f);
STK_MUST_CHECK enum stoker_status stk_timeline_thaw(struct stk_timeline *t, struct stk_query *q,
                                                    struct stk_thaw *thaw, struct stoker_err *err);

static inline int64_t stk_tl_start(const struct stk_tl_trace *x, uint32_t event)
{
    return x->t->start_ns[event] + x->x->shift_ns;
}
static inline int64_t stk_tl_end(const struct stk_tl_trace *x, uint32_t event)
{
    int64_t end;
    return __builtin_add_overflow(stk_tl_start(x, event), stk_dur_ns(x->t, event), &end) ? INT64_MAX
                                                                                         : end;
}
static inline uint32_t stk_tl_event(const struct stk_tl_trace *x, const struct stk_tl_row *row,
                                    uint32_t place)
{
    uint32_t at = row->from + (place - row->first);
    return row->follows ? at : x->list[at];
}
// The first place of the row in [at, row->end) with a start at or after t_ns; near `at` it is
// found fast.
uint32_t stk_tl_lower(const struct stk_tl_trace *x, const struct stk_tl_row *row, uint32_t at,
                      int64_t t_ns);

// Makes the buckets of all rows. False: no memory.
STK_MUST_CHECK bool stk_tl_make_levels(struct stk_tl_trace *x);
static inline bool stk_tl_has_level(const struct stk_tl_row *row, int level)
{
    return row->levels > 0 && level >= row->lowest;
}
// A row's buckets of a level that begin in [from_ns, to_ns).
struct stk_tl_buckets {
    const struct stk_tl_bucket *v;
    uint32_t count, end;          // end: place where the last one ends
    struct stk_tl_bucket only[1]; // of a level beyond the precomputed ones
};
void stk_tl_buckets_of(const struct stk_tl_trace *x, const struct stk_tl_row *row, int level,
                       int64_t from_ns, int64_t to_ns, struct stk_tl_buckets *out);
// The bucket of a level that begins at a place, computed from its events. *next: where it ends.
struct stk_tl_bucket stk_tl_bucket_at(const struct stk_tl_trace *x, const struct stk_tl_row *row,
                                      int level, uint32_t first, uint32_t *next);
// Whether the event at a place is no shorter than a bucket: as the last of it, it stands alone.
static inline bool stk_tl_is_long(const struct stk_tl_trace *x, const struct stk_tl_row *row,
                                  uint32_t place, int level)
{
    return stk_dur_ns(x->t, stk_tl_event(x, row, place)) >> level > 0;
}
// STOKER_EUSAGE: no such event, or it isn't selected.
STK_MUST_CHECK enum stoker_status stk_tl_find(const struct stk_timeline *t, int64_t id,
                                              struct stk_tl_place *out, struct stoker_err *err);
void stk_tl_place(const struct stk_tl_trace *x, uint32_t event, struct stk_tl_place *out);
// A track as the viewer has it. STOKER_EUSAGE: no such track.
STK_MUST_CHECK enum stoker_status stk_tl_track(const struct stk_timeline *t, int64_t id,
                                               const struct stk_tl_trace **x, uint32_t *root,
                                               struct stoker_err *err);

// The viewer's requests. JSON is written without checking the sink's state.
STK_MUST_CHECK enum stoker_status stk_tl_tracks_json(const struct stk_timeline *t,
                                                     struct stk_sink *to, struct stoker_err *err);
// Appends to `out`, whose items are bytes.
STK_MUST_CHECK enum stoker_status stk_tl_tile(const struct stk_timeline *t, int64_t track,
                                              int level, int64_t index, struct stk_vec *out,
                                              struct stoker_err *err);
// The same of several tracks, each after its length in 8 bytes.
STK_MUST_CHECK enum stoker_status stk_tl_tiles(const struct stk_timeline *t, const int64_t *tracks,
                                               size_t count, int level, int64_t index,
                                               struct stk_vec *out, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_tl_names_json(const struct stk_timeline *t,
                                                    const int64_t *ids, size_t count,
                                                    struct stk_sink *to, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_tl_event_json(const struct stk_timeline *t, int64_t id,
                                                    struct stk_sink *to, struct stoker_err *err);
// The event as the pages have it.
struct stk_view_event stk_tl_event_of(const struct stk_tl_place *p);
STK_MUST_CHECK enum stoker_status stk_tl_phases_json(const struct stk_timeline *t,
                                                     struct stk_sink *to, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_tl_runs_json(const struct stk_timeline *t, int64_t id,
                                                   struct stk_sink *to, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_tl_search_json(const struct stk_timeline *t,
                                                     const char *pattern, size_t limit,
                                                     struct stk_sink *to, struct stoker_err *err);

// Takes the ribbons of the query's ranks. False: no memory.
STK_MUST_CHECK bool stk_tl_ribbons_take(struct stk_timeline *t);
struct stk_tl_ribbon_asked {
    const char *device; // NULL: the first
    int64_t from_ns, to_ns;
    size_t buckets;
};
STK_MUST_CHECK enum stoker_status stk_tl_ribbon_json(const struct stk_timeline *t,
                                                     const struct stk_tl_ribbon_asked *asked,
                                                     struct stk_sink *to, struct stoker_err *err);

// The call tree of an area; no tracks: all of them.
STK_MUST_CHECK enum stoker_status stk_tl_calls_json(const struct stk_timeline *t, int64_t t0_ns,
                                                    int64_t t1_ns, const int64_t *tracks,
                                                    size_t count, struct stk_sink *to,
                                                    struct stoker_err *err);

// Statistics of an area: rows for a table, longest sum first, in `arena`.
struct stk_tl_area_row {
    const char *name, *kind;
    int64_t count, total_ns, union_ns, mean_ns, median_ns, p95_ns, min_ns, max_ns;
};
STK_MUST_CHECK enum stoker_status stk_tl_area(const struct stk_timeline *t, int64_t t0_ns,
                                              int64_t t1_ns, const int64_t *tracks, size_t count,
                                              struct stk_arena *arena,
                                              struct stk_tl_area_row **rows, size_t *row_count,
                                              struct stoker_err *err);
