// SPDX-License-Identifier: Apache-2.0
// Builds the index: counts the rows of each track. A row whose events are consecutive in the store,
// by start, needs no list; events of other rows go to lists in that order.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/timeline/timeline.h"

#define OUTLIER_RUNS 8
#define OUTLIER_TIMES 4

static uint32_t row_of(const struct stk_tl_trace *x, uint32_t track, uint32_t event)
{
    STK_ASSERT(track < x->t->track_count);
    uint32_t row = x->row_base[track] + x->t->depth[event];
    return row < STK_TL_ROWS ? row : STK_TL_ROWS - 1;
}

static uint32_t deepest(const struct stk_trace *t, const struct stk_track *track)
{
    uint32_t deep = 0;
    for (uint32_t i = 0; i < track->count; i++) {
        uint32_t depth = t->depth[track->first + i];
        deep = depth > deep ? depth : deep;
    }
    return deep;
}

// Which track each one is a sub-row of, and on which of its rows it begins.
static void lay_out(struct stk_tl_trace *x)
{
    const struct stk_trace *t = x->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        uint32_t parent = t->tracks[k].parent;
        x->roots[k] = parent != STK_NONE && parent < k ? x->roots[parent] : k;
        struct stk_tl_track *root = &x->tracks[x->roots[k]];
        x->row_base[k] = root->row_count < STK_TL_ROWS ? root->row_count : STK_TL_ROWS - 1;
        if (!x->x->tracks[k].taken || t->tracks[k].count == 0) {
            continue;
        }
        root->last_sub = k;
        root->event_count += t->tracks[k].count;
        uint32_t rows = root->row_count + deepest(t, &t->tracks[k]) + 1;
        root->row_count = rows < STK_TL_ROWS ? rows : STK_TL_ROWS;
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        x->tracks[k].first_row = x->row_count;
        x->row_count += x->tracks[k].row_count;
    }
}

// Counts the events of each row and checks whether they are consecutive, or puts them into lists.
// While counting, `steps` is the next consecutive event.
static void each_place(struct stk_tl_trace *x, bool fill)
{
    const struct stk_trace *t = x->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        if (!x->x->tracks[k].taken) {
            continue;
        }
        struct stk_tl_row *rows = &x->rows[x->tracks[x->roots[k]].first_row];
        for (uint32_t e = t->tracks[k].first; e < t->tracks[k].first + t->tracks[k].count; e++) {
            struct stk_tl_row *row = &rows[row_of(x, k, e)];
            if (!fill) {
                bool is_first = row->end++ == 0;
                row->from = is_first ? e : row->from;
                row->follows = is_first || (row->follows && row->steps == e &&
                                            t->start_ns[e - 1] <= t->start_ns[e]);
                row->steps = e + 1;
            } else if (!row->follows) {
                x->list[row->from + (row->end++ - row->first)] = e;
            }
        }
    }
}

struct start {
    int64_t ns;
    uint32_t event;
};

STK_ORDER(compare_starts, struct start, STK_UP(ns) STK_UP(event))

// The last row of a track with more sub-rows than rows holds events of several.
static bool sort_row(struct stk_tl_trace *x, const struct stk_tl_row *row)
{
    STK_ASSERT(row->first <= row->end);
    size_t n = row->end - row->first;
    struct start *starts = stk_alloc_array(n + 1, sizeof *starts);
    for (size_t i = 0; starts && i < n; i++) {
        uint32_t e = x->list[row->from + i];
        starts[i] = (struct start){x->t->start_ns[e], e};
    }
    if (starts) {
        stk_sort(starts, n, sizeof *starts, compare_starts);
    }
    for (size_t i = 0; starts && i < n; i++) {
        x->list[row->from + i] = starts[i].event;
    }
    stk_free(starts);
    return starts != NULL;
}

