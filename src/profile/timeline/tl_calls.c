// SPDX-License-Identifier: Apache-2.0
// The call tree of an area: what the events of its tracks call, merged by name and kind along each
// path from the outermost event. Threads that run the same code share one tree. A track's events
// are sorted by start, so one pass with the open call of each depth builds it. Calls that began
// before the area are found in the track's rows. Times are clipped to the area. Step markers aren't
// calls: their contents are merged over all steps. Limits: at most NODES_MOST calls are kept
// separate, and the ANSWERED longest of them are returned; the rest stays in its caller's own time.
// Calls more than STK_TL_ROWS deep that began before the area are missing. Events of sub-rows
// overlap those of their thread without nesting: they begin a path.
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/sort.h"
#include "profile/timeline/timeline.h"
#include "results/print/document.h"
#include "results/view.h"

#define NO_CALL (STK_NONE - 1) // no call at this depth is open, or kept separate

enum { NODES_MOST = 1 << 20, ANSWERED = 4000, DEPTHS = 256 };

struct call {
    int64_t total_ns, inner_ns, longest_ns; // inner: of its own calls
    int64_t longest;                        // id of that event
    uint32_t parent, name, count;           // parent: index, STK_NONE
    uint8_t kind;
};

struct tree {
    const struct stk_timeline *t;
    int64_t t0_ns, t1_ns;
    struct stk_strpool names; // of all traces
    struct stk_map by_call;   // (parent and name, kind) -> index
    uint32_t **known;         // of each trace, of each string: its id in names
    struct stk_vec calls;     // a caller comes before its calls
    uint64_t left_out;        // events whose calls are not kept separate
};

// False: no memory.
static bool name_in_pool(struct tree *c, const struct stk_tl_trace *x, uint32_t e, uint32_t *out)
{
    STK_ASSERT(x->index < c->t->trace_count && x->t->name[e] < x->t->strings.count);
    uint32_t **ids = &c->known[x->index];
    if (!*ids && (*ids = stk_alloc_array(x->t->strings.count, sizeof **ids)) != NULL) {
        memset(*ids, 0xff, x->t->strings.count * sizeof **ids); // STK_STRPOOL_FAILED
    }
    if (!*ids) {
        return false;
    }
    *out = (*ids)[x->t->name[e]];
    if (*out == STK_STRPOOL_FAILED) {
        struct stk_str text = stk_name_of(x->t, e);
        *out = (*ids)[x->t->name[e]] = stk_strpool_intern(&c->names, text.p, text.n);
    }
    return *out != STK_STRPOOL_FAILED;
}

// The call of an event below `parent`. *out: NO_CALL if there is no room for another one.
static bool call_of(struct tree *c, const struct stk_tl_trace *x, uint32_t e, uint32_t parent,
                    uint32_t *out)
{
    STK_ASSERT(parent == STK_NONE || parent < c->calls.count);
    uint32_t name;
    int created;
    if (!name_in_pool(c, x, e, &name)) {
        return false;
    }
    uint64_t place = (uint64_t)parent << 32 | name, kind = x->t->kind[e];
    uint32_t *known = stk_map_get(&c->by_call, place, kind);
    *out = known ? *known : NO_CALL;
    if (known || c->calls.count == NODES_MOST) {
        return true;
    }
    struct call *call = stk_vec_push(&c->calls);
    *out = (uint32_t)c->calls.count - 1;
    if (!call || !stk_map_put(&c->by_call, place, kind, *out, &created)) {
        return false;
    }
    call->parent = parent;
    call->name = name;
    call->kind = x->t->kind[e];
    return true;
}

static void add_ns(int64_t *sum, int64_t ns)
{
    if (__builtin_add_overflow(*sum, ns, sum)) {
        *sum = INT64_MAX;
    }
}

// Adds the part of an event that is in the area to its call and to its caller.
static void add_event(struct tree *c, const struct stk_tl_trace *x, uint32_t e, uint32_t at)
{
    STK_ASSERT(at < c->calls.count);
    struct call *call = stk_vec_at(&c->calls, at);
    int64_t start = stk_tl_start(x, e), end = stk_tl_end(x, e);
    start = start > c->t0_ns ? start : c->t0_ns;
    end = end < c->t1_ns ? end : c->t1_ns;
    int64_t ns = end > start ? end - start : 0;
    if (call->count++ == 0 || ns > call->longest_ns) {
        call->longest_ns = ns;
        call->longest = stk_query_id(x->index, e);
    }
    add_ns(&call->total_ns, ns);
    if (call->parent != STK_NONE) {
        struct call *caller = stk_vec_at(&c->calls, call->parent);
        add_ns(&caller->inner_ns, ns);
    }
}

