// SPDX-License-Identifier: Apache-2.0
// Kernels and memsets between two waits, host copies or collectives are launched as one graph (CUDA
// graphs, XLA, torch.compile): one call for all of them, no host work between, shorter gaps on the
// stream. Calls without a launch (attributes, events) are also removed.
//
// At worst, unexplained host time between launches stays.
#include "base/alloc.h"
#include "base/assert.h"
#include "answers/replay/price_row.h"

#define MIN_LAUNCHES 4          // of a graph
#define NODE_NS 200             // of the call, for each kernel
#define GRAPH_GAP 0.6           // of a gap between two kernels of a stream
#define BETWEEN_NS (5 * STK_MS) // longer host work between two launches ends a graph

// A call whose launch can't be in a graph here: a copy from or to the host, a collective.
#define STAYS_OUT (STK_NONE - 1)

struct capture {
    struct stk_scene *s;
    const uint32_t *launched; // per host node: what it launched, STK_NONE, STAYS_OUT
    enum stk_price_level level;
};

// Kernels of one call are a graph already.
static const char *launch_graph_refuse(const struct stk_graph *g)
{
    uint32_t launches = 0, last = STK_NONE;
    bool has_graphs = false;
    for (uint32_t i = 0; i < g->node_count && launches < MIN_LAUNCHES * g->step_count; i++) {
        const struct stk_node *n = &g->nodes[i];
        if (n->kind == STK_NODE_KERNEL && n->launch != STK_NONE) {
            has_graphs |= n->launch == last;
            launches += n->launch != last;
            last = n->launch;
        }
    }
    return launches >= MIN_LAUNCHES * g->step_count ? NULL
           : has_graphs                             ? "graphs launch nearly all kernels already"
                                                    : "a step launches hardly any kernels";
}

static bool is_launch(const struct capture *c, uint32_t i)
{
    STK_ASSERT(i < c->s->g->node_count);
    return c->launched[i] != STK_NONE && c->launched[i] != STAYS_OUT;
}

static bool goes_on(const struct capture *c, uint32_t i)
{
    const struct stk_node *n = &c->s->nodes[i];
    bool between = n->kind == STK_NODE_WORK && n->what != STK_WHAT_CALLBACK &&
                   n->wait == STK_NONE && n->dur_ns < BETWEEN_NS;
    return between || (n->kind == STK_NODE_CALL && n->what != STK_WHAT_STREAM_WAIT &&
                       c->launched[i] != STAYS_OUT);
}

// [first, last] begins and ends with a launch.
static void capture(const struct capture *c, uint32_t first, uint32_t last, uint32_t launches)
{
    STK_ASSERT((unsigned)c->level < STK_PRICE_LEVELS);
    static const int64_t calls[STK_PRICE_LEVELS] = {1, 2, 3};
    struct stk_node *nodes = c->s->nodes;
    if (launches < MIN_LAUNCHES) {
        return;
    }
    int64_t call_ns = calls[c->level] * (c->s->g->calibration.call_ns + NODE_NS * launches / 2);
    int64_t was_ns = 0;
    for (uint32_t i = first; i <= last; i++) {
        bool stays = c->level == STK_PRICE_HIGH && nodes[i].what == STK_WHAT_IDLE;
        was_ns += stays ? 0 : nodes[i].dur_ns;
        nodes[i].dur_ns = stays ? nodes[i].dur_ns : 0;
    }
    nodes[first].dur_ns = call_ns < was_ns ? call_ns : was_ns;
}

// Work of a captured launch begins when the graph's call has begun.
static void join(const struct capture *c, const uint32_t *first_of)
{
    struct stk_node *nodes = c->s->nodes;
    for (uint32_t i = 0; i < c->s->g->node_count; i++) {
        uint32_t call = stk_node_is_device(&nodes[i]) ? nodes[i].launch : STK_NONE;
        if (call != STK_NONE && first_of[call] != STK_NONE) {
            nodes[i].launch = first_of[call];
            nodes[i].gap_ns = (int32_t)stk_price_scaled(nodes[i].gap_ns, GRAPH_GAP);
            nodes[i].rest_ns = c->level == STK_PRICE_HIGH ? nodes[i].rest_ns : 0;
        }
    }
}

static void capture_lane(const struct capture *c, const struct stk_lane *lane, uint32_t *first_of)
{
    const struct stk_node *nodes = c->s->nodes;
    uint32_t end = lane->first + lane->count;
    for (uint32_t i = lane->first; i < end;) {
        uint32_t first = STK_NONE, last = STK_NONE, launches = 0, step = nodes[i].step;
        for (; i < end && nodes[i].step == step && goes_on(c, i); i++) {
            if (is_launch(c, i)) {
                first = first == STK_NONE ? i : first;
                last = i;
                launches++;
            }
        }
        for (uint32_t k = first; first != STK_NONE && k <= last && launches >= MIN_LAUNCHES; k++) {
            first_of[k] = is_launch(c, k) ? first : STK_NONE;
        }
        if (first != STK_NONE) {
            capture(c, first, last, launches);
        }
        i += i < end && nodes[i].step == step; // skips the node that ended it
    }
}

static bool launch_graph_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    size_t n = s->g->node_count;
    uint32_t *launched = stk_alloc_array(n + 1, sizeof *launched);
    uint32_t *first_of = stk_alloc_array(n + 1, sizeof *first_of);
    struct capture c = {s, launched, how->level};
    bool ok = launched && first_of;
    for (size_t i = 0; ok && i < n; i++) {
        launched[i] = first_of[i] = STK_NONE;
    }
    for (size_t i = 0; ok && i < n; i++) {
        const struct stk_node *node = &s->nodes[i];
        bool is_inside = node->kind == STK_NODE_KERNEL ||
                         (node->kind == STK_NODE_COPY && node->what == STK_WHAT_OTHER);
        if (stk_node_is_device(node) && node->launch != STK_NONE) {
            launched[node->launch] = is_inside ? (uint32_t)i : STAYS_OUT;
        }
    }
    for (uint32_t l = 0; ok && l < s->g->lane_count; l++) {
        if (!s->g->lanes[l].is_device) {
            capture_lane(&c, &s->g->lanes[l], first_of);
        }
    }
    if (ok) {
        join(&c, first_of);
    }
    stk_free(launched);
    stk_free(first_of);
    return ok;
}

const struct stk_price_row stk_price_launch_graph = {
    .id = "launch-graph",
    .what = "launch all kernels between two waits in one call",
    .assumes = "shapes stay the same, and the CPU decides nothing between the launches",
    .is_priced_alone = true,
    .refuse = launch_graph_refuse,
    .apply = launch_graph_apply,
};
