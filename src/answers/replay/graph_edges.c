// SPDX-License-Identifier: Apache-2.0
// When a stream's work could begin: after its launch call, after the stream's previous work, and
// after work of other streams. First measures constants of this trace (calibration), then makes the
// edges.
//
// Most profiles don't show which work a stream waits for. If they have the waiting call (R9), the
// edge leads to the last launch on another stream before it. Otherwise, if an operation begins
// right after an operation ends that was launched earlier on another stream, it is assumed to have
// waited for it (R10). Such edges are inferred, and counted separately. Unexplained waiting stays
// in the graph unchanged. Waiting while other streams run may be for room on the device, or for a
// hardware queue that streams share. It is counted separately, and widens the interval of each
// price.
#include "base/alloc.h"
#include "profile/model/median.h"
#include "answers/replay/graph.h"

#define LATENCY_ELSE_NS (8 * STK_US) // if no operation found its stream idle
#define GAP_ELSE_NS 1000
#define SLACK_NS (5 * STK_US)      // shorter waits are ignored
#define WINDOW_NS (50 * STK_US)    // an inferred edge ends this long before the start at most
#define FAR_AHEAD_NS (30 * STK_US) // launched this long before its stream was free: back to back
#define COUNTED_NS 2000            // from here on pinned waiting counts as unexplained
#define CONTENDED 0.05    // of the time: from here on, waiting while others run widens intervals
#define NODE_MOST_NS 1500 // of a graph's launch per kernel, without a profiler
#define QUEUE_LIMIT 1024  // operations that wait in a stream before a launch blocks
#define MAX_SAMPLES 20000

static const struct stk_node *before(const struct stk_lane *lane, const struct stk_node *nodes,
                                     uint32_t i)
{
    return i > lane->first ? &nodes[i - 1] : NULL;
}

// A percentile of up to MAX_SAMPLES values; `otherwise` without values.
static int64_t percentile(struct stk_vec *v, int percent, int64_t otherwise)
{
    return v->count ? stk_nth_value(v->items, v->count, (v->count - 1) * (size_t)percent / 100)
                    : otherwise;
}

static void sample(struct stk_vec *v, int64_t ns)
{
    int64_t *slot = v->count < MAX_SAMPLES ? stk_vec_push(v) : NULL;
    if (slot) {
        *slot = ns;
    }
}

// A call that launched several operations launched a graph, and takes accordingly longer.
static bool is_graph(const struct stk_node *call)
{
    return call->kind == STK_NODE_CALL && call->size > 1;
}

static void calibrate(struct stk_graph_build *b)
{
    const struct stk_node *nodes = b->nodes.items;
    struct stk_vec idle, gaps, calls;
    stk_vec_init(&idle, sizeof(int64_t), MAX_SAMPLES);
    stk_vec_init(&gaps, sizeof(int64_t), MAX_SAMPLES);
    stk_vec_init(&calls, sizeof(int64_t), MAX_SAMPLES);
    for (size_t l = 0; l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        for (uint32_t i = lane->first; lane->is_device && i < lane->first + lane->count; i++) {
            const struct stk_node *prev = before(lane, nodes, i);
            if (nodes[i].launch == STK_NONE) {
                continue;
            }
            const struct stk_node *call = &nodes[nodes[i].launch];
            int64_t free = prev ? stk_node_end(prev) : lane->free_ns;
            bool had_room = i - lane->first < QUEUE_LIMIT ||
                            stk_node_end(&nodes[i - QUEUE_LIMIT]) <= call->start_ns;
            if (nodes[i].kind == STK_NODE_KERNEL && call->kind == STK_NODE_CALL && had_room &&
                !is_graph(call)) {
                sample(&calls, call->dur_ns); // else it waited while the queue was full
            }
            if (free <= call->start_ns && nodes[i].start_ns > call->start_ns && !is_graph(call)) {
                sample(&idle, nodes[i].start_ns - call->start_ns);
            } else if (prev && free > stk_node_end(call) + FAR_AHEAD_NS &&
                       nodes[i].start_ns >= free) {
                sample(&gaps, nodes[i].start_ns - free);
            }
        }
    }
    struct stk_calibration *c = &b->g->calibration;
    c->latency_ns = percentile(&idle, 25, LATENCY_ELSE_NS);
    c->gap_ns = percentile(&gaps, 50, GAP_ELSE_NS);
    c->call_ns = percentile(&calls, 50, 5 * STK_US);
    c->quick_call_ns = percentile(&calls, 10, c->call_ns);
    stk_vec_deinit(&idle);
    stk_vec_deinit(&gaps);
    stk_vec_deinit(&calls);
}

