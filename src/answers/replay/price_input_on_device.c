// SPDX-License-Identifier: Apache-2.0
// A kernel does a share of a batch's preparation: decoding and augmentation on the device.
//
// Method: that share is removed from the fetching thread, or from the workers' pace. A kernel
// before the step's own replaces it, SPEED times as fast as one CPU core, which is a prior. A
// batch's work is that of the fetching thread, or the workers' pace times their number. If the
// profile doesn't show them (separate processes), one to eight are assumed.
//
// A kernel can't wait for files: at least a tenth of the share moves. If the workers' recorded
// items take far longer on average than the median one, a few slow batches delay them. Those wait
// for storage, which a kernel can't do either. Then the share of an ordinary batch's work moves, at
// best the share of all work.
//
// Limits: it isn't known which part of the preparation has a kernel, so the user gives the share;
// raw data may take longer to copy; one kernel represents many.
#include "base/assert.h"
#include "answers/replay/price_row.h"

static const double speed[STK_PRICE_LEVELS] = {80, 30, 8};
static const double moves[STK_PRICE_LEVELS] = {1, 1, 0.1}; // of the requested share
static const double workers[STK_PRICE_LEVELS] = {1, 4, 8}; // if they aren't recorded

static const char *input_on_device_refuse(const struct stk_graph *g)
{
    bool waits = g->feed == STK_FEED_INLINE || g->pace_ns > 0;
    for (uint32_t k = 0; k < g->batch_count; k++) {
        waits |= g->ready_ns[k] != INT64_MIN;
    }
    return !stk_price_finds(g, STK_NODE_KERNEL, -1) ? "no GPU work was recorded"
           : stk_price_refuse_input(g)              ? stk_price_refuse_input(g)
           : !waits ? "no step waits for its batch, so the cost of preparing one isn't known"
                    : NULL;
}

static const char *input_on_device_refuse_value(const struct stk_graph *g,
                                                const struct stk_price_how *how)
{
    (void)g;
    return how->value > 1 ? "at most 1, the share of the preparation that moves" : NULL;
}

// The fetching thread's average work for a batch.
static double shorten_fetches(struct stk_scene *s, double share)
{
    int64_t fetch_ns = s->g->calibration.fetch_ns;
    double all_ns = 0;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind == STK_NODE_INPUT && n->dur_ns > fetch_ns) {
            all_ns += (double)(n->dur_ns - fetch_ns);
            n->dur_ns -= stk_price_scaled(n->dur_ns - fetch_ns, share);
        }
    }
    return all_ns / s->g->step_count;
}

// Adds a kernel before the first one of each step.
static void add_kernels(struct stk_scene *s, double ns)
{
    uint32_t step = STK_NONE, lane = STK_NONE;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        bool counts = n->kind == STK_NODE_KERNEL && (lane == STK_NONE || n->lane == lane);
        if (counts && n->step != step) {
            n->dur_ns += (int64_t)ns;
            step = n->step;
            lane = n->lane;
        }
    }
}

static bool input_on_device_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    STK_ASSERT((unsigned)how->level < STK_PRICE_LEVELS);
    double share = how->value * moves[how->level], work_ns, pace_ns = s->floor_ns;
    bool is_seen = s->g->pace_ns > 0 && s->g->beside > 0;
    if (s->g->feed == STK_FEED_INLINE && !s->g->has_workers) {
        work_ns = shorten_fetches(s, share);
    } else {
        double waited_ns = stk_price_drop_pace(s);
        pace_ns = waited_ns > pace_ns ? waited_ns : pace_ns;
        work_ns = pace_ns * (is_seen ? s->g->beside : workers[how->level]);
        s->floor_ns =
            pace_ns - share * pace_ns * (how->level == STK_PRICE_LOW ? 1 : s->g->ordinary);
    }
    add_kernels(s, work_ns * share / speed[how->level]);
    return true;
}

const struct stk_price_row stk_price_input_on_device = {
    .id = "input-on-device=",
    .value = "0.7",
    .what = "move this share of a batch's preparation to the GPU",
    .assumes = "GPU kernels exist for that share, 8 to 80 times faster than one core",
    .is_priced_alone = false,
    .may_slow = true,
    .refuse = input_on_device_refuse,
    .refuse_value = input_on_device_refuse_value,
    .apply = input_on_device_apply,
};
