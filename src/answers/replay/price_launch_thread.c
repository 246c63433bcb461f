// SPDX-License-Identifier: Apache-2.0
// Gives the launching threads their own CPU cores (TF_GPU_THREAD_MODE=gpu_private, pinned threads,
// fewer other threads), so their work takes as long as on an undisturbed core.
//
// Method: a launch call is the same work in every job, some microseconds. If the median call takes
// much longer, its thread didn't have the core all the time, and all its work is assumed to be
// stretched by the same factor. An undisturbed call takes between QUIET_LOW_NS and QUIET_HIGH_NS;
// the profile's own fastest tenth gives the lower end.
//
// Limits: if steps wait for workers there is no price, since the workers would lose those cores. A
// slow CPU looks the same, so the pessimistic end may have no gain. Losses of other threads aren't
// included.
#include "base/alloc.h"
#include "base/assert.h"
#include "answers/replay/price_row.h"

// A launch call under a profiler, as published: 4 to 6 us on current CPUs.
#define QUIET_LOW_NS 4000
#define QUIET_NS 5500
#define QUIET_HIGH_NS 8000
#define STARVED 0.7      // the workers' pace, as a share of the step
#define HELD_UP_NS 10000 // a median call of this length was delayed

// Are steps as long as the workers' pace?
static bool is_starved(const struct stk_graph *g)
{
    uint32_t first = g->waited_first, last = g->waited_last;
    double pace_ns = first == STK_NONE || first == last
                         ? 0
                         : (double)(g->ready_ns[last] - g->ready_ns[first]) / (last - first);
    double step_ns = (double)(g->end_ns - g->steps[0].start_ns) / g->step_count;
    return pace_ns > STARVED * step_ns;
}

static const char *launch_thread_refuse(const struct stk_graph *g)
{
    return !stk_price_finds(g, STK_NODE_KERNEL, -1) ? "no GPU work was recorded"
           : g->calibration.call_ns < HELD_UP_NS
               ? "launch calls take no longer than on an uncontended core"
           : is_starved(g) ? "steps wait for workers that may need the same cores: how much these "
                             "would lose isn't known"
                           : NULL;
}

// A call's undisturbed time over its recorded time.
static double stretch_left(const struct stk_calibration *c, enum stk_price_level level)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS);
    int64_t high = c->quick_call_ns > QUIET_HIGH_NS ? c->quick_call_ns : QUIET_HIGH_NS;
    int64_t quiet = level == STK_PRICE_LOW        ? QUIET_LOW_NS
                    : level == STK_PRICE_EXPECTED ? QUIET_NS
                                                  : high;
    return quiet < c->call_ns ? (double)quiet / (double)c->call_ns : 1;
}

static bool launch_thread_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    const struct stk_graph *g = s->g;
    double left = stretch_left(&g->calibration, how->level);
    bool *launches = stk_alloc_zero((size_t)g->lane_count + 1, sizeof *launches);
    for (uint32_t i = 0; launches && i < g->node_count; i++) {
        if (s->nodes[i].launch != STK_NONE) {
            launches[s->nodes[s->nodes[i].launch].lane] = true;
        }
    }
    for (uint32_t i = 0; launches && i < g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (!stk_node_is_device(n) && launches[n->lane]) {
            n->dur_ns = stk_price_scaled(n->dur_ns, left);
        }
    }
    stk_free(launches);
    return launches != NULL;
}

const struct stk_price_row stk_price_launch_thread = {
    .id = "launch-thread",
    .what = "give launching threads CPU cores of their own",
    .assumes = "launch calls are slow because other threads compete for the core, not because the "
               "core is slow",
    .is_priced_alone = true,
    .refuse = launch_thread_refuse,
    .apply = launch_thread_apply,
};
