// SPDX-License-Identifier: Apache-2.0
// Merges neighboring elementwise kernels of a stream. The merged kernel reads and writes once what
// each of them did. For each further kernel it reads another operand in half of the cases, out of
// 2.5 accesses. The other kernels' calls are removed, and the host's work between them.
#include "base/assert.h"
#include "answers/replay/price_row.h"

// The time that each further kernel adds to the merged one, as a share of a kernel.
static const double further[STK_PRICE_LEVELS] = {0.1, 0.2, 0.4};

// The number of kernels from `i` on that can be merged.
static uint32_t chain_at(const struct stk_node *nodes, uint32_t i, uint32_t end)
{
    uint32_t n = 0;
    while (i + n < end && nodes[i + n].kind == STK_NODE_KERNEL &&
           nodes[i + n].what == STK_WHAT_ELEMENTWISE && nodes[i + n].step == nodes[i].step &&
           (n == 0 || nodes[i + n].wait == STK_NONE)) {
        n++;
    }
    return n;
}

static const char *fuse_refuse(const struct stk_graph *g)
{
    for (uint32_t l = 0; l < g->lane_count; l++) {
        const struct stk_lane *lane = &g->lanes[l];
        for (uint32_t i = lane->first; lane->is_device && i < lane->first + lane->count; i++) {
            if (chain_at(g->nodes, i, lane->first + lane->count) > 1) {
                return NULL;
            }
        }
    }
    return "no elementwise kernels run in a row";
}

static void fuse(struct stk_scene *s, uint32_t first, uint32_t count, double each)
{
    STK_ASSERT(count > 1 && first + count <= s->g->node_count);
    struct stk_node *nodes = s->nodes;
    int64_t sum_ns = 0;
    for (uint32_t i = first; i < first + count; i++) {
        sum_ns += nodes[i].dur_ns;
        nodes[i].dur_ns = 0;
        if (i == first) {
            continue;
        }
        nodes[i].gap_ns = nodes[i].rest_ns = 0;
        if (nodes[i].launch != STK_NONE) {
            stk_price_drop_call(s, nodes[i].launch);
            nodes[i].launch = nodes[first].launch;
            nodes[i].lag_ns = nodes[first].lag_ns;
        }
    }
    nodes[first].dur_ns = stk_price_scaled(sum_ns, (1 + each * (count - 1)) / count);
}

static bool fuse_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    for (uint32_t l = 0; l < s->g->lane_count; l++) {
        const struct stk_lane *lane = &s->g->lanes[l];
        uint32_t end = lane->first + lane->count;
        for (uint32_t i = lane->first; lane->is_device && i < end;) {
            uint32_t n = chain_at(s->nodes, i, end);
            if (n > 1) {
                fuse(s, i, n, further[how->level]);
            }
            i += n ? n : 1;
        }
    }
    return true;
}

const struct stk_price_row stk_price_fuse = {
    .id = "fuse",
    .what = "fuse elementwise kernels that run in a row",
    .assumes = "a compiler may fuse them: nothing else needs the values between them",
    .is_priced_alone = true,
    .refuse = fuse_refuse,
    .apply = fuse_apply,
};
