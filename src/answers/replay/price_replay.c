// SPDX-License-Identifier: Apache-2.0
// Replays of a rank (price_replay.h). A rank with taken prices has no nodes: its outcomes were
// stored then.
#include "answers/replay/price_replay.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "answers/replay/exposed.h"

#define PLAIN_MAX (1u << 18) // nodes that are kept: 12 MB for each thread that replays

// A second measure of the steps: those between two waits for a batch. Without a device, their
// median, since other programs delay single steps, unless steps are of two kinds.
static double second_of(const struct stk_graph *g, const int64_t *borders)
{
    uint32_t n = 0;
    bool by_mean = g->has_device || g->is_mixed;
    double *ns = by_mean ? NULL : stk_alloc_array((size_t)g->step_count + 1, sizeof *ns);
    if (!ns) {
        return stk_replay_inner_mean(g, borders);
    }
    for (uint32_t k = 0; k < g->step_count; k++) {
        if (g->steps[k].used) {
            ns[n++] = (double)(borders[k + 1] - borders[k]);
        }
    }
    double median = stk_gate_median(ns, n);
    stk_free(ns);
    return median;
}

// Applies a set's fixes to the scene, or varies what they change by the level. False: no memory.
static bool change(struct stk_scene *s, const struct stk_ask *ask, enum stk_price_level level)
{
    bool ok = true;
    for (size_t k = 0; ok && k < ask->count; k++) {
        const struct stk_price_asked *set = &ask->set[k];
        const struct stk_price_how how = {level, set->value, set->text};
        if (ask->which == STK_ASK_AFTER) {
            ok = (!ask->applies && stk_price_refuse_in(s->g, set)) || set->fix->apply(s, &how);
        } else if (set->fix->vary) {
            set->fix->vary(s, level);
        }
    }
    return ok;
}

static void let_peers_be_on_time(struct stk_scene *s)
{
    for (uint32_t i = 0; i < s->g->node_count && s->g->has_peers; i++) {
        if (s->nodes[i].kind == STK_NODE_COLLECTIVE) {
            s->nodes[i].dur_ns -= (int64_t)s->nodes[i].size * STK_US;
        }
    }
}

// Keeps the scene's nodes for the graph's next replay: all fixes start with the same ones.
static void keep_plain(struct stk_room *room, const struct stk_graph *g)
{
    room->plain_of = NULL;
    if (g->node_count > PLAIN_MAX) {
        return;
    }
    struct stk_node *plain =
        stk_realloc_array(room->plain, (size_t)g->node_count + 1, sizeof *plain);
    if (plain) { // else it is made again
        memcpy(plain, room->scene.nodes, g->node_count * sizeof *plain);
        room->plain = plain;
        room->plain_of = g;
    }
}

// The scene without any fix.
static void set_plain_scene(struct stk_room *room, const struct stk_graph *g, bool is_recorded)
{
    struct stk_scene *s = &room->scene;
    if (is_recorded) {
        stk_scene_reset(s, g);
        let_peers_be_on_time(s);
        return;
    }
    if (room->plain_of == g) {
        stk_scene_reset_to(s, g, room->plain);
    } else {
        stk_scene_reset(s, g);
        stk_scene_unprofile(s);
        let_peers_be_on_time(s);
        keep_plain(room, g);
    }
    s->like = room->plain_of == g ? room->plain : NULL;
}

// Makes the scene of a rank with the fixes at a level. False: no memory.
static bool set_scene(struct stk_room *room, const struct stk_graph *g, const struct stk_ask *ask,
                      enum stk_price_level level)
{
    struct stk_scene *s = &room->scene;
    set_plain_scene(room, g, ask->which == STK_ASK_RECORDED);
    bool is_spared = ask->which == STK_ASK_AFTER && g->is_contended && level == STK_PRICE_LOW;
    for (uint32_t i = 0; i < g->node_count && is_spared; i++) {
        s->nodes[i].rest_ns = 0; // at best nothing remains of its wait
    }
    bool ok = change(s, ask, level);
    for (uint32_t i = 0; i < g->node_count && ask->is_bare; i++) {
        s->nodes[i].dur_ns = s->nodes[i].kind == STK_NODE_COLLECTIVE ? 0 : s->nodes[i].dur_ns;
    }
    return ok;
}

