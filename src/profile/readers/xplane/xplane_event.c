// SPDX-License-Identifier: Apache-2.0
// XEvent messages to rows.
//
// Times: an event starts at line.timestamp_ns + offset_ps and ends duration_ps later. Start and end
// are rounded to nanoseconds half up, each by itself; the picoseconds of an absolute time would not
// fit 64 bits, but the line's part is whole nanoseconds and needs no rounding.
#include "profile/readers/xplane/xplane_event.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cpu.h"

#define TAG_EVENTS (4 << 3 | STK_PB_LEN) // in a line
#define TAG_ID (1 << 3 | STK_PB_VARINT)  // in an event, and in a stat
#define TAG_OFFSET (2 << 3 | STK_PB_VARINT)
#define TAG_DURATION (3 << 3 | STK_PB_VARINT)
#define TAG_STATS (4 << 3 | STK_PB_LEN)
#define TAG_OCCURRENCES (5 << 3 | STK_PB_VARINT)
#define TAG_UINT64 (3 << 3 | STK_PB_VARINT) // in a stat
#define TAG_INT64 (4 << 3 | STK_PB_VARINT)

// The hot path is compiled twice, with and without an instruction that not all CPUs have.
#define INLINE static inline __attribute__((always_inline))

#define HAS(values, id) ((values)->present & 1u << STK_XP_STAT_##id)

struct event {
    int64_t meta_id, offset_ps, duration_ps;
    bool aggregated; // counts occurrences, has no place in time
    struct stk_xp_values values;
};

bool stk_xp_decoder_init(struct stk_xp_decoder *d, struct stk_shard *shard,
                         const struct stk_xp_plane *planes, size_t plane_count)
{
    STK_ASSERT(planes || plane_count == 0);
    *d = (struct stk_xp_decoder){.shard = shard,
                                 .planes = planes,
                                 .plane_count = plane_count,
                                 .has_pext = stk_cpu_has(STK_CPU_PEXT)};
    d->prepared = stk_alloc_zero(plane_count ? plane_count : 1, sizeof *d->prepared);
    return d->prepared != NULL;
}

void stk_xp_decoder_deinit(struct stk_xp_decoder *d)
{
    for (size_t i = 0; d->prepared && i < d->plane_count; i++) {
        stk_free(d->prepared[i]);
    }
    stk_free(d->prepared);
    d->prepared = NULL;
}

struct stk_track_key stk_xp_track_key(const struct stk_xp_plane *plane,
                                      const struct stk_xp_line *line, enum stk_xp_derived derived)
{
    STK_ASSERT((unsigned)derived < STK_XP_DERIVED_COUNT);
    static const char *const names[STK_XP_DERIVED_COUNT] = {"", "synchronization", "memory",
                                                            "CUPTI overhead", "unified memory"};
    struct stk_track_key key = {.kind = STK_TRACK_OTHER,
                                .process = STK_XP_PROCESS,
                                .device = plane->device,
                                .id = line->id,
                                .sid = STK_STR("")};
    switch (line->kind) {
    case STK_XP_LINE_RANGES:
        key.sid = STK_STR("NVTX"); // on a separate row, since ranges may cross the thread's calls
        // fall through
    case STK_XP_LINE_THREAD:
        key.kind = STK_TRACK_THREAD;
        break;
    case STK_XP_LINE_STREAM:
    case STK_XP_LINE_OPS:
        if (derived) {
            key.sid = stk_str_from(names[derived]);
        } else {
            key.kind = STK_TRACK_STREAM;
        }
        break;
    case STK_XP_LINE_DERIVED:
        key.kind = STK_TRACK_DERIVED;
        break;
    case STK_XP_LINE_COUNTER:
        key.kind = STK_TRACK_COUNTER;
        break;
    case STK_XP_LINE_OTHER:
        if (plane->device < 0) {
            key.sid = plane->name; // line ids of different sources may be equal
        }
        break;
    }
    return key;
}

