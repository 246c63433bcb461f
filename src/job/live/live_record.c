// SPDX-License-Identifier: Apache-2.0
// Follows a sampler's record; see live_record.h. Blocks are found as by any reader of such files
// (wire/wire_read.h). A thread or process sometimes gets a new track with the same number, so
// values are kept by number (live_tables.h). Names are resolved when a track is defined, which is
// directly after its name.
//
// Limits: skips a block longer than BUFFER (the sampler's have at most 64 KiB).
#include "job/live/live_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/live/live_tables.h"
#include "wire/wire_read.h"

enum {
    BUFFER = 256 * 1024,
    STRINGS = 64, // that may still be needed: a track is defined directly after its name
    ABSENT = 16,  // sources
    ABSENT_TEXT = 128,
    LOOKS_LEAST = 5
};
#define PACE_MOST_S 3600.0 // between looks

struct string {
    uint32_t id;
    char text[ABSENT_TEXT];
};

struct stk_live_record {
    int fd;
    bool is_own;
    uint64_t at; // read position in the file
    size_t have; // bytes in the buffer
    uint8_t *buffer;
    struct stk_live_record_state state;
    struct string strings[STRINGS];
    uint32_t next_string;
    uint32_t sample_names[STK_SAMPLE_COUNT]; // their strings
    struct stk_live_tables tables;
    char absent[ABSENT][ABSENT_TEXT];
    size_t absent_count;
};

enum stoker_status stk_live_record_open(struct stk_live_record **out, int fd, bool is_own,
                                        struct stoker_err *err)
{
    STK_ASSERT(fd >= 0);
    struct stk_live_record *r = stk_alloc_zero(1, sizeof *r);
    *out = NULL;
    if (!r || !(r->buffer = stk_alloc(BUFFER))) {
        stk_free(r);
        return stk_err_nomem(err);
    }
    r->fd = fd;
    r->is_own = is_own;
    stk_live_tables_init(&r->tables);
    *out = r;
    return STOKER_OK;
}

void stk_live_record_close(struct stk_live_record *r)
{
    if (r) {
        stk_live_tables_deinit(&r->tables);
        stk_free(r->buffer);
        stk_free(r);
    }
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
        struct stk_live_track *t = stk_live_track_add(&r->tables, w.id, w.device, w.number);
        if (t) {
            snprintf(t->name, sizeof t->name, "%s", text_of(r, w.name));
        }
    }
}

