// SPDX-License-Identifier: Apache-2.0
// Slack: how much later a node may end without delaying the end. Method: backwards in time, each
// node passes its slack, plus any spare time, to the nodes it waited for. Starts and ends are
// separate, since work begins after the start of its launch call rather than after its end.
//
// Equal times leave the order open: passes are repeated until nothing changes, at most MAX_PASSES
// times. O(n log n) for the sort, O(n) per pass.
#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "answers/replay/critical.h"

#define MAX_PASSES 6

struct instant {
    int64_t t_ns;
    uint32_t node;
    bool is_end;
};

struct slack {
    const struct stk_scene *s;
    const struct stk_times *t;
    int64_t *begin, *end; // per node
    bool changed;
};

STK_ORDER(compare_late, struct instant, STK_DOWN(t_ns) STK_DOWN(node))

static void lower(struct slack *x, int64_t *to, int64_t ns)
{
    ns = ns < 0 ? 0 : ns;
    if (ns < *to) {
        *to = ns;
        x->changed = true;
    }
}

// Passes slack to the nodes that this node's start waited for.
static void go_over_begin(struct slack *x, uint32_t i)
{
    STK_ASSERT(i < x->s->g->node_count);
    const struct stk_node *n = &x->s->nodes[i];
    const struct stk_times *t = x->t;
    const struct stk_lane *lane = &x->s->g->lanes[n->lane];
    bool is_device = stk_node_is_device(n);
    int64_t own = is_device ? 0 : t->end_ns[i] - t->begin_ns[i] - n->dur_ns;
    lower(x, &x->begin[i], x->end[i] + own);
    int64_t at = t->begin_ns[i] - (is_device ? n->rest_ns : 0), has = x->begin[i];
    if (i > lane->first) {
        lower(x, &x->end[i - 1], has + at - t->end_ns[i - 1] - (is_device ? n->gap_ns : 0));
    }
    if (is_device && n->launch != STK_NONE) {
        lower(x, &x->begin[n->launch], has + at - t->begin_ns[n->launch] - n->lag_ns);
    }
    if (is_device && n->wait != STK_NONE) {
        lower(x, &x->end[n->wait], has + at - t->end_ns[n->wait]);
    }
}

static void go_over_end(struct slack *x, uint32_t i)
{
    STK_ASSERT(i < x->s->g->node_count);
    const struct stk_node *n = &x->s->nodes[i];
    bool waits = !stk_node_is_device(n) && n->kind != STK_NODE_INPUT && n->wait != STK_NONE;
    if (waits) {
        lower(x, &x->end[n->wait], x->end[i] + x->t->end_ns[i] - x->t->end_ns[n->wait] - n->lag_ns);
    }
}

static void go_back(struct slack *x, const struct instant *instants)
{
    size_t count = 2 * (size_t)x->s->g->node_count;
    x->changed = true;
    for (int pass = 0; x->changed && pass < MAX_PASSES; pass++) {
        x->changed = false;
        for (size_t k = 0; k < count; k++) {
            if (instants[k].is_end) {
                go_over_end(x, instants[k].node);
            } else {
                go_over_begin(x, instants[k].node);
            }
        }
    }
}

int64_t *stk_critical_slack(const struct stk_scene *s, const struct stk_times *t)
{
    uint32_t n = s->g->node_count;
    struct instant *instants = stk_alloc_array(2 * (size_t)n + 1, sizeof *instants);
    struct slack x = {.s = s, .t = t};
    x.begin = stk_alloc_array((size_t)n + 1, sizeof *x.begin);
    x.end = stk_alloc_array((size_t)n + 1, sizeof *x.end);
    if (instants && x.begin && x.end) {
        int64_t last = INT64_MIN;
        for (uint32_t i = 0; i < n; i++) {
            last = t->end_ns[i] > last ? t->end_ns[i] : last;
        }
        for (uint32_t i = 0; i < n; i++) {
            instants[2 * (size_t)i] = (struct instant){t->begin_ns[i], i, false};
            instants[2 * (size_t)i + 1] = (struct instant){t->end_ns[i], i, true};
            x.begin[i] = INT64_MAX;
            x.end[i] = last - t->end_ns[i];
        }
        stk_sort(instants, 2 * (size_t)n, sizeof *instants, compare_late);
        go_back(&x, instants);
    } else {
        stk_free(x.end);
        x.end = NULL;
    }
    stk_free(instants);
    stk_free(x.begin);
    return x.end;
}
