// SPDX-License-Identifier: Apache-2.0
// Arguments of one event, on demand. The store keeps where each event lies; the plane around that
// place is found by hopping over the top-level fields, scanned for its maps, and the event's stats
// are named with them. No table is kept while reading for what is rarely asked.
#include "base/assert.h"
#include "readers/xplane/xplane_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/text.h"
#include "readers/xplane/xplane_plane.h"

#define EVENT_MAX_BYTES ((uint64_t)64 << 20)

struct asking {
    const struct stk_xp_plane *plane;
    void (*emit)(void *arg, struct stk_str key, struct stk_str value);
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

// Payload of the top-level plane that holds `pos`.
static bool find_plane(struct stk_pb_walk *w, uint64_t pos, uint64_t *offset, uint64_t *size,
                       bool *cut)
{
    w->pos = 0;
    w->end = w->src->size;
    for (;;) {
        struct stk_pb_field f = {0};
        enum stk_pb_step step = stk_pb_walk_next(w, &f);
        if (f.offset && f.number == 1 && pos >= f.offset && pos - f.offset < f.value) {
            *offset = f.offset;
            *cut = step == STK_PB_CUT;
            *size = *cut ? w->end - f.offset : f.value;
            return true;
        }
        if (step != STK_PB_FIELD) {
            return false;
        }
    }
}

static enum stoker_status read_event_bytes(struct stk_pb_walk *w, uint64_t pos, uint8_t **bytes,
                                           size_t *n, struct stoker_err *err)
{
    struct stk_pb_field f;
    w->pos = pos;
    w->end = w->src->size;
    if (stk_pb_walk_next(w, &f) != STK_PB_FIELD || f.number != 4 || f.wire != STK_PB_LEN ||
        f.value > EVENT_MAX_BYTES) {
        return stk_err_set_at(err, STOKER_EINPUT, (int64_t)pos,
                              "the event is no longer where it was read; did the file change?");
    }
    *bytes = stk_alloc((size_t)f.value + 1);
    if (!*bytes) {
        return stk_err_nomem(err);
    }
    const uint8_t *p = stk_pb_fetch(w->src, f.offset, (size_t)f.value, *bytes, n, err);
    return p ? STOKER_OK : STOKER_EINPUT;
}

// The plane that was asked last stays scanned, since its maps cost far more than an event.
struct state {
    const char *path;
    struct stk_pb_source source;
    struct stk_pb_walk walk;
    struct stoker_err walk_err;
    struct stk_xp_plane plane;
    struct stk_arena arena;
    uint64_t offset, size; // of the plane; size 0: none
};

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
    // How much compressed input holds is not known; a walk ends where reading gives no more.
    s->source = (struct stk_pb_source){.stream = stream, .size = is_plain ? plain : INT64_MAX};
    stk_arena_init(&s->arena, 0);
    stk_err_init(&s->walk_err);
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
    stk_xp_plane_deinit(&s->plane);
    stk_pb_walk_deinit(&s->walk);
    stk_arena_deinit(&s->arena);
    stk_free(s);
}

static enum stoker_status scan_plane(struct state *s, uint64_t pos, struct stoker_err *err)
{
    struct stk_xp_trouble trouble = stk_xp_trouble_none();
    struct stk_vec lines;
    bool cut = false;
    stk_xp_plane_deinit(&s->plane);
    stk_arena_deinit(&s->arena);
    stk_arena_init(&s->arena, 0);
    s->plane = (struct stk_xp_plane){0};
    s->size = 0;
    uint64_t offset = 0, size = 0;
    if (!find_plane(&s->walk, pos, &offset, &size, &cut)) {
        return s->walk.failed
                   ? stk_err_set(err, STOKER_EINPUT, "%s", s->walk_err.message)
                   : stk_err_set_at(err, STOKER_EINPUT, (int64_t)pos,
                                    "%s: no plane at this position; did the file change?", s->path);
    }
    stk_vec_init(&lines, sizeof(struct stk_xp_line), SIZE_MAX / sizeof(struct stk_xp_line));
    enum stoker_status status =
        stk_xp_plane_scan(&s->plane, &s->walk, offset, size, cut, &s->arena, &lines, &trouble, err);
    stk_vec_deinit(&lines);
    if (status == STOKER_OK) {
        s->offset = offset;
        s->size = size;
    }
    return status;
}

enum stoker_status stk_xp_args_next(void *state, const struct stk_trace *t, uint32_t event,
                                    void (*emit)(void *arg, struct stk_str key,
                                                 struct stk_str value),
                                    void *arg, struct stoker_err *err)
{
    STK_ASSERT(event < t->count);
    struct state *s = state;
    struct stoker_err own;
    uint64_t pos = stk_pos(t, event);
    uint8_t *bytes = NULL;
    size_t n = 0;
    enum stoker_status status = STOKER_OK;
    err = err ? err : &own;
    if (s->size == 0 || pos < s->offset || pos - s->offset >= s->size) {
        status = scan_plane(s, pos, err);
    }
    if (status == STOKER_OK) {
        status = read_event_bytes(&s->walk, pos, &bytes, &n, err);
    }
    if (status == STOKER_OK) {
        emit_event(&(struct asking){.plane = &s->plane, .emit = emit, .arg = arg}, bytes, n);
    }
    stk_free(bytes);
    return status;
}

enum stoker_status stk_xp_args(struct stk_stream *stream, const char *path,
                               const struct stk_trace *t, uint32_t event,
                               void (*emit)(void *arg, struct stk_str key, struct stk_str value),
                               void *arg, struct stoker_err *err)
{
    void *state = NULL;
    enum stoker_status status = stk_xp_args_open(stream, path, &state, err);
    if (status == STOKER_OK) {
        status = stk_xp_args_next(state, t, event, emit, arg, err);
    }
    stk_xp_args_close(state);
    return status;
}
