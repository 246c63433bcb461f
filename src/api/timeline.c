// SPDX-License-Identifier: Apache-2.0
// The public timeline functions: write answers to memory.
#include "stoker/timeline.h"

#include "api/timeline_open.h"
#include "base/alloc.h"

#define NAMES_MOST 10000
#define HITS_MOST 10000

// An answer being built.
struct answer {
    struct stk_vec bytes;
    struct stk_sink sink;
};

static int take_bytes(void *arg, const char *bytes, size_t n)
{
    void *place = stk_vec_push_n(arg, n);
    if (place && n) {
        memcpy(place, bytes, n);
    }
    return place ? 0 : -1;
}

static void answer_begin(struct answer *a)
{
    stk_vec_init(&a->bytes, 1, PTRDIFF_MAX);
    stk_sink_init(&a->sink, take_bytes, &a->bytes);
}

// Returns the bytes if everything succeeded.
static enum stoker_status answer_end(struct answer *a, enum stoker_status status,
                                     struct stoker_blob *out, struct stoker_err *err)
{
    if (status == STOKER_OK && stk_sink_finish(&a->sink, err) != STOKER_OK) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK && !stk_vec_push(&a->bytes)) { // the terminating 0
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        *out = (struct stoker_blob){a->bytes.items, a->bytes.count - 1};
        return stk_err_end(err, status);
    }
    stk_vec_deinit(&a->bytes);
    return stk_err_fail(err);
}

enum stoker_status stoker_timeline_open(struct stoker_profiles *profiles,
                                        struct stoker_timeline **out, struct stoker_err *err)
{
    if (!profiles || !out) {
        return stk_err_misuse(err,
                              "stoker_timeline_open needs profiles and a pointer for the result");
    }
    *out = NULL;
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_timeline *t = stk_alloc_zero(1, sizeof *t);
    if (!t) {
        return stk_err_nomem(err);
    }
    t->profiles = profiles;
    uint64_t refused = stk_alloc_refusals();
    if (stk_err_whole(refused, stk_timeline_make(&t->index, stk_profiles_query(profiles), err),
                      err) != STOKER_OK) {
        stoker_timeline_free(t);
        return stk_err_fail(err);
    }
    *out = t;
    return STOKER_OK;
}

// Start of each entry point: its arguments are present, the answer is empty.
#define ENTER(entry, is_complete, out)                                                             \
    struct stoker_err own;                                                                         \
    struct answer a;                                                                               \
    if (!timeline || !(out) || !(is_complete)) {                                                   \
        return stk_err_misuse(err, entry " needs a timeline and a pointer for the answer");        \
    }                                                                                              \
    *(out) = (struct stoker_blob){.data = NULL};                                                   \
    err = stk_err_begin(err, &own);                                                                \
    answer_begin(&a)

enum stoker_status stoker_timeline_tracks(struct stoker_timeline *timeline,
                                          struct stoker_blob *json, struct stoker_err *err)
{
    ENTER("stoker_timeline_tracks", true, json);
    enum stoker_status status = stk_tl_tracks_json(&timeline->index, &a.sink, err);
    return answer_end(&a, status, json, err);
}

enum stoker_status stoker_timeline_tile(struct stoker_timeline *timeline, int64_t track, int level,
                                        int64_t index, struct stoker_blob *tile,
                                        struct stoker_err *err)
{
    ENTER("stoker_timeline_tile", true, tile);
    enum stoker_status status = stk_tl_tile(&timeline->index, track, level, index, &a.bytes, err);
    return answer_end(&a, status, tile, err);
}

enum stoker_status stoker_timeline_tiles(struct stoker_timeline *timeline, const int64_t *tracks,
                                         size_t count, int level, int64_t index,
                                         struct stoker_blob *tiles, struct stoker_err *err)
{
    ENTER("stoker_timeline_tiles", tracks || count == 0, tiles);
    enum stoker_status status =
        stk_tl_tiles(&timeline->index, tracks, count, level, index, &a.bytes, err);
    return answer_end(&a, status, tiles, err);
}

enum stoker_status stoker_timeline_names(struct stoker_timeline *timeline, const int64_t *ids,
                                         size_t count, struct stoker_blob *json,
                                         struct stoker_err *err)
{
    ENTER("stoker_timeline_names", ids || count == 0, json);
    enum stoker_status status = STOKER_OK;
    if (count > NAMES_MOST) {
        status = stk_err_set(err, STOKER_EUSAGE, "%zu names at once are too many: at most %d",
                             count, NAMES_MOST);
    } else {
        status = stk_tl_names_json(&timeline->index, ids, count, &a.sink, err);
    }
    return answer_end(&a, status, json, err);
}

enum stoker_status stoker_timeline_event(struct stoker_timeline *timeline, int64_t id,
                                         struct stoker_blob *json, struct stoker_err *err)
{
    ENTER("stoker_timeline_event", true, json);
    enum stoker_status status = stk_tl_event_json(&timeline->index, id, &a.sink, err);
    return answer_end(&a, status, json, err);
}

