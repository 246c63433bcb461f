// SPDX-License-Identifier: Apache-2.0
// Following a sampler's record; see live_record.h. Blocks are found as any reader of such files
// does (wire/wire_read.h). A thread or process has a new track now and then, under the same number:
// values are kept by number. Names are resolved when a track is defined, which follows its name at
// once.
//
// Limits: a block longer than BUFFER is passed over (the sampler's have 64 KiB at most).
#include "live/live_record.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "wire/wire_read.h"

enum {
    BUFFER = 256 * 1024,
    RING = 64,    // values of a counter; five seconds of looks have 25
    STRINGS = 64, // that may still be asked for: a track is defined right behind its name
    NAME = 48,    // bytes of a name
    ABSENT = 16,  // sources
    ABSENT_TEXT = 128,
    TRACKS_MAX = 1 << 15,
    SERIES_MAX = 1 << 14,
    LOOKS_LEAST = 5
};
#define GONE_S 5.0 // a process that no scan has met for so long, and three scans, has ended

struct string {
    uint32_t id;
    char text[ABSENT_TEXT];
};
struct track {
    uint32_t id;
    int64_t process, number;
    char name[NAME];
};
struct series {
    enum stk_sampled sample;
    int64_t process, number;
    char name[NAME];
    uint32_t count; // values ever; the last RING are kept
    int64_t time_ns[RING];
    double value[RING];
};

struct stk_live_record {
    int fd;
    bool is_own, failed;
    uint64_t at; // of the file: what is read
    size_t have; // bytes in the buffer
    uint8_t *buffer;
    struct stk_live_record_state state;
    struct string strings[STRINGS];
    uint32_t next_string;
    uint32_t sample_names[STK_SAMPLE_COUNT]; // their strings
    struct stk_map track_at, series_at;
    struct stk_vec tracks, series;
    char absent[ABSENT][ABSENT_TEXT];
    size_t absent_count;
};

static void make_tables(struct stk_live_record *r)
{
    stk_map_init(&r->track_at, (size_t)2 * TRACKS_MAX);
    stk_map_init(&r->series_at, (size_t)2 * SERIES_MAX);
    stk_vec_init(&r->tracks, sizeof(struct track), TRACKS_MAX);
    stk_vec_init(&r->series, sizeof(struct series), SERIES_MAX);
}

static void drop_tables(struct stk_live_record *r)
{
    stk_map_deinit(&r->track_at);
    stk_map_deinit(&r->series_at);
    stk_vec_deinit(&r->tracks);
    stk_vec_deinit(&r->series);
}

enum stoker_status stk_live_record_open(struct stk_live_record **out, int fd, bool is_own,
                                        struct stoker_err *err)
{
    struct stk_live_record *r = stk_alloc_zero(1, sizeof *r);
    *out = NULL;
    if (!r || !(r->buffer = stk_alloc(BUFFER))) {
        stk_free(r);
        return stk_err_nomem(err);
    }
    r->fd = fd;
    r->is_own = is_own;
    make_tables(r);
    *out = r;
    return STOKER_OK;
}

void stk_live_record_close(struct stk_live_record *r)
{
    if (r) {
        drop_tables(r);
        stk_free(r->buffer);
        stk_free(r);
    }
}

// ---- what lives ----

static const struct series *series_find(const struct stk_live_record *r, enum stk_sampled sample,
                                        int64_t process, int64_t number)
{
    const uint32_t *at =
        stk_map_get(&r->series_at, (uint64_t)number, (uint64_t)process << 8 | (uint64_t)sample);
    return at ? stk_vec_at(&r->series, *at) : NULL;
}

static int64_t newest_of(const struct series *s)
{
    return s->time_ns[(s->count - 1) % RING];
}

static bool is_gone(const struct stk_live_record *r, int64_t process)
{
    const struct series *s = series_find(r, STK_SAMPLE_OF_PROCESS_THREADS, process, 0);
    double allowed_s = GONE_S + 3 * r->state.scan_s;
    return s && (double)(r->state.newest_ns - newest_of(s)) * 1e-9 > allowed_s;
}

static bool is_of_process(enum stk_sampled sample)
{
    enum stk_sample_scope scope = stk_sample_info(sample)->scope;
    return scope == STK_SAMPLE_THREAD || scope == STK_SAMPLE_PROCESS;
}

