// SPDX-License-Identifier: Apache-2.0
// A device's ribbon as a viewer draws it: sums by part of each bucket of a stretch of time, and the
// longest stretches of each part with what held the device up. Only the requested range is read,
// piece by piece, at a few nanoseconds each. Limits: SEGMENTS stretches of a part; the answer's
// size depends on the buckets and not on the events.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/threads/python_frame.h"
#include "profile/timeline/timeline.h"
#include "results/print/document.h"

#define BUCKETS_MOST 4096
#define SEGMENTS 48 // of each part

// Neighboring pieces of one part.
struct segment {
    int64_t start_ns, end_ns;
    int64_t longest_ns; // of its pieces
    size_t piece;       // that one
    uint8_t part;
};

struct looking {
    const struct stk_tl_ribbon *r;
    int64_t from_ns, to_ns, bucket_ns; // in the trace's time
    size_t buckets;
    int64_t (*cells)[STK_PART_COUNT][2]; // of each bucket: ns that count, and ns that don't
    struct segment open;                 // part: STK_RIBBON_NOTHING, none is
    struct segment longest[STK_PART_COUNT][SEGMENTS]; // longest first
    uint32_t kept[STK_PART_COUNT];
    uint64_t seen;
};

bool stk_tl_ribbons_take(struct stk_timeline *t)
{
    const struct stk_query_source *source = &t->q->source;
    size_t count = 0;
    for (uint32_t r = 0; r < source->rank_count; r++) {
        count += source->ranks[r].ribbons.count;
    }
    t->ribbons = stk_arena_array(&t->arena, count + 1, sizeof *t->ribbons);
    for (uint32_t i = 0; t->ribbons && i < t->trace_count; i++) {
        for (uint32_t r = t->traces[i].x->rank;
             r < source->rank_count && source->ranks[r].trace == t->traces[i].t; r++) {
            const struct stk_query_rank *rank = &source->ranks[r];
            const char *host = source->rank_count == 1
                                   ? "host"
                                   : stk_arena_printf(&t->arena, "rank %d", (int)rank->sum->rank);
            for (size_t k = 0; k < rank->ribbons.count; k++) {
                uint32_t device = rank->ribbons.v[k].device;
                const struct stk_device_sum *d =
                    device == STK_NONE ? NULL : &rank->sum->devices[device];
                t->ribbons[t->ribbon_count++] =
                    (struct stk_tl_ribbon){.id = d ? d->id : host,
                                           .name = d ? d->name : "",
                                           .trace = i,
                                           .ribbon = rank->ribbons.v[k]};
            }
        }
    }
    return t->ribbons != NULL;
}

static void keep_segment(struct looking *l)
{
    struct segment *s = &l->open;
    if (s->part == STK_RIBBON_NOTHING) {
        return;
    }
    STK_ASSERT(s->part < STK_PART_COUNT && s->start_ns < s->end_ns);
    struct segment *list = l->longest[s->part];
    uint32_t n = l->kept[s->part], at = n;
    l->seen++;
    while (at > 0 && list[at - 1].end_ns - list[at - 1].start_ns < s->end_ns - s->start_ns) {
        at--;
    }
    if (at < SEGMENTS) {
        uint32_t moved = n - at - (n == SEGMENTS);
        memmove(&list[at + 1], &list[at], moved * sizeof *list);
        list[at] = *s;
        l->kept[s->part] += n < SEGMENTS;
    }
    s->part = STK_RIBBON_NOTHING;
}

// Stretches are complete, even if they extend beyond the range.
static void take_segment(struct looking *l, size_t piece, int64_t start, int64_t end)
{
    const struct stk_ribbon_piece *p = &l->r->ribbon.pieces[piece];
    struct segment *s = &l->open;
    if (s->part != p->part) {
        keep_segment(l);
        *s = (struct segment){start, end, end - start, piece, p->part};
        return;
    }
    s->end_ns = end;
    if (end - start > s->longest_ns) {
        s->longest_ns = end - start;
        s->piece = piece;
    }
}

static void add_to_cells(struct looking *l, const struct stk_ribbon_piece *p, int64_t start,
                         int64_t end)
{
    start = start > l->from_ns ? start : l->from_ns;
    end = end < l->to_ns ? end : l->to_ns;
    for (int64_t next; start < end; start = next) {
        int64_t bucket = (start - l->from_ns) / l->bucket_ns;
        STK_ASSERT(bucket >= 0 && (size_t)bucket < l->buckets);
        next = l->from_ns + (bucket + 1) * l->bucket_ns;
        next = next < end ? next : end;
        l->cells[bucket][p->part][!p->used] += next - start;
    }
}