void stk_xp_line_begin(struct stk_xp_decoder *d, const struct stk_xp_line *line)
{
    STK_ASSERT(line->plane < d->plane_count);
    STK_ASSERT(d->planes && line);
    const struct stk_xp_plane *plane = &d->planes[line->plane];
    d->plane = plane;
    d->line = line;
    d->events = 0;
    memset(d->tracks, 0xff, sizeof d->tracks);
    size_t n = (size_t)plane->event_ids.dense_count;
    if (!d->prepared[line->plane]) {
        d->prepared[line->plane] = stk_alloc_zero(n ? n : 1, sizeof **d->prepared);
        d->no_memory |= !d->prepared[line->plane];
    }
    d->by_id = d->prepared[line->plane];
    d->id_count = d->by_id ? n : 0;
    d->has_zero = stk_xp_ids_get(&plane->event_ids, 0) != STK_NONE;
    d->base_kind = line->kind == STK_XP_LINE_THREAD   ? STK_KIND_UNSET
                   : line->kind == STK_XP_LINE_RANGES ? STK_KIND_ANNOTATION
                                                      : STK_KIND_OTHER;
}

void stk_xp_line_end(struct stk_xp_decoder *d)
{
    if (!d->events) {
        return;
    }
    int64_t at = (int64_t)d->line->events;
    if (d->line->kind == STK_XP_LINE_DERIVED) {
        stk_shard_issue(d->shard, STK_ISSUE_DERIVED_IGNORED, d->events, 0, at, d->line->name);
    }
    if (d->plane->kind == STK_XP_PLANE_UNKNOWN_DEVICE) {
        stk_shard_issue(d->shard, STK_ISSUE_UNKNOWN_ACCELERATOR, d->events, 0, at, d->plane->name);
    }
}

// The stat of an id on this plane, if stoker wants it from events.
static inline enum stk_xp_stat stat_of_id(const struct stk_xp_plane *plane, uint64_t id)
{
    if (id < plane->stat_ids.dense_count) {
        return (enum stk_xp_stat)plane->stat_by_id[id];
    }
    uint32_t at = stk_xp_ids_sparse(&plane->stat_ids, id);
    if (at == STK_NONE) {
        return STK_XP_STAT_NONE;
    }
    enum stk_xp_stat stat = ((struct stk_xp_stat_meta *)stk_vec_at(&plane->stat_metas, at))->stat;
    return plane->stats_wanted >> stat & 1 ? stat : STK_XP_STAT_NONE;
}

// A stat that is used, or that isn't written like every known writer does (id first).
static bool read_stat(const struct stk_xp_plane *plane, const uint8_t *p, size_t n,
                      struct stk_xp_values *values)
{
    struct stk_pb_cursor c = {p + 1, p + n + 8};
    uint64_t id, number;
    struct stk_xp_value v;
    int64_t any_id;
    if (n >= 2 && p[0] == TAG_ID) {
        if (stk_pb_varint(&c, &id) != STK_PB_FIELD || c.p > p + n) {
            return false;
        }
        enum stk_xp_stat stat = stat_of_id(plane, id);
        if (stat == STK_XP_STAT_NONE) {
            return true;
        }
        if (c.p < p + n && (*c.p == TAG_UINT64 || *c.p == TAG_INT64)) {
            uint8_t tag = *c.p++;
            if (stk_pb_varint(&c, &number) != STK_PB_FIELD) {
                return false;
            }
            if (c.p == p + n) {
                v = (struct stk_xp_value){.type = tag == TAG_UINT64 ? STK_XP_U64 : STK_XP_I64,
                                          .bits = number};
                stk_xp_values_take(values, stat, &v);
                return true;
            }
        }
    }
    if (!stk_xp_stat_parse(plane, p, n, &any_id, &v)) {
        return false;
    }
    stk_xp_values_take(values, stat_of_id(plane, (uint64_t)any_id), &v);
    return true;
}

// Skips the stats from p on that aren't used, which most aren't. Returns the first one to read, or
// the first byte that isn't a stat, or `end`. The id of a stat comes first, in one or two bytes.
INLINE const uint8_t *skip_stats(const struct stk_xp_plane *plane, const uint8_t *p,
                                 const uint8_t *end)
{
    const uint8_t *table = plane->stat_by_id;
    uint64_t known = plane->stat_ids.dense_count;
    while (p < end) {
        uint64_t w = stk_word_load8(p); // its tag, its size, the tag of the id, the id
        uint64_t size = w >> 8 & 0x7f, two = w >> 31 & 1;
        uint64_t id = (w >> 24 & 0x7f) | (two ? w >> 25 & 0x3f80 : 0);
        bool plain = (w & 0xff80ff) == (TAG_STATS | TAG_ID << 16) && !(two & w >> 39);
        if (!plain || size < 2 + two || id >= known || table[id] != STK_XP_STAT_NONE ||
            (size_t)(end - p) < size + 2) {
            break;
        }
        p += size + 2;
    }
    return p;
}

