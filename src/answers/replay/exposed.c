// SPDX-License-Identifier: Apache-2.0
// Exposed time (exposed.h). Method: merges the device's lanes, each a sequence of nodes, by time
// into stretches in which the same lanes are busy: O(nodes x lanes). Each stretch belongs to one
// class, to which its part in used steps is added. Limits: lanes beyond LANES_MOST are ignored.
#include "answers/replay/exposed.h"

#include "base/assert.h"

enum { LANES_MOST = 64, RANKS = 3 };
static const enum stk_critical order[RANKS] = {STK_CRITICAL_COMPUTE, STK_CRITICAL_COMMUNICATION,
                                               STK_CRITICAL_TRANSFER};

struct cursor {
    uint32_t node, end; // the next or the running node
    int64_t change_ns;  // when it begins, or ends
    uint8_t rank;       // of what runs, in `order`; RANKS: nothing
};

struct sweep {
    const struct stk_scene *s;
    const struct stk_times *t;
    const int64_t *borders_ns;
    int64_t *ns;
    uint32_t step,
        host; // the first one that may extend into the next stretch: of the steps, of the driver's
              // nodes
    struct cursor lanes[LANES_MOST];
    uint32_t lane_count;
};

// Adds the part of [from, to) in used steps to the class. Stretches come in order.
static void add_used(struct sweep *w, enum stk_critical class, int64_t from_ns, int64_t to_ns)
{
    const struct stk_graph *g = w->s->g;
    STK_ASSERT((unsigned)class < STK_CRITICAL_COUNT);
    while (w->step < g->step_count && w->borders_ns[w->step + 1] <= from_ns) {
        w->step++;
    }
    for (uint32_t k = w->step; k < g->step_count && w->borders_ns[k] < to_ns; k++) {
        int64_t low = w->borders_ns[k] > from_ns ? w->borders_ns[k] : from_ns;
        int64_t high = w->borders_ns[k + 1] < to_ns ? w->borders_ns[k + 1] : to_ns;
        w->ns[class] += g->steps[k].used && high > low ? high - low : 0;
    }
}

// While the device waits, or without a device: adds the work of the driving thread.
static void add_waiting(struct sweep *w, int64_t from_ns, int64_t to_ns)
{
    const struct stk_lane *driver = &w->s->g->lanes[w->s->g->driver];
    uint32_t end = driver->first + driver->count;
    while (w->host < end && w->t->end_ns[w->host] <= from_ns) {
        w->host++;
    }
    for (uint32_t i = w->host; i < end && w->t->begin_ns[i] < to_ns; i++) {
        int64_t begin = w->t->begin_ns[i] < from_ns ? from_ns : w->t->begin_ns[i];
        int64_t until = w->t->end_ns[i] > to_ns ? to_ns : w->t->end_ns[i];
        if (begin > from_ns) {
            add_used(w, STK_CRITICAL_UNKNOWN, from_ns, begin);
        }
        if (until > begin) {
            add_used(w, stk_critical_class(w->s->g, &w->s->nodes[i]), begin, until);
        }
        from_ns = until > from_ns ? until : from_ns;
    }
    if (from_ns < to_ns) {
        add_used(w, STK_CRITICAL_UNKNOWN, from_ns, to_ns);
    }
}

// The class of a stretch; STK_CRITICAL_COUNT: nothing runs on the device.
static enum stk_critical running(const struct sweep *w)
{
    uint8_t best = RANKS;
    for (uint32_t l = 0; l < w->lane_count; l++) {
        best = w->lanes[l].rank < best ? w->lanes[l].rank : best;
    }
    return best < RANKS ? order[best] : STK_CRITICAL_COUNT;
}

// The lane with the next start or end; STK_NONE: none.
static uint32_t next_change(const struct sweep *w)
{
    uint32_t found = STK_NONE;
    int64_t at_ns = INT64_MAX;
    for (uint32_t l = 0; l < w->lane_count; l++) {
        if (w->lanes[l].node < w->lanes[l].end && w->lanes[l].change_ns < at_ns) {
            found = l;
            at_ns = w->lanes[l].change_ns;
        }
    }
    return found;
}

// Starts the lane's next node, or ends its running one.
static void change(struct sweep *w, struct cursor *c)
{
    if (c->rank == RANKS) {
        enum stk_critical class = stk_critical_class(w->s->g, &w->s->nodes[c->node]);
        c->rank = class == order[0] ? 0 : class == order[1] ? 1 : 2;
        c->change_ns = w->t->end_ns[c->node];
        return;
    }
    c->rank = RANKS;
    c->node++;
    c->change_ns = c->node < c->end ? w->t->begin_ns[c->node] : INT64_MAX;
}

static void add_stretch(struct sweep *w, int64_t from_ns, int64_t to_ns)
{
    if (to_ns <= from_ns) {
        return;
    }
    enum stk_critical class = running(w);
    if (class == STK_CRITICAL_COUNT) {
        add_waiting(w, from_ns, to_ns);
    } else {
        add_used(w, class, from_ns, to_ns);
    }
}

void stk_exposed_sum(const struct stk_scene *s, const struct stk_times *t,
                     const int64_t *borders_ns, int64_t ns[STK_CRITICAL_COUNT])
{
    const struct stk_graph *g = s->g;
    STK_ASSERT(g->driver < g->lane_count);
    struct sweep w = {.s = s, .t = t, .borders_ns = borders_ns, .ns = ns};
    w.host = g->lanes[g->driver].first;
    for (uint32_t l = 0; l < g->lane_count && w.lane_count < LANES_MOST; l++) {
        const struct stk_lane *lane = &g->lanes[l];
        if (lane->is_device && lane->count) {
            w.lanes[w.lane_count++] = (struct cursor){.node = lane->first,
                                                      .end = lane->first + lane->count,
                                                      .change_ns = t->begin_ns[lane->first],
                                                      .rank = RANKS};
        }
    }
    int64_t at = borders_ns[0], end = borders_ns[g->step_count];
    for (uint32_t l; at < end && (l = next_change(&w)) != STK_NONE;) {
        int64_t next = w.lanes[l].change_ns;
        add_stretch(&w, at, next < end ? next : end);
        at = next > at ? next : at;
        change(&w, &w.lanes[l]);
    }
    add_stretch(&w, at, end);
}