static void look(struct looking *l)
{
    const struct stk_ribbon *r = &l->r->ribbon;
    size_t low = 0, high = r->count;
    STK_BISECT(low, high, middle, stk_ribbon_end(r, middle) <= l->from_ns);
    // From the begin of the stretch that reaches into the range.
    while (low > 0 && low < r->count && r->pieces[low - 1].part == r->pieces[low].part) {
        low--;
    }
    for (size_t i = low; i < r->count; i++) {
        const struct stk_ribbon_piece *p = &r->pieces[i];
        bool is_behind = p->start_ns >= l->to_ns;
        if (is_behind && (l->open.part != p->part || p->part == STK_RIBBON_NOTHING)) {
            break;
        }
        take_segment(l, i, p->start_ns, stk_ribbon_end(r, i));
        if (p->part != STK_RIBBON_NOTHING && !is_behind) {
            add_to_cells(l, p, p->start_ns, stk_ribbon_end(r, i));
        }
    }
    keep_segment(l);
}

static const char *name_of(const struct stk_tl_trace *x, uint32_t event)
{
    return event == STK_NONE ? NULL : stk_name_of(x->t, event).p;
}

// The stretch's owner, in a form that a person can find: read_shard, gpu_jax.py, 62.
static bool place_owner(const struct stk_tl_trace *x, uint32_t owner, struct stk_arena *arena,
                        struct stk_view_ribbon_segment *out)
{
    if (owner == STK_NONE) {
        return true;
    }
    struct stk_str name = stk_name_of(x->t, owner);
    struct stk_python_frame frame = stk_python_frame_parse(name);
    bool is_frame = x->t->kind[owner] == STK_KIND_PYTHON && frame.function.n;
    struct stk_str function = is_frame ? frame.function : name;
    out->function = stk_arena_strndup(arena, function.p, function.n);
    if (is_frame && frame.file.n && frame.line > 0) {
        out->file = stk_arena_strndup(arena, frame.file.p, frame.file.n);
        out->has_line = true;
        out->line = frame.line;
    }
    return out->function && (!out->has_line || out->file);
}

static bool put_segment(const struct stk_tl_trace *x, const struct looking *l,
                        const struct segment *s, struct stk_arena *arena,
                        struct stk_view_ribbon_segment *out)
{
    const struct stk_ribbon_piece *p = &l->r->ribbon.pieces[s->piece];
    uint32_t event = p->event != STK_NONE ? p->event : STK_NONE;
    bool is_shown = event != STK_NONE && x->x->tracks[stk_track_of(x->t, event)].taken;
    *out = (struct stk_view_ribbon_segment){
        .part = stk_part_info((enum stk_part)s->part)->key,
        .start_ns = s->start_ns + x->x->shift_ns,
        .dur_ns = s->end_ns - s->start_ns,
        .has_event = is_shown,
        .event = is_shown ? stk_query_id(x->index, event) : 0,
        .name = name_of(x, p->event),
        .around = p->around == p->event ? NULL : name_of(x, p->around)};
    return place_owner(x, p->owner, arena, out);
}

STK_ORDER(by_start, struct segment, STK_UP(start_ns))

static bool put_segments(const struct stk_tl_trace *x, struct looking *l, struct stk_arena *arena,
                         struct stk_view_ribbon *doc)
{
    size_t n = 0;
    struct segment *all = stk_arena_array(arena, (size_t)STK_PART_COUNT * SEGMENTS, sizeof *all);
    struct stk_view_ribbon_segment *rows =
        stk_list_room(arena, &doc->segments, (size_t)STK_PART_COUNT * SEGMENTS, sizeof *rows);
    if (!all || !rows) {
        return false;
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        memcpy(&all[n], l->longest[p], l->kept[p] * sizeof *all);
        n += l->kept[p];
    }
    stk_sort(all, n, sizeof *all, by_start);
    for (size_t i = 0; i < n; i++) {
        if (!put_segment(x, l, &all[i], arena, &rows[doc->segments.count++])) {
            return false;
        }
    }
    doc->segments_left_out = l->seen - n;
    return true;
}

static bool put_cells(const struct looking *l, struct stk_arena *arena, struct stk_view_ribbon *doc)
{
    size_t count = 0;
    for (size_t b = 0; b < l->buckets; b++) {
        for (int p = 0; p < STK_PART_COUNT; p++) {
            count += l->cells[b][p][0] + l->cells[b][p][1] > 0;
        }
    }
    struct stk_view_ribbon_cell *rows = stk_list_room(arena, &doc->cells, count, sizeof *rows);
    for (size_t b = 0; rows && b < l->buckets; b++) {
        for (int p = 0; p < STK_PART_COUNT; p++) {
            const int64_t *ns = l->cells[b][p];
            if (ns[0] + ns[1] > 0) {
                rows[doc->cells.count++] = (struct stk_view_ribbon_cell){
                    .bucket = b, .part = (uint64_t)p, .used_ns = ns[0], .other_ns = ns[1]};
            }
        }
    }
    return rows != NULL;
}