INLINE const uint8_t *varint8(const uint8_t *p, bool pext, uint64_t *out)
{
    return pext ? stk_varint_get8_pext(p, out) : stk_varint_get8(p, out);
}

// False: malformed. Reads up to 8 bytes past the end, which exist (STK_XP_PAD).
INLINE bool read_event(const struct stk_xp_plane *plane, const uint8_t *p, size_t n, bool pext,
                       struct event *e)
{
    const uint8_t *end = p + n, *next;
    uint64_t id = 0, offset_ps = 0, duration_ps = 0, v;
    e->aggregated = false;
    e->values.present = 0;
    // Every known writer uses this order.
    if (p < end && *p == TAG_ID && (next = varint8(p + 1, pext, &id)) != NULL) {
        p = next;
    }
    if (p < end && *p == TAG_OFFSET && (next = varint8(p + 1, pext, &offset_ps)) != NULL) {
        p = next;
    }
    if (p < end && *p == TAG_DURATION && (next = varint8(p + 1, pext, &duration_ps)) != NULL) {
        p = next;
    }
    e->meta_id = (int64_t)id;
    e->offset_ps = (int64_t)offset_ps;
    e->duration_ps = (int64_t)duration_ps;
    if (p > end) {
        return false;
    }
    struct stk_pb_cursor c = {p, end + 8};
    while (c.p < end) {
        uint8_t tag = *c.p;
        if (tag == TAG_STATS) {
            c.p = skip_stats(plane, c.p, end);
            if (c.p == end) {
                break;
            }
            tag = *c.p;
        }
        if (tag != TAG_ID && tag != TAG_OFFSET && tag != TAG_DURATION && tag != TAG_STATS &&
            tag != TAG_OCCURRENCES) {
            struct stk_pb_cursor other = {c.p, end};
            struct stk_pb_field f;
            if (stk_pb_next(&other, &f) != STK_PB_FIELD) {
                return false;
            }
            c.p = other.p;
            continue;
        }
        c.p++;
        if (stk_pb_varint(&c, &v) != STK_PB_FIELD || c.p > end) {
            return false;
        }
        switch (tag) {
        case TAG_STATS:
            if (v > (uint64_t)(end - c.p) || !read_stat(plane, c.p, (size_t)v, &e->values)) {
                return false;
            }
            c.p += v;
            break;
        case TAG_ID:
            e->meta_id = (int64_t)v;
            break;
        case TAG_OFFSET:
            e->offset_ps = (int64_t)v;
            break;
        case TAG_DURATION:
            e->duration_ps = (int64_t)v;
            break;
        default:
            e->aggregated = true;
        }
    }
    return true;
}

static inline int64_t round_ps(int64_t ps)
{
    int64_t ns = ps / 1000, rest = ps % 1000;
    if (rest < 0) {
        ns--;
        rest += 1000;
    }
    return ns + (rest >= 500);
}

// A duration of -1 marks a time that doesn't fit 64 bits; the shard drops it as invalid.
static inline void set_times(const struct stk_xp_line *line, const struct event *e,
                             struct stk_row *row)
{
    int64_t end_ps, end_ns;
    if (__builtin_add_overflow(e->offset_ps, e->duration_ps, &end_ps) || e->duration_ps < 0 ||
        __builtin_add_overflow(line->timestamp_ns, round_ps(e->offset_ps), &row->start_ns) ||
        __builtin_add_overflow(line->timestamp_ns, round_ps(end_ps), &end_ns) ||
        __builtin_sub_overflow(end_ns, row->start_ns, &row->dur_ns)) {
        row->start_ns = line->timestamp_ns;
        row->dur_ns = -1;
    }
}

