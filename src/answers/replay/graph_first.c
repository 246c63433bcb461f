// SPDX-License-Identifier: Apache-2.0
// Whether the first step counts for the mean, in a profile with a device.
//
// A first step without earlier recorded work begins on the device when it begins on the host. Later
// steps begin when the device has finished earlier work. If the host is a whole step ahead of the
// device by then, the first step includes filling the queue. If it is a quarter longer than every
// other step, it includes start-up of its own: one-time work of a profiler, an allocator or a
// cache. In both cases it is left out of the mean, since no other step is like it.
//
// The model leaves out a first step only if it takes twice the median. That is enough for a
// diagnosis, but not for the mean that prices start from: in a profile of a dozen steps it would be
// off by a tenth.
#include "base/alloc.h"
#include "answers/replay/graph.h"

#define FEW_STEPS 5 // with fewer, a different first step isn't recognized
#define LONGER 1.25 // than the longest of the others

struct times {
    int64_t *begins_ns, *ends_ns; // of each step's work on the device
};

static void find_times(const struct stk_graph_build *b, struct times *t)
{
    const struct stk_node *nodes = b->nodes.items;
    for (uint32_t k = 0; k < b->g->step_count; k++) {
        t->begins_ns[k] = INT64_MAX;
        t->ends_ns[k] = INT64_MIN;
    }
    for (size_t i = 0; i < b->nodes.count; i++) {
        const struct stk_node *n = &nodes[i];
        if (stk_node_is_device(n)) {
            int64_t end = stk_node_end(n), *begin = &t->begins_ns[n->step];
            *begin = n->start_ns < *begin ? n->start_ns : *begin;
            t->ends_ns[n->step] = end > t->ends_ns[n->step] ? end : t->ends_ns[n->step];
        }
    }
}

// When the device has finished work launched before the steps; INT64_MIN: none.
static int64_t free_at(const struct stk_graph_build *b)
{
    int64_t free_ns = INT64_MIN;
    for (size_t l = 0; l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        free_ns = lane->is_device && lane->free_ns > free_ns ? lane->free_ns : free_ns;
    }
    return free_ns;
}

static bool fills_queue(const struct stk_graph *g, const struct times *t, int64_t free_ns)
{
    int64_t first = t->begins_ns[0], last = t->begins_ns[g->step_count - 1];
    if (first == INT64_MAX || last == INT64_MAX || free_ns > g->steps[0].start_ns) {
        return false;
    }
    int64_t period_ns = (last - first) / (g->step_count - 1);
    return period_ns > 0 && first - g->steps[0].start_ns > period_ns;
}

// A step lasts until the device has finished it, and at least until the next one begins on the
// host.
static bool is_longest(const struct stk_graph_build *b, const struct times *t, int64_t free_ns)
{
    const struct stk_graph *g = b->g;
    int64_t at = g->steps[0].start_ns > free_ns ? g->steps[0].start_ns : free_ns;
    int64_t first_ns = 0, longest_ns = 0, done = at;
    for (uint32_t k = 0; k < g->step_count; k++) {
        done = t->ends_ns[k] > done ? t->ends_ns[k] : done;
        int64_t next = b->starts_ns[k + 1] > done ? b->starts_ns[k + 1] : done;
        int64_t length = next - at;
        first_ns = k ? first_ns : length;
        longest_ns = k && length > longest_ns ? length : longest_ns;
        at = next;
    }
    return (double)first_ns > LONGER * (double)longest_ns;
}

bool stk_graph_first(struct stk_graph_build *b)
{
    struct stk_graph *g = b->g;
    if (!g->has_device || g->step_count < FEW_STEPS || !g->steps[0].used ||
        g->steps_used < FEW_STEPS) {
        return true;
    }
    struct times t = {stk_alloc_array(g->step_count, sizeof *t.begins_ns),
                      stk_alloc_array(g->step_count, sizeof *t.ends_ns)};
    bool ok = t.begins_ns && t.ends_ns;
    if (ok) {
        int64_t free_ns = free_at(b);
        find_times(b, &t);
        g->leaves_first = fills_queue(g, &t, free_ns) || is_longest(b, &t, free_ns);
        g->steps[0].used = !g->leaves_first;
        g->steps_used -= g->leaves_first;
    }
    stk_free(t.begins_ns);
    stk_free(t.ends_ns);
    return ok;
}
