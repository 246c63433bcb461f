// SPDX-License-Identifier: Apache-2.0
// Makes a ribbon agree with the merged run: see ribbon.h.
//
// Merging moves waiting for a late rank out of communication, and waits in a stoker.data record out
// of unexplained idle time. The rows of the steps have the sums. Here, as much of the pieces in
// each step becomes waiting. In a collective, that is its beginning, when it waits for the last
// rank. In unexplained time, it is the first part, because the sums don't have the moments.
// Method: pieces are cut at the ends of the rows, so that each is in one row or in none; then
// each kind of move is one pass over pieces and rows.
#include "profile/model/ribbon.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

struct window {
    int64_t start_ns, end_ns;
    bool used;
    const int64_t *parts; // of the merged run
};

struct settling {
    const struct stk_ribbon *r;
    struct window *windows;
    int64_t *lacks; // per window: what is missing from the ribbon
    size_t window_count;
    struct stk_vec out; // struct stk_ribbon_piece
    bool failed;
};

static void put(struct settling *s, const struct stk_ribbon_piece *like, int64_t start_ns,
                int64_t end_ns, uint8_t part)
{
    struct stk_ribbon_piece *to = start_ns < end_ns ? stk_vec_push_raw(&s->out) : NULL;
    s->failed |= !to && start_ns < end_ns;
    if (to) {
        *to = *like;
        to->start_ns = start_ns;
        to->part = part;
    }
}

// The collected pieces replace the ribbon's.
static bool adopt(struct settling *s, struct stk_ribbon *r, struct stk_arena *arena)
{
    struct stk_ribbon_piece *v = stk_arena_array(arena, s->out.count + 1, sizeof *v);
    if (v && !s->failed && s->out.count) {
        memcpy(v, s->out.items, s->out.count * sizeof *v);
        r->pieces = v;
        r->count = s->out.count;
    }
    s->out.count = 0;
    return v && !s->failed;
}

static bool make_windows(struct settling *s, const struct stk_ribbon_rows *rows)
{
    s->windows = stk_alloc_array(rows->count + 1, sizeof *s->windows);
    s->lacks = stk_alloc_array(rows->count + 1, sizeof *s->lacks);
    if (!s->windows || !s->lacks) {
        return false;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct stk_step *step = &rows->steps[i];
        int64_t start = step->start_ns - rows->shift_ns;
        s->windows[s->window_count++] =
            (struct window){start, start + step->dur_ns, !step->excluded, step->parts};
    }
    if (rows->count == 0 && rows->device) {
        s->windows[s->window_count++] =
            (struct window){INT64_MIN, INT64_MAX, true, rows->device->parts};
    }
    return true;
}

static void cut(struct settling *s)
{
    size_t w = 0;
    for (size_t i = 0; i < s->r->count; i++) {
        struct stk_ribbon_piece p = s->r->pieces[i];
        for (int64_t at = p.start_ns, end = stk_ribbon_end(s->r, i), to; at < end; at = to) {
            while (w < s->window_count && s->windows[w].end_ns <= at) {
                w++;
            }
            bool is_in = w < s->window_count && s->windows[w].start_ns <= at;
            to = w == s->window_count ? end : is_in ? s->windows[w].end_ns : s->windows[w].start_ns;
            to = to < end ? to : end;
            p.used = is_in && s->windows[w].used;
            put(s, &p, at, to, p.part);
        }
    }
}

// How much more of a part each row has than the ribbon. True: some row has more.
static bool find_lacks(struct settling *s, enum stk_part part)
{
    bool any = false;
    for (size_t w = 0, i = 0; w < s->window_count; w++) {
        const struct window *window = &s->windows[w];
        s->lacks[w] = window->parts[part];
        for (; i < s->r->count && s->r->pieces[i].start_ns < window->end_ns; i++) {
            const struct stk_ribbon_piece *p = &s->r->pieces[i];
            bool counts = p->part == part && p->start_ns >= window->start_ns;
            s->lacks[w] -= counts ? stk_ribbon_end(s->r, i) - p->start_ns : 0;
        }
        any |= s->lacks[w] > 0;
    }
    return any;
}

