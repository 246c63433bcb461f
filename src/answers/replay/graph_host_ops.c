// SPDX-License-Identifier: Apache-2.0
// Operations on the host in the middle of the device's work: a copy of data to the host that the
// thread waits for, work of the thread without launches, then a copy to the device.
//
// The operation is named after the event with most of the work. In a profile without such events
// (Nsight Systems) it has no name. Limits: reading back single values doesn't count as an
// operation. Neither does fetching a batch between the copies, or data that never returns.
#include "base/alloc.h"
#include "profile/model/threads/thread_segments.h"
#include "answers/replay/graph.h"

#define DATA_KIB 64            // smaller copies are values for decisions
#define WORTH_NS (20 * STK_US) // shorter work between the copies belongs to the framework
#define ALIKE 8                // most difference between the two copies' sizes

static bool is_data(const struct stk_node *n, enum stk_node_what pinned,
                    enum stk_node_what pageable)
{
    return n->kind == STK_NODE_COPY && (n->what == pinned || n->what == pageable) &&
           n->size >= DATA_KIB;
}

// The copy to the host that a call waits for: its own, or launched before it.
static uint32_t brought(const struct stk_node *nodes, uint32_t i)
{
    uint32_t op = nodes[i].kind == STK_NODE_WAIT ? nodes[i].wait : STK_NONE;
    bool data = op != STK_NONE && stk_node_is_device(&nodes[op]) &&
                is_data(&nodes[op], STK_WHAT_D2H, STK_WHAT_D2H_PAGEABLE);
    return data ? op : STK_NONE;
}

// The call that copies the result back; STK_NONE: the thread did something else first.
static uint32_t copied_by(const struct stk_graph_build *b, const uint32_t *launched, uint32_t wait,
                          uint32_t end)
{
    const struct stk_node *nodes = b->nodes.items;
    int64_t work_ns = 0;
    for (uint32_t i = wait + 1; i < end && nodes[i].step == nodes[wait].step; i++) {
        uint32_t op = launched[i];
        if (op != STK_NONE) {
            bool back = is_data(&nodes[op], STK_WHAT_H2D, STK_WHAT_H2D_PAGEABLE);
            uint64_t to = nodes[nodes[wait].wait].size, from = back ? nodes[op].size : 0;
            return back && work_ns >= WORTH_NS && from <= ALIKE * to && to <= ALIKE * from
                       ? i
                       : STK_NONE;
        }
        if (nodes[i].kind == STK_NODE_INPUT || nodes[i].kind == STK_NODE_WAIT) {
            return STK_NONE;
        }
        work_ns += nodes[i].dur_ns;
    }
    return STK_NONE;
}

// The name of the event with most of [from, to) on a thread, in the arena; NULL: none.
static const char *name_of(const struct stk_graph_build *b, struct stk_thread_segments *segments,
                           uint32_t track, int64_t from_ns, int64_t to_ns)
{
    int64_t best_ns = 0;
    uint32_t event = STK_NONE;
    if (!stk_segments_collect(segments, track, from_ns, to_ns)) {
        return NULL;
    }
    const struct stk_segment *s = segments->list.items;
    for (size_t i = 0; i < segments->list.count; i++) {
        if (s[i].doing == STK_DOING_OTHER && s[i].event != STK_NONE &&
            s[i].end_ns - s[i].start_ns > best_ns) {
            best_ns = s[i].end_ns - s[i].start_ns;
            event = s[i].event;
        }
    }
    if (event == STK_NONE || best_ns < (to_ns - from_ns) / 2) {
        return NULL;
    }
    struct stk_str name = stk_name_of(b->a->t, event);
    return stk_arena_strndup(b->arena, name.p, name.n);
}

static bool find_in(struct stk_graph_build *b, const struct stk_lane *lane,
                    const uint32_t *launched, struct stk_thread_segments *segments,
                    struct stk_vec *out)
{
    const struct stk_node *nodes = b->nodes.items;
    uint32_t end = lane->first + lane->count;
    for (uint32_t i = lane->first; i < end; i++) {
        uint32_t to_host = brought(nodes, i);
        uint32_t call = to_host != STK_NONE ? copied_by(b, launched, i, end) : STK_NONE;
        if (call == STK_NONE) {
            continue;
        }
        int64_t from_ns = nodes[i + 1].start_ns;
        struct stk_host_op *op = stk_vec_push(out);
        if (!op) {
            return false;
        }
        *op =
            (struct stk_host_op){i, call, to_host, launched[call],
                                 name_of(b, segments, lane->track, from_ns, nodes[call].start_ns)};
        i = call - 1;
    }
    return true;
}

bool stk_graph_host_ops(struct stk_graph_build *b)
{
    struct stk_thread_segments segments = {0};
    struct stk_vec found;
    if (!b->g->has_device || b->g->is_span) {
        return true;
    }
    stk_vec_init(&found, sizeof(struct stk_host_op), UINT32_MAX);
    uint32_t *launched = stk_graph_launched(b->nodes.items, b->nodes.count);
    bool ok = launched && stk_segments_init(&segments, b->a);
    for (size_t l = 0; ok && l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        ok = lane->is_device || find_in(b, lane, launched, &segments, &found);
    }
    if (ok && found.count) {
        b->g->host_ops = stk_arena_items(b->arena, &found);
        b->g->host_op_count = (uint32_t)found.count;
        ok = b->g->host_ops != NULL;
    }
    if (segments.rows) {
        stk_segments_deinit(&segments);
    }
    stk_free(launched);
    stk_vec_deinit(&found);
    return ok;
}