// Tables that hold what lives; where that is all, those of threads that say nothing now go, too.
static bool forget(struct stk_live_record *r)
{
    struct stk_live_record old = *r;
    make_tables(r);
    bool ok = true;
    for (size_t i = 0; i < old.tracks.count && ok; i++) {
        const struct track *t = stk_vec_at(&old.tracks, i);
        if (t->process >= 0 && is_gone(&old, t->process)) {
            continue;
        }
        uint32_t *at = stk_map_put(&r->track_at, t->id, 0, (uint32_t)r->tracks.count, NULL);
        struct track *copy =
            at && r->tracks.count < TRACKS_MAX / 2 ? stk_vec_push(&r->tracks) : NULL;
        ok = at != NULL;
        if (copy) {
            *copy = *t;
        } else {
            r->state.lost++;
        }
    }
    for (size_t i = 0; i < old.series.count && ok; i++) {
        const struct series *s = stk_vec_at(&old.series, i);
        bool is_old = (double)(r->state.newest_ns - newest_of(s)) * 1e-9 > GONE_S;
        bool is_thread = stk_sample_info(s->sample)->scope == STK_SAMPLE_THREAD;
        if (is_of_process(s->sample) && ((is_thread && is_old) || is_gone(&old, s->process))) {
            continue;
        }
        uint32_t *at = stk_map_put(&r->series_at, (uint64_t)s->number,
                                   (uint64_t)s->process << 8 | (uint64_t)s->sample,
                                   (uint32_t)r->series.count, NULL);
        struct series *copy = at ? stk_vec_push(&r->series) : NULL;
        ok = copy != NULL;
        if (copy) {
            *copy = *s;
        }
    }
    drop_tables(&old);
    return ok;
}

// ---- records ----

static const char *text_of(const struct stk_live_record *r, uint32_t id)
{
    for (int i = 0; i < STRINGS; i++) {
        if (r->strings[i].id == id) {
            return r->strings[i].text;
        }
    }
    return "";
}

static void see_strings(struct stk_live_record *r, const uint8_t *p, const uint8_t *end)
{
    struct stk_wire_string s;
    while ((size_t)(end - p) >= sizeof s) {
        memcpy(&s, p, sizeof s);
        p += sizeof s;
        size_t padded = ((size_t)s.bytes + 7) & ~(size_t)7;
        if (padded > (size_t)(end - p)) {
            return;
        }
        struct string *slot = &r->strings[r->next_string++ % STRINGS];
        size_t n = s.bytes < sizeof slot->text - 1 ? s.bytes : sizeof slot->text - 1;
        memcpy(slot->text, p, n);
        slot->text[n] = 0;
        slot->id = s.id;
        enum stk_sampled sample = stk_sample_find((const char *)p, s.bytes);
        if (sample < STK_SAMPLE_COUNT && !r->sample_names[sample]) {
            r->sample_names[sample] = s.id;
        }
        p += padded;
    }
}

static void see_tracks(struct stk_live_record *r, const uint8_t *p, const uint8_t *end)
{
    struct stk_wire_track w;
    for (; (size_t)(end - p) >= sizeof w; p += sizeof w) {
        memcpy(&w, p, sizeof w);
        if (r->tracks.count == TRACKS_MAX && !forget(r)) {
            r->failed = true;
        }
        uint32_t *at = stk_map_put(&r->track_at, w.id, 0, (uint32_t)r->tracks.count, NULL);
        struct track *t = at && *at == r->tracks.count ? stk_vec_push(&r->tracks) : NULL;
        if (!t) {
            r->state.lost++;
            continue;
        }
        *t = (struct track){.id = w.id, .process = w.device, .number = w.number};
        snprintf(t->name, sizeof t->name, "%s", text_of(r, w.name));
    }
}

static void see_absent(struct stk_live_record *r, uint32_t track)
{
    const uint32_t *at = stk_map_get(&r->track_at, track, 0);
    const struct track *t = at ? stk_vec_at(&r->tracks, *at) : NULL;
    if (!t || r->absent_count == ABSENT) {
        return;
    }
    const char *text = t->name; // cut; its string is still there
    for (int i = 0; i < STRINGS; i++) {
        bool is_same = strncmp(r->strings[i].text, t->name, strlen(t->name)) == 0;
        text = is_same ? r->strings[i].text : text;
    }
    snprintf(r->absent[r->absent_count++], ABSENT_TEXT, "%s", text);
}