// `open` has the call of each depth above the event, and gets its own.
static bool take_event(struct tree *c, const struct stk_tl_trace *x, uint32_t e,
                       uint32_t open[DEPTHS])
{
    STK_ASSERT(e < x->t->count);
    uint32_t depth = x->t->depth[e], parent = depth ? open[depth - 1] : STK_NONE;
    const struct stk_ext *ext = stk_ext_of(x->t, e);
    open[depth] = parent;
    if (ext && ext->flags & STK_EXT_STEP) {
        return true;
    }
    if (parent != NO_CALL && !call_of(c, x, e, parent, &open[depth])) {
        return false;
    }
    if (open[depth] == NO_CALL) {
        c->left_out++;
    } else {
        add_event(c, x, e, open[depth]);
    }
    return true;
}

// The events of store track k that began before the area and reach into it: one of each depth.
static bool take_begun(struct tree *c, const struct stk_tl_trace *x, uint32_t k,
                       uint32_t open[DEPTHS])
{
    const struct stk_tl_track *root = &x->tracks[x->roots[k]];
    const struct stk_track *track = &x->t->tracks[k];
    bool ok = true;
    for (uint32_t depth = 0; ok && depth < DEPTHS; depth++) {
        uint32_t r = x->row_base[k] + depth;
        open[depth] = NO_CALL;
        if (r >= root->row_count) {
            continue;
        }
        const struct stk_tl_row *row = &x->rows[root->first_row + r];
        uint32_t at = stk_tl_lower(x, row, row->first, c->t0_ns);
        uint32_t e = at > row->first ? stk_tl_event(x, row, at - 1) : STK_NONE;
        bool is_here = e != STK_NONE && e >= track->first && e < track->first + track->count &&
                       x->t->depth[e] == depth;
        if (is_here && stk_tl_end(x, e) > c->t0_ns) {
            ok = take_event(c, x, e, open);
        }
    }
    return ok;
}

static bool take_track(struct tree *c, const struct stk_tl_trace *x, uint32_t k)
{
    STK_ASSERT(k < x->t->track_count);
    const struct stk_track *track = &x->t->tracks[k];
    uint32_t open[DEPTHS], low = track->first, end = track->first + track->count;
    if (track->kind == STK_TRACK_COUNTER || !x->x->tracks[k].taken || !track->count) {
        return true;
    }
    bool ok = take_begun(c, x, k, open);
    uint32_t high = end;
    STK_BISECT(low, high, mid, stk_tl_start(x, mid) < c->t0_ns);
    for (; ok && low < end && stk_tl_start(x, low) < c->t1_ns; low++) {
        ok = take_event(c, x, low, open);
    }
    return ok;
}

// A viewer's track with its sub-rows.
static bool take_root(struct tree *c, const struct stk_tl_trace *x, uint32_t root)
{
    bool ok = true;
    for (uint32_t k = root; ok && k <= x->tracks[root].last_sub; k++) {
        ok = x->roots[k] != root || take_track(c, x, k);
    }
    return ok;
}

static enum stoker_status take_tracks(struct tree *c, const int64_t *tracks, size_t count,
                                      struct stoker_err *err)
{
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        const struct stk_tl_trace *x;
        uint32_t root;
        enum stoker_status status = stk_tl_track(c->t, tracks[i], &x, &root, err);
        if (status != STOKER_OK) {
            return status;
        }
        ok = take_root(c, x, root);
    }
    for (uint32_t i = 0; count == 0 && ok && i < c->t->trace_count; i++) {
        for (uint32_t k = 0; k < c->t->traces[i].t->track_count && ok; k++) {
            ok = take_track(c, &c->t->traces[i], k);
        }
    }
    return ok ? STOKER_OK : stk_err_nomem(err);
}

struct rank {
    int64_t total_ns;
    uint32_t at;
};

STK_ORDER(compare_ranks, struct rank, STK_DOWN(total_ns) STK_UP(at))

