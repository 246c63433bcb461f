// SPDX-License-Identifier: Apache-2.0
// The index behind a viewer's time line, over the traces of a query (which must outlive it).
//
// A viewer's track is one of the store with the sub-rows behind it. Each of its rows is one depth
// of one of these, so that the events of a row do not overlap: of those that start in a bucket of
// time all but the last are shorter than it, and a tile costs a search and a look at the longest
// per bucket. What overlaps all the same (depths beyond 255, rows beyond the last) shares a row;
// there all but the last of a bucket are merged, however long.
//
// Memory: 4 bytes an event for the rows' lists, and a third of a byte for the longest of each
// block.
#ifndef STK_TIMELINE_TIMELINE_H
#define STK_TIMELINE_TIMELINE_H

#include "base/arena.h"
#include "base/frozen.h"
#include "base/json.h"
#include "base/vec.h"
#include "query/query_source.h"

#define STK_TL_ROWS 256 // of a track
#define STK_TL_LEVEL_MAX 52
#define STK_TL_BUCKETS 1024
#define STK_TL_BLOCK 16
#define STK_TL_BLOCK_LEVELS 8 // 16^8 events

struct stk_tl_row {
    uint32_t first, end; // of the trace's list
};

struct stk_tl_track { // of a root track; `count` is 0 of sub-rows and of what is not selected
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
    uint32_t row_count;
    uint32_t *list; // events by row, start
    struct stk_tl_block {
        uint32_t at, dur_low;        // the place; as in struct stk_trace
    } *longest[STK_TL_BLOCK_LEVELS]; // of 16, 256, ... places of the list
    int64_t *outliers;               // of each string: longer is one
};

struct stk_timeline {
    struct stk_query *q;
    struct stk_arena arena;
    struct stk_tl_trace *traces;
    uint32_t trace_count;
    uint64_t events;
    int64_t first_ns, last_ns; // of all events; both 0 where there are none
    bool is_thawed;            // what is as long as the events is not its own (tl_frozen.c)
};

struct stk_tl_place { // of an event
    const struct stk_tl_trace *x;
    uint32_t event, root, row, at; // at: in the list
};

STK_MUST_CHECK enum stoker_status stk_timeline_make(struct stk_timeline *t, struct stk_query *q,
                                                    struct stoker_err *err);
void stk_timeline_free(struct stk_timeline *t);
// Behind the query (query/query_frozen.h); *t is to be freed after a failure, too.
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
// The first place in [at, end) of the list with a start at or after t_ns; near `at` it is found
// fast.
uint32_t stk_tl_lower(const struct stk_tl_trace *x, uint32_t at, uint32_t end, int64_t t_ns);
// The place of the longest in [at, end), the first of equal ones; at < end.
uint32_t stk_tl_longest(const struct stk_tl_trace *x, uint32_t at, uint32_t end);
// STOKER_EUSAGE: no such event, or it is not selected.
STK_MUST_CHECK enum stoker_status stk_tl_find(const struct stk_timeline *t, int64_t id,
                                              struct stk_tl_place *out, struct stoker_err *err);
void stk_tl_place(const struct stk_tl_trace *x, uint32_t event, struct stk_tl_place *out);
// A track as the viewer has it. STOKER_EUSAGE: there is none.
STK_MUST_CHECK enum stoker_status stk_tl_track(const struct stk_timeline *t, int64_t id,
                                               const struct stk_tl_trace **x, uint32_t *root,
                                               struct stoker_err *err);

// What the viewer asks for; the JSON is written without a look at the sink's state.
void stk_tl_tracks_json(const struct stk_timeline *t, struct stk_json *j);
// Appends to `out`, whose items are bytes.
STK_MUST_CHECK enum stoker_status stk_tl_tile(const struct stk_timeline *t, int64_t track,
                                              int level, int64_t index, struct stk_vec *out,
                                              struct stoker_err *err);
void stk_tl_names_json(const struct stk_timeline *t, const int64_t *ids, size_t count,
                       struct stk_json *j);
STK_MUST_CHECK enum stoker_status stk_tl_event_json(const struct stk_timeline *t, int64_t id,
                                                    struct stk_json *j, struct stoker_err *err);
// "id", "name", "track", "row", "start_ns", "dur_ns" into an open object.
void stk_tl_put_event(const struct stk_tl_place *p, struct stk_json *j);
STK_MUST_CHECK enum stoker_status stk_tl_phases_json(const struct stk_timeline *t,
                                                     struct stk_json *j, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_tl_runs_json(const struct stk_timeline *t, int64_t id,
                                                   struct stk_json *j, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_tl_search_json(const struct stk_timeline *t,
                                                     const char *pattern, size_t limit,
                                                     struct stk_json *j, struct stoker_err *err);

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

#endif