static void see_absent(struct stk_live_record *r, uint32_t track)
{
    const struct stk_live_track *t = stk_live_track_of(&r->tables, track);
    if (!t || r->absent_count == ABSENT) {
        return;
    }
    const char *text = t->name; // cut, but its string still exists
    for (int i = 0; i < STRINGS; i++) {
        bool is_same = strncmp(r->strings[i].text, t->name, strlen(t->name)) == 0;
        text = is_same ? r->strings[i].text : text;
    }
    snprintf(r->absent[r->absent_count++], ABSENT_TEXT, "%s", text);
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

// Seconds between two looks, from their counter; 0 if invalid.
static double pace_of(double value_ns)
{
    return value_ns > 0 && value_ns <= PACE_MOST_S * 1e9 ? value_ns * 1e-9 : 0;
}

static void see_counters(struct stk_live_record *r, const uint8_t *p, const uint8_t *end)
{
    struct stk_wire_counter c;
    for (; (size_t)(end - p) >= sizeof c; p += sizeof c) {
        memcpy(&c, p, sizeof c);
        enum stk_sampled sample = sample_of(r, c.name);
        if (sample == STK_SAMPLE_COUNT || c.time_ns > INT64_MAX || !stk_sample_is_value(c.value)) {
            continue;
        }
        if (sample == STK_SAMPLE_OF_ABSENT) {
            see_absent(r, c.track);
            continue;
        }
        struct stk_live_series *s = stk_live_series_of(&r->tables, sample, c.track);
        if (s) {
            stk_live_series_put(&r->tables, s, (int64_t)c.time_ns, c.value);
        }
        if (sample == STK_SAMPLE_OF_TICK) {
            r->state.look_s = pace_of(c.value);
        } else if (sample == STK_SAMPLE_OF_SCAN) {
            r->tables.scan_s = pace_of(c.value);
        }
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

// Handles complete blocks at the buffer's start and keeps the rest.
static void see_blocks(struct stk_live_record *r)
{
    STK_ASSERT(r->have <= BUFFER);
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
        if (found == STK_WIRE_MORE && n == BUFFER) { // longer than a sampler's blocks
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
    STK_ASSERT(at <= r->have);
    r->have -= at;
    memmove(r->buffer, r->buffer + at, r->have);
}

enum stoker_status stk_live_record_follow(struct stk_live_record *r, struct stoker_err *err)
{
    uint64_t from = r->at;
    for (;;) {
        ssize_t n = pread(r->fd, r->buffer + r->have, BUFFER - r->have, (off_t)r->at);
        if (n < 0) {
            return stk_err_set(err, STOKER_EINPUT, "can't read the record of the machine: %s",
                               strerror(errno));
        }
        if (n == 0) {
            break;
        }
        r->at += (uint64_t)n;
        r->have += (size_t)n;
        see_blocks(r);
    }
    r->state.bytes = r->at;
    if (r->is_own && r->at > from) {
        (void)!fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)r->at);
    }
    return r->tables.has_failed ? stk_err_nomem(err) : STOKER_OK;
}

struct stk_live_record_state stk_live_record_state(const struct stk_live_record *r)
{
    struct stk_live_record_state state = r->state;
    state.newest_ns = r->tables.newest_ns;
    state.lost = r->tables.lost;
    return state;
}

const char *stk_live_record_absent(const struct stk_live_record *r, size_t index)
{
    return index < r->absent_count ? r->absent[index] : NULL;
}

// ---- as a record of the last seconds ----

static void copy_series(const struct stk_live_series *s, struct stk_machine *m,
                        struct stk_machine_series *out)
{
    STK_ASSERT(s->count > 0 && s->sample < STK_SAMPLE_COUNT);
    uint32_t kept = s->count < STK_LIVE_RING ? s->count : STK_LIVE_RING;
    *out = (struct stk_machine_series){.sample = s->sample,
                                       .info = stk_sample_info(s->sample),
                                       .process = s->process,
                                       .number = s->number,
                                       .name = s->name,
                                       .first = m->sample_count,
                                       .count = kept};
    for (uint32_t i = s->count - kept; i < s->count; i++) {
        m->time_ns[m->sample_count] = s->time_ns[i % STK_LIVE_RING];
        m->value[m->sample_count++] = s->value[i % STK_LIVE_RING];
    }
}

static bool fill(const struct stk_live_record *r, struct stk_machine *m)
{
    for (size_t i = 0; i < r->tables.series.count; i++) {
        const struct stk_live_series *s = stk_vec_at(&r->tables.series, i);
        if (!stk_live_series_has_ended(&r->tables, s)) {
            struct stk_machine_series *out = &m->series[m->series_count++];
            copy_series(s, m, out);
            m->looks = s->sample == STK_SAMPLE_OF_TICK ? out : m->looks;
            m->scans = s->sample == STK_SAMPLE_OF_SCAN ? out : m->scans;
        }
    }
    STK_ASSERT(m->series_count <= r->tables.series.count);
    return m->looks != NULL;
}

struct stk_machine_view *stk_live_record_view(const struct stk_live_record *r, int64_t window_ns,
                                              struct stk_arena *arena)
{
    STK_ASSERT(arena && window_ns >= 0);
    struct stk_machine *m = stk_arena_alloc(arena, sizeof *m);
    size_t n = r->tables.series.count + 1;
    if (!m) {
        return NULL;
    }
    *m = (struct stk_machine){.series = stk_arena_array(arena, n, sizeof *m->series),
                              .time_ns =
                                  stk_arena_array(arena, n * STK_LIVE_RING, sizeof *m->time_ns),
                              .value = stk_arena_array(arena, n * STK_LIVE_RING, sizeof *m->value)};
    if (!m->series || !m->time_ns || !m->value || !fill(r, m)) {
        return NULL;
    }
    int64_t least_ns = (int64_t)(LOOKS_LEAST * r->state.look_s * 1e9);
    int64_t span_ns = window_ns > least_ns ? window_ns : least_ns;
    int64_t oldest_ns = m->time_ns[m->looks->first]; // rings begin there, and so do the figures
    m->last_ns = r->tables.newest_ns;
    m->first_ns = m->last_ns - span_ns > oldest_ns ? m->last_ns - span_ns : oldest_ns;
    return stk_machine_look(m, m->first_ns, m->last_ns, arena);
}
