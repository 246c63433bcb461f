// SPDX-License-Identifier: Apache-2.0
// Chooses time 0, and drops rows that can't belong to this profile. Exporters write a few records
// at time 0 or at a clock's limit, next to millions of good ones. One of them would put the
// profile's first event years away. So if starts spread over more than 7 days, the median start
// decides: rows further than 366 days from it are dropped, and rows further than 7 days if they are
// fewer than 1 in 100 (files merged from machines whose clocks differ by days are kept).
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "profile/store/build_impl.h"

#define SAMPLES_MAX 65536u
#define NEAR_NS (7 * STK_DAY_NS)
#define FAR_NS (366 * STK_DAY_NS)
#define ISOLATED_ONE_IN 100u

struct range {
    int64_t min_ns, max_ns;
    uint64_t rows;
};

static bool is_derived(const struct stk_finish *f, const struct stk_shard *s, uint32_t track)
{
    return stk_tracks_at(&f->merged, s->track_map[track])->kind == STK_TRACK_DERIVED;
}

static void widen(struct range *r, const struct stk_track_entry *track)
{
    if (track->rows == 0) {
        return;
    }
    if (r->rows == 0 || track->min_start_ns < r->min_ns) {
        r->min_ns = track->min_start_ns;
    }
    if (r->rows == 0 || track->max_start_ns > r->max_ns) {
        r->max_ns = track->max_start_ns;
    }
    r->rows += track->rows;
}

static void find_ranges(const struct stk_finish *f, struct range *all, struct range *recorded)
{
    *all = *recorded = (struct range){0, 0, 0};
    for (size_t i = 0; i < f->b->shards.count; i++) {
        const struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (uint32_t j = 0; j < s->tracks.entries.count; j++) {
            widen(all, stk_tracks_at(&s->tracks, j));
            if (!is_derived(f, s, j)) {
                widen(recorded, stk_tracks_at(&s->tracks, j));
            }
        }
    }
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Lower median of the starts: exact up to SAMPLES_MAX rows, else of an evenly spaced sample.
static enum stoker_status find_median(const struct stk_finish *f, bool derived_too, uint64_t rows,
                                      int64_t *median_ns, struct stoker_err *err)
{
    uint64_t stride = rows / SAMPLES_MAX + 1, seen = 0;
    uint32_t n = 0;
    int64_t *samples = stk_alloc_array(SAMPLES_MAX, sizeof *samples);
    if (!samples) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; i < f->b->shards.count; i++) {
        const struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (size_t k = 0; k < s->chunks.count; k++) {
            const struct stk_chunk *c = stk_shard_chunk(s, k);
            if (!derived_too && is_derived(f, s, c->track)) {
                continue;
            }
            for (uint32_t r = 0; r < c->count; r++) {
                if (seen++ % stride == 0 && n < SAMPLES_MAX) {
                    samples[n++] = stk_chunk_columns(c).start_ns[r];
                }
            }
        }
    }
    stk_sort(samples, n, sizeof *samples, compare_times);
    *median_ns = n ? samples[(n - 1) / 2] : 0;
    stk_free(samples);
    return STOKER_OK;
}

static uint64_t count_beyond(const struct stk_finish *f, int64_t median_ns, uint64_t limit_ns)
{
    uint64_t n = 0;
    for (size_t i = 0; i < f->b->shards.count; i++) {
        const struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (size_t k = 0; k < s->chunks.count; k++) {
            const struct stk_chunk *c = stk_shard_chunk(s, k);
            for (uint32_t r = 0; r < c->count; r++) {
                n += distance(stk_chunk_columns(c).start_ns[r], median_ns) > limit_ns;
            }
        }
    }
    return n;
}

// Remove a stored row; the scatter skips it.
static void drop_row(struct stk_finish *f, struct stk_shard *s, struct stk_chunk *c, uint32_t r,
                     enum stk_issue_id why)
{
    struct stk_chunk_columns rows = stk_chunk_columns(c);
    uint32_t name = rows.name[r];
    name = s->string_map ? s->string_map[name] : name;
    enum stk_track_kind track = stk_tracks_at(&f->merged, s->track_map[c->track])->kind;
    int64_t pos = (int64_t)((uint64_t)rows.pos_high[r] << 32 | rows.pos_low[r]);
    uint8_t *kind = &rows.kind[r];
    stk_issue_add(&f->t->issues[why], 1, 1, pos, name);
    f->t->by_kind[stk_build_kind(f, *kind, track, name)]++;
    f->t->dropped++;
    stk_tracks_at(&s->tracks, c->track)->rows--;
    *kind = STK_KIND_GONE;
    c->has_gone = true;
}