struct area_row {
    struct stk_cell name, kind, count, total_ns, union_ns, mean_ns, median_ns, p95_ns, min_ns,
        max_ns;
};
static const struct stk_column area_columns[] = {
    STK_COLUMN(area_row, name, TEXT, "name of the events", .is_name = true),
    STK_COLUMN(area_row, kind, TEXT, "kind of the events"),
    STK_COLUMN(area_row, count, COUNT, "how many overlap the area"),
    STK_COLUMN(area_row, total_ns, NS, "sum of their time inside the area"),
    STK_COLUMN(area_row, union_ns, NS, "time inside the area that at least one covers"),
    STK_COLUMN(area_row, mean_ns, NS, "mean time inside the area"),
    STK_COLUMN(area_row, median_ns, NS, "median time inside the area"),
    STK_COLUMN(area_row, p95_ns, NS, "95th percentile of the time inside the area"),
    STK_COLUMN(area_row, min_ns, NS, "minimum time inside the area"),
    STK_COLUMN(area_row, max_ns, NS, "maximum time inside the area"),
};
static const struct stk_table_info area_table =
    STK_TABLE_INFO("events", "Events of the area by name", area_row, area_columns);

static enum stoker_status fill_area(struct stoker_tables *t, const struct stk_tl_area_row *rows,
                                    size_t count, struct stoker_err *err)
{
    struct stk_table *table = stk_table_add(&t->doc, &area_table);
    for (size_t i = 0; i < count; i++) {
        const struct stk_tl_area_row *r = &rows[i];
        const struct area_row row = {.name = stk_cell_text(r->name),
                                     .kind = stk_cell_text(r->kind),
                                     .count = stk_cell_number(r->count),
                                     .total_ns = stk_cell_number(r->total_ns),
                                     .union_ns = stk_cell_number(r->union_ns),
                                     .mean_ns = stk_cell_number(r->mean_ns),
                                     .median_ns = stk_cell_number(r->median_ns),
                                     .p95_ns = stk_cell_number(r->p95_ns),
                                     .min_ns = stk_cell_number(r->min_ns),
                                     .max_ns = stk_cell_number(r->max_ns)};
        if (!stk_table_put(table, &row)) {
            return stk_err_nomem(err);
        }
    }
    return STOKER_OK;
}

// An empty document of tables about the timeline's run.
static enum stoker_status area_document(const struct stoker_timeline *timeline,
                                        struct stoker_tables **out, struct stoker_err *err)
{
    if (timeline->profiles) {
        return stk_profiles_tables(timeline->profiles, "area", out, err);
    }
    enum stoker_status status = stk_tables_new("area", out, err);
    if (status == STOKER_OK) {
        (*out)->doc.profile_json = timeline->file->profile_json;
    }
    return status;
}

enum stoker_status stoker_timeline_area(struct stoker_timeline *timeline, int64_t t0_ns,
                                        int64_t t1_ns, const int64_t *tracks, size_t count,
                                        struct stoker_blob *json, struct stoker_err *err)
{
    ENTER("stoker_timeline_area", tracks || count == 0, json);
    struct stoker_tables *t = NULL;
    struct stk_tl_area_row *rows;
    size_t row_count;
    enum stoker_status status = area_document(timeline, &t, err);
    if (status == STOKER_OK) {
        status = stk_tl_area(&timeline->index, t0_ns, t1_ns, tracks, count, &t->in.arena, &rows,
                             &row_count, err);
    }
    if (status == STOKER_OK) {
        status = fill_area(t, rows, row_count, err);
    }
    if (status == STOKER_OK) {
        status = stoker_tables_write(t, "json", NULL, NULL, take_bytes, &a.bytes, err);
    }
    stoker_tables_free(t);
    return answer_end(&a, status, json, err);
}

enum stoker_status stoker_timeline_calls(struct stoker_timeline *timeline, int64_t t0_ns,
                                         int64_t t1_ns, const int64_t *tracks, size_t count,
                                         struct stoker_blob *json, struct stoker_err *err)
{
    ENTER("stoker_timeline_calls", tracks || count == 0, json);
    enum stoker_status status =
        stk_tl_calls_json(&timeline->index, t0_ns, t1_ns, tracks, count, &a.sink, err);
    return answer_end(&a, status, json, err);
}

enum stoker_status stoker_timeline_search(struct stoker_timeline *timeline, const char *pattern,
                                          size_t limit, struct stoker_blob *json,
                                          struct stoker_err *err)
{
    ENTER("stoker_timeline_search", pattern, json);
    enum stoker_status status;
    if (limit < 1 || limit > HITS_MOST) {
        status = stk_err_set(err, STOKER_EUSAGE, "a search lists 1 to %d matches, not %zu",
                             HITS_MOST, limit);
    } else {
        status = stk_tl_search_json(&timeline->index, pattern, limit, &a.sink, err);
    }
    return answer_end(&a, status, json, err);
}

enum stoker_status stoker_timeline_runs(struct stoker_timeline *timeline, int64_t id,
                                        struct stoker_blob *json, struct stoker_err *err)
{
    ENTER("stoker_timeline_runs", true, json);
    enum stoker_status status = stk_tl_runs_json(&timeline->index, id, &a.sink, err);
    return answer_end(&a, status, json, err);
}

enum stoker_status stoker_timeline_phases(struct stoker_timeline *timeline,
                                          struct stoker_blob *json, struct stoker_err *err)
{
    ENTER("stoker_timeline_phases", true, json);
    enum stoker_status status = stk_tl_phases_json(&timeline->index, &a.sink, err);
    return answer_end(&a, status, json, err);
}

enum stoker_status stoker_timeline_ribbon(struct stoker_timeline *timeline, const char *device,
                                          int64_t from_ns, int64_t to_ns, size_t buckets,
                                          struct stoker_blob *json, struct stoker_err *err)
{
    ENTER("stoker_timeline_ribbon", true, json);
    const struct stk_tl_ribbon_asked asked = {device, from_ns, to_ns, buckets};
    enum stoker_status status = stk_tl_ribbon_json(&timeline->index, &asked, &a.sink, err);
    return answer_end(&a, status, json, err);
}
