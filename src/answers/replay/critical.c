// SPDX-License-Identifier: Apache-2.0
// The critical path (critical.h). Method: one walk, a node at a time, O(length of the path).
#include "answers/replay/critical.h"

#include "base/assert.h"

const char *stk_critical_key(enum stk_critical of)
{
    STK_ASSERT((unsigned)of < STK_CRITICAL_COUNT);
    static const char *const keys[] = {"compute",  "input",         "host",   "sync",
                                       "transfer", "communication", "unknown"};
    return keys[of];
}

enum stk_critical stk_critical_class(const struct stk_graph *g, const struct stk_node *n)
{
    switch ((enum stk_node_kind)n->kind) {
    case STK_NODE_KERNEL:
        return STK_CRITICAL_COMPUTE;
    case STK_NODE_COPY:
        return n->what == STK_WHAT_OTHER ? STK_CRITICAL_COMPUTE : STK_CRITICAL_TRANSFER;
    case STK_NODE_COLLECTIVE:
        return STK_CRITICAL_COMMUNICATION;
    case STK_NODE_INPUT:
        return STK_CRITICAL_INPUT;
    case STK_NODE_WAIT:
        return n->what == STK_WHAT_STAGING ? STK_CRITICAL_TRANSFER : STK_CRITICAL_SYNC;
    case STK_NODE_WORK:
    case STK_NODE_CALL:
        return g->has_device ? STK_CRITICAL_HOST : STK_CRITICAL_COMPUTE;
    }
    return STK_CRITICAL_UNKNOWN;
}

// The node that ended last in the steps.
static uint32_t last_of(const struct stk_scene *s, const struct stk_times *t)
{
    STK_ASSERT(s->g->driver < s->g->lane_count);
    const struct stk_lane *driver = &s->g->lanes[s->g->driver];
    STK_ASSERT(driver->count > 0);
    uint32_t last = driver->first + driver->count - 1;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        if (stk_node_is_device(&s->nodes[i]) && t->end_ns[i] > t->end_ns[last]) {
            last = i;
        }
    }
    return last;
}

void stk_critical_walk(const struct stk_scene *s, const struct stk_times *t, stk_critical_see see,
                       void *arg)
{
    uint32_t i = last_of(s, t);
    int64_t at = t->end_ns[i];
    for (uint32_t steps = 0; i != STK_NONE && steps < 2 * s->g->node_count; steps++) {
        const struct stk_node *n = &s->nodes[i];
        const struct stk_lane *lane = &s->g->lanes[n->lane];
        uint32_t from = i > lane->first ? i - 1 : STK_NONE;
        int64_t until = t->begin_ns[i];
        enum stk_critical class = stk_critical_class(s->g, n);
        if (stk_node_is_device(n)) {
            if (at > until) {
                see(arg, i, class, until, at);
            }
            at = at < until ? at : until;
            if (t->bound[i] != STK_BOUND_LANE) { // the gap is a launch or a synchronization
                from = t->bound[i] == STK_BOUND_LAUNCH ? n->launch : n->wait;
            }
            until = t->bound[i] == STK_BOUND_LAUNCH ? t->begin_ns[from]
                    : from != STK_NONE              ? t->end_ns[from]
                                                    : at;
            class = STK_CRITICAL_HOST;
            if (t->bound[i] == STK_BOUND_LAUNCH) { // the call continues while its work runs
                if (at > until) {
                    see(arg, from, class, until, at);
                }
                at = at < until ? at : until;
                const struct stk_lane *host = &s->g->lanes[s->nodes[from].lane];
                i = from > host->first ? from - 1 : STK_NONE;
                continue;
            }
        } else if (t->bound[i] == STK_BOUND_WAIT) {
            from = n->wait;
            until = t->end_ns[from];
        }
        if (at > until) {
            see(arg, i, class, until, at);
        }
        at = at < until ? at : until;
        i = from;
    }
}

static void add(void *arg, uint32_t node, enum stk_critical class, int64_t from_ns, int64_t to_ns)
{
    STK_ASSERT((unsigned)class < STK_CRITICAL_COUNT);
    (void)node;
    ((int64_t *)arg)[class] += to_ns - from_ns;
}

void stk_critical_sum(const struct stk_scene *s, const struct stk_times *t,
                      int64_t ns[STK_CRITICAL_COUNT])
{
    stk_critical_walk(s, t, add, ns);
}
