// SPDX-License-Identifier: Apache-2.0
// Arguments of events, on demand. The store keeps each event's position; the plane around it
// is scanned for its maps, and the event's stats are named with them. Reading keeps no table for
// this, since it is rarely needed. Planes are located once, by hopping over the top-level fields. A
// scanned plane stays in memory: events of one track may alternate between planes, and the maps
// cost far more than an event. That takes no more memory than reading the profile did.
#include "base/sort.h"
#include "base/assert.h"
#include "profile/readers/xplane/xplane_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/text.h"
#include "profile/readers/xplane/xplane_plane.h"

#define EVENT_MAX_BYTES ((uint64_t)64 << 20)

struct asking {
    const struct stk_xp_plane *plane;
    stk_emit_fn *emit;
    void *arg;
};

static void emit_text(const struct asking *a, const char *key, const char *value)
{
    a->emit(a->arg, stk_str_from(key), stk_str_from(value));
}

static void emit_stat(const struct asking *a, const uint8_t *p, size_t n)
{
    struct stk_xp_value v;
    int64_t id;
    char text[64] = "", unnamed[32];
    if (!stk_xp_stat_parse(a->plane, p, n, &id, &v)) {
        return;
    }
    uint32_t at = stk_xp_ids_get(&a->plane->stat_ids, id);
    struct stk_str key = STK_STR("");
    if (at != STK_NONE) {
        key = ((const struct stk_xp_stat_meta *)stk_vec_at(&a->plane->stat_metas, at))->name;
    }
    if (!key.n) {
        snprintf(unnamed, sizeof unnamed, "stat %" PRId64, id);
        key = stk_str_from(unnamed);
    }
    double d;
    switch (v.type) {
    case STK_XP_I64:
        snprintf(text, sizeof text, "%" PRId64, (int64_t)v.bits);
        break;
    case STK_XP_U64:
        snprintf(text, sizeof text, "%" PRIu64, v.bits);
        break;
    case STK_XP_DOUBLE:
        memcpy(&d, &v.bits, sizeof d);
        stk_text_printf(text, sizeof text, "%.15g", d);
        break;
    case STK_XP_BYTES:
        snprintf(text, sizeof text, "(%zu bytes)", v.text.n);
        break;
    case STK_XP_STR:
    case STK_XP_REF:
        a->emit(a->arg, key, v.text);
        return;
    case STK_XP_ABSENT:
        break;
    }
    a->emit(a->arg, key, stk_str_from(text));
}

static void emit_meta(const struct asking *a, int64_t id)
{
    uint32_t at = stk_xp_ids_get(&a->plane->event_ids, id);
    if (at == STK_NONE) {
        return;
    }
    const struct stk_xp_event_meta *m = stk_vec_at(&a->plane->event_metas, at);
    if (m->display.n && !stk_str_eq(m->display, m->name)) {
        bool shown = stk_str_eq(m->shown, m->display);
        a->emit(a->arg, shown ? STK_STR("long_name") : STK_STR("display_name"),
                shown ? m->name : m->display);
    }
    struct stk_pb_cursor c = {(const uint8_t *)m->raw_stats.p,
                              (const uint8_t *)m->raw_stats.p + m->raw_stats.n};
    struct stk_pb_field f;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.wire == STK_PB_LEN) {
            emit_stat(a, f.data, (size_t)f.value);
        }
    }
}

static void emit_event(const struct asking *a, const uint8_t *p, size_t n)
{
    struct stk_pb_cursor c = {p, p + n};
    struct stk_pb_field f;
    int64_t meta_id = 0;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        if (f.number == 1 && f.wire == STK_PB_VARINT) {
            meta_id = (int64_t)f.value;
        }
    }
    emit_meta(a, meta_id);
    c.p = p;
    while (stk_pb_next(&c, &f) == STK_PB_FIELD) {
        char text[32];
        if (f.number == 4 && f.wire == STK_PB_LEN) {
            emit_stat(a, f.data, (size_t)f.value);
        } else if (f.number == 5 && f.wire == STK_PB_VARINT) {
            snprintf(text, sizeof text, "%" PRIu64, f.value);
            emit_text(a, "num_occurrences", text);
        }
    }
}

// A plane of the file.
struct place {
    uint64_t offset, size;      // of its payload
    struct stk_xp_plane *plane; // scanned; in the arena; NULL: none of its events was needed
};
#define PLANE_MIN_BYTES 4 // of one that holds an event

struct state {
    const char *path;
    struct stk_pb_source source;
    struct stk_pb_walk walk;
    struct stoker_err walk_err;
    struct stk_vec places; // struct place, as they follow each other
    bool last_is_cut;      // the file ends inside of the last one
    bool is_part;          // reading failed after the last one
    struct stk_arena arena;
    struct stk_xp_trouble trouble; // counts what may still come, for all planes
};

// Finds the planes, except those after an unreadable place. False: no memory.
static bool find_places(struct state *s)
{
    struct stk_pb_walk *w = &s->walk;
    enum stk_pb_step step = STK_PB_FIELD;
    w->pos = 0;
    w->end = w->src->size;
    while (step == STK_PB_FIELD) {
        struct stk_pb_field f = {0};
        step = stk_pb_walk_next(w, &f);
        if (f.offset && f.number == 1 && f.value >= PLANE_MIN_BYTES) {
            struct place *place = stk_vec_push(&s->places);
            if (!place) {
                return false;
            }
            s->last_is_cut = step == STK_PB_CUT;
            place->offset = f.offset;
            place->size = s->last_is_cut ? w->end - f.offset : f.value;
        }
    }
    s->is_part = w->failed;
    return true;
}

