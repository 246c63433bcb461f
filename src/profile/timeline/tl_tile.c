// SPDX-License-Identifier: Apache-2.0
// A tile's contents: in each row of the track, bucket by bucket, the events that start there. The
// last one is shown alone if it is no shorter than the bucket; the others are merged. Buckets are
// the precomputed ones, or are computed from the events if a bucket has few. With many tracks,
// several threads each take the next one.
#include <string.h>

#include "base/assert.h"
#include "base/thread.h"
#include "profile/timeline/tile_items.h"
#include "profile/timeline/timeline.h"
#include "stoker/timeline.h"

enum {
    TRACKS_A_THREAD = 16,   // fewer are done before a thread would start
    BYTES_MOST = 256 << 20, // of one answer
    AHEAD = 16              // buckets: data of the next ones is prefetched
};

static bool put(struct stk_tile *t, const struct stk_tl_row *row, uint32_t place, uint32_t count,
                uint8_t flags)
{
    STK_ASSERT(place >= row->first && place < row->end);
    struct stk_tile_item *item = stk_vec_push_raw(&t->items);
    if (!item) {
        return false;
    }
    *item = (struct stk_tile_item){.event = stk_tl_event(t->x, row, place),
                                   .count = count,
                                   .row = (uint16_t)(row - t->rows),
                                   .flags = flags};
    if (!(flags & STOKER_TILE_BEFORE)) {
        t->events += count;
        t->merged += count > 1 ? count : 0;
    }
    return true;
}

// A bucket that ends before the place `next`.
static bool put_bucket(struct stk_tile *t, const struct stk_tl_row *row, struct stk_tl_bucket b,
                       uint32_t next)
{
    bool alone = stk_tl_is_long(t->x, row, next - 1, t->level);
    uint32_t merged = next - b.first - alone;
    return (merged == 0 || put(t, row, b.longest, merged, 0)) &&
           (!alone || put(t, row, next - 1, 1, 0));
}

// The event that began in an earlier tile and lasts into this one, whose first place is `at`. A
// counter's value lasts until the next one.
static bool put_before(struct stk_tile *t, const struct stk_tl_row *row, uint32_t at)
{
    return t->from_ns <= 0 || at == row->first ||
           (!t->is_counter && stk_tl_end(t->x, stk_tl_event(t->x, row, at - 1)) <= t->from_ns) ||
           put(t, row, at - 1, 1, STOKER_TILE_BEFORE);
}

static bool fill_from_buckets(struct stk_tile *t, const struct stk_tl_row *row)
{
    struct stk_tl_buckets b;
    stk_tl_buckets_of(t->x, row, t->level, t->from_ns, t->to_ns, &b);
    bool ok = put_before(t, row, b.count ? b.v[0].first : b.end);
    for (uint32_t i = 0; i < b.count && ok; i++) {
        if (row->follows && i + AHEAD < b.count) { // the last event of a bucket
            __builtin_prefetch(
                &t->x->t->dur_low[stk_tl_event(t->x, row, b.v[i + AHEAD].first - 1)]);
        }
        ok = put_bucket(t, row, b.v[i], i + 1 < b.count ? b.v[i + 1].first : b.end);
    }
    return ok;
}

static bool fill_from_events(struct stk_tile *t, const struct stk_tl_row *row)
{
    uint32_t at = t->from_ns > 0 ? stk_tl_lower(t->x, row, row->first, t->from_ns) : row->first;
    bool ok = put_before(t, row, at);
    while (ok && at < row->end && stk_tl_start(t->x, stk_tl_event(t->x, row, at)) < t->to_ns) {
        uint32_t next;
        struct stk_tl_bucket b = stk_tl_bucket_at(t->x, row, t->level, at, &next);
        ok = put_bucket(t, row, b, next);
        at = next;
    }
    return ok;
}

// False: it begins after the largest time.
static bool span_of(struct stk_tile *t, int64_t index)
{
    int64_t span = (int64_t)STK_TL_BUCKETS << t->level;
    if (__builtin_mul_overflow(index, span, &t->from_ns)) {
        return false;
    }
    if (__builtin_add_overflow(t->from_ns, span, &t->to_ns)) {
        t->to_ns = INT64_MAX;
    }
    return true;
}

static bool fill_tile(struct stk_tile *t, uint32_t root, int64_t index)
{
    const struct stk_tl_track *track = &t->x->tracks[root];
    bool ok = true;
    t->is_counter = t->x->t->tracks[root].kind == STK_TRACK_COUNTER;
    t->rows = &t->x->rows[track->first_row];
    for (uint32_t r = 0; span_of(t, index) && r < track->row_count && ok; r++) {
        const struct stk_tl_row *row = &t->rows[r];
        ok = stk_tl_has_level(row, t->level) ? fill_from_buckets(t, row) : fill_from_events(t, row);
    }
    stk_tile_measure(t);
    return ok;
}

