// SPDX-License-Identifier: Apache-2.0
// Pieces of a device's time: busy time (exposed time of each busy part) merged with the attributed
// gaps. Each source is in time order, so merging is linear. Devices outside of the breakdown have
// no gaps and are left out.
#include "api/export_parts.h"

#include <stdlib.h>

#include "api/path_pieces.h"
#include "base/sort.h"

#define SOURCES (STK_BUSY_PARTS + 1)

struct source {
    const struct stk_span *spans; // NULL: gaps
    const struct stk_gap_piece *gaps;
    size_t at, count;
    uint8_t part;
};

static int64_t start_of(const struct source *s)
{
    return s->spans ? s->spans[s->at].start_ns : s->gaps[s->at].start_ns;
}

static struct stk_export_piece take(struct source *s, uint32_t device)
{
    size_t i = s->at++;
    if (s->spans) {
        return (struct stk_export_piece){s->spans[i].start_ns, s->spans[i].end_ns, device, STK_NONE,
                                         s->part};
    }
    const struct stk_gap_piece *g = &s->gaps[i];
    return (struct stk_export_piece){g->start_ns, g->end_ns, device, g->event, g->part};
}

STK_ORDER(by_start, struct stk_gap_piece, STK_UP(start_ns))

// The gaps of a device; a sorted copy if they aren't in order.
static bool gaps_of(const struct stk_analysis *view, uint32_t device, size_t *first,
                    struct stk_arena *arena, struct source *out)
{
    const struct stk_gap_piece *all = view->gaps.items;
    size_t from = *first, to = from;
    bool ordered = true;
    while (to < view->gaps.count && all[to].line == device) {
        ordered &= to == from || all[to - 1].start_ns <= all[to].start_ns;
        to++;
    }
    *first = to;
    *out = (struct source){.gaps = to > from ? all + from : NULL, .count = to - from};
    if (ordered) {
        return true;
    }
    struct stk_gap_piece *copy = stk_arena_array(arena, out->count, sizeof *copy);
    if (!copy) {
        return false;
    }
    memcpy(copy, all + from, out->count * sizeof *copy);
    stk_sort(copy, out->count, sizeof *copy, by_start);
    out->gaps = copy;
    return true;
}

// Joins adjacent pieces with the same part and cause; nothing overlaps.
static void append(struct stk_export_parts *to, size_t first, struct stk_export_piece piece)
{
    struct stk_export_piece *last = to->count > first ? &to->v[to->count - 1] : NULL;
    if (last && piece.start_ns < last->end_ns) {
        piece.start_ns = last->end_ns;
    }
    if (piece.start_ns >= piece.end_ns) {
        return;
    }
    if (last && last->part == piece.part && last->event == piece.event &&
        last->end_ns == piece.start_ns) {
        last->end_ns = piece.end_ns;
    } else {
        to->v[to->count++] = piece;
    }
}

static void merge_line(struct source *sources, uint32_t device, struct stk_export_parts *to)
{
    size_t first = to->count;
    for (;;) {
        struct source *next = NULL;
        for (int s = 0; s < SOURCES; s++) {
            if (sources[s].at < sources[s].count &&
                (!next || start_of(&sources[s]) < start_of(next))) {
                next = &sources[s];
            }
        }
        if (!next) {
            return;
        }
        append(to, first, take(next, device));
    }
}

static size_t count_pieces(const struct stk_analysis *view)
{
    size_t n = view->gaps.count;
    for (uint32_t d = 0; d < view->sum->device_count; d++) {
        for (int p = 0; p < STK_BUSY_PARTS; p++) {
            n += view->lines[d].exposed[p].count;
        }
    }
    return n;
}

enum stoker_status stk_export_parts_see(const struct stk_analysis *view, struct stk_arena *arena,
                                        void **partial, struct stoker_err *err)
{
    struct stk_export_parts *parts = stk_arena_alloc(arena, sizeof *parts);
    size_t n = count_pieces(view), gap = 0;
    if (!parts) {
        return stk_err_nomem(err);
    }
    parts->v = stk_arena_array(arena, n + 1, sizeof *parts->v);
    if (!parts->v) {
        return stk_err_nomem(err);
    }
    for (uint32_t d = 0; d < view->sum->device_count; d++) {
        struct source sources[SOURCES];
        for (int p = 0; p < STK_BUSY_PARTS; p++) {
            sources[p] = (struct source){.spans = view->lines[d].exposed[p].v,
                                         .count = view->lines[d].exposed[p].count,
                                         .part = (uint8_t)p};
        }
        if (!gaps_of(view, d, &gap, arena, &sources[STK_BUSY_PARTS])) {
            return stk_err_nomem(err);
        }
        if (view->sum->devices[d].analysed) {
            merge_line(sources, d, parts);
        }
    }
    *partial = parts;
    struct stk_replay_path path;
    enum stoker_status status = stk_replay_path(view, arena, &path, err);
    return status == STOKER_OK ? stk_path_pieces_keep(&path, arena, &parts->path, err) : status;
}