// Places and lists for the rows that were counted.
static bool place_rows(struct stk_tl_trace *x)
{
    uint32_t at = 0;
    for (uint32_t r = 0; r < x->row_count; r++) {
        struct stk_tl_row *row = &x->rows[r];
        uint32_t count = row->end;
        row->first = at;
        at += count;
        row->end = row->follows ? at : row->first;
        if (!row->follows) {
            row->from = x->list_count;
            x->list_count += count;
        }
    }
    x->list = stk_alloc_array((size_t)x->list_count + 1, sizeof *x->list);
    return x->list != NULL;
}

static bool make_rows(struct stk_tl_trace *x)
{
    x->rows = stk_alloc_zero((size_t)x->row_count + 1, sizeof *x->rows);
    if (!x->rows) {
        return false;
    }
    each_place(x, false);
    if (!place_rows(x)) {
        return false;
    }
    each_place(x, true);
    for (uint32_t k = 0; k < x->t->track_count; k++) {
        const struct stk_tl_track *track = &x->tracks[k];
        if (track->row_count == STK_TL_ROWS && track->last_sub != k) {
            const struct stk_tl_row *last = &x->rows[track->first_row + STK_TL_ROWS - 1];
            if (!last->follows && !sort_row(x, last)) {
                return false;
            }
        }
    }
    return true;
}

uint32_t stk_tl_lower(const struct stk_tl_trace *x, const struct stk_tl_row *row, uint32_t at,
                      int64_t t_ns)
{
    STK_ASSERT(at <= row->end);
    uint32_t step = 1, end = row->end;
    while (end - at > step && stk_tl_start(x, stk_tl_event(x, row, at + step - 1)) < t_ns) {
        at += step;
        step *= 2;
    }
    if (end - at > step) {
        end = at + step;
    }
    STK_BISECT(at, end, middle, stk_tl_start(x, stk_tl_event(x, row, middle)) < t_ns);
    return at;
}

// How long an event of each name must be to stand out.
static bool find_outliers(struct stk_tl_trace *x)
{
    const struct stk_trace *t = x->t;
    size_t n = (size_t)t->strings.count + 1;
    x->outliers = stk_alloc_array(n, sizeof *x->outliers);
    double *sums = stk_alloc_zero(n, sizeof *sums);
    uint32_t *counts = stk_alloc_zero(n, sizeof *counts);
    bool ok = x->outliers && sums && counts;
    for (uint32_t e = 0; ok && e < t->count; e++) {
        sums[t->name[e]] += (double)stk_dur_ns(t, e);
        counts[t->name[e]]++;
    }
    for (size_t i = 0; ok && i < n; i++) {
        double most = counts[i] < OUTLIER_RUNS ? 9e18 : OUTLIER_TIMES * sums[i] / counts[i];
        x->outliers[i] = most < 9e18 ? (int64_t)most : INT64_MAX;
    }
    stk_free(sums);
    stk_free(counts);
    return ok;
}

static bool make_trace(struct stk_timeline *t, struct stk_tl_trace *x)
{
    size_t n = (size_t)x->t->track_count + 1;
    x->tracks = stk_arena_array(&t->arena, n, sizeof *x->tracks);
    x->roots = stk_arena_array(&t->arena, n, sizeof *x->roots);
    x->row_base = stk_arena_array(&t->arena, n, sizeof *x->row_base);
    if (!x->tracks || !x->roots || !x->row_base) {
        return false;
    }
    lay_out(x);
    return make_rows(x) && stk_tl_make_levels(x) && find_outliers(x);
}

static void find_ends(struct stk_timeline *t, const struct stk_tl_trace *x)
{
    for (uint32_t r = 0; r < x->row_count; r++) {
        const struct stk_tl_row *row = &x->rows[r];
        if (row->first == row->end) {
            continue;
        }
        int64_t first = stk_tl_start(x, stk_tl_event(x, row, row->first));
        t->first_ns = t->events == 0 || first < t->first_ns ? first : t->first_ns;
        for (uint32_t at = row->first; at < row->end; at++) {
            int64_t end = stk_tl_end(x, stk_tl_event(x, row, at));
            t->last_ns = t->events == 0 || end > t->last_ns ? end : t->last_ns;
            t->events++;
        }
    }
}