struct many {
    struct stk_tile *tiles;
    const uint32_t *roots;
    int64_t index;
    char *out;
    bool *ok;
};

static void fill_one(void *arg, size_t i)
{
    struct many *m = arg;
    m->ok[i] = fill_tile(&m->tiles[i], m->roots[i], m->index);
}

static void write_one(void *arg, size_t i)
{
    struct many *m = arg;
    stk_tile_write(&m->tiles[i], m->out + m->tiles[i].place);
}

static enum stoker_status check(const struct stk_timeline *timeline, const int64_t *tracks,
                                size_t count, int level, int64_t index, struct many *m,
                                uint32_t *roots, struct stoker_err *err)
{
    if (level < 0 || level > STK_TL_LEVEL_MAX) {
        return stk_err_set(err, STOKER_EUSAGE, "no tile level %d: they go up to %d", level,
                           STK_TL_LEVEL_MAX);
    }
    if (index < 0) {
        return stk_err_set(err, STOKER_EUSAGE, "no tile %lld: they count from 0", (long long)index);
    }
    enum stoker_status status = STOKER_OK;
    for (size_t i = 0; i < count && status == STOKER_OK; i++) {
        m->tiles[i] = (struct stk_tile){.level = level};
        stk_vec_init(&m->tiles[i].items, sizeof(struct stk_tile_item),
                     SIZE_MAX / sizeof(struct stk_tile_item));
        status = stk_tl_track(timeline, tracks[i], &m->tiles[i].x, &roots[i], err);
    }
    return status;
}

// One after another in `out`, each at a multiple of 8 bytes, `room` bytes in front of it.
static enum stoker_status write_all(struct many *m, size_t count, int threads, size_t room,
                                    struct stk_vec *out, struct stoker_err *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        m->tiles[i].place = bytes + room;
        bytes += room + m->tiles[i].bytes;
    }
    if (bytes > BYTES_MOST) {
        return stk_err_set(err, STOKER_ELIMIT, "the tiles exceed %d MB: ask for fewer tracks",
                           BYTES_MOST >> 20);
    }
    m->out = stk_vec_push_n(out, bytes);
    if (!m->out) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; room && i < count; i++) {
        uint64_t length = m->tiles[i].bytes;
        memcpy(m->out + m->tiles[i].place - room, &length, sizeof length);
    }
    stk_thread_each(threads, count, write_one, m);
    return STOKER_OK;
}

static int threads_for(size_t tracks)
{
    if (tracks < (size_t)2 * TRACKS_A_THREAD) {
        return 1;
    }
    size_t most = (size_t)stk_thread_count();
    return (int)(tracks / TRACKS_A_THREAD < most ? tracks / TRACKS_A_THREAD : most);
}

static enum stoker_status make(const struct stk_timeline *timeline, const int64_t *tracks,
                               size_t count, int level, int64_t index, size_t room,
                               struct stk_vec *out, struct stoker_err *err)
{
    struct stk_arena arena;
    stk_arena_init(&arena, 0);
    uint32_t *roots = stk_arena_array(&arena, count + 1, sizeof *roots);
    struct many m = {.tiles = stk_arena_array(&arena, count + 1, sizeof *m.tiles),
                     .roots = roots,
                     .index = index,
                     .ok = stk_arena_array(&arena, count + 1, sizeof *m.ok)};
    int threads = threads_for(count);
    if (!m.tiles || !roots || !m.ok) {
        stk_arena_deinit(&arena);
        return stk_err_nomem(err);
    }
    enum stoker_status status = check(timeline, tracks, count, level, index, &m, roots, err);
    if (status == STOKER_OK) {
        stk_thread_each(threads, count, fill_one, &m);
        bool ok = true;
        for (size_t i = 0; i < count; i++) {
            ok = ok && m.ok[i];
        }
        status = ok ? write_all(&m, count, threads, room, out, err) : stk_err_nomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        stk_vec_deinit(&m.tiles[i].items);
    }
    stk_arena_deinit(&arena);
    return status;
}

enum stoker_status stk_tl_tile(const struct stk_timeline *timeline, int64_t track, int level,
                               int64_t index, struct stk_vec *out, struct stoker_err *err)
{
    return make(timeline, &track, 1, level, index, 0, out, err);
}

enum stoker_status stk_tl_tiles(const struct stk_timeline *timeline, const int64_t *tracks,
                                size_t count, int level, int64_t index, struct stk_vec *out,
                                struct stoker_err *err)
{
    return make(timeline, tracks, count, level, index, sizeof(uint64_t), out, err);
}