static void drop_far_rows(struct stk_finish *f, int64_t median_ns, uint64_t limit_ns)
{
    for (size_t i = 0; i < f->b->shards.count; i++) {
        struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (uint32_t j = 0; j < s->tracks.entries.count; j++) {
            struct stk_track_entry *track = stk_tracks_at(&s->tracks, j);
            track->min_start_ns = INT64_MAX;
            track->max_start_ns = INT64_MIN;
        }
        for (size_t k = 0; k < s->chunks.count; k++) {
            struct stk_chunk *c = stk_shard_chunk(s, k);
            struct stk_track_entry *track = stk_tracks_at(&s->tracks, c->track);
            for (uint32_t r = 0; r < c->count; r++) {
                int64_t start_ns = stk_chunk_columns(c).start_ns[r];
                if (distance(start_ns, median_ns) > limit_ns) {
                    drop_row(f, s, c, r, STK_ISSUE_TIME_INVALID);
                    continue;
                }
                if (start_ns < track->min_start_ns) {
                    track->min_start_ns = start_ns;
                }
                if (start_ns > track->max_start_ns) {
                    track->max_start_ns = start_ns;
                }
            }
        }
    }
}

// Rows of tracks beyond the cap.
static void drop_left_out(struct stk_finish *f)
{
    for (size_t i = 0; i < f->b->shards.count; i++) {
        struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (size_t k = 0; k < s->chunks.count; k++) {
            struct stk_chunk *c = stk_shard_chunk(s, k);
            for (uint32_t r = 0; r < c->count && stk_tracks_at(&s->tracks, c->track)->left_out;
                 r++) {
                drop_row(f, s, c, r, STK_ISSUE_TRACKS_LEFT_OUT);
            }
        }
    }
}

// Event ids are 32 bits: the excess is dropped, in order of the shards.
static void drop_excess_rows(struct stk_finish *f)
{
    uint64_t kept = 0;
    for (size_t i = 0; i < f->b->shards.count; i++) {
        struct stk_shard *s = stk_build_shard_at(f->b, i);
        for (size_t k = 0; k < s->chunks.count; k++) {
            struct stk_chunk *c = stk_shard_chunk(s, k);
            for (uint32_t r = 0; r < c->count; r++) {
                if (stk_chunk_columns(c).kind[r] != STK_KIND_GONE && ++kept > f->b->max_rows) {
                    drop_row(f, s, c, r, STK_ISSUE_LIMIT_REACHED);
                }
            }
        }
    }
}

// Where the input ends early, in the trace's own time.
static void note_cut(struct stk_finish *f)
{
    struct stk_trace *t = f->t;
    int64_t ns = f->b->whole_until_ns;
    bool is_time = ns != INT64_MIN && ns != INT64_MAX;
    bool is_damaged =
        t->issues[STK_ISSUE_TRUNCATED].count || t->issues[STK_ISSUE_COMPRESSION_DAMAGED].count;
    if (is_time && __builtin_sub_overflow(ns, f->base_ns, &ns)) {
        ns = INT64_MIN;
    }
    t->cut = f->b->cut == STK_CUT_NOT && is_damaged ? STK_CUT_SOMEWHERE : f->b->cut;
    t->whole_until_ns = ns;
}

enum stoker_status stk_build_check_times(struct stk_finish *f, struct stoker_err *err)
{
    struct range all, recorded;
    f->name_class = stk_alloc_zero(f->t->strings.count, 1);
    if (!f->name_class) {
        return stk_err_nomem(err);
    }
    if (f->has_left_out) {
        drop_left_out(f);
    }
    find_ranges(f, &all, &recorded);
    if (all.rows && distance(all.min_ns, all.max_ns) > NEAR_NS) {
        int64_t median_ns = 0;
        bool derived_too = recorded.rows == 0;
        enum stoker_status status =
            find_median(f, derived_too, derived_too ? all.rows : recorded.rows, &median_ns, err);
        if (status != STOKER_OK) {
            return status;
        }
        bool isolated = count_beyond(f, median_ns, NEAR_NS) < all.rows / ISOLATED_ONE_IN;
        drop_far_rows(f, median_ns, isolated ? NEAR_NS : FAR_NS);
        find_ranges(f, &all, &recorded);
    }
    if (all.rows > f->b->max_rows) {
        drop_excess_rows(f);
        find_ranges(f, &all, &recorded);
    }
    f->total_rows = all.rows;
    f->base_ns = recorded.rows ? recorded.min_ns : all.min_ns;
    note_cut(f);
    if (__builtin_add_overflow(f->base_ns, f->b->facts.clock_base_ns, &f->t->base_ns)) {
        f->t->base_ns = f->base_ns;
    }
    return STOKER_OK;
}
