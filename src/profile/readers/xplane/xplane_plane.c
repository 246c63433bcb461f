// SPDX-License-Identifier: Apache-2.0
// Scan of one plane: name, facts, maps, and positions of the lines.
#include "profile/readers/xplane/xplane_plane.h"

#include "base/assert.h"

#define PLANE_NAME 2
#define PLANE_LINES 3
#define PLANE_EVENT_METADATA 4
#define PLANE_STAT_METADATA 5
#define PLANE_STATS 6
#define LINE_ID 1
#define LINE_NAME 2
#define LINE_TIMESTAMP 3
#define LINE_EVENTS 4
#define META_NAME 2
#define META_DISPLAY 4
#define META_STATS 5

// Longest name kept, and longest stat of a metadata entry that is read (longer ones are HLO
// programs).
#define NAME_MAX_BYTES ((uint64_t)65536)
#define META_STAT_MAX_BYTES ((uint64_t)1024)
#define MAX_METAS ((size_t)STK_XP_NAMES_MAX)

struct scan {
    struct stk_xp_plane *plane;
    struct stk_pb_walk *walk;
    struct stk_arena *arena;
    struct stk_vec *lines, plane_stats; // struct stk_str
    struct stk_xp_trouble *trouble;
    bool cut; // the file ends before the plane does
    bool no_memory;
};

// A slot in v; NULL: no memory, or the cap is reached, which is only noted.
static void *slot_in(struct scan *s, struct stk_vec *v)
{
    if (v->count >= v->max_count) {
        s->trouble->limited = true;
        return NULL;
    }
    void *slot = stk_vec_push(v);
    s->no_memory |= !slot;
    return slot;
}

static void note_bad(struct scan *s, uint64_t offset)
{
    if (s->trouble->bad++ == 0) {
        s->trouble->bad_offset = (int64_t)offset;
    }
}

static void note_cut(struct scan *s, uint64_t offset)
{
    if (s->cut && s->trouble->cut_offset < 0) {
        s->trouble->cut_offset = (int64_t)offset;
    } else if (!s->cut) {
        note_bad(s, offset);
    }
}

// Copy of up to `max` bytes of a payload.
static struct stk_str keep(struct scan *s, const struct stk_pb_field *f, uint64_t max)
{
    size_t n = (size_t)(f->value < max ? f->value : max);
    if (n == 0) {
        return STK_STR("");
    }
    const uint8_t *p = f->data ? f->data : stk_pb_walk_bytes(s->walk, f->offset, n);
    char *copy = p ? stk_arena_alloc(s->arena, n) : NULL;
    s->no_memory |= p && !copy;
    return copy ? (struct stk_str){memcpy(copy, p, n), n} : STK_STR("");
}

// Raw stats of a metadata entry are chained: each new one is appended to a larger copy, which is
// fine for the handful that entries have.
static void keep_stat(struct scan *s, struct stk_xp_event_meta *m, const struct stk_pb_field *f)
{
    if (f->value > META_STAT_MAX_BYTES || m->raw_stats.n > 16 * META_STAT_MAX_BYTES) {
        return;
    }
    size_t n = (size_t)f->value;
    const uint8_t *p = f->data ? f->data : stk_pb_walk_bytes(s->walk, f->offset, n);
    char *copy = p ? stk_arena_alloc(s->arena, m->raw_stats.n + n + 3) : NULL;
    s->no_memory |= p && !copy;
    if (!copy) {
        return;
    }
    memcpy(copy, m->raw_stats.p, m->raw_stats.n);
    char *q = copy + m->raw_stats.n;
    *q++ = (char)(META_STATS << 3 | STK_PB_LEN);
    *q++ = (char)(n & 0x7f) | (n > 0x7f ? (char)0x80 : 0);
    if (n > 0x7f) {
        *q++ = (char)(n >> 7);
    }
    memcpy(q, p, n);
    m->raw_stats = (struct stk_str){copy, (size_t)(q - copy) + n};
}

static void event_meta_field(struct scan *s, void *item, const struct stk_pb_field *f)
{
    struct stk_xp_event_meta *m = item;
    if (f->wire != STK_PB_LEN) {
        return;
    }
    if (f->number == META_NAME) {
        m->name = keep(s, f, NAME_MAX_BYTES);
    } else if (f->number == META_DISPLAY) {
        m->display = keep(s, f, NAME_MAX_BYTES);
    } else if (f->number == META_STATS) {
        keep_stat(s, m, f);
    }
}

