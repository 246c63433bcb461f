// SPDX-License-Identifier: Apache-2.0
// The user's function of each piece of a ribbon: one that the summary names as an owner of the
// piece's part (owners.c chose these), and whose calls contain most of the piece. For a wait for
// input, any thread counts, since workers make what it waits for. For other parts, only the piece's
// own thread counts.
//
// Method: calls of these functions and the pieces are walked together in time order, with a list of
// the open calls. Limits: at most OPEN calls at once, which is more than threads run.
#include "profile/model/ribbon.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "profile/model/idle/owners.h"

#define OPEN 64

struct call {
    int64_t start_ns, end_ns;
    uint32_t event, thread;
    uint16_t parts; // bits: the parts that it is named as an owner of
};
_Static_assert(STK_PART_COUNT <= 16, "parts are bits of a call");

STK_ORDER(by_start, struct call, STK_UP(start_ns) STK_UP(event))

// The parts that each name is an owner of: bits by string id. NULL: no memory.
static uint16_t *name_parts(const struct stk_analysis *a, bool *any)
{
    const struct stk_strpool *pool = &a->t->strings;
    uint16_t *parts = stk_alloc_zero((size_t)pool->count + 1, sizeof *parts);
    for (int p = 0; parts && p < STK_PART_COUNT; p++) {
        const struct stk_cause *c = &a->sum->causes[p];
        for (int i = 0; i < c->owner_count; i++) {
            for (uint32_t id = 0; id < pool->count; id++) {
                if (stk_str_eq(stk_strpool_get(pool, id), stk_str_from(c->owners[i].name))) {
                    parts[id] |= (uint16_t)(1u << p);
                    *any = true;
                }
            }
        }
    }
    return parts;
}

static bool find_calls(const struct stk_analysis *a, const uint16_t *parts, struct stk_vec *calls)
{
    const struct stk_trace *t = a->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        uint32_t first = t->tracks[k].first, end = first + t->tracks[k].count;
        if (!a->threads[k].in_rank) {
            continue;
        }
        for (uint32_t e = first; e < end; e++) {
            if (!parts[t->name[e]]) {
                continue;
            }
            struct call *call = stk_vec_push_raw(calls);
            if (!call) {
                return false;
            }
            *call = (struct call){t->start_ns[e], stk_end_ns(t, e), e, a->threads[k].root,
                                  parts[t->name[e]]};
        }
    }
    stk_sort(calls->items, calls->count, sizeof(struct call), by_start);
    return true;
}

struct open_calls {
    const struct call *v[OPEN];
    size_t count;
};

static void advance(struct open_calls *open, const struct stk_vec *calls, size_t *next,
                    int64_t start_ns, int64_t end_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < open->count; i++) {
        if (open->v[i]->end_ns > start_ns) {
            open->v[kept++] = open->v[i];
        }
    }
    open->count = kept;
    for (; *next < calls->count; (*next)++) {
        const struct call *c = stk_vec_at(calls, *next);
        if (c->start_ns >= end_ns) {
            break;
        }
        if (c->end_ns > start_ns && open->count < OPEN) {
            open->v[open->count++] = c;
        }
    }
}

// The call that covers most of the piece; of equal ones, the innermost.
static uint32_t owner_of(const struct stk_analysis *a, const struct open_calls *open,
                         const struct stk_ribbon_piece *p, int64_t end_ns)
{
    uint32_t seen = p->event != STK_NONE ? p->event : p->around;
    uint32_t thread = seen == STK_NONE ? STK_NONE : stk_thread_of(a, seen), best = STK_NONE;
    int64_t most_ns = 0;
    for (size_t i = 0; i < open->count; i++) {
        const struct call *c = open->v[i];
        int64_t from = c->start_ns > p->start_ns ? c->start_ns : p->start_ns;
        int64_t to = c->end_ns < end_ns ? c->end_ns : end_ns;
        bool fits = (c->parts >> p->part & 1) && (p->part == STK_PART_INPUT || c->thread == thread);
        if (fits && to > from && to - from >= most_ns) {
            most_ns = to - from;
            best = c->event;
        }
    }
    return best;
}

bool stk_owner_pieces_name(const struct stk_analysis *a, struct stk_ribbon *r)
{
    bool any = false;
    struct stk_vec calls;
    struct open_calls open = {.count = 0};
    uint16_t *parts = name_parts(a, &any);
    stk_vec_init(&calls, sizeof(struct call), UINT32_MAX);
    bool ok = parts && (!any || find_calls(a, parts, &calls));
    size_t next = 0;
    for (size_t i = 0; ok && calls.count && i < r->count; i++) {
        struct stk_ribbon_piece *p = &r->pieces[i];
        int64_t end = stk_ribbon_end(r, i);
        advance(&open, &calls, &next, p->start_ns, end);
        if (p->part < STK_RIBBON_NOTHING && stk_part_has_owner((enum stk_part)p->part)) {
            p->owner = owner_of(a, &open, p, end);
        }
    }
    stk_free(parts);
    stk_vec_deinit(&calls);
    return ok;
}
