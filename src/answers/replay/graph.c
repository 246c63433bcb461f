// SPDX-License-Identifier: Apache-2.0
// Builds a rank's graph from its trace: chooses the steps, then makes lanes, nodes and edges
// (graph.h).
#include "answers/replay/graph.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/median.h"

// A graph is built from about this many events: enough steps, in bounded time.
#define MAX_EVENTS 6000000
#define MIXED_STEPS 3 // long steps; fewer are one-offs
#define MIXED_PART 10 // of the steps, one in

static bool has_host_steps(const struct stk_analysis *a)
{
    return a->step_count > 0 && !a->steps_on_device && !a->steps_per_device;
}

// The steps from the first used one to the last, as many as fit under the cap on events.
static bool choose_steps(struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    uint32_t first = STK_NONE, last = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!a->steps[i].excluded) {
            first = first == STK_NONE ? i : first;
            last = i;
        }
    }
    uint32_t count = first == STK_NONE ? 0 : last - first + 1;
    uint64_t most = b->max_events * (a->step_count + 1) / ((uint64_t)a->t->count + 1);
    count = count > most ? (uint32_t)(most ? most : 1) : count;
    b->g->step_count = count;
    b->g->steps = stk_arena_array(b->arena, (size_t)count + 1, sizeof *b->g->steps);
    b->starts_ns = stk_arena_array(b->arena, (size_t)count + 1, sizeof *b->starts_ns);
    if (!b->g->steps || !b->starts_ns) {
        return false;
    }
    for (uint32_t k = 0; k < count; k++) {
        bool used = !a->steps[first + k].excluded;
        b->starts_ns[k] = a->steps[first + k].start_ns;
        b->g->steps[k] =
            (struct stk_graph_step){a->steps[first + k].number, STK_NONE, b->starts_ns[k], used};
        b->g->steps_used += used;
    }
    if (count) {
        b->starts_ns[count] = a->steps[first + count - 1].end_ns;
    }
    return true;
}

// If the host's steps are unknown: from the first launch to the last event.
static bool choose_span(struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    int64_t from = INT64_MAX;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        for (uint32_t i = 0; i < a->lines[d].op_count; i++) {
            uint32_t launch = stk_launch_of(a, a->lines[d].ops[i].event);
            if (launch != STK_NONE) {
                from = a->t->start_ns[launch] < from ? a->t->start_ns[launch] : from;
                break;
            }
        }
    }
    b->g->steps = stk_arena_array(b->arena, 2, sizeof *b->g->steps);
    b->starts_ns = stk_arena_array(b->arena, 2, sizeof *b->starts_ns);
    if (!b->g->steps || !b->starts_ns) {
        return false;
    }
    b->g->is_span = true;
    b->g->step_count = b->g->steps_used = from != INT64_MAX;
    b->starts_ns[0] = from;
    b->starts_ns[1] = a->sum->facts.last_ns;
    b->g->steps[0] = (struct stk_graph_step){0, STK_NONE, from, true};
    return true;
}

static void count_eager(struct stk_graph_build *b)
{
    const struct stk_facts *f = &b->a->sum->facts;
    double steps = b->a->step_count ? b->a->step_count : 1;
    b->g->eager_ops = (double)f->signs[STK_SIGN_EAGER_OP].count / steps;
    b->g->eager_ns = (double)f->eager_ns / steps;
    b->g->eager_usual_ns = (double)f->eager_usual_ns / steps;
    b->g->eager_work_ns = (double)f->eager_work_ns / steps;
    b->g->eager_least_ns = (double)f->eager_least_ns / steps;
}

static bool choose_time(struct stk_graph_build *b)
{
    if (!(has_host_steps(b->a) ? choose_steps(b) : choose_span(b))) {
        return false;
    }
    count_eager(b);
    b->from_ns = b->starts_ns[0];
    b->to_ns = b->starts_ns[b->g->step_count];
    b->g->why_not = b->g->step_count == 0 || b->g->steps_used == 0
                        ? "the profile has no steps and no GPU launches"
                    : b->to_ns <= b->from_ns ? "the steps take no time"
                                             : NULL;
    return true;
}

// Without a driving thread, the one with the most calls is taken.
static void choose_driver(struct stk_graph_build *b)
{
    uint32_t most = 0;
    for (size_t l = 0; b->g->driver == STK_NONE && l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        most = lane->is_device ? most : lane->count > most ? lane->count : most;
    }
    for (size_t l = 0; b->g->driver == STK_NONE && l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        if (!lane->is_device && lane->count == most && most > 0) {
            b->g->driver = (uint32_t)l;
        }
    }
}

static void set_steps(struct stk_graph_build *b)
{
    STK_ASSERT(b->g->driver < b->lanes.count);
    const struct stk_node *nodes = b->nodes.items;
    struct stk_graph *g = b->g;
    const struct stk_lane *lane = stk_vec_at(&b->lanes, g->driver);
    for (uint32_t i = lane->first + lane->count; i-- > lane->first;) {
        g->steps[nodes[i].step].node = i;
    }
    for (uint32_t k = 0; k < g->step_count; k++) {
        g->why_not =
            g->steps[k].node == STK_NONE ? "a step has no events of its thread" : g->why_not;
    }
    g->end_ns = b->to_ns;
}