static void stat_meta_field(struct scan *s, void *item, const struct stk_pb_field *f)
{
    struct stk_xp_stat_meta *m = item;
    if (f->number == META_NAME && f->wire == STK_PB_LEN) {
        m->name = keep(s, f, NAME_MAX_BYTES);
    }
}

typedef void field_fn(struct scan *s, void *item, const struct stk_pb_field *f);

// A map entry that fits the window: {1: key, 2: value message}, both optional.
static void entry_small(struct scan *s, const uint8_t *p, size_t n, uint64_t at, int64_t *key,
                        void *item, field_fn *fn)
{
    struct stk_pb_cursor c = {p, p + n};
    struct stk_pb_field f;
    enum stk_pb_step step;
    while ((step = stk_pb_next(&c, &f)) == STK_PB_FIELD) {
        if (f.number == 1 && f.wire == STK_PB_VARINT) {
            *key = (int64_t)f.value;
        }
        if (f.number != 2 || f.wire != STK_PB_LEN) {
            continue;
        }
        struct stk_pb_cursor v = {f.data, f.data + f.value};
        struct stk_pb_field g;
        enum stk_pb_step inner;
        while ((inner = stk_pb_next(&v, &g)) == STK_PB_FIELD) {
            fn(s, item, &g);
        }
        if (inner != STK_PB_END) {
            note_bad(s, at);
        }
    }
    if (step != STK_PB_END) {
        note_bad(s, at);
    }
}

// The same for one of any size, a field at a time: entries that carry whole HLO programs.
static void entry_large(struct scan *s, const struct stk_pb_field *entry, int64_t *key, void *item,
                        field_fn *fn)
{
    struct stk_pb_walk *w = s->walk;
    struct stk_pb_field f;
    enum stk_pb_step step;
    w->pos = entry->offset;
    w->end = entry->offset + entry->value;
    while ((step = stk_pb_walk_next(w, &f)) == STK_PB_FIELD) {
        if (f.number == 1 && f.wire == STK_PB_VARINT) {
            *key = (int64_t)f.value;
        }
        if (f.number != 2 || f.wire != STK_PB_LEN) {
            continue;
        }
        uint64_t after = w->pos, end = w->end;
        struct stk_pb_field g;
        enum stk_pb_step inner;
        w->pos = f.offset;
        w->end = f.offset + f.value;
        while ((inner = stk_pb_walk_next(w, &g)) == STK_PB_FIELD) {
            fn(s, item, &g);
        }
        if (inner != STK_PB_END && !w->failed) {
            note_bad(s, f.offset);
        }
        w->pos = after;
        w->end = end;
    }
    if (step != STK_PB_END && !w->failed) {
        note_bad(s, entry->offset);
    }
}

static void scan_entry(struct scan *s, const struct stk_pb_field *entry, int64_t *key, void *item,
                       field_fn *fn)
{
    if (entry->value <= STK_PB_WINDOW / 2) {
        const uint8_t *p = stk_pb_walk_bytes(s->walk, entry->offset, (size_t)entry->value);
        if (p || entry->value == 0) {
            entry_small(s, p, (size_t)entry->value, entry->offset, key, item, fn);
        }
    } else {
        entry_large(s, entry, key, item, fn);
    }
}

// A slot for an entry of a map, or NULL: names may be a few bytes each.
static void *name_slot(struct scan *s, struct stk_vec *v)
{
    if (s->trouble->names_left == 0) {
        s->trouble->limited = true;
        return NULL;
    }
    s->trouble->names_left--;
    return slot_in(s, v);
}

static void scan_event_meta(struct scan *s, const struct stk_pb_field *f)
{
    struct stk_xp_event_meta *m = name_slot(s, &s->plane->event_metas);
    if (!m) {
        return;
    }
    m->name = m->display = m->raw_stats = STK_STR("");
    scan_entry(s, f, &m->id, m, event_meta_field);
}

static void scan_stat_meta(struct scan *s, const struct stk_pb_field *f)
{
    struct stk_xp_stat_meta *m = name_slot(s, &s->plane->stat_metas);
    if (!m) {
        return;
    }
    m->name = STK_STR("");
    scan_entry(s, f, &m->id, m, stat_meta_field);
}