// A profiler records a graph's kernels one by one at its launch. That takes 1 to 1.5 us per kernel
// in PyTorch, confirmed by timers, and 3 us in XLA. A step without a profiler doesn't have this
// cost.
static void add_recording(struct stk_graph_build *b)
{
    struct stk_node *nodes = b->nodes.items;
    int64_t call_ns = b->g->calibration.call_ns;
    for (size_t i = 0; i < b->nodes.count && !stk_node_is_device(&nodes[i]); i++) {
        int64_t own_ns = call_ns + NODE_MOST_NS * (int64_t)nodes[i].size;
        if (is_graph(&nodes[i]) && nodes[i].dur_ns > own_ns) {
            nodes[i].rest_ns = stk_graph_clamp(nodes[i].rest_ns + nodes[i].dur_ns - own_ns);
            b->g->counts.graphs_ns += nodes[i].dur_ns - own_ns;
        }
    }
}

// The last launched work of another stream before a call that makes a stream wait.
struct last_launch {
    uint32_t node[2]; // the last one, and the last one on any other lane
    bool waits;
    uint32_t waited[2];
};

static void note_launch(struct last_launch *x, const struct stk_node *nodes, uint32_t op)
{
    if (x->node[0] != STK_NONE && nodes[x->node[0]].lane != nodes[op].lane) {
        x->node[1] = x->node[0];
    }
    x->node[0] = op;
}

// Launches of a host lane in their order: `by_call` holds device nodes sorted by their call.
static void edges_of_calls(struct stk_graph_build *b, const struct stk_lane *host,
                           const uint32_t *by_call, size_t *at, size_t count)
{
    struct stk_node *nodes = b->nodes.items;
    struct last_launch x = {{STK_NONE, STK_NONE}, false, {STK_NONE, STK_NONE}};
    for (uint32_t i = host->first; i < host->first + host->count; i++) {
        if (nodes[i].what == STK_WHAT_STREAM_WAIT && nodes[i].kind == STK_NODE_CALL) {
            x.waits = true;
            x.waited[0] = x.node[0];
            x.waited[1] = x.node[1];
        }
        for (; *at < count && nodes[by_call[*at]].launch == i; (*at)++) {
            uint32_t op = by_call[*at];
            uint32_t from = x.waited[0];
            if (x.waits && from != STK_NONE && nodes[from].lane == nodes[op].lane) {
                from = x.waited[1];
            }
            if (x.waits && from != STK_NONE && nodes[from].lane != nodes[op].lane &&
                stk_node_end(&nodes[from]) <= nodes[op].start_ns + 1000) {
                nodes[op].wait = from;
                b->g->counts.cross_edges++;
            }
            x.waits = false;
            note_launch(&x, nodes, op);
            nodes[i].size += nodes[i].kind == STK_NODE_CALL;
        }
    }
}

// Device nodes by their launch call: a counting sort, which keeps the order within a call.
static uint32_t *sort_by_call(const struct stk_graph_build *b, size_t host_nodes, size_t *count)
{
    const struct stk_node *nodes = b->nodes.items;
    uint32_t *starts = stk_alloc_zero(host_nodes + 2, sizeof *starts);
    uint32_t *sorted = stk_alloc_array(b->nodes.count - host_nodes + 1, sizeof *sorted);
    *count = 0;
    if (!starts || !sorted) {
        stk_free(starts);
        stk_free(sorted);
        return NULL;
    }
    for (size_t i = host_nodes; i < b->nodes.count; i++) {
        if (nodes[i].launch != STK_NONE) {
            starts[nodes[i].launch + 1]++;
            (*count)++;
        }
    }
    for (size_t i = 0; i < host_nodes; i++) {
        starts[i + 1] += starts[i];
    }
    for (size_t i = host_nodes; i < b->nodes.count; i++) {
        if (nodes[i].launch != STK_NONE) {
            sorted[starts[nodes[i].launch]++] = (uint32_t)i;
        }
    }
    stk_free(starts);
    return sorted;
}

static bool edges_of_threads(struct stk_graph_build *b)
{
    size_t host_nodes = 0, count, at = 0;
    for (size_t l = 0; l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        host_nodes += lane->is_device ? 0 : lane->count;
    }
    uint32_t *by_call = sort_by_call(b, host_nodes, &count);
    if (!by_call) {
        return false;
    }
    for (size_t l = 0; l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        if (!lane->is_device) {
            edges_of_calls(b, lane, by_call, &at, count);
        }
    }
    stk_free(by_call);
    return true;
}