static struct series *series_of(struct stk_live_record *r, enum stk_sampled sample, uint32_t track)
{
    static const struct track none = {.process = -1};
    const struct track *t = &none;
    if (track) {
        const uint32_t *at = stk_map_get(&r->track_at, track, 0);
        if (!at) {
            return NULL;
        }
        t = stk_vec_at(&r->tracks, *at);
    }
    if (r->series.count == SERIES_MAX && !forget(r)) {
        r->failed = true;
        return NULL;
    }
    int created;
    uint32_t *at = stk_map_put(&r->series_at, (uint64_t)t->number,
                               (uint64_t)t->process << 8 | (uint64_t)sample,
                               (uint32_t)r->series.count, &created);
    struct series *s = !at       ? NULL
                       : created ? stk_vec_push(&r->series)
                                 : stk_vec_at(&r->series, *at);
    if (s && created) {
        *s = (struct series){.sample = sample, .process = t->process, .number = t->number};
    }
    if (s) {
        memcpy(s->name, t->name, sizeof s->name);
    }
    return s;
}

static enum stk_sampled sample_of(const struct stk_live_record *r, uint32_t name)
{
    for (int i = 0; i < STK_SAMPLE_COUNT; i++) {
        if (r->sample_names[i] == name && name) {
            return (enum stk_sampled)i;
        }
    }
    return STK_SAMPLE_COUNT;
}

static void see_counters(struct stk_live_record *r, const uint8_t *p, const uint8_t *end)
{
    struct stk_wire_counter c;
    for (; (size_t)(end - p) >= sizeof c; p += sizeof c) {
        memcpy(&c, p, sizeof c);
        enum stk_sampled sample = sample_of(r, c.name);
        if (sample == STK_SAMPLE_COUNT || c.time_ns > INT64_MAX || c.value != c.value) {
            continue;
        }
        if (sample == STK_SAMPLE_OF_ABSENT) {
            see_absent(r, c.track);
            continue;
        }
        struct series *s = series_of(r, sample, c.track);
        if (!s) {
            r->state.lost++;
            continue;
        }
        s->time_ns[s->count % RING] = (int64_t)c.time_ns;
        s->value[s->count % RING] = c.value;
        s->count += s->count == 2 * RING - 1 ? 1 - RING : 1; // never wraps
        int64_t *newest = &r->state.newest_ns;
        *newest = (int64_t)c.time_ns > *newest ? (int64_t)c.time_ns : *newest;
        r->state.look_s = sample == STK_SAMPLE_OF_TICK ? c.value * 1e-9 : r->state.look_s;
        r->state.scan_s = sample == STK_SAMPLE_OF_SCAN ? c.value * 1e-9 : r->state.scan_s;
    }
}

static void see_block(struct stk_live_record *r, const struct stk_wire_block *b, const uint8_t *p)
{
    const uint8_t *end = p + b->length;
    r->state.has_ended = b->type == STK_WIRE_END;
    switch (b->type) {
    case STK_WIRE_STRINGS:
        see_strings(r, p, end);
        break;
    case STK_WIRE_TRACKS:
        see_tracks(r, p, end);
        break;
    case STK_WIRE_COUNTERS:
        see_counters(r, p, end);
        break;
    default:
        break;
    }
}

// ---- bytes ----