// Fields of a line up to its first event. If a needed one is still missing, all of them, since
// other writers may put it last. A cut line isn't searched beyond its events.
static void scan_line(struct scan *s, const struct stk_pb_field *f, uint64_t size)
{
    struct stk_xp_line *line = slot_in(s, s->lines);
    if (!line) {
        return;
    }
    *line = (struct stk_xp_line){.plane = s->plane->index,
                                 .name = STK_STR(""),
                                 .offset = f->offset,
                                 .size = size,
                                 .cut = s->cut && size < f->value};
    struct stk_pb_walk *w = s->walk;
    unsigned seen = 0, all = 1u << LINE_ID | 1u << LINE_NAME | 1u << LINE_TIMESTAMP;
    struct stk_pb_field g;
    w->pos = f->offset;
    w->end = f->offset + size;
    line->events = w->end;
    for (;;) {
        uint64_t at = w->pos;
        if (stk_pb_walk_next(w, &g) != STK_PB_FIELD) {
            break; // damage inside is noted when the events are decoded
        }
        if (g.number == LINE_EVENTS && g.wire == STK_PB_LEN) {
            if (line->events == w->end) {
                line->events = at;
            }
            if (seen == all) {
                break;
            }
        } else if (g.number == LINE_NAME && g.wire == STK_PB_LEN) {
            line->name = keep(s, &g, NAME_MAX_BYTES);
            seen |= 1u << LINE_NAME;
        } else if (g.number == LINE_ID && g.wire == STK_PB_VARINT) {
            line->id = (int64_t)g.value;
            seen |= 1u << LINE_ID;
        } else if (g.number == LINE_TIMESTAMP && g.wire == STK_PB_VARINT) {
            line->timestamp_ns = (int64_t)g.value;
            seen |= 1u << LINE_TIMESTAMP;
        }
    }
    if (line->events == w->end) { // nothing to decode
        s->lines->count--;
    } else if (s->trouble->lines_left == 0) {
        s->trouble->lines_left_out++;
        s->lines->count--;
    } else {
        s->trouble->lines_left--;
    }
}

static void scan_plane_stat(struct scan *s, const struct stk_pb_field *f)
{
    if (f->value > META_STAT_MAX_BYTES) {
        return;
    }
    struct stk_str *raw = slot_in(s, &s->plane_stats);
    if (raw) {
        *raw = keep(s, f, META_STAT_MAX_BYTES);
    }
}

static void scan_field(struct scan *s, const struct stk_pb_field *f, enum stk_pb_step step)
{
    struct stk_pb_walk *w = s->walk;
    uint64_t after = w->pos, end = w->end;
    if (f->wire != STK_PB_LEN) {
        return;
    }
    if (step == STK_PB_CUT) { // only a line is usable without its end
        if (f->number == PLANE_LINES) {
            scan_line(s, f, end - f->offset);
        }
    } else if (f->number == PLANE_NAME) {
        s->plane->name = keep(s, f, NAME_MAX_BYTES);
        s->plane->kind = stk_xp_plane_kind(s->plane->name, &s->plane->ordinal);
    } else if (f->number == PLANE_LINES && s->plane->kind == STK_XP_PLANE_STOKER) {
        s->plane->lines_ignored++;
    } else if (f->number == PLANE_LINES) {
        scan_line(s, f, f->value);
    } else if (f->number == PLANE_EVENT_METADATA && s->plane->kind != STK_XP_PLANE_FACTS &&
               s->plane->kind != STK_XP_PLANE_STOKER) {
        scan_event_meta(s, f);
    } else if (f->number == PLANE_STAT_METADATA) {
        scan_stat_meta(s, f);
    } else if (f->number == PLANE_STATS) {
        scan_plane_stat(s, f);
    }
    w->pos = after;
    w->end = end;
}

// A rate in whole units; 0: none.
static int64_t scaled(const struct stk_xp_value *v, double unit)
{
    double real = 0;
    int64_t n;
    if (v->type == STK_XP_DOUBLE) {
        memcpy(&real, &v->bits, sizeof real);
    } else if (stk_xp_value_i64(v, &n)) {
        real = (double)n;
    }
    return real > 0 && real * unit < 9e18 ? (int64_t)(real * unit) : 0;
}

