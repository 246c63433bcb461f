// SPDX-License-Identifier: Apache-2.0
// Statistics of an area: the part of each event inside it, summed by name and kind over all ranks.
// Pieces are collected row by row and sorted by group and time, 24 bytes each, so that medians are
// exact and time that several events cover counts once in the union.
#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/sort.h"
#include "profile/timeline/timeline.h"

struct piece {
    int64_t start_ns, end_ns;
    uint32_t group;
};

struct area {
    const struct stk_timeline *t;
    int64_t t0_ns, t1_ns;
    struct stk_strpool names; // of all traces
    struct stk_map by_name;   // (id in names, kind) -> group
    struct stk_map known;     // (trace and name, kind) -> group
    struct stk_vec pieces;
};

STK_ORDER(compare_pieces, struct piece, STK_UP(group) STK_UP(start_ns) STK_UP(end_ns))

static int compare_times(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

// False: no memory.
static bool group_of_event(struct area *a, const struct stk_tl_trace *x, uint32_t e, uint32_t *out)
{
    STK_ASSERT(e < x->t->count);
    int created;
    uint32_t *known = stk_map_put(&a->known, (uint64_t)x->index << 32 | x->t->name[e],
                                  x->t->kind[e], 0, &created);
    if (known && created) {
        struct stk_str text = stk_name_of(x->t, e);
        uint32_t name = stk_strpool_intern(&a->names, text.p, text.n);
        int is_new;
        uint32_t *group = name == STK_STRPOOL_FAILED
                              ? NULL
                              : stk_map_put(&a->by_name, name, x->t->kind[e],
                                            (uint32_t)a->by_name.count, &is_new);
        if (!group) {
            return false;
        }
        *known = *group;
    }
    *out = known ? *known : 0;
    return known != NULL;
}

static bool take_piece(struct area *a, const struct stk_tl_trace *x, uint32_t e)
{
    int64_t start = stk_tl_start(x, e), end = stk_tl_end(x, e);
    struct piece *piece = stk_vec_push_raw(&a->pieces);
    if (!piece) {
        return false;
    }
    piece->start_ns = start > a->t0_ns ? start : a->t0_ns;
    piece->end_ns = end < a->t1_ns ? end : a->t1_ns;
    return group_of_event(a, x, e, &piece->group);
}

static bool take_track(struct area *a, const struct stk_tl_trace *x, uint32_t root)
{
    STK_ASSERT(root < x->t->track_count);
    const struct stk_tl_track *track = &x->tracks[root];
    for (uint32_t r = 0; r < track->row_count; r++) {
        const struct stk_tl_row *row = &x->rows[track->first_row + r];
        uint32_t at = stk_tl_lower(x, row, row->first, a->t0_ns);
        // At most one earlier event overlaps; in shared rows, more.
        bool is_shared = r == STK_TL_ROWS - 1;
        for (uint32_t b = at; b > row->first && (is_shared || at - b < 1); b--) {
            uint32_t event = stk_tl_event(x, row, b - 1);
            if (stk_tl_end(x, event) > a->t0_ns && !take_piece(a, x, event)) {
                return false;
            }
        }
        for (; at < row->end; at++) {
            uint32_t event = stk_tl_event(x, row, at);
            if (stk_tl_start(x, event) >= a->t1_ns) {
                break;
            }
            if (!take_piece(a, x, event)) {
                return false;
            }
        }
    }
    return true;
}

static enum stoker_status take_tracks(struct area *a, const int64_t *tracks, size_t count,
                                      struct stoker_err *err)
{
    const struct stk_timeline *t = a->t;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        const struct stk_tl_trace *x;
        uint32_t root;
        enum stoker_status status = stk_tl_track(t, tracks[i], &x, &root, err);
        if (status != STOKER_OK) {
            return status;
        }
        ok = take_track(a, x, root);
    }
    for (uint32_t i = 0; count == 0 && i < t->trace_count; i++) {
        for (uint32_t k = 0; k < t->traces[i].t->track_count && ok; k++) {
            ok = take_track(a, &t->traces[i], k);
        }
    }
    return ok ? STOKER_OK : stk_err_nomem(err);
}

