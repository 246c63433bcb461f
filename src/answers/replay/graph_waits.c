// SPDX-License-Identifier: Apache-2.0
// What host threads wait for:
//
//   - A blocking call waits for the device work that ended last inside it.
//   - A thread that records nothing for a while waits for another one that worked during that time
//   and fell silent at its end (a hand-off: forward to backward, step call to executor).
//   - Or it waits for the driving thread, which gave it work and continued (a copy handed to a
//   pool: JAX). If the driving thread waits for another one's work, it had started that one before.
//
// A call whose work was already done still waits for its thread's last launch, which may matter
// once the host is faster. A call that no work explains keeps its time, which is counted.
#include "base/alloc.h"
#include "base/sort.h"
#include "answers/replay/graph.h"

#define OWN_NS (5 * STK_US)         // most own time of a waiting call
#define RETURN_NS (4 * STK_US)      // from the end of the work to the return of the call
#define RETURN_MOST_NS (2 * STK_MS) // a call that returned later didn't wait for the work
#define HANDOFF_NS (100 * STK_US)   // shorter silence of a thread isn't a wait
#define HANDOVER_NS (300 * STK_US)  // the other thread fell silent this long before at most,
#define HANDOVER_PART 16            // or that part of the silence: a thread takes time to wake up
#define HANDOVER_MOST_NS (2 * STK_MS)
#define RETURN_PART 4                // of a silence: the work that it waits for begins by then
#define FALLS_MOST 256               // threads that fell silent then and are examined
#define UNEXPLAINED_NS (20 * STK_US) // shorter waiting calls don't need a cause

// Ends of device work, and of a thread's work before it fell silent, to be sorted.
struct by_end {
    int64_t end_ns;
    uint32_t node;
};

STK_ORDER(compare_ends, struct by_end, STK_UP(end_ns) STK_UP(node))

static bool sort_ends(const struct stk_graph_build *b, struct stk_vec *out)
{
    const struct stk_node *nodes = b->nodes.items;
    for (size_t i = 0; i < b->nodes.count; i++) {
        struct by_end *e = stk_node_is_device(&nodes[i]) ? stk_vec_push(out) : NULL;
        if (e) {
            *e = (struct by_end){stk_node_end(&nodes[i]), (uint32_t)i};
        } else if (stk_node_is_device(&nodes[i])) {
            return false;
        }
    }
    stk_sort(out->items, out->count, sizeof(struct by_end), compare_ends);
    return true;
}

static size_t ends_up_to(const struct stk_vec *ends, int64_t by_ns)
{
    const struct by_end *e = ends->items;
    size_t low = 0, high = ends->count;
    STK_BISECT(low, high, mid, e[mid].end_ns <= by_ns);
    return low;
}

// The work that ended last up to a time and after another, launched at `called` or before.
static uint32_t ended_in(const struct stk_graph_build *b, const struct stk_vec *ends,
                         int64_t after_ns, int64_t by_ns, uint32_t call)
{
    const struct stk_node *nodes = b->nodes.items;
    const struct by_end *e = ends->items;
    for (size_t k = ends_up_to(ends, by_ns); k > 0 && e[k - 1].end_ns > after_ns; k--) {
        const struct stk_node *n = &nodes[e[k - 1].node];
        if (n->launch == call ||
            (n->launch != STK_NONE && nodes[n->launch].start_ns <= nodes[call].start_ns)) {
            return e[k - 1].node;
        }
    }
    return STK_NONE;
}

// A call returned at `end_ns` since `op` ended.
static void wait_for(struct stk_node *call, const struct stk_node *op, uint32_t index,
                     int64_t end_ns, int64_t own_ns)
{
    call->wait = index;
    call->lag_ns = stk_graph_clamp(end_ns - stk_node_end(op));
    call->dur_ns = call->dur_ns < own_ns ? call->dur_ns : own_ns;
}