// Cuts a piece: `to` gets its time in the set, up to what the window lacks.
static void move_piece(struct settling *s, size_t piece, enum stk_part to,
                       const struct stk_spans *set, int64_t *lack)
{
    const struct stk_ribbon_piece *p = &s->r->pieces[piece];
    int64_t at = p->start_ns, end = stk_ribbon_end(s->r, piece);
    for (size_t i = stk_spans_find(set, at); i < set->count && *lack > 0 && at < end; i++) {
        int64_t from = set->v[i].start_ns > at ? set->v[i].start_ns : at;
        int64_t until = set->v[i].end_ns < end ? set->v[i].end_ns : end;
        if (from >= until) {
            break;
        }
        until = until - from > *lack ? from + *lack : until;
        put(s, p, at, from, p->part);
        put(s, p, from, until, (uint8_t)to);
        *lack -= until - from;
        at = until;
    }
    STK_ASSERT(at <= end && *lack >= 0);
    put(s, p, at, end, p->part);
}

// In each window, time of `from` that is in the set becomes `to`, up to what the window lacks of
// it.
static bool move(struct settling *s, enum stk_part from, enum stk_part to,
                 const struct stk_spans *set, struct stk_ribbon *r, struct stk_arena *arena)
{
    size_t w = 0;
    if (!find_lacks(s, to)) {
        return true;
    }
    for (size_t i = 0; i < r->count; i++) {
        const struct stk_ribbon_piece *p = &r->pieces[i];
        while (w < s->window_count && s->windows[w].end_ns <= p->start_ns) {
            w++;
        }
        bool is_in = w < s->window_count && s->windows[w].start_ns <= p->start_ns;
        if (is_in && p->part == from && s->lacks[w] > 0) {
            move_piece(s, i, to, set, &s->lacks[w]);
        } else {
            put(s, p, p->start_ns, stk_ribbon_end(r, i), p->part);
        }
    }
    return adopt(s, r, arena);
}

// When the device's collectives wait for another rank: at their beginning.
static bool find_waits(const struct stk_ribbon *r, const struct stk_ribbon_rows *rows,
                       struct stk_spans *waits)
{
    for (size_t i = 0; i < rows->rank->collective_count; i++) {
        const struct stk_collective *c = &rows->rank->collectives[i];
        int64_t wait_ns = stk_collective_wait_ns(rows->rank, c);
        if (stk_collective_class_of(rows->rank, c)->device != r->device || wait_ns <= 0) {
            continue;
        }
        if (!stk_spans_reserve(waits, waits->count + 1)) {
            return false;
        }
        int64_t start = c->start_ns - rows->base_ns;
        waits->v[waits->count++] = (struct stk_span){start, start + wait_ns};
    }
    stk_spans_normalize(waits);
    return true;
}

bool stk_ribbon_settle(struct stk_ribbon *r, const struct stk_ribbon_rows *rows,
                       struct stk_arena *arena)
{
    struct settling s = {.r = r};
    struct stk_spans waits, any;
    stk_spans_init(&waits);
    stk_spans_init(&any);
    stk_vec_init(&s.out, sizeof(struct stk_ribbon_piece), UINT32_MAX);
    bool ok = make_windows(&s, rows) && find_waits(r, rows, &waits) &&
              stk_spans_add(&any, INT64_MIN, INT64_MAX);
    if (ok) {
        cut(&s);
        ok = adopt(&s, r, arena) &&
             move(&s, STK_PART_COMMUNICATION, STK_PART_COLLECTIVE_WAIT, &waits, r, arena) &&
             move(&s, STK_PART_COMMUNICATION, STK_PART_COLLECTIVE_WAIT, &any, r, arena) &&
             move(&s, STK_PART_UNKNOWN, STK_PART_INPUT, &any, r, arena);
    }
    stk_vec_deinit(&s.out);
    stk_spans_deinit(&waits);
    stk_spans_deinit(&any);
    stk_free(s.windows);
    stk_free(s.lacks);
    return ok;
}