// Are there several steps, at least one in ten, that take more than twice the median? Then they are
// part of the job (rounds of its workers), and no median step represents them. False: no memory.
static bool find_mixed(struct stk_graph_build *b)
{
    struct stk_graph *g = b->g;
    int64_t *ns = stk_alloc_array((size_t)g->step_count + 1, sizeof *ns);
    uint32_t n = 0, more = 0;
    for (uint32_t k = 0; ns && k < g->step_count; k++) {
        if (g->steps[k].used) {
            ns[n++] = b->starts_ns[k + 1] - b->starts_ns[k];
        }
    }
    int64_t median_ns = n ? stk_median_low(ns, n) : 0;
    for (uint32_t k = 0; k < n; k++) {
        more += ns[k] / 2 > median_ns;
    }
    g->is_mixed = more >= MIXED_STEPS && more * MIXED_PART >= n;
    stk_free(ns);
    return ns != NULL;
}

static bool keep(struct stk_graph_build *b)
{
    struct stk_graph *g = b->g;
    g->nodes = stk_arena_items(b->arena, &b->nodes);
    g->lanes = stk_arena_items(b->arena, &b->lanes);
    g->messages = stk_arena_items(b->arena, &b->messages);
    g->updates = stk_arena_items(b->arena, &b->updates);
    g->node_count = (uint32_t)b->nodes.count;
    g->message_count = (uint32_t)b->messages.count;
    g->update_count = (uint32_t)b->updates.count;
    g->ops = stk_arena_items(b->arena, &b->ops);
    g->op_count = g->ops ? (uint32_t)b->ops.count : 0;
    g->lane_count = (uint32_t)b->lanes.count;
    return g->nodes && g->lanes && g->messages && g->updates;
}

static bool build(struct stk_graph_build *b)
{
    b->lane_of = stk_alloc_zero((size_t)b->a->t->track_count + 1, sizeof *b->lane_of);
    if (!b->lane_of || !stk_graph_work_ends(b) || !stk_graph_hosts(b)) {
        return false;
    }
    choose_driver(b);
    if (b->g->driver == STK_NONE) {
        b->g->why_not = "no thread drives the steps";
        return true;
    }
    if (!stk_graph_devices(b)) {
        return false;
    }
    if (b->g->why_not) {
        return true;
    }
    if (!stk_graph_edges(b) || !stk_graph_beside(b) || !stk_graph_input(b) || !stk_graph_waits(b) ||
        !stk_graph_host_ops(b) || !stk_graph_updates(b)) {
        return false;
    }
    stk_graph_memory(b);
    set_steps(b);
    return stk_graph_first(b) && find_mixed(b) && keep(b);
}

enum stoker_status stk_graph_make(const struct stk_analysis *a, const struct stk_graph_wish *wish,
                                  struct stk_arena *arena, void **partial, struct stoker_err *err)
{
    bool wants_path = wish->wants_path;
    struct stk_graph_build b = {
        .a = a, .arena = arena, .max_events = wish->max_events, .wants_events = wants_path};
    b.wants_ops = wish->max_events > STK_GRAPH_BRIEF_EVENTS && !wants_path;
    b.g = stk_arena_array(arena, 1, sizeof *b.g);
    if (!b.g) {
        return stk_err_nomem(err);
    }
    b.g->rank = a->sum->rank;
    b.g->base_ns = a->sum->base_ns;
    stk_vec_init(&b.nodes, sizeof(struct stk_node), UINT32_MAX - 1);
    stk_vec_init(&b.lanes, sizeof(struct stk_lane), UINT16_MAX - 1);
    stk_vec_init(&b.events, sizeof(uint32_t), UINT32_MAX - 1);
    stk_vec_init(&b.held, sizeof(struct stk_graph_held), UINT32_MAX - 1);
    stk_vec_init(&b.messages, sizeof(struct stk_graph_message), UINT32_MAX - 1);
    stk_vec_init(&b.updates, sizeof(struct stk_graph_update), UINT32_MAX - 1);
    stk_vec_init(&b.ops, sizeof(struct stk_graph_op), UINT32_MAX - 1);
    bool ok = choose_time(&b);
    b.g->why_not = ok && !b.g->why_not && wish->refuse ? wish->refuse(&b) : b.g->why_not;
    ok = ok && (b.g->why_not || build(&b)) &&
         (!wants_path || b.g->why_not || stk_critical_tables(&b));
    stk_vec_deinit(&b.nodes);
    stk_vec_deinit(&b.lanes);
    stk_vec_deinit(&b.events);
    stk_vec_deinit(&b.held);
    stk_vec_deinit(&b.messages);
    stk_vec_deinit(&b.updates);
    stk_vec_deinit(&b.ops);
    stk_free(b.op_index);
    stk_free(b.lane_of);
    *partial = b.g;
    return ok ? STOKER_OK : stk_err_nomem(err);
}

static enum stoker_status see(const struct stk_analysis *a, struct stk_arena *arena, void **partial,
                              struct stoker_err *err)
{
    return stk_graph_make(a, &(struct stk_graph_wish){.max_events = MAX_EVENTS}, arena, partial,
                          err);
}

static enum stoker_status see_critical(const struct stk_analysis *a, struct stk_arena *arena,
                                       void **partial, struct stoker_err *err)
{
    const struct stk_graph_wish wish = {.max_events = MAX_EVENTS, .wants_path = true};
    return stk_graph_make(a, &wish, arena, partial, err);
}

#define WANTS (STK_WANT_MEMORY | STK_WANT_COLLECTIVES | STK_WANT_SHAPES | STK_WANT_GRIDS)
const struct stk_view_hook stk_replay_hook = {.see = see, .wants = WANTS};
const struct stk_view_hook stk_replay_critical_hook = {.see = see_critical, .wants = WANTS};