static void merge_defaults(struct stk_xp_values *values, const struct stk_xp_values *defaults)
{
    uint32_t missing = defaults->present & ~values->present;
    if (missing & 1u << STK_XP_STAT_CORRELATION) {
        values->correlation = defaults->correlation;
    }
    if (missing & 1u << STK_XP_STAT_STEP_NUM) {
        values->step_num = defaults->step_num;
    }
    uint32_t bytes = 1u << STK_XP_STAT_ALLOCATION_BYTES | 1u << STK_XP_STAT_REQUESTED_BYTES |
                     1u << STK_XP_STAT_BYTES_ACCESSED | 1u << STK_XP_STAT_RAW_BYTES_ACCESSED;
    if (missing & bytes && !(values->present & bytes)) {
        values->bytes = defaults->bytes;
    }
    uint32_t details =
        1u << STK_XP_STAT_MEMCPY | 1u << STK_XP_STAT_MEMSET | 1u << STK_XP_STAT_MEMALLOC;
    if (missing & details && !(values->present & details)) {
        values->details = defaults->details;
    }
    values->present |= missing;
}

static void host_row(const struct event *e, struct stk_row *row, struct stk_row_ext *ext)
{
    const struct stk_xp_values *v = &e->values;
    if (HAS(v, STEP_NUM)) {
        row->kind = STK_KIND_ANNOTATION;
        ext->flags = STK_EXT_STEP | STK_EXT_VALUE;
        ext->value = v->step_num;
    } else if (HAS(v, CORRELATION)) { // CUDA and HIP callbacks under any name
        row->kind = STK_KIND_RUNTIME;
        ext->has_corr = true;
        ext->corr = v->correlation;
    } else if (row->kind == STK_KIND_MEMORY) {
        if (v->present & (1u << STK_XP_STAT_ALLOCATION_BYTES | 1u << STK_XP_STAT_REQUESTED_BYTES)) {
            ext->flags = STK_EXT_VALUE;
            ext->value = v->bytes;
        }
    } else if (HAS(v, INPUT_STAGE)) {
        row->kind = STK_KIND_INPUT;
    }
}

static uint8_t dir_of(uint8_t src, uint8_t dst)
{
    bool from_host = src == STK_MEM_PAGEABLE || src == STK_MEM_PINNED;
    bool to_host = dst == STK_MEM_PAGEABLE || dst == STK_MEM_PINNED;
    if (src == STK_MEM_UNKNOWN || dst == STK_MEM_UNKNOWN) {
        return STK_DIR_UNKNOWN;
    }
    if (from_host) {
        return to_host ? STK_DIR_H2H : STK_DIR_H2D;
    }
    return to_host ? STK_DIR_D2H : STK_DIR_D2D;
}

static void stream_row(const struct stk_xp_event_meta *m, const struct event *e,
                       struct stk_row *row, struct stk_row_ext *ext)
{
    const struct stk_xp_values *v = &e->values;
    struct stk_xp_details details = {.src_mem = m ? m->src_mem : 0, .dst_mem = m ? m->dst_mem : 0};
    if (m) {
        ext->flags = m->flags;
        ext->dir = m->dir;
    }
    if (HAS(v, CORRELATION)) {
        ext->has_corr = true;
        ext->corr = v->correlation;
    }
    if (HAS(v, GRAPH)) {
        ext->flags |= STK_EXT_GRAPH;
    }
    if (v->present &
        (1u << STK_XP_STAT_MEMCPY | 1u << STK_XP_STAT_MEMSET | 1u << STK_XP_STAT_MEMALLOC)) {
        row->kind = HAS(v, MEMCPY)   ? STK_KIND_MEMCPY
                    : HAS(v, MEMSET) ? STK_KIND_MEMSET
                                     : STK_KIND_MEMORY;
        stk_xp_parse_details(v->details, &details);
        ext->flags |= details.flags;
        ext->dir = details.dir ? details.dir : ext->dir;
    }
    if (details.has_bytes) {
        ext->flags |= STK_EXT_VALUE;
        ext->value = details.bytes;
    }
    ext->src_mem = details.src_mem;
    ext->dst_mem = details.dst_mem;
    if (row->kind == STK_KIND_MEMCPY && ext->dir == STK_DIR_UNKNOWN) {
        ext->dir = dir_of(ext->src_mem, ext->dst_mem);
    }
}