static void calls_of_lane(struct stk_graph_build *b, const struct stk_lane *lane,
                          const struct stk_vec *ends, const uint32_t *launched)
{
    struct stk_node *nodes = b->nodes.items;
    struct stk_graph *g = b->g;
    uint32_t last = STK_NONE;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        struct stk_node *n = &nodes[i];
        int64_t end = stk_node_end(n);
        if (launched[i] != STK_NONE) {
            last = launched[i];
        }
        if (n->kind == STK_NODE_CALL && n->wait != STK_NONE) { // the stream's queue was full
            const struct stk_node *op = &nodes[n->wait];
            if (stk_node_end(op) > n->start_ns && stk_node_end(op) <= end) {
                wait_for(n, op, n->wait, end, g->calibration.call_ns);
            }
        }
        if (n->kind != STK_NODE_WAIT) {
            continue;
        }
        uint32_t op = ended_in(b, ends, n->start_ns, end, i);
        if (op != STK_NONE && end - stk_node_end(&nodes[op]) <= RETURN_MOST_NS) {
            bool stages = nodes[op].launch == i && nodes[op].kind == STK_NODE_COPY;
            n->what = stages ? STK_WHAT_STAGING : n->what;
            wait_for(n, &nodes[op], op, end, OWN_NS);
        } else if (last != STK_NONE && stk_node_end(&nodes[last]) <= end) {
            n->wait = last;
            n->lag_ns = (int32_t)RETURN_NS;
            g->counts.host_unexplained_ns += n->dur_ns > UNEXPLAINED_NS ? n->dur_ns : 0;
        } else {
            g->counts.host_unexplained_ns += n->dur_ns > UNEXPLAINED_NS ? n->dur_ns : 0;
        }
    }
}

uint32_t *stk_graph_launched(const struct stk_node *nodes, size_t count)
{
    uint32_t *launched = stk_alloc_array(count + 1, sizeof *launched);
    for (size_t i = 0; launched && i < count; i++) {
        launched[i] = STK_NONE;
    }
    for (size_t i = 0; launched && i < count; i++) {
        if (stk_node_is_device(&nodes[i]) && nodes[i].launch != STK_NONE) {
            launched[nodes[i].launch] = (uint32_t)i;
        }
    }
    return launched;
}

static bool records_nothing(const struct stk_node *n)
{
    return n->kind == STK_NODE_WORK && (n->what == STK_WHAT_IDLE || n->what == STK_WHAT_CALLBACK);
}

static bool is_silent(const struct stk_node *n)
{
    return records_nothing(n) && n->dur_ns >= HANDOFF_NS;
}

// When threads fall silent, in order of time: ends of the nodes before. False: no memory.
static bool sort_falls(const struct stk_graph_build *b, struct stk_vec *out)
{
    const struct stk_node *nodes = b->nodes.items;
    for (size_t i = 1; i < b->nodes.count && !stk_node_is_device(&nodes[i]); i++) {
        const struct stk_node *last = &nodes[i - 1];
        if (last->lane != nodes[i].lane || records_nothing(last) || !is_silent(&nodes[i])) {
            continue;
        }
        struct by_end *e = stk_vec_push(out);
        if (!e) {
            return false;
        }
        *e = (struct by_end){stk_node_end(last), (uint32_t)i - 1};
    }
    stk_sort(out->items, out->count, sizeof(struct by_end), compare_ends);
    return true;
}

// Did the thread of `last` work while node i waited, and is it silent when i continues?
static bool hands_over(const struct stk_graph_build *b, uint32_t last, const struct stk_node *i)
{
    const struct stk_node *nodes = b->nodes.items;
    int64_t end = stk_node_end(i);
    return nodes[last].lane != i->lane &&
           stk_node_end(&nodes[last]) > i->start_ns + i->dur_ns / 4 &&
           stk_graph_node_at(b, nodes[last].lane, end) == last + 1;
}

// The last node of another thread before this one continued, if that thread then fell silent.
static uint32_t handed_over_by(const struct stk_graph_build *b, const struct stk_vec *falls,
                               uint32_t i)
{
    const struct stk_node *nodes = b->nodes.items;
    const struct by_end *e = falls->items;
    int64_t end = stk_node_end(&nodes[i]), part = nodes[i].dur_ns / HANDOVER_PART;
    int64_t most = part < HANDOVER_NS        ? HANDOVER_NS
                   : part < HANDOVER_MOST_NS ? part
                                             : HANDOVER_MOST_NS;
    size_t from = ends_up_to(falls, end);
    uint32_t best = STK_NONE;
    for (size_t k = from; k > 0 && from - k < FALLS_MOST; k--) {
        bool is_far = end - e[k - 1].end_ns > most;
        if (is_far || (best != STK_NONE && e[k - 1].end_ns < stk_node_end(&nodes[best]))) {
            break;
        }
        best = hands_over(b, e[k - 1].node, &nodes[i]) ? e[k - 1].node : best;
    }
    return best;
}