static void plane_fact(struct stk_xp_plane *plane, enum stk_xp_stat stat,
                       const struct stk_xp_value *v)
{
    STK_ASSERT((unsigned)stat < STK_XP_STAT_COUNT);
    struct stk_str text;
    int64_t n = 0;
    bool number = stk_xp_value_i64(v, &n), named = stk_xp_value_text(v, &text);
    if (stat == STK_XP_STAT_DEVICE_VENDOR && named) {
        plane->vendor = text;
    } else if (stat == STK_XP_STAT_DEVICE_NAME && named) {
        plane->device_name = text;
    } else if (stat == STK_XP_STAT_DEVICE_TYPE && named) {
        plane->device_type = text;
    } else if (stat == STK_XP_STAT_JAX_VERSION && named) {
        plane->jax_version = text;
    } else if (stat == STK_XP_STAT_CORE_COUNT && number) {
        plane->core_count = n;
    } else if (stat == STK_XP_STAT_CC_MAJOR && number) {
        plane->cc_major = n;
    } else if (stat == STK_XP_STAT_CC_MINOR && number) {
        plane->cc_minor = n;
    } else if (stat == STK_XP_STAT_MEMORY_SIZE && number) {
        plane->memory_bytes = n;
    } else if (stat == STK_XP_STAT_MEMORY_RATE && number && n > 0 &&
               plane->memory_bytes_per_s == 0) {
        plane->memory_bytes_per_s = n;
    } else if (stat == STK_XP_STAT_PEAK_TERAFLOPS) {
        plane->flops_per_s = scaled(v, 1e12);
    } else if (stat == STK_XP_STAT_PEAK_MEMORY_RATE) { // a backend's own figure takes precedence
        plane->memory_bytes_per_s = scaled(v, 1e9);
    } else if (stat == STK_XP_STAT_PROFILE_START && number) {
        plane->profile_start_ns = n;
    }
}

static void plane_facts(struct scan *s)
{
    struct stk_xp_plane *plane = s->plane;
    for (size_t i = 0; i < s->plane_stats.count; i++) {
        const struct stk_str *raw = stk_vec_at(&s->plane_stats, i);
        struct stk_xp_value v;
        int64_t id;
        if (!stk_xp_stat_parse(plane, (const uint8_t *)raw->p, raw->n, &id, &v)) {
            continue;
        }
        uint32_t at = stk_xp_ids_get(&plane->stat_ids, id);
        if (at != STK_NONE) {
            plane_fact(plane, ((struct stk_xp_stat_meta *)stk_vec_at(&plane->stat_metas, at))->stat,
                       &v);
        }
    }
}

enum stoker_status stk_xp_plane_scan(struct stk_xp_plane *plane, struct stk_pb_walk *walk,
                                     uint64_t offset, uint64_t size, bool cut,
                                     struct stk_arena *arena, struct stk_vec *lines,
                                     struct stk_xp_trouble *trouble, struct stoker_err *err)
{
    STK_ASSERT(arena && lines);
    STK_ASSERT(plane && walk);
    struct scan s = {.plane = plane,
                     .walk = walk,
                     .arena = arena,
                     .lines = lines,
                     .trouble = trouble,
                     .cut = cut};
    size_t first_line = lines->count;
    plane->offset = offset;
    plane->size = size;
    plane->kind = STK_XP_PLANE_OTHER;
    plane->device = plane->ordinal = -1;
    plane->name = plane->vendor = plane->device_name = STK_STR("");
    plane->device_type = plane->jax_version = STK_STR("");
    stk_vec_init(&plane->event_metas, sizeof(struct stk_xp_event_meta), MAX_METAS);
    stk_vec_init(&plane->stat_metas, sizeof(struct stk_xp_stat_meta), MAX_METAS);
    stk_vec_init(&s.plane_stats, sizeof(struct stk_str), 4096);
    walk->pos = offset;
    walk->end = offset + size;
    struct stk_pb_field f;
    enum stk_pb_step step;
    do {
        uint64_t at = walk->pos;
        f = (struct stk_pb_field){0};
        step = stk_pb_walk_next(walk, &f);
        if (step == STK_PB_FIELD || (step == STK_PB_CUT && f.offset)) {
            scan_field(&s, &f, step);
        }
        if (step == STK_PB_CUT && !walk->failed) {
            note_cut(&s, at);
        } else if (step == STK_PB_BAD) {
            note_bad(&s, at);
        }
    } while (step == STK_PB_FIELD && !s.no_memory && !walk->failed);
    if (!s.no_memory && !walk->failed) {
        s.no_memory = !stk_xp_plane_resolve(plane, arena);
        if (!s.no_memory) {
            plane_facts(&s);
        }
    }
    for (size_t i = first_line; i < lines->count; i++) {
        struct stk_xp_line *line = stk_vec_at(lines, i);
        line->kind = stk_xp_line_kind(plane->kind, line->name, line->id);
    }
    stk_vec_deinit(&s.plane_stats);
    if (walk->failed) {
        return err ? err->code : STOKER_EINPUT;
    }
    return s.no_memory ? stk_err_nomem(err) : STOKER_OK;
}

void stk_xp_plane_deinit(struct stk_xp_plane *plane)
{
    stk_vec_deinit(&plane->event_metas);
    stk_vec_deinit(&plane->stat_metas);
    stk_xp_ids_deinit(&plane->event_ids);
    stk_xp_ids_deinit(&plane->stat_ids);
}
