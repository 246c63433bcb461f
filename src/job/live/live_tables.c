// SPDX-License-Identifier: Apache-2.0
// The tables of a followed record; see live_tables.h. Forgetting copies living entries into new
// tables, so it is done only if it is likely to pay: again at once if it freed a quarter of the
// series, else only after that many new ones were refused. No content of a record can make it slow.
#include "job/live/live_tables.h"

#include "base/assert.h"

#include <string.h>

#define GONE_S 5.0 // a process not scanned for this long, and for three scans, has ended

static void make_tables(struct stk_live_tables *t)
{
    stk_map_init(&t->track_at, (size_t)2 * STK_LIVE_TRACKS);
    stk_map_init(&t->series_at, (size_t)2 * STK_LIVE_SERIES);
    stk_vec_init(&t->tracks, sizeof(struct stk_live_track), STK_LIVE_TRACKS);
    stk_vec_init(&t->series, sizeof(struct stk_live_series), STK_LIVE_SERIES);
}

static void drop_tables(struct stk_live_tables *t)
{
    stk_map_deinit(&t->track_at);
    stk_map_deinit(&t->series_at);
    stk_vec_deinit(&t->tracks);
    stk_vec_deinit(&t->series);
}

void stk_live_tables_init(struct stk_live_tables *t)
{
    *t = (struct stk_live_tables){0};
    make_tables(t);
}

void stk_live_tables_deinit(struct stk_live_tables *t)
{
    drop_tables(t);
}

// ---- living entries ----

static struct stk_live_series *series_find(const struct stk_live_tables *t, enum stk_sampled sample,
                                           int64_t process, int64_t number)
{
    STK_ASSERT(sample < STK_SAMPLE_COUNT);
    const uint32_t *at =
        stk_map_get(&t->series_at, (uint64_t)number, (uint64_t)process << 8 | (uint64_t)sample);
    return at ? stk_vec_at(&t->series, *at) : NULL;
}

static double silence_of(const struct stk_live_tables *t, const struct stk_live_series *s)
{
    STK_ASSERT(s->count > 0);
    return (double)(t->newest_ns - s->time_ns[(s->count - 1) % STK_LIVE_RING]) * 1e-9;
}

static bool is_gone(const struct stk_live_tables *t, int64_t process)
{
    const struct stk_live_series *s = series_find(t, STK_SAMPLE_OF_PROCESS_THREADS, process, 0);
    return s && silence_of(t, s) > GONE_S + 3 * t->scan_s;
}

bool stk_live_series_has_ended(const struct stk_live_tables *t, const struct stk_live_series *s)
{
    enum stk_sample_scope scope = stk_sample_info(s->sample)->scope;
    return (scope == STK_SAMPLE_THREAD || scope == STK_SAMPLE_PROCESS) && is_gone(t, s->process);
}

// If there are many series, drops those of idle threads, too.
static bool is_kept(const struct stk_live_tables *t, const struct stk_live_series *s)
{
    bool is_thread = stk_sample_info(s->sample)->scope == STK_SAMPLE_THREAD;
    return !(is_thread && silence_of(t, s) > GONE_S) && !stk_live_series_has_ended(t, s);
}

static struct stk_live_series *push_series(struct stk_live_tables *t, enum stk_sampled sample,
                                           int64_t process, int64_t number)
{
    STK_ASSERT(t->series.item_size == sizeof(struct stk_live_series));
    struct stk_live_series *s = stk_vec_push(&t->series);
    if (!s ||
        !stk_map_put(&t->series_at, (uint64_t)number, (uint64_t)process << 8 | (uint64_t)sample,
                     (uint32_t)(t->series.count - 1), NULL)) {
        t->has_failed = true;
        return NULL;
    }
    *s = (struct stk_live_series){.sample = sample, .process = process, .number = number};
    return s;
}

static struct stk_live_track *push_track(struct stk_live_tables *t, uint32_t id)
{
    struct stk_live_track *track = stk_vec_push(&t->tracks);
    if (!track || !stk_map_put(&t->track_at, id, 0, (uint32_t)(t->tracks.count - 1), NULL)) {
        t->has_failed = true;
        return NULL;
    }
    *track = (struct stk_live_track){.id = id};
    return track;
}

