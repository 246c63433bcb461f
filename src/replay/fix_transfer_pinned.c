// SPDX-License-Identifier: Apache-2.0
// Copies to the device from pinned memory: no staging by the calling thread, no wait in the call,
// and the full rate of the link. The rate is that of pinned copies in the same profile, else a
// factor over staging.
#include "replay/fix_transfers.h"

#define SLOW_KIB_PER_NS 2.4e-3 // 2.5 GB/s: a core stages faster, so the link itself is slow
#define LARGE_KIB 64           // smaller copies are mostly set-up and tell no rate

// Least, expected and most by which pinned copies are faster, where the profile holds none.
static const double faster[STK_FIX_LEVELS] = {4, 3, 2};

static double kib_per_ns(const struct stk_scene *s, enum stk_node_what what)
{
    double kib = 0, ns = 0;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        const struct stk_node *n = &s->g->nodes[i];
        if (n->kind == STK_NODE_COPY && n->what == what && n->size >= LARGE_KIB) {
            kib += n->size;
            ns += (double)n->dur_ns;
        }
    }
    return ns > 0 ? kib / ns : 0;
}

double stk_fix_link_rate(const struct stk_scene *s, enum stk_node_what what)
{
    return kib_per_ns(s, what) * 1024e9;
}

void stk_fix_pin(struct stk_scene *s, enum stk_level_of_fix level)
{
    double pinned = kib_per_ns(s, STK_WHAT_H2D), staged = kib_per_ns(s, STK_WHAT_H2D_PAGEABLE);
    double by = pinned > 0 && staged > 0 && pinned > staged ? pinned / staged : faster[level];
    by = staged > 0 && staged < SLOW_KIB_PER_NS && level != STK_FIX_LOW ? 1 : by;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind != STK_NODE_COPY || n->what != STK_WHAT_H2D_PAGEABLE) {
            continue;
        }
        n->dur_ns = stk_fix_copy_ns(n->dur_ns, by);
        if (n->launch == STK_NONE) {
            continue;
        }
        struct stk_node *call = &s->nodes[n->launch];
        call->wait = STK_NONE;
        call->dur_ns =
            call->dur_ns < s->g->calibration.call_ns ? call->dur_ns : s->g->calibration.call_ns;
    }
}

static const char *transfer_pinned_refuse(const struct stk_graph *g)
{
    return stk_fix_finds(g, STK_NODE_COPY, STK_WHAT_H2D_PAGEABLE)
               ? NULL
               : "no copy from pageable memory to the device is seen";
}

static bool transfer_pinned_apply(struct stk_scene *s, const struct stk_fix_how *how)
{
    stk_fix_pin(s, how->level);
    return true;
}

const struct stk_fix stk_fix_transfer_pinned = {
    .id = "transfer-pinned",
    .what = "batches are copied from pinned memory",
    .assumes = "batches are made in pinned memory, and pinning costs the step nothing",
    .is_priced_alone = true,
    .refuse = transfer_pinned_refuse,
    .apply = transfer_pinned_apply,
};