// The figures of one group, whose pieces are by start; `durs` has room for them.
static void sum_up(const struct piece *p, size_t n, int64_t *durs, struct stk_tl_area_row *out)
{
    STK_ASSERT(n > 0);
    int64_t covered = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        durs[i] = p[i].end_ns - p[i].start_ns;
        if (__builtin_add_overflow(out->total_ns, durs[i], &out->total_ns)) {
            out->total_ns = INT64_MAX;
        }
        int64_t from = p[i].start_ns > covered ? p[i].start_ns : covered;
        if (p[i].end_ns > from) {
            out->union_ns += p[i].end_ns - from;
            covered = p[i].end_ns;
        }
    }
    stk_sort(durs, n, sizeof *durs, compare_times);
    out->count = (int64_t)n;
    out->mean_ns = out->total_ns / (int64_t)n;
    out->median_ns = durs[(n - 1) / 2];
    out->p95_ns = durs[(n - 1) - (n - 1) / 20];
    out->min_ns = durs[0];
    out->max_ns = durs[n - 1];
}

static int compare_rows(const void *pa, const void *pb)
{
    const struct stk_tl_area_row *a = pa, *b = pb;
    if (a->total_ns != b->total_ns) {
        return a->total_ns > b->total_ns ? -1 : 1;
    }
    int names = strcmp(a->name, b->name);
    return names ? names : strcmp(a->kind, b->kind);
}

static enum stoker_status make_table(struct area *a, struct stk_arena *arena,
                                     struct stk_tl_area_row **rows, size_t *count,
                                     struct stoker_err *err)
{
    struct piece *pieces = a->pieces.items;
    size_t n = a->pieces.count;
    struct stk_map_entry *groups = stk_map_sorted(&a->by_name);
    int64_t *durs = stk_alloc_array(n + 1, sizeof *durs);
    *count = a->by_name.count;
    *rows = stk_arena_array(arena, *count + 1, sizeof **rows);
    bool ok = groups && durs && *rows;
    for (size_t i = 0; ok && i < *count; i++) {
        struct stk_tl_area_row *row = &(*rows)[groups[i].value];
        struct stk_str name = stk_strpool_get(&a->names, (uint32_t)groups[i].a);
        row->name = stk_arena_strndup(arena, name.p, name.n);
        row->kind = stk_kind_key((enum stk_kind)groups[i].b);
        ok = row->name != NULL;
    }
    if (ok) {
        stk_sort(pieces, n, sizeof *pieces, compare_pieces);
    }
    for (size_t at = 0, next; ok && at < n; at = next) {
        for (next = at + 1; next < n && pieces[next].group == pieces[at].group;) {
            next++;
        }
        sum_up(&pieces[at], next - at, durs, &(*rows)[pieces[at].group]);
    }
    if (ok) {
        stk_sort(*rows, *count, sizeof **rows, compare_rows);
    }
    stk_free(groups);
    stk_free(durs);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

enum stoker_status stk_tl_area(const struct stk_timeline *t, int64_t t0_ns, int64_t t1_ns,
                               const int64_t *tracks, size_t count, struct stk_arena *arena,
                               struct stk_tl_area_row **rows, size_t *row_count,
                               struct stoker_err *err)
{
    struct area a = {.t = t, .t0_ns = t0_ns, .t1_ns = t1_ns};
    if (t1_ns <= t0_ns) {
        return stk_err_set(err, STOKER_EUSAGE, "the area ends at %lld ns, before it begins",
                           (long long)t1_ns);
    }
    if (stk_strpool_init(&a.names, 0) != 0) {
        return stk_err_nomem(err);
    }
    stk_map_init(&a.by_name, UINT32_MAX / 2);
    stk_map_init(&a.known, UINT32_MAX / 2);
    stk_vec_init(&a.pieces, sizeof(struct piece), UINT32_MAX);
    enum stoker_status status = take_tracks(&a, tracks, count, err);
    if (status == STOKER_OK) {
        status = make_table(&a, arena, rows, row_count, err);
    }
    stk_vec_deinit(&a.pieces);
    stk_map_deinit(&a.known);
    stk_map_deinit(&a.by_name);
    stk_strpool_deinit(&a.names);
    return status;
}
