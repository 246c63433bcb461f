// SPDX-License-Identifier: Apache-2.0
// Copies to the device from pinned memory: no staging by the calling thread, no wait in the call or
// right after it (PyTorch waits for a copy that isn't non_blocking), and the full rate of the link.
// The rate is that of pinned copies in the same profile. Without such copies, it is a factor over
// staging: the middle between the usual factor and the data-sheet link rate over the staging rate,
// since a slot may have fewer lanes than the device.
//
// Limits: staging by a CPU core varies from run to run. The profile's value is expected, and the
// ends cover what was seen: copies of 32 MiB took 0.9 to 1.8 times as long without a profiler as in
// three profiles of the same job (an H200 in a virtual machine).
#include <math.h>

#include "base/assert.h"
#include "answers/replay/price_transfers.h"

#define SLOW_KIB_PER_NS 2.4e-3 // 2.5 GB/s: a core stages faster, so the link itself is slow
#define LARGE_KIB 64           // smaller copies are mostly setup and show no rate
#define AFTER 6                // nodes after a copy's call in which to look for its wait
#define BEHIND_NS (100 * STK_US)
#define STAGED_SLOWER 1.8 // of copies from pageable memory, in another run
#define STAGED_QUICKER 0.9

// Smallest, expected and largest speed-up of pinned copies, if the profile has none.
static const double faster[STK_PRICE_LEVELS] = {4, 3, 2};

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

double stk_price_link_rate(const struct stk_scene *s, enum stk_node_what what)
{
    return kib_per_ns(s, what) * 1024e9;
}

// The speed-up of copies if no copy in the profile shows the link's rate.
static double by_link(const struct stk_scene *s, double staged, enum stk_price_level level)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS);
    double peak = s->g->rates.host_link / 1024e9; // KiB per ns
    double whole = peak > 0 && staged > 0 ? STK_LINK_REACHED * peak / staged : 0;
    return whole <= faster[level] || level == STK_PRICE_HIGH ? faster[level]
           : level == STK_PRICE_EXPECTED                     ? sqrt(faster[level] * whole)
                                                             : whole;
}

// The wait for the copy itself after its call.
static void drop_wait(struct stk_scene *s, uint32_t call, uint32_t copy)
{
    STK_ASSERT(call < s->g->node_count && copy < s->g->node_count);
    const struct stk_lane *lane = &s->g->lanes[s->g->nodes[call].lane];
    const struct stk_node *was = s->g->nodes;
    for (uint32_t i = call + 1; i < lane->first + lane->count && i <= call + AFTER; i++) {
        if (was[i].start_ns > stk_node_end(&was[copy]) + BEHIND_NS) {
            return;
        }
        if (was[i].kind == STK_NODE_WAIT && was[i].what == STK_WHAT_SYNC && was[i].wait == copy) {
            s->nodes[i].wait = STK_NONE;
            return;
        }
    }
}

void stk_price_pin(struct stk_scene *s, enum stk_price_level level)
{
    double pinned = kib_per_ns(s, STK_WHAT_H2D), staged = kib_per_ns(s, STK_WHAT_H2D_PAGEABLE);
    double by =
        pinned > 0 && staged > 0 && pinned > staged ? pinned / staged : by_link(s, staged, level);
    by = staged > 0 && staged < SLOW_KIB_PER_NS && level != STK_PRICE_LOW ? 1 : by;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind != STK_NODE_COPY || n->what != STK_WHAT_H2D_PAGEABLE) {
            continue;
        }
        n->dur_ns = stk_price_copy_ns(n->dur_ns, by);
        if (n->launch == STK_NONE) {
            continue;
        }
        struct stk_node *call = &s->nodes[n->launch];
        call->wait = STK_NONE;
        call->dur_ns =
            call->dur_ns < s->g->calibration.call_ns ? call->dur_ns : s->g->calibration.call_ns;
        if (level != STK_PRICE_HIGH) {
            drop_wait(s, n->launch, i);
        }
    }
}

void stk_price_stage(struct stk_scene *s, enum stk_price_level level)
{
    double by = level == STK_PRICE_LOW    ? STAGED_SLOWER
                : level == STK_PRICE_HIGH ? STAGED_QUICKER
                                          : 1;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind == STK_NODE_COPY && n->what == STK_WHAT_H2D_PAGEABLE) {
            n->dur_ns = stk_price_scaled(n->dur_ns, by);
        }
    }
}

static const char *transfer_pinned_refuse(const struct stk_graph *g)
{
    return stk_price_finds(g, STK_NODE_COPY, STK_WHAT_H2D_PAGEABLE)
               ? NULL
               : "no host-to-device copy from pageable memory was recorded";
}

static bool transfer_pinned_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    stk_price_pin(s, how->level);
    return true;
}

const struct stk_price_row stk_price_transfer_pinned = {
    .id = "transfer-pinned",
    .what = "copy batches from pinned memory",
    .assumes = "making batches in pinned memory costs the step nothing, and no call waits for "
               "their copies",
    .is_priced_alone = true,
    .refuse = transfer_pinned_refuse,
    .apply = transfer_pinned_apply,
    .vary = stk_price_stage,
};