// The step's kinds of time are computed only for the expected level.
static void replay_scene(struct stk_room *room, const struct stk_scene *s, bool wants_path,
                         struct stk_outcome *out)
{
    struct stk_times *t = &room->times;
    *out = (struct stk_outcome){.step.mean_ns = -1};
    if (!stk_replay_run(s, t)) {
        return;
    }
    stk_replay_steps(s->g, s->nodes, t, room->borders_ns);
    double mean_ns = stk_replay_mean(s->g, room->borders_ns);
    double inner_ns = second_of(s->g, room->borders_ns);
    out->step.mean_ns = (mean_ns < s->floor_ns ? s->floor_ns : mean_ns) + s->extra_ns;
    out->step.inner_ns = (inner_ns < s->floor_ns ? s->floor_ns : inner_ns) + s->extra_ns;
    out->step.is_even = s->is_even;
    out->step.needs_no_batches = s->needs_no_batches;
    if (wants_path) {
        stk_critical_sum(s, t, out->critical);
        stk_exposed_sum(s, t, room->borders_ns, out->exposed);
    }
}

// Replays one rank at the requested levels, the expected one first. Many fixes are the same at
// another level; such a scene isn't replayed again. False: no memory.
static bool replay_levels(struct stk_rooms *rooms, const struct stk_graph *g,
                          const struct stk_ask *ask, struct stk_outcome out[STK_PRICE_LEVELS])
{
    static const enum stk_price_level in_order[] = {STK_PRICE_EXPECTED, STK_PRICE_LOW,
                                                    STK_PRICE_HIGH};
    struct stk_room *room = stk_rooms_take(rooms);
    const struct stk_outcome *first = NULL;
    uint64_t first_hash = 0;
    bool is_only = ask->at[0] + ask->at[1] + ask->at[2] == 1; // nothing to compare with
    bool ok = room != NULL;
    for (int i = 0; ok && i < STK_PRICE_LEVELS; i++) {
        enum stk_price_level level = in_order[i];
        if (!ask->at[level]) {
            continue;
        }
        struct stk_scene *s = &room->scene;
        ok = set_scene(room, g, ask, level);
        uint64_t hash = ok && !is_only ? stk_scene_hash(s) : 0;
        if (ok && first && hash == first_hash) {
            out[level] = *first;
        } else if (ok) {
            bool wants_path = ask->wants_path && level == STK_PRICE_EXPECTED;
            replay_scene(room, s, wants_path, &out[level]);
        }
        first_hash = first ? first_hash : hash;
        first = first ? first : &out[level];
    }
    if (room) {
        stk_rooms_give(rooms, room);
    }
    return ok;
}

// The taken price of the set's only fix, or of the unchanged step.
static void recall(const struct stk_taken *t, const struct stk_ask *ask,
                   struct stk_outcome out[STK_PRICE_LEVELS])
{
    STK_ASSERT(ask->count < 2);
    const struct stk_taken_price *price = ask->count ? stk_taken_find(t, ask->set->text) : NULL;
    for (int level = 0; level < STK_PRICE_LEVELS; level++) {
        bool is_after = ask->which == STK_ASK_AFTER;
        out[level].step = ask->which == STK_ASK_RECORDED         ? t->recorded
                          : is_after && price && !price->refused ? price->after[level]
                          : is_after                             ? t->untouched[level]
                          : price                                ? price->before[level]
                                                                 : t->unprofiled;
    }
}

bool stk_price_replay(struct stk_rooms *rooms, const struct stk_graph *g, const struct stk_ask *ask,
                      struct stk_outcome out[STK_PRICE_LEVELS])
{
    for (int level = 0; level < STK_PRICE_LEVELS; level++) {
        out[level] = (struct stk_outcome){.step.mean_ns = -1};
    }
    if (g->taken) {
        recall(ask->is_bare && g->taken->bare ? g->taken->bare : g->taken, ask, out);
        return true;
    }
    return replay_levels(rooms, g, ask, out);
}