// The last place that begins at or before `pos`; NULL: it doesn't contain `pos`.
static struct place *find_place(const struct state *s, uint64_t pos)
{
    size_t low = 0, high = s->places.count;
    STK_BISECT(low, high, mid, ((const struct place *)stk_vec_at(&s->places, mid))->offset <= pos);
    struct place *place = low ? stk_vec_at(&s->places, low - 1) : NULL;
    return place && pos - place->offset < place->size ? place : NULL;
}

static enum stoker_status scan_place(struct state *s, struct place *place, struct stoker_err *err)
{
    struct stk_xp_plane *plane = stk_arena_alloc(&s->arena, sizeof *plane);
    struct stk_vec lines;
    if (!plane) {
        return stk_err_nomem(err);
    }
    *plane = (struct stk_xp_plane){0};
    place->plane = plane;
    bool is_last = place == stk_vec_at(&s->places, s->places.count - 1);
    stk_vec_init(&lines, sizeof(struct stk_xp_line), SIZE_MAX / sizeof(struct stk_xp_line));
    enum stoker_status status =
        stk_xp_plane_scan(plane, &s->walk, place->offset, place->size, is_last && s->last_is_cut,
                          &s->arena, &lines, &s->trouble, &s->walk_err);
    stk_vec_deinit(&lines);
    if (status != STOKER_OK) {
        stk_xp_plane_deinit(plane);
        place->plane = NULL;
        *err = s->walk_err;
    }
    return status;
}

// The plane that holds `pos`, scanned.
static enum stoker_status plane_of(struct state *s, uint64_t pos, const struct stk_xp_plane **plane,
                                   struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    if (s->places.count == 0 && !find_places(s)) {
        return stk_err_nomem(err);
    }
    struct place *place = find_place(s, pos);
    if (!place) {
        return s->is_part
                   ? stk_err_set(err, STOKER_EINPUT, "%s", s->walk_err.message)
                   : stk_err_set_at(err, STOKER_EINPUT, (int64_t)pos,
                                    "%s: no plane at this position. Did the file change?", s->path);
    }
    s->walk.failed = false; // after the last place
    if (!place->plane) {
        status = scan_place(s, place, err);
    }
    *plane = place->plane;
    return status;
}

// Bytes of the event whose field begins at `pos`: in the walk's window, or in *own, which the
// caller frees.
static enum stoker_status read_event_bytes(struct stk_pb_walk *w, uint64_t pos,
                                           const uint8_t **bytes, size_t *n, uint8_t **own,
                                           struct stoker_err *err)
{
    struct stk_pb_field f;
    w->pos = pos;
    w->end = w->src->size;
    *bytes = NULL;
    if (stk_pb_walk_next(w, &f) == STK_PB_FIELD && f.number == 4 && f.wire == STK_PB_LEN &&
        f.value <= EVENT_MAX_BYTES) {
        *n = (size_t)f.value;
        if (*n <= STK_PB_WINDOW) {
            *bytes = stk_pb_walk_bytes(w, f.offset, *n);
        } else if ((*own = stk_alloc(*n)) != NULL) {
            *bytes = stk_pb_fetch(w->src, f.offset, *n, *own, n, w->err);
        } else {
            return stk_err_nomem(err);
        }
    }
    return *bytes ? STOKER_OK
                  : stk_err_set_at(err, STOKER_EINPUT, (int64_t)pos,
                                   "the event is no longer where it was read. Did the file "
                                   "change?");
}

enum stoker_status stk_xp_args_open(struct stk_stream *stream, const char *path, void **state,
                                    struct stoker_err *err)
{
    uint64_t plain = stk_stream_size(stream);
    bool is_plain = stk_stream_codec(stream) == STK_CODEC_PLAIN && plain;
    struct state *s = stk_alloc_zero(1, sizeof *s);
    *state = s;
    if (!s) {
        return stk_err_nomem(err);
    }
    s->path = path;
    // The size of compressed input isn't known; a walk ends where reading ends.
    s->source = (struct stk_pb_source){.stream = stream, .size = is_plain ? plain : INT64_MAX};
    stk_vec_init(&s->places, sizeof(struct place), SIZE_MAX / sizeof(struct place));
    stk_arena_init(&s->arena, STK_XP_ARENA_MAX);
    stk_err_init(&s->walk_err);
    s->trouble = stk_xp_trouble_none();
    if (stk_pb_walk_init(&s->walk, &s->source, &s->walk_err)) {
        return STOKER_OK;
    }
    stk_xp_args_close(s);
    *state = NULL;
    return stk_err_nomem(err);
}

void stk_xp_args_close(void *state)
{
    struct state *s = state;
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->places.count; i++) {
        struct stk_xp_plane *plane = ((struct place *)stk_vec_at(&s->places, i))->plane;
        if (plane) {
            stk_xp_plane_deinit(plane);
        }
    }
    stk_vec_deinit(&s->places);
    stk_pb_walk_deinit(&s->walk);
    stk_arena_deinit(&s->arena);
    stk_free(s);
}

enum stoker_status stk_xp_args_next(void *state, const struct stk_trace *t, uint32_t event,
                                    stk_emit_fn *emit, void *arg, struct stoker_err *err)
{
    STK_ASSERT(event < t->count);
    struct state *s = state;
    struct stoker_err own;
    uint64_t pos = stk_pos(t, event);
    const uint8_t *bytes;
    uint8_t *large = NULL;
    size_t n = 0;
    struct asking a = {.emit = emit, .arg = arg};
    err = err ? err : &own;
    enum stoker_status status = plane_of(s, pos, &a.plane, err);
    if (status == STOKER_OK) {
        status = read_event_bytes(&s->walk, pos, &bytes, &n, &large, err);
    }
    if (status == STOKER_OK) {
        emit_event(&a, bytes, n);
    }
    stk_free(large);
    return status;
}