// The driving thread's last node when a thread that waits for work continued: the node before its
// current one, or the fetch in whose second half it was. It must have been working, or waiting for
// the device in a call that began after the other thread fell silent: a value is read back, which
// another thread copies (JAX).
static uint32_t called_by(const struct stk_graph_build *b, uint32_t i)
{
    const struct stk_node *nodes = b->nodes.items;
    const struct stk_lane *lane = stk_vec_at(&b->lanes, b->g->driver);
    int64_t end = stk_node_end(&nodes[i]);
    uint32_t at = stk_graph_node_at(b, (uint16_t)b->g->driver, end);
    if (nodes[i].lane == b->g->driver || at == STK_NONE ||
        (nodes[at].kind == STK_NODE_WAIT && nodes[at].start_ns < nodes[i].start_ns) ||
        (nodes[at].kind == STK_NODE_WORK && nodes[at].what == STK_WHAT_IDLE)) {
        return STK_NONE;
    }
    bool is_late = end - nodes[at].start_ns > nodes[at].dur_ns / 2;
    if (nodes[at].kind == STK_NODE_INPUT && is_late) {
        return at;
    }
    return at > lane->first ? at - 1 : STK_NONE;
}

// A thread that the driving thread waited for had got its work from it, however late it woke up: it
// was silent when the driving thread fell silent, and began soon, compared with the silence.
static void called_in_return(struct stk_graph_build *b)
{
    struct stk_node *nodes = b->nodes.items;
    const struct stk_lane *lane = stk_vec_at(&b->lanes, b->g->driver);
    for (uint32_t i = lane->first + 1; i < lane->first + lane->count; i++) {
        uint32_t by = is_silent(&nodes[i]) ? nodes[i].wait : STK_NONE;
        uint32_t at =
            by != STK_NONE ? stk_graph_node_at(b, nodes[by].lane, nodes[i].start_ns) : STK_NONE;
        if (at != STK_NONE && at < by && is_silent(&nodes[at]) && nodes[at].wait == STK_NONE &&
            stk_node_end(&nodes[at]) - nodes[i].start_ns <= nodes[i].dur_ns / RETURN_PART) {
            nodes[at].wait = i - 1;
        }
    }
}

// The thread waits from the end of its previous work; nodes are cut where steps begin.
static void wait_from_before(struct stk_node *nodes, uint32_t first, size_t i)
{
    while (i-- > first && nodes[i].kind == STK_NODE_WORK && nodes[i].what == STK_WHAT_IDLE &&
           nodes[i].wait == STK_NONE) {
        nodes[i].dur_ns = 0;
    }
}

static void hand_offs(struct stk_graph_build *b, const struct stk_vec *falls)
{
    struct stk_node *nodes = b->nodes.items;
    for (int pass = 0; falls->count && pass < 2; pass++) { // all are found before any is changed
        if (pass == 1) {
            called_in_return(b);
        }
        for (size_t i = 0; i < b->nodes.count && !stk_node_is_device(&nodes[i]); i++) {
            uint32_t by = nodes[i].wait;
            if (pass == 0 && is_silent(&nodes[i])) {
                by = handed_over_by(b, falls, (uint32_t)i);
                nodes[i].wait = by != STK_NONE ? by : called_by(b, (uint32_t)i);
            } else if (pass == 1 && nodes[i].kind == STK_NODE_WORK && by != STK_NONE) {
                const struct stk_lane *lane = stk_vec_at(&b->lanes, nodes[i].lane);
                wait_for(&nodes[i], &nodes[by], by, stk_node_end(&nodes[i]), 0);
                if (nodes[i].lane != b->g->driver) {
                    wait_from_before(nodes, lane->first, i);
                }
            }
        }
    }
}

bool stk_graph_waits(struct stk_graph_build *b)
{
    struct stk_vec ends, falls;
    stk_vec_init(&ends, sizeof(struct by_end), UINT32_MAX);
    stk_vec_init(&falls, sizeof(struct by_end), UINT32_MAX);
    uint32_t *launched = stk_graph_launched(b->nodes.items, b->nodes.count);
    bool ok = launched && sort_ends(b, &ends) && sort_falls(b, &falls);
    if (ok) {
        hand_offs(b, &falls); // before waiting is removed from calls
    }
    for (size_t l = 0; ok && l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        if (!lane->is_device) {
            calls_of_lane(b, lane, &ends, launched);
        }
    }
    stk_free(launched);
    stk_vec_deinit(&ends);
    stk_vec_deinit(&falls);
    return ok;
}