static void ops_row(const struct stk_xp_event_meta *m, const struct event *e,
                    struct stk_row_ext *ext)
{
    if (HAS(&e->values, MEMCPY)) { // written by stoker export
        struct stk_xp_details details = {0};
        stk_xp_parse_details(e->values.details, &details);
        ext->flags = details.flags | (details.has_bytes ? STK_EXT_VALUE : 0);
        ext->dir = details.dir;
        ext->value = details.bytes;
        return;
    }
    if (!m || !(m->flags & STK_EXT_WAITS)) {
        return;
    }
    ext->flags = m->flags;
    ext->dir = m->dir;
    if (e->values.present &
        (1u << STK_XP_STAT_RAW_BYTES_ACCESSED | 1u << STK_XP_STAT_BYTES_ACCESSED)) {
        ext->flags |= STK_EXT_VALUE;
        ext->value = e->values.bytes;
    }
}

static struct stk_xp_prepared prepare(struct stk_xp_decoder *d, int64_t id)
{
    struct stk_xp_prepared x = {.meta = stk_xp_ids_get(&d->plane->event_ids, id),
                                .kind = d->line->kind == STK_XP_LINE_THREAD ? STK_KIND_HOST_OP
                                                                            : STK_KIND_KERNEL,
                                .ready = true};
    if (x.meta == STK_NONE) {
        return x;
    }
    const struct stk_xp_event_meta *m = stk_vec_at(&d->plane->event_metas, x.meta);
    x.name = stk_shard_intern(d->shard, m->shown.p, m->shown.n);
    x.kind = m->kind;
    x.derived = m->derived;
    x.has_defaults = m->defaults != NULL;
    x.input = (uint8_t)stk_xp_input_of(m->name);
    x.is_collective = stk_xp_is_collective(m->name);
    return x;
}

static inline const struct stk_xp_prepared *prepared_of(struct stk_xp_decoder *d, int64_t id)
{
    struct stk_xp_prepared *x = &d->rare;
    if ((uint64_t)id < d->id_count) {
        x = &d->by_id[id];
        if (x->ready) {
            return x;
        }
    }
    *x = prepare(d, id);
    return x;
}

static uint32_t track_of(struct stk_xp_decoder *d, enum stk_xp_derived derived)
{
    STK_ASSERT((unsigned)derived < STK_XP_DERIVED_COUNT);
    uint32_t *track = &d->tracks[derived];
    if (*track == STK_NONE) {
        struct stk_track_key key = stk_xp_track_key(d->plane, d->line, derived);
        *track = stk_shard_track(d->shard, &key);
    }
    return *track;
}

static void drop_event(struct stk_xp_decoder *d, enum stk_issue_id why, uint64_t pos)
{
    STK_ASSERT((unsigned)why < STK_ISSUE_COUNT);
    stk_shard_count(d->shard, STK_KIND_OTHER, 1);
    stk_shard_issue(d->shard, why, 1, 1, (int64_t)pos, STK_STR(""));
}

// May an event carry details (xplane_details.c)? Launch configurations don't count.
static inline bool wants_details(const struct stk_xp_decoder *d, const struct stk_xp_prepared *x)
{
    uint32_t wants = d->wants & ~(STK_WANT_GRIDS | STK_WANT_LAUNCHES);
    switch (d->line->kind) {
    case STK_XP_LINE_THREAD: // messages are the device's
        return (wants & ~(STK_WANT_INPUT | STK_WANT_MESSAGES)) ||
               (wants & STK_WANT_INPUT && x->input);
    case STK_XP_LINE_STREAM: // only rows of operations have names of collectives
        return (wants & ~(STK_WANT_INPUT | STK_WANT_MESSAGES)) != 0;
    case STK_XP_LINE_OPS:
        return (wants & ~(STK_WANT_INPUT | STK_WANT_MESSAGES)) ||
               (wants & STK_WANT_MESSAGES && (x->is_collective || x->kind == STK_KIND_COLLECTIVE));
    default:
        return (wants & ~(STK_WANT_INPUT | STK_WANT_MESSAGES | STK_WANT_COLLECTIVES)) != 0;
    }
}

