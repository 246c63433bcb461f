// SPDX-License-Identifier: Apache-2.0
// The optimizer's loops over tensors: when each runs, how many operators it has, and how much of
// their time is work.
//
// Method: PyTorch's record of an optimizer step spans the loop, except for a closure that computes
// the gradients: then the loop begins after its backward pass. An operator that isn't inside
// another is a call. The fastest tenth of all calls gives the cost of a call. The fastest tenth of
// a name gives that name's own cost, up to LADEN calls, since it may convert numbers. The rest is
// work on tensors. Names that are about as frequent as the most frequent one occur once per tensor.
// Limit: an operator that is interrupted counts as work.
#include "base/alloc.h"
#include "base/sort.h"
#include "profile/model/median.h"
#include "profile/model/steps/optimizer_name.h"
#include "answers/replay/graph.h"

#define QUICK 10 // one in so many calls is assumed to be only the call itself
#define LADEN 4  // an operator without work costs at most this many calls
#define OFTEN 4  // a name may occur this many times less than the most frequent one

struct call {
    uint32_t name;
    int64_t ns;
};

STK_ORDER(compare_calls, struct call, STK_UP(name) STK_UP(ns))

static size_t end_of_name(const struct call *c, size_t at, size_t count)
{
    size_t end = at;
    while (end < count && c[end].name == c[at].name) {
        end++;
    }
    return end;
}

// The number of parameters, from calls sorted by name.
static uint32_t tensors_of(const struct call *c, size_t count)
{
    size_t most = 0, alike = 0;
    for (size_t at = 0, end; at < count; at = end) {
        end = end_of_name(c, at, count);
        most = end - at > most ? end - at : most;
    }
    for (size_t at = 0, end; at < count; at = end) {
        end = end_of_name(c, at, count);
        alike += (end - at) * OFTEN >= most;
    }
    return alike ? (uint32_t)(count / alike) : 0;
}

static int64_t work_of(const struct call *c, size_t count, int64_t call_ns)
{
    int64_t work_ns = 0;
    for (size_t at = 0, end; at < count; at = end) {
        end = end_of_name(c, at, count);
        int64_t own_ns = c[at + (end - at) / QUICK].ns;
        own_ns = own_ns < LADEN * call_ns ? own_ns : LADEN * call_ns;
        for (size_t i = at; i < end; i++) {
            work_ns = stk_add_ns(work_ns, c[i].ns > own_ns ? c[i].ns - own_ns : 0);
        }
    }
    return work_ns;
}

static uint32_t first_from(const struct stk_trace *t, const struct stk_track *row, int64_t at_ns)
{
    uint32_t low = row->first, high = row->first + row->count;
    STK_BISECT(low, high, mid, t->start_ns[mid] < at_ns);
    return low;
}

// The calls of the thread within the update. False: no memory.
static bool look_in(const struct stk_graph_build *b, const struct stk_track *row,
                    struct stk_graph_update *u, struct stk_vec *calls)
{
    const struct stk_trace *t = b->a->t;
    uint32_t end = row->first + row->count;
    int64_t free_ns = u->start_ns;
    for (uint32_t e = first_from(t, row, u->start_ns); e < end && t->start_ns[e] < u->end_ns; e++) {
        struct stk_str name = stk_name_of(t, e);
        if (t->start_ns[e] < free_ns || stk_end_ns(t, e) > u->end_ns) {
            continue;
        }
        if (stk_str_starts(name, STK_STR("autograd::"))) { // a closure's
            u->start_ns = free_ns = stk_end_ns(t, e);
            calls->count = 0;
        } else if (stk_str_starts(name, STK_STR("aten::"))) {
            u->is_fused |= stk_str_starts(name, STK_STR("aten::_fused_"));
            u->is_foreach |= stk_str_starts(name, STK_STR("aten::_foreach_"));
            free_ns = stk_end_ns(t, e);
            struct call *c = stk_vec_push(calls);
            if (!c) {
                return false;
            }
            *c = (struct call){t->name[e], stk_dur_ns(t, e)};
        }
    }
    u->ops = (uint32_t)calls->count;
    return true;
}

// False: no memory.
static bool weigh(struct stk_graph_build *b, struct stk_graph_update *u, struct stk_vec *calls)
{
    struct call *c = calls->items;
    int64_t *ns = stk_alloc_array(calls->count + 1, sizeof *ns);
    for (size_t i = 0; ns && i < calls->count; i++) {
        ns[i] = c[i].ns;
    }
    if (ns && calls->count) {
        u->call_ns = stk_nth_value(ns, calls->count, calls->count / QUICK);
        stk_sort(c, calls->count, sizeof *c, compare_calls);
        u->tensors = tensors_of(c, calls->count);
        u->work_ns = work_of(c, calls->count, u->call_ns);
    }
    stk_free(ns);
    struct stk_graph_update *to = ns ? stk_vec_push(&b->updates) : NULL;
    if (to) {
        *to = *u;
    }
    return to != NULL;
}

static bool add_update(struct stk_graph_build *b, uint32_t event, const struct stk_track *row,
                       struct stk_vec *calls)
{
    const struct stk_trace *t = b->a->t;
    const struct stk_optimizer_kind *kind =
        stk_optimizer_kind_of(stk_optimizer_named(stk_name_of(t, event)));
    struct stk_graph_update u = {.start_ns = t->start_ns[event],
                                 .end_ns = stk_end_ns(t, event),
                                 .is_torchs = kind != NULL,
                                 .has_fused = kind && kind->has_fused};
    calls->count = 0;
    return u.start_ns < b->from_ns || u.end_ns > b->to_ns ||
           (look_in(b, row, &u, calls) && weigh(b, &u, calls));
}

bool stk_graph_updates(struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    const struct stk_trace *t = a->t;
    const struct stk_lane *driver = stk_vec_at(&b->lanes, b->g->driver);
    struct stk_vec calls;
    bool ok = true, any = a->sum->facts.signs[STK_SIGN_UPDATE].count > 0;
    stk_vec_init(&calls, sizeof(struct call), UINT32_MAX - 1);
    for (uint32_t k = 0; ok && any && k < t->track_count; k++) {
        const struct stk_track *row = &t->tracks[k];
        bool is_drivers = a->threads[k].in_rank && a->threads[k].root == driver->track;
        for (uint32_t e = row->first; ok && is_drivers && e < row->first + row->count; e++) {
            ok = !(stk_class_of(a, e) & STK_NAME_OPTIMIZER) ||
                 add_update(b, e, &t->tracks[driver->track], &calls);
        }
    }
    stk_vec_deinit(&calls);
    return ok;
}