static bool put_heads(const struct stk_timeline *t, struct stk_arena *arena,
                      struct stk_view_ribbon *doc)
{
    const char **parts = stk_list_room(arena, &doc->parts, STK_PART_COUNT, sizeof *parts);
    struct stk_view_ribbon_device *devices =
        stk_list_room(arena, &doc->devices, t->ribbon_count, sizeof *devices);
    for (int p = 0; parts && p < STK_PART_COUNT; p++) {
        parts[doc->parts.count++] = stk_part_info((enum stk_part)p)->key;
    }
    for (uint32_t i = 0; devices && i < t->ribbon_count; i++) {
        devices[doc->devices.count++] =
            (struct stk_view_ribbon_device){.id = t->ribbons[i].id, .name = t->ribbons[i].name};
    }
    return parts && devices;
}

static enum stoker_status write_ribbon(const struct stk_timeline *t, struct looking *l,
                                       struct stk_sink *to, struct stoker_err *err)
{
    STK_ASSERT(l->r->trace < t->trace_count);
    const struct stk_tl_trace *x = &t->traces[l->r->trace];
    struct stk_arena arena;
    struct stk_view_ribbon doc = {.device = l->r->id,
                                  .from_ns = l->from_ns + x->x->shift_ns,
                                  .to_ns = l->to_ns + x->x->shift_ns,
                                  .bucket_ns = l->bucket_ns};
    stk_arena_init(&arena, 0);
    bool ok = put_heads(t, &arena, &doc) && put_cells(l, &arena, &doc) &&
              put_segments(x, l, &arena, &doc);
    if (ok) {
        stk_json_document(&stk_view_ribbon_info, &doc, false, to);
    }
    stk_arena_deinit(&arena);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

static const struct stk_tl_ribbon *find_ribbon(const struct stk_timeline *t, const char *device)
{
    for (uint32_t i = 0; i < t->ribbon_count; i++) {
        if (!device || strcmp(t->ribbons[i].id, device) == 0) {
            return &t->ribbons[i];
        }
    }
    return NULL;
}

enum stoker_status stk_tl_ribbon_json(const struct stk_timeline *t,
                                      const struct stk_tl_ribbon_asked *asked, struct stk_sink *to,
                                      struct stoker_err *err)
{
    const struct stk_tl_ribbon *r = find_ribbon(t, asked->device);
    int64_t span;
    if (t->ribbon_count == 0) { // no ribbon of a device or of steps
        const struct stk_view_ribbon none = {
            .device = "", .from_ns = asked->from_ns, .to_ns = asked->to_ns, .bucket_ns = 1};
        stk_json_document(&stk_view_ribbon_info, &none, false, to);
        return STOKER_OK;
    }
    if (!r) {
        return stk_err_set(err, STOKER_EUSAGE, "no ribbon of a device \"%.80s\"", asked->device);
    }
    if (asked->buckets < 1 || asked->buckets > BUCKETS_MOST || asked->from_ns >= asked->to_ns ||
        __builtin_sub_overflow(asked->to_ns, asked->from_ns, &span) || span > INT64_MAX / 2) {
        return stk_err_set(err, STOKER_EUSAGE, "a ribbon needs a range of time and 1 to %d buckets",
                           BUCKETS_MOST);
    }
    struct looking *l = stk_alloc_zero(1, sizeof *l);
    if (l) {
        int64_t shift = t->traces[r->trace].x->shift_ns, n = (int64_t)asked->buckets;
        *l = (struct looking){.r = r,
                              .from_ns = asked->from_ns - shift,
                              .to_ns = asked->to_ns - shift,
                              .bucket_ns = span / n + (span % n != 0),
                              .buckets = asked->buckets,
                              .open = {.part = STK_RIBBON_NOTHING}};
        l->cells = stk_alloc_zero(l->buckets, sizeof *l->cells);
    }
    enum stoker_status status = l && l->cells ? STOKER_OK : stk_err_nomem(err);
    if (status == STOKER_OK) {
        look(l);
        status = write_ribbon(t, l, to, err);
    }
    stk_free(l ? l->cells : NULL);
    stk_free(l);
    return status;
}
