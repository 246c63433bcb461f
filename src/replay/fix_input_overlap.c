// SPDX-License-Identifier: Apache-2.0
// A worker prepares batches beside the step (prefetch, num_workers=1): what the fetching thread did
// becomes the pace of that worker, one batch after the other, from the first fetch on.
#include "replay/fix.h"

static const char *input_overlap_refuse(const struct stk_graph *g)
{
    return g->feed == STK_FEED_WORKERS ? "batches are prepared beside the step already"
                                       : stk_fix_refuse_input(g);
}

static bool input_overlap_apply(struct stk_scene *s, const struct stk_fix_how *how)
{
    const struct stk_lane *lane = &s->g->lanes[s->g->driver];
    int64_t fetch_ns = s->g->calibration.fetch_ns, ready_ns = INT64_MIN;
    int64_t slower = how->level == STK_FIX_HIGH ? 10 : 0; // percent: the worker shares the caches
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind != STK_NODE_INPUT || n->dur_ns <= fetch_ns) {
            continue;
        }
        int64_t work_ns = n->dur_ns - fetch_ns;
        ready_ns =
            ready_ns == INT64_MIN ? n->start_ns : ready_ns + work_ns + work_ns * slower / 100;
        n->dur_ns = fetch_ns;
        s->ready_ns[n->wait] = ready_ns;
    }
    return true;
}

const struct stk_fix stk_fix_input_overlap = {
    .id = "input-overlap",
    .what = "a worker prepares the next batch while the step runs",
    .assumes = "a processor is free for it",
    .is_priced_alone = true,
    .refuse = input_overlap_refuse,
    .apply = input_overlap_apply,
};
