// SPDX-License-Identifier: Apache-2.0
// Pieces of a ribbon: see ribbon.h.
//
// Method: busy time is in disjoint sets by part, and gaps are cut into pieces where their cause
// changes. Both are sorted, so one merge of these few lists gives all pieces in order. Equal
// neighbors become one piece. Time that no list covers becomes a piece of no part.
#include "profile/model/ribbon.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

struct making {
    const struct stk_analysis *a;
    struct stk_vec pieces; // struct stk_ribbon_piece
    int64_t end_ns;        // of the last one
    bool failed;
};

static void put(struct making *m, int64_t start_ns, int64_t end_ns, uint8_t part, uint32_t event,
                uint32_t around)
{
    size_t n = m->pieces.count;
    if (n && start_ns < m->end_ns) {
        start_ns = m->end_ns; // the earlier piece keeps its time
    }
    if (start_ns >= end_ns || m->failed) {
        return;
    }
    if (n && start_ns > m->end_ns) {
        put(m, m->end_ns, start_ns, STK_RIBBON_NOTHING, STK_NONE, STK_NONE);
        n = m->pieces.count;
    }
    const struct stk_ribbon_piece *last = n ? stk_vec_at(&m->pieces, n - 1) : NULL;
    bool goes_on = last && last->part == part && last->event == event && last->around == around;
    m->end_ns = end_ns;
    if (goes_on) {
        return;
    }
    struct stk_ribbon_piece *piece = stk_vec_push_raw(&m->pieces);
    m->failed |= !piece;
    if (piece) {
        *piece = (struct stk_ribbon_piece){start_ns, event, around, STK_NONE, part, false};
    }
}

// The running operations of a device, by part, as time advances.
struct running {
    const struct stk_device_line *line;
    uint32_t at;
    const struct stk_device_op *of[STK_BUSY_PARTS]; // the one of each part that ends last
};

static uint32_t event_at(struct running *r, int part, int64_t t_ns)
{
    while (r->at < r->line->op_count && r->line->ops[r->at].start_ns <= t_ns) {
        const struct stk_device_op *op = &r->line->ops[r->at++];
        const struct stk_device_op **of = &r->of[op->part];
        if (!*of || (*of)->end_ns < op->end_ns) {
            *of = op;
        }
    }
    const struct stk_device_op *op = r->of[part];
    return op && op->end_ns > t_ns ? op->event : STK_NONE;
}

// The device's gaps, which are adjacent in the list of all.
static const struct stk_gap_piece *gaps_of(const struct stk_analysis *a, uint32_t line,
                                           size_t *count)
{
    const struct stk_gap_piece *v = a->gaps.items;
    size_t first = 0, end;
    while (first < a->gaps.count && v[first].line != line) {
        first++;
    }
    for (end = first; end < a->gaps.count && v[end].line == line;) {
        end++;
    }
    *count = end - first;
    return v ? v + first : NULL;
}

static void merge_device(struct making *m, uint32_t index)
{
    const struct stk_device_line *line = &m->a->lines[index];
    struct running running = {.line = line};
    size_t gap_count, gap = 0, at[STK_BUSY_PARTS] = {0};
    const struct stk_gap_piece *gaps = gaps_of(m->a, index, &gap_count);
    while (!m->failed) {
        int first = -1;
        int64_t start = gap < gap_count ? gaps[gap].start_ns : INT64_MAX;
        for (int p = 0; p < STK_BUSY_PARTS; p++) {
            const struct stk_spans *set = &line->exposed[p];
            if (at[p] < set->count && set->v[at[p]].start_ns < start) {
                start = set->v[at[p]].start_ns;
                first = p;
            }
        }
        if (first >= 0) {
            const struct stk_span *s = &line->exposed[first].v[at[first]++];
            put(m, s->start_ns, s->end_ns, (uint8_t)first, event_at(&running, first, s->start_ns),
                STK_NONE);
        } else if (gap < gap_count) {
            const struct stk_gap_piece *g = &gaps[gap++];
            put(m, g->start_ns, g->end_ns, g->part, g->event, g->around);
        } else {
            return;
        }
    }
}

static void merge_host(struct making *m)
{
    const struct stk_gap_piece *v = m->a->host_pieces.items;
    for (size_t i = 0; i < m->a->host_pieces.count; i++) {
        put(m, v[i].start_ns, v[i].end_ns, v[i].part, v[i].event, v[i].around);
    }
}

static bool make_one(const struct stk_analysis *a, uint32_t device, struct stk_arena *arena,
                     struct stk_ribbons *out)
{
    struct making m = {.a = a};
    stk_vec_init(&m.pieces, sizeof(struct stk_ribbon_piece), UINT32_MAX);
    if (device == STK_NONE) {
        merge_host(&m);
    } else {
        merge_device(&m, device);
    }
    struct stk_ribbon *r = &out->v[out->count];
    *r = (struct stk_ribbon){.device = device, .count = m.pieces.count, .end_ns = m.end_ns};
    r->pieces = m.failed ? NULL : stk_arena_array(arena, r->count + 1, sizeof *r->pieces);
    if (r->pieces && r->count) {
        memcpy(r->pieces, m.pieces.items, r->count * sizeof *r->pieces);
    }
    stk_vec_deinit(&m.pieces);
    out->count += r->count > 0;
    return r->pieces && stk_owner_pieces_name(a, r);
}

bool stk_ribbons_make(const struct stk_analysis *a, struct stk_arena *arena,
                      struct stk_ribbons *out)
{
    STK_ASSERT(a->keeps_ribbon);
    *out = (struct stk_ribbons){.count = 0};
    out->v = stk_arena_array(arena, (size_t)a->sum->device_count + 1, sizeof *out->v);
    bool ok = out->v != NULL;
    for (uint32_t d = 0; ok && d < a->sum->device_count; d++) {
        ok = !a->sum->devices[d].analysed || make_one(a, d, arena, out);
    }
    return ok && (!a->sum->host_scope || make_one(a, STK_NONE, arena, out));
}