static bool is_track_kept(const struct stk_live_tables *t, const struct stk_live_track *track)
{
    return track->process < 0 || !is_gone(t, track->process);
}

// Keeps the newest tracks of living processes, at most half a table.
static void keep_tracks(struct stk_live_tables *t, const struct stk_live_tables *old)
{
    STK_ASSERT(old->tracks.count <= STK_LIVE_TRACKS);
    size_t living = 0, most = STK_LIVE_TRACKS / 2;
    for (size_t i = 0; i < old->tracks.count; i++) {
        living += is_track_kept(old, stk_vec_at(&old->tracks, i));
    }
    for (size_t i = 0; i < old->tracks.count && !t->has_failed; i++) {
        const struct stk_live_track *track = stk_vec_at(&old->tracks, i);
        if (!is_track_kept(old, track)) {
            continue;
        }
        struct stk_live_track *copy = living-- <= most ? push_track(t, track->id) : NULL;
        if (copy) {
            *copy = *track;
        } else {
            t->lost++;
        }
    }
}

static void keep_series(struct stk_live_tables *t, const struct stk_live_tables *old)
{
    for (size_t i = 0; i < old->series.count && !t->has_failed; i++) {
        const struct stk_live_series *s = stk_vec_at(&old->series, i);
        struct stk_live_series *copy =
            is_kept(old, s) ? push_series(t, s->sample, s->process, s->number) : NULL;
        if (copy) {
            *copy = *s;
        }
    }
}

static void forget(struct stk_live_tables *t)
{
    struct stk_live_tables old = *t;
    make_tables(t);
    keep_tracks(t, &old);
    keep_series(t, &old);
    drop_tables(&old);
    bool paid = t->series.count <= STK_LIVE_SERIES - STK_LIVE_SERIES / 4;
    t->refused = paid ? 0 : t->refused + 1;
}

static bool has_room_for_series(struct stk_live_tables *t)
{
    if (t->series.count == STK_LIVE_SERIES) {
        if (t->refused % (STK_LIVE_SERIES / 4) == 0) {
            forget(t);
        } else {
            t->refused++;
        }
    }
    return t->series.count < STK_LIVE_SERIES;
}

// ---- finding and adding ----

const struct stk_live_track *stk_live_track_of(const struct stk_live_tables *t, uint32_t id)
{
    const uint32_t *at = stk_map_get(&t->track_at, id, 0);
    return at ? stk_vec_at(&t->tracks, *at) : NULL;
}

struct stk_live_track *stk_live_track_add(struct stk_live_tables *t, uint32_t id, int64_t process,
                                          int64_t number)
{
    if (t->tracks.count == STK_LIVE_TRACKS) {
        forget(t);
    }
    struct stk_live_track *track =
        t->has_failed || stk_map_get(&t->track_at, id, 0) ? NULL : push_track(t, id);
    if (track) {
        track->process = process;
        track->number = number;
    } else {
        t->lost++;
    }
    return track;
}

struct stk_live_series *stk_live_series_of(struct stk_live_tables *t, enum stk_sampled sample,
                                           uint32_t track)
{
    const struct stk_live_track *found = track ? stk_live_track_of(t, track) : NULL;
    if (track && !found) {
        t->lost++;
        return NULL;
    }
    // A copy, since making room moves the tables.
    const struct stk_live_track own = found ? *found : (struct stk_live_track){.process = -1};
    struct stk_live_series *s = series_find(t, sample, own.process, own.number);
    if (!s) {
        s = has_room_for_series(t) && !t->has_failed
                ? push_series(t, sample, own.process, own.number)
                : NULL;
    }
    if (s) {
        memcpy(s->name, own.name, sizeof s->name);
    } else {
        t->lost++;
    }
    return s;
}

void stk_live_series_put(struct stk_live_tables *t, struct stk_live_series *s, int64_t time_ns,
                         double value)
{
    STK_ASSERT(s->sample < STK_SAMPLE_COUNT);
    s->time_ns[s->count % STK_LIVE_RING] = time_ns;
    s->value[s->count % STK_LIVE_RING] = value;
    s->count += s->count == 2 * STK_LIVE_RING - 1 ? 1 - STK_LIVE_RING : 1; // never wraps
    t->newest_ns = time_ns > t->newest_ns ? time_ns : t->newest_ns;
}