// Whole blocks at the buffer's start; what is left stays.
static void see_blocks(struct stk_live_record *r)
{
    size_t at = 0;
    if (!r->state.is_record) {
        struct stk_wire_header h;
        if (r->have < sizeof h) {
            return;
        }
        if (!stk_wire_is_header(r->buffer, r->have, &h) || h.header_bytes > r->have ||
            h.version != STK_WIRE_VERSION) {
            r->state.damaged++;
            r->have = 0;
            return;
        }
        r->state.is_record = true;
        at = h.header_bytes;
    }
    for (;;) {
        struct stk_wire_block b;
        size_t use, n = r->have - at;
        enum stk_wire_found found = stk_wire_find(r->buffer + at, n, false, &b, &use);
        if (found == STK_WIRE_MORE && n == BUFFER) { // longer than any block of a sampler
            found = STK_WIRE_DAMAGE;
            use = sizeof b;
        }
        if (found == STK_WIRE_MORE) {
            break;
        }
        if (found == STK_WIRE_BLOCK) {
            see_block(r, &b, r->buffer + at + sizeof b);
        } else {
            r->state.damaged++;
        }
        if (use == 0) {
            break;
        }
        at += use;
    }
    r->have -= at;
    memmove(r->buffer, r->buffer + at, r->have);
}

enum stoker_status stk_live_record_follow(struct stk_live_record *r, struct stoker_err *err)
{
    uint64_t from = r->at;
    for (;;) {
        ssize_t n = pread(r->fd, r->buffer + r->have, BUFFER - r->have, (off_t)r->at);
        if (n <= 0) {
            break; // its end; what cannot be read now may be at the next time
        }
        r->at += (uint64_t)n;
        r->have += (size_t)n;
        see_blocks(r);
    }
    r->state.bytes = r->at;
    if (r->is_own && r->at > from) {
        (void)!fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)r->at);
    }
    return r->failed ? stk_err_nomem(err) : STOKER_OK;
}

struct stk_live_record_state stk_live_record_state(const struct stk_live_record *r)
{
    return r->state;
}

const char *stk_live_record_absent(const struct stk_live_record *r, size_t index)
{
    return index < r->absent_count ? r->absent[index] : NULL;
}

// ---- as a record of the last seconds ----

static bool is_shown(const struct stk_live_record *r, const struct series *s)
{
    return !is_of_process(s->sample) || !is_gone(r, s->process);
}

static void copy_series(const struct series *s, struct stk_machine *m,
                        struct stk_machine_series *out)
{
    uint32_t kept = s->count < RING ? s->count : RING;
    *out = (struct stk_machine_series){.sample = s->sample,
                                       .info = stk_sample_info(s->sample),
                                       .process = s->process,
                                       .number = s->number,
                                       .name = s->name,
                                       .first = m->sample_count,
                                       .count = kept};
    for (uint32_t i = s->count - kept; i < s->count; i++) {
        m->time_ns[m->sample_count] = s->time_ns[i % RING];
        m->value[m->sample_count++] = s->value[i % RING];
    }
}

static bool fill(const struct stk_live_record *r, struct stk_machine *m)
{
    for (size_t i = 0; i < r->series.count; i++) {
        const struct series *s = stk_vec_at(&r->series, i);
        if (is_shown(r, s)) {
            struct stk_machine_series *out = &m->series[m->series_count++];
            copy_series(s, m, out);
            m->looks = s->sample == STK_SAMPLE_OF_TICK ? out : m->looks;
            m->scans = s->sample == STK_SAMPLE_OF_SCAN ? out : m->scans;
        }
    }
    return m->looks != NULL;
}

struct stk_machine_view *stk_live_record_view(const struct stk_live_record *r, int64_t window_ns,
                                              struct stk_arena *arena)
{
    struct stk_machine *m = stk_arena_alloc(arena, sizeof *m);
    size_t n = r->series.count + 1;
    if (!m) {
        return NULL;
    }
    *m = (struct stk_machine){.series = stk_arena_array(arena, n, sizeof *m->series),
                              .time_ns = stk_arena_array(arena, n * RING, sizeof *m->time_ns),
                              .value = stk_arena_array(arena, n * RING, sizeof *m->value)};
    if (!m->series || !m->time_ns || !m->value || !fill(r, m)) {
        return NULL;
    }
    int64_t least_ns = (int64_t)(LOOKS_LEAST * r->state.look_s * 1e9);
    int64_t span_ns = window_ns > least_ns ? window_ns : least_ns;
    int64_t oldest_ns = m->time_ns[m->looks->first]; // rings begin there: figures are of that on
    m->last_ns = r->state.newest_ns;
    m->first_ns = m->last_ns - span_ns > oldest_ns ? m->last_ns - span_ns : oldest_ns;
    return stk_machine_look(m, m->first_ns, m->last_ns, arena);
}