enum stoker_status stk_timeline_make(struct stk_timeline *t, struct stk_query *q,
                                     struct stoker_err *err)
{
    uint64_t names = 0;
    *t = (struct stk_timeline){.q = q};
    stk_arena_init(&t->arena, 0);
    t->traces = stk_arena_array(&t->arena, (size_t)q->trace_count + 1, sizeof *t->traces);
    if (!t->traces) {
        return stk_err_nomem(err);
    }
    for (; t->trace_count < q->trace_count; t->trace_count++) {
        struct stk_tl_trace *x = &t->traces[t->trace_count];
        *x = (struct stk_tl_trace){.x = &q->traces[t->trace_count],
                                   .t = q->traces[t->trace_count].t,
                                   .index = t->trace_count,
                                   .name_base = (uint32_t)names};
        names += x->t->strings.count;
        if (names > UINT32_MAX) {
            return stk_err_set(err, STOKER_ELIMIT,
                               "the profiles have more than 2^32 names: choose a rank");
        }
        if (!make_trace(t, x)) {
            t->trace_count++;
            return stk_err_nomem(err);
        }
        find_ends(t, x);
    }
    return stk_tl_ribbons_take(t) ? STOKER_OK : stk_err_nomem(err);
}

void stk_timeline_free(struct stk_timeline *t)
{
    for (uint32_t i = 0; !t->is_thawed && i < t->trace_count; i++) {
        struct stk_tl_trace *x = &t->traces[i];
        stk_free(x->rows);
        stk_free(x->list);
        stk_free(x->outliers);
        stk_free(x->steps);
        stk_free(x->buckets);
    }
    stk_arena_deinit(&t->arena);
}

void stk_tl_place(const struct stk_tl_trace *x, uint32_t event, struct stk_tl_place *out)
{
    STK_ASSERT(event < x->t->count);
    uint32_t track = stk_track_of(x->t, event);
    *out = (struct stk_tl_place){
        .x = x, .event = event, .root = x->roots[track], .row = row_of(x, track, event)};
    const struct stk_tl_row *row = &x->rows[x->tracks[out->root].first_row + out->row];
    out->at = stk_tl_lower(x, row, row->first, stk_tl_start(x, event));
    while (out->at + 1 < row->end && stk_tl_event(x, row, out->at) != event) {
        out->at++; // those of the same start
    }
}

enum stoker_status stk_tl_find(const struct stk_timeline *t, int64_t id, struct stk_tl_place *out,
                               struct stoker_err *err)
{
    uint32_t trace = id >= 0 && id >> 32 < t->trace_count ? (uint32_t)(id >> 32) : t->trace_count;
    const struct stk_tl_trace *x = trace < t->trace_count ? &t->traces[trace] : NULL;
    uint32_t event = (uint32_t)id;
    if (!x || event >= x->t->count || !x->x->tracks[stk_track_of(x->t, event)].taken) {
        return stk_err_set(err, STOKER_EUSAGE, "no event %lld", (long long)id);
    }
    stk_tl_place(x, event, out);
    return STOKER_OK;
}

enum stoker_status stk_tl_track(const struct stk_timeline *t, int64_t id,
                                const struct stk_tl_trace **x, uint32_t *root,
                                struct stoker_err *err)
{
    uint32_t trace = id >= 0 && id >> 32 < t->trace_count ? (uint32_t)(id >> 32) : t->trace_count;
    *x = trace < t->trace_count ? &t->traces[trace] : NULL;
    *root = (uint32_t)id;
    if (!*x || *root >= (*x)->t->track_count || (*x)->tracks[*root].event_count == 0) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "no track %lld: see the list of tracks for their ids", (long long)id);
    }
    return STOKER_OK;
}