// An event with values of its own or of its metadata, or on a stream; p[0, n) is its message.
static void add_valued(struct stk_xp_decoder *d, const struct stk_xp_prepared *x, struct event *e,
                       struct stk_row *row, const uint8_t *p, size_t n)
{
    const struct stk_xp_event_meta *m = stk_xp_prepared_meta(d, x);
    enum stk_xp_derived derived = STK_XP_DERIVED_NOT;
    struct stk_row_ext ext = {0};
    if (m && m->defaults) {
        merge_defaults(&e->values, m->defaults);
    }
    switch (d->line->kind) {
    case STK_XP_LINE_THREAD:
        host_row(e, row, &ext);
        break;
    case STK_XP_LINE_STREAM:
        row->kind = x->kind;
        derived = (enum stk_xp_derived)x->derived;
        stream_row(m, e, row, &ext);
        if (row->kind == STK_KIND_MEMORY) {
            derived = STK_XP_DERIVED_MEMORY;
        }
        break;
    case STK_XP_LINE_OPS:
        row->kind = x->kind;
        ops_row(m, e, &ext);
        break;
    default:
        break; // derived rows, counters, overhead: never work
    }
    if (stk_wants_grids(d->wants) && row->kind == STK_KIND_KERNEL && !derived &&
        (d->line->kind == STK_XP_LINE_STREAM || d->line->kind == STK_XP_LINE_OPS)) {
        stk_xp_launch(d, m, p, n, &ext);
    }
    row->track = track_of(d, derived);
    bool bare = !ext.has_corr && !ext.flags && !ext.dir && !ext.src_mem && !ext.dst_mem;
    struct stk_detail details[STK_XP_DETAILS_MAX];
    size_t count = wants_details(d, x) ? stk_xp_details(d, x, row->kind, p, n, details) : 0;
    stk_shard_add_detailed(d->shard, row, bare ? NULL : &ext, details, count);
}

INLINE void add_event(struct stk_xp_decoder *d, const uint8_t *p, size_t n, uint64_t pos, bool pext)
{
    struct event e;
    struct stk_row row;
    d->events++;
    // An empty message is an event of metadata 0 at the line's begin. Without that metadata it is
    // meaningless, and every two bytes of a file would take a row.
    if ((n == 0 && !d->has_zero) || !read_event(d->plane, p, n, pext, &e)) {
        drop_event(d, STK_ISSUE_MESSAGE_INVALID, pos);
        return;
    }
    if (e.aggregated) {
        stk_shard_count(d->shard, STK_KIND_OTHER, 1);
        return;
    }
    const struct stk_xp_prepared *x = prepared_of(d, e.meta_id);
    set_times(d->line, &e, &row);
    row.pos = pos;
    row.name = x->name;
    row.kind = d->base_kind == STK_KIND_UNSET ? x->kind : d->base_kind;
    if (e.values.present || x->has_defaults || d->line->kind == STK_XP_LINE_STREAM ||
        d->line->kind == STK_XP_LINE_OPS || wants_details(d, x)) {
        add_valued(d, x, &e, &row, p, n);
        return;
    }
    row.track = track_of(d, STK_XP_DERIVED_NOT);
    stk_shard_add(d->shard, &row, NULL);
}

INLINE size_t decode(struct stk_xp_decoder *d, const uint8_t *p, size_t n, uint64_t offset,
                     bool pext)
{
    struct stk_pb_cursor c = {p, p + n};
    while (c.p < c.end) {
        const uint8_t *at = c.p;
        if (*at == TAG_EVENTS) {
            uint64_t size;
            c.p++;
            enum stk_pb_step step = stk_pb_varint(&c, &size);
            if (step == STK_PB_BAD) {
                return SIZE_MAX;
            }
            if (step == STK_PB_CUT || size > (uint64_t)(c.end - c.p)) {
                return (size_t)(at - p);
            }
            add_event(d, c.p, (size_t)size, offset + (uint64_t)(at - p), pext);
            c.p += size;
            continue;
        }
        struct stk_pb_field f;
        enum stk_pb_step step = stk_pb_next(&c, &f);
        if (step == STK_PB_BAD) {
            return SIZE_MAX;
        }
        if (step != STK_PB_FIELD) {
            return (size_t)(at - p);
        }
    }
    return n;
}

STK_VARINT_PEXT static size_t decode_pext(struct stk_xp_decoder *d, const uint8_t *p, size_t n,
                                          uint64_t offset)
{
    return decode(d, p, n, offset, true);
}

static size_t decode_plain(struct stk_xp_decoder *d, const uint8_t *p, size_t n, uint64_t offset)
{
    return decode(d, p, n, offset, false);
}

size_t stk_xp_decode(struct stk_xp_decoder *d, const uint8_t *p, size_t n, uint64_t offset)
{
    STK_ASSERT(p || n == 0);
    return d->has_pext ? decode_pext(d, p, n, offset) : decode_plain(d, p, n, offset);
}