// places[i]: 1 for calls that are returned, 0 for the rest. A call is only returned with its
// caller.
static bool choose(const struct tree *c, uint32_t *places)
{
    const struct call *v = c->calls.items;
    size_t n = c->calls.count, kept = 0;
    struct rank *order = stk_alloc_array(n + 1, sizeof *order);
    for (size_t i = 0; order && i < n; i++) {
        order[i] = (struct rank){v[i].total_ns, (uint32_t)i};
    }
    if (order) {
        stk_sort(order, n, sizeof *order, compare_ranks);
    }
    for (size_t i = 0; order && i < n && kept < ANSWERED; i++) {
        const struct call *call = &v[order[i].at];
        if (call->parent == STK_NONE || places[call->parent]) {
            places[order[i].at] = 1;
            kept++;
        }
    }
    stk_free(order);
    return order != NULL;
}

// Fills the document with the chosen calls, whose places become theirs in it.
static bool fill(struct tree *c, uint32_t *places, struct stk_arena *arena,
                 struct stk_view_calls *doc)
{
    const struct call *v = c->calls.items;
    size_t n = c->calls.count < ANSWERED ? c->calls.count : ANSWERED;
    struct stk_view_call *rows = stk_list_room(arena, &doc->calls, n, sizeof *rows);
    bool ok = rows != NULL;
    for (size_t i = 0; ok && i < c->calls.count; i++) {
        if (!places[i]) {
            doc->left_out++;
            continue;
        }
        struct stk_str name = stk_strpool_get(&c->names, v[i].name);
        int64_t self = v[i].total_ns > v[i].inner_ns ? v[i].total_ns - v[i].inner_ns : 0;
        rows[doc->calls.count] = (struct stk_view_call){
            .parent = v[i].parent == STK_NONE ? -1 : (int64_t)places[v[i].parent],
            .name = stk_arena_strndup(arena, name.p, name.n),
            .kind = stk_kind_key((enum stk_kind)v[i].kind),
            .total_ns = v[i].total_ns,
            .self_ns = self,
            .count = v[i].count,
            .longest = v[i].longest};
        ok = rows[doc->calls.count].name != NULL;
        places[i] = (uint32_t)doc->calls.count++;
    }
    return ok;
}

static enum stoker_status write_tree(struct tree *c, struct stk_sink *to, struct stoker_err *err)
{
    struct stk_arena arena;
    struct stk_view_calls doc = {
        .from_ns = c->t0_ns, .to_ns = c->t1_ns, .events_left_out = c->left_out};
    uint32_t *places = stk_alloc_zero(c->calls.count + 1, sizeof *places);
    stk_arena_init(&arena, 0);
    bool ok = places && choose(c, places) && fill(c, places, &arena, &doc);
    if (ok) {
        stk_json_document(&stk_view_calls_info, &doc, false, to);
    }
    stk_arena_deinit(&arena);
    stk_free(places);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

enum stoker_status stk_tl_calls_json(const struct stk_timeline *t, int64_t t0_ns, int64_t t1_ns,
                                     const int64_t *tracks, size_t count, struct stk_sink *to,
                                     struct stoker_err *err)
{
    struct tree c = {.t = t, .t0_ns = t0_ns, .t1_ns = t1_ns};
    if (t1_ns <= t0_ns) {
        return stk_err_set(err, STOKER_EUSAGE, "the area ends at %lld ns, before it begins",
                           (long long)t1_ns);
    }
    if (stk_strpool_init(&c.names, 0) != 0) {
        return stk_err_nomem(err);
    }
    stk_map_init(&c.by_call, NODES_MOST);
    stk_vec_init(&c.calls, sizeof(struct call), NODES_MOST);
    c.known = stk_alloc_zero(t->trace_count + 1, sizeof *c.known);
    enum stoker_status status = c.known ? take_tracks(&c, tracks, count, err) : stk_err_nomem(err);
    if (status == STOKER_OK) {
        status = write_tree(&c, to, err);
    }
    stk_vec_deinit(&c.calls);
    for (uint32_t i = 0; c.known && i < t->trace_count; i++) {
        stk_free(c.known[i]);
    }
    stk_free(c.known);
    stk_map_deinit(&c.by_call);
    stk_strpool_deinit(&c.names);
    return status;
}