// Of the operations of other lanes that ended by `start`, the one that ended last. Calls must come
// in order of their starts: each lane's `cursor` only moves forward.
static uint32_t ended_last(const struct stk_graph_build *b, uint32_t *cursor,
                           const struct stk_node *n)
{
    const struct stk_node *nodes = b->nodes.items;
    int64_t called = n->launch != STK_NONE ? nodes[n->launch].start_ns : n->start_ns;
    uint32_t best = STK_NONE;
    for (size_t l = 0; l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        uint32_t end = lane->first + lane->count;
        if (!lane->is_device || l == n->lane) {
            continue;
        }
        while (cursor[l] < end && stk_node_end(&nodes[cursor[l]]) <= n->start_ns) {
            cursor[l]++;
        }
        if (cursor[l] == lane->first) {
            continue;
        }
        const struct stk_node *x = &nodes[cursor[l] - 1];
        bool is_earlier = x->launch == STK_NONE || nodes[x->launch].start_ns <= called;
        if (is_earlier && n->start_ns - stk_node_end(x) <= WINDOW_NS &&
            (best == STK_NONE || stk_node_end(x) > stk_node_end(&nodes[best]))) {
            best = cursor[l] - 1;
        }
    }
    return best;
}

// Time in which the lane's device was busy.
static int64_t busy_in(const struct stk_graph_build *b, const struct stk_lane *lane,
                       int64_t from_ns, int64_t to_ns)
{
    uint32_t device = b->a->t->tracks[lane->track].device;
    for (uint32_t d = 0; d < b->a->sum->device_count; d++) {
        const struct stk_device_line *line = &b->a->lines[d];
        if (line->device == device && line->busy_sums) {
            return stk_spans_measure(&line->busy, line->busy_sums, from_ns, to_ns);
        }
    }
    return 0;
}

// The latency, gap and remaining wait of one operation.
static void explain(struct stk_graph_build *b, const struct stk_lane *lane, uint32_t i,
                    uint32_t *cursor)
{
    struct stk_node *nodes = b->nodes.items, *n = &nodes[i];
    const struct stk_calibration *c = &b->g->calibration;
    const struct stk_node *prev = before(lane, nodes, i);
    int64_t ready = INT64_MIN, free = prev ? stk_node_end(prev) : lane->free_ns;
    if (n->launch != STK_NONE) {
        const struct stk_node *call = &nodes[n->launch];
        int64_t lag = n->start_ns - call->start_ns, most = c->latency_ns;
        if (is_graph(call) && (i == lane->first || n[-1].launch != n->launch)) {
            most += call->dur_ns; // a graph begins once it is submitted completely
        }
        n->lag_ns = stk_graph_clamp(lag < most ? lag : most);
        ready = nodes[n->launch].start_ns + n->lag_ns;
    }
    if (free != INT64_MIN) {
        int64_t gap = n->start_ns - free;
        n->gap_ns = stk_graph_clamp(gap < c->gap_ns ? gap : c->gap_ns);
        ready = free + n->gap_ns > ready ? free + n->gap_ns : ready;
    }
    if (n->wait != STK_NONE && stk_node_end(&nodes[n->wait]) > ready) {
        ready = stk_node_end(&nodes[n->wait]);
    }
    int64_t rest = ready == INT64_MIN ? 0 : n->start_ns - ready;
    if (rest > SLACK_NS && n->wait == STK_NONE) {
        n->wait = ended_last(b, cursor, n);
        if (n->wait != STK_NONE) {
            int64_t left = n->start_ns - stk_node_end(&nodes[n->wait]);
            left = left < rest ? left : rest;
            b->g->counts.inferred_edges++;
            b->g->counts.cross_edges++;
            rest = left;
        }
    }
    n->rest_ns = stk_graph_clamp(rest > 0 ? rest : 0);
    if (rest > COUNTED_NS) {
        int64_t beside = busy_in(b, lane, n->start_ns - (rest - COUNTED_NS), n->start_ns);
        b->g->counts.contended_ns += beside;
        b->g->counts.unexplained_ns += rest - COUNTED_NS - beside;
    }
}

bool stk_graph_edges(struct stk_graph_build *b)
{
    struct stk_node *nodes = b->nodes.items;
    uint32_t *cursor = stk_alloc_zero(b->lanes.count + 1, sizeof *cursor);
    bool ok = cursor && edges_of_threads(b);
    if (ok) {
        calibrate(b);
        add_recording(b);
    }
    for (size_t l = 0; ok && l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        for (size_t k = 0; k < b->lanes.count; k++) {
            cursor[k] = ((const struct stk_lane *)stk_vec_at(&b->lanes, k))->first;
        }
        for (uint32_t i = lane->first; lane->is_device && i < lane->first + lane->count; i++) {
            explain(b, lane, i, cursor);
            if (i - lane->first >= QUEUE_LIMIT && nodes[i].launch != STK_NONE &&
                nodes[nodes[i].launch].wait == STK_NONE &&
                nodes[nodes[i].launch].kind == STK_NODE_CALL) {
                nodes[nodes[i].launch].wait = i - QUEUE_LIMIT;
            }
        }
    }
    b->g->is_contended =
        (double)b->g->counts.contended_ns > CONTENDED * (double)(b->to_ns - b->from_ns);
    stk_free(cursor);
    return ok;
}
