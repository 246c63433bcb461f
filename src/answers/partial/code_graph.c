// SPDX-License-Identifier: Apache-2.0
// A brief graph: what `stoker why` prices its findings with. Names of operators and the critical
// path, which it does not have, are left out.
#include "answers/partial/code_graph.h"

// Times and indices of nodes go up from one to the next: what each is after the one before.
#define RISING(c, nodes, count, member)                                                            \
    do {                                                                                           \
        uint64_t last_ = 0;                                                                        \
        for (uint32_t i_ = 0; i_ < (count) && !(c)->failed; i_++) {                                \
            last_ = code_rise((c), #member, (uint64_t)(nodes)[i_].member, last_);                  \
            if ((c)->mode == STK_CODE_READ) {                                                      \
                (nodes)[i_].member = (__typeof__((nodes)->member))last_;                           \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define COLUMN(c, nodes, count, member)                                                            \
    for (uint32_t i_ = 0; i_ < (count) && !(c)->failed; i_++) {                                    \
        STK_CODE(c, (nodes)[i_].member);                                                           \
    }

static uint64_t code_rise(struct stk_code *c, const char *name, uint64_t value, uint64_t last)
{
    int64_t rise = (int64_t)(value - last);
    stk_code_i64(c, name, &rise);
    return last + (uint64_t)rise;
}

// Member by member: values of one kind next to each other pack to half of what rows do.
static void code_nodes(struct stk_code *c, struct stk_node *nodes, uint32_t count)
{
    RISING(c, nodes, count, start_ns);
    COLUMN(c, nodes, count, dur_ns)
    RISING(c, nodes, count, launch);
    RISING(c, nodes, count, wait);
    COLUMN(c, nodes, count, size)
    COLUMN(c, nodes, count, step)
    COLUMN(c, nodes, count, lag_ns)
    COLUMN(c, nodes, count, gap_ns)
    COLUMN(c, nodes, count, rest_ns)
    COLUMN(c, nodes, count, lane)
    COLUMN(c, nodes, count, kind)
    COLUMN(c, nodes, count, what)
}

static void code_lane(struct stk_code *c, struct stk_lane *x)
{
    STK_CODE(c, x->first);
    STK_CODE(c, x->count);
    STK_CODE(c, x->track);
    STK_CODE(c, x->free_ns);
    STK_CODE(c, x->is_device);
}

static void code_graph_step(struct stk_code *c, struct stk_graph_step *x)
{
    STK_CODE(c, x->number);
    STK_CODE(c, x->node);
    STK_CODE(c, x->start_ns);
    STK_CODE(c, x->used);
}

static void code_host_op(struct stk_code *c, struct stk_host_op *x)
{
    STK_CODE(c, x->wait);
    STK_CODE(c, x->call);
    STK_CODE(c, x->to_host);
    STK_CODE(c, x->to_device);
    STK_CODE(c, x->name);
}

static void code_message(struct stk_code *c, struct stk_graph_message *x)
{
    STK_CODE(c, x->node);
    STK_CODE(c, x->bytes);
}

static void code_rates(struct stk_code *c, struct stk_device_rates *x)
{
    STK_CODE(c, x->fp32);
    STK_CODE(c, x->tf32);
    STK_CODE(c, x->fp16);
    STK_CODE(c, x->bf16);
    STK_CODE(c, x->fp8);
    STK_CODE(c, x->int8);
    STK_CODE(c, x->any);
    STK_CODE(c, x->memory);
    STK_CODE(c, x->host_link);
    STK_CODE(c, x->peer_link);
}

static void code_calibration(struct stk_code *c, struct stk_calibration *x)
{
    STK_CODE(c, x->latency_ns);
    STK_CODE(c, x->gap_ns);
    STK_CODE(c, x->call_ns);
    STK_CODE(c, x->quick_call_ns);
    STK_CODE(c, x->fetch_ns);
}

static void code_counts(struct stk_code *c, struct stk_graph_counts *x)
{
    STK_CODE(c, x->device_ops);
    STK_CODE(c, x->unlinked);
    STK_CODE(c, x->cross_edges);
    STK_CODE(c, x->inferred_edges);
    STK_CODE(c, x->unexplained_ns);
    STK_CODE(c, x->contended_ns);
    STK_CODE(c, x->host_unexplained_ns);
    STK_CODE(c, x->graphs_ns);
}

static void code_lists(struct stk_code *c, struct stk_graph *g)
{
    g->nodes = stk_code_list(c, "nodes", g->nodes, &g->node_count, sizeof *g->nodes);
    code_nodes(c, g->nodes, g->node_count);
    g->lanes = stk_code_list(c, "lanes", g->lanes, &g->lane_count, sizeof *g->lanes);
    for (uint32_t i = 0; i < g->lane_count && !c->failed; i++) {
        code_lane(c, &g->lanes[i]);
    }
    uint32_t borders = g->steps ? g->step_count + 1 : 0; // and the end of the last
    g->steps = stk_code_list(c, "steps", g->steps, &borders, sizeof *g->steps);
    for (uint32_t i = 0; i < borders && !c->failed; i++) {
        code_graph_step(c, &g->steps[i]);
    }
    g->step_count = borders ? borders - 1 : 0;
    g->ready_ns = stk_code_list(c, "ready_ns", g->ready_ns, &g->batch_count, sizeof *g->ready_ns);
    for (uint32_t i = 0; i < g->batch_count && !c->failed; i++) {
        STK_CODE(c, g->ready_ns[i]);
    }
    g->host_ops = stk_code_list(c, "host_ops", g->host_ops, &g->host_op_count, sizeof *g->host_ops);
    for (uint32_t i = 0; i < g->host_op_count && !c->failed; i++) {
        code_host_op(c, &g->host_ops[i]);
    }
    g->messages = stk_code_list(c, "messages", g->messages, &g->message_count, sizeof *g->messages);
    for (uint32_t i = 0; i < g->message_count && !c->failed; i++) {
        code_message(c, &g->messages[i]);
    }
}

void stk_code_graph(struct stk_code *c, struct stk_graph *g)
{
    code_lists(c, g);
    STK_CODE(c, g->eager_ops);
    STK_CODE(c, g->eager_ns);
    STK_CODE(c, g->eager_usual_ns);
    STK_CODE(c, g->eager_work_ns);
    STK_CODE(c, g->eager_least_ns);
    STK_CODE(c, g->steps_used);
    STK_CODE(c, g->base_ns);
    STK_CODE(c, g->end_ns);
    STK_CODE(c, g->waited_first);
    STK_CODE(c, g->waited_last);
    STK_CODE(c, g->round_first);
    STK_CODE(c, g->round_last);
    STK_CODE(c, g->waits);
    STK_CODE(c, g->mean_from);
    STK_CODE(c, g->mean_to);
    stk_code_below(c, "feed", (uint32_t *)&g->feed, STK_FEED_WORKERS + 1);
    STK_CODE(c, g->has_device);
    STK_CODE(c, g->has_peers);
    STK_CODE(c, g->has_workers);
    STK_CODE(c, g->is_span);
    STK_CODE(c, g->beside);
    STK_CODE(c, g->pace_ns);
    STK_CODE(c, g->ordinary);
    STK_CODE(c, g->undisturbed);
    STK_CODE(c, g->leaves_first);
    STK_CODE(c, g->counts_rounds);
    STK_CODE(c, g->has_rounds);
    STK_CODE(c, g->is_by_torch);
    STK_CODE(c, g->is_contended);
    STK_CODE(c, g->is_mixed);
    STK_CODE(c, g->tensors);
    STK_CODE(c, g->batch_most);
    STK_CODE(c, g->group_size);
    code_rates(c, &g->rates);
    STK_CODE(c, g->driver);
    STK_CODE(c, g->rank);
    code_calibration(c, &g->calibration);
    code_counts(c, &g->counts);
    STK_CODE(c, g->why_not);
}

static bool is_node(const struct stk_graph *g, uint32_t index)
{
    return index < g->node_count || index == STK_NONE;
}

static bool are_nodes_sound(const struct stk_graph *g)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        const struct stk_node *n = &g->nodes[i];
        bool is_input = n->kind == STK_NODE_INPUT;
        uint32_t waits_of = is_input ? g->batch_count : g->node_count;
        if (n->kind > STK_NODE_COLLECTIVE || n->what > STK_WHAT_D2H_PAGEABLE || n->dur_ns < 0 ||
            n->lane >= g->lane_count || n->step >= g->step_count || !is_node(g, n->launch) ||
            (n->wait >= waits_of && n->wait != STK_NONE)) {
            return false;
        }
    }
    return true;
}

static bool are_lanes_sound(const struct stk_graph *g)
{
    for (uint32_t i = 0; i < g->lane_count; i++) {
        const struct stk_lane *l = &g->lanes[i];
        if (l->first > g->node_count || l->count > g->node_count - l->first) {
            return false;
        }
        for (uint32_t n = l->first; n < l->first + l->count; n++) {
            if (g->nodes[n].lane != i) {
                return false;
            }
        }
    }
    return g->driver < g->lane_count;
}

bool stk_graph_is_sound(const struct stk_graph *g)
{
    if (g->why_not) {
        return true; // nobody replays it
    }
    bool is_sound = g->steps && are_nodes_sound(g) && are_lanes_sound(g) &&
                    g->steps_used <= g->step_count && g->mean_from <= g->mean_to &&
                    g->mean_to <= g->step_count;
    for (uint32_t i = 0; i < g->step_count && is_sound; i++) {
        is_sound = g->steps[i].node < g->node_count;
    }
    for (uint32_t i = 0; i < g->host_op_count && is_sound; i++) {
        const struct stk_host_op *o = &g->host_ops[i];
        is_sound = o->wait < g->node_count && o->call < g->node_count &&
                   o->to_host < g->node_count && o->to_device < g->node_count;
    }
    for (uint32_t i = 0; i < g->message_count && is_sound; i++) {
        is_sound = g->messages[i].node < g->node_count;
    }
    return is_sound;
}
