// SPDX-License-Identifier: Apache-2.0
// The next batch is copied during a step, on a separate stream and from pinned memory, so copies to
// the device leave the kernels' streams. A step still takes at least as long as its copies.
#include "answers/replay/price_transfers.h"

#define DRY_NS (50 * STK_US) // a stream that is idle this long before a copy waits for the host

static bool has_kernels(const struct stk_graph *g, uint32_t lane)
{
    const struct stk_lane *l = &g->lanes[lane];
    for (uint32_t i = l->first; i < l->first + l->count; i++) {
        if (g->nodes[i].kind == STK_NODE_KERNEL) {
            return true;
        }
    }
    return false;
}

static const char *transfer_overlap_refuse(const struct stk_graph *g)
{
    for (uint32_t l = 0; l < g->lane_count; l++) {
        const struct stk_lane *lane = &g->lanes[l];
        bool kernels = lane->is_device && has_kernels(g, l);
        for (uint32_t i = lane->first; kernels && i < lane->first + lane->count; i++) {
            if (stk_price_is_to_device(&g->nodes[i])) {
                return NULL;
            }
        }
    }
    return stk_price_finds(g, STK_NODE_COPY, STK_WHAT_H2D_PAGEABLE)
               ? NULL
               : "no host-to-device copy is between kernels of its stream";
}

// A batch that the launching thread makes itself, and copies to a stream that has run dry by then:
// no kernel could overlap the copy, unless the batch is also made a step ahead.
static bool is_alone(const struct stk_graph *g, uint32_t lane, uint32_t i)
{
    const struct stk_node *n = &g->nodes[i];
    return g->feed == STK_FEED_INLINE && !g->has_workers && i > g->lanes[lane].first &&
           n->start_ns - stk_node_end(&g->nodes[i - 1]) > DRY_NS;
}

static bool transfer_overlap_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    const struct stk_graph *g = s->g;
    double copies_ns = 0;
    stk_price_pin(s, how->level);
    for (uint32_t l = 0; l < g->lane_count; l++) {
        const struct stk_lane *lane = &g->lanes[l];
        bool kernels = lane->is_device && has_kernels(g, l);
        for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
            struct stk_node *n = &s->nodes[i];
            if (stk_price_is_to_device(n)) {
                copies_ns += (double)n->dur_ns;
                bool stays = !kernels || (how->level != STK_PRICE_LOW && is_alone(g, l, i));
                // The remaining cost: kernels share memory bandwidth with an overlapped copy.
                n->dur_ns = stays ? n->dur_ns : how->level == STK_PRICE_HIGH ? n->dur_ns / 10 : 0;
                n->rest_ns = stays ? n->rest_ns : 0;
            }
        }
    }
    double step_ns = copies_ns / g->step_count;
    s->floor_ns = step_ns > s->floor_ns ? step_ns : s->floor_ns;
    return true;
}

const struct stk_price_row stk_price_transfer_overlap = {
    .id = "transfer-overlap",
    .what = "copy the next batch while a step runs",
    .assumes = "batches are in pinned memory, and the GPU has room for two",
    .is_priced_alone = true,
    .refuse = transfer_overlap_refuse,
    .apply = transfer_overlap_apply,
    .vary = stk_price_stage,
};
