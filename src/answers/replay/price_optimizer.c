// SPDX-License-Identifier: Apache-2.0
// A PyTorch optimizer that loops over its tensors updates them in a few calls instead: one per
// group (fused), or one per operation of the update and group (foreach).
//
// Method: the loop's time on the thread becomes that of the remaining calls and, without a device,
// of the work. A fused update reads and writes each tensor once, while separate operators do so
// repeatedly. foreach does the same work as the loop, but on a CPU it passes over all tensors for
// each operation: they no longer fit in the caches, and large ones take longer than before. Kernels
// that the loop launched are merged, as many into one as a group has tensors.
//
// The remaining time was measured with torch 2.14 on a CPU shared with other builds: AdamW, Adam,
// SGD, Adadelta, RMSprop and Adagrad, 8 to 100 tensors of 16 to a million weights. Limits: work on
// the gradients themselves, such as clipping, isn't part of the update.
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/sort.h"
#include "answers/replay/price_row.h"

#define FEW_OPS 4      // fewer operators aren't a loop
#define GROUP 36       // tensors of a launch on a device, with four lists of them
#define LONGER 0.25    // of a pass over a tensor: each further operation of the loop
#define KERNEL_NS 1500 // of a kernel, at least: starting and ending it

// What remains, in operator calls: fixed, per tensor (fused) or per operation (foreach); and of the
// work, as a share.
struct left {
    double calls, each, work;
};
static const struct left fused[STK_PRICE_LEVELS] = {{10, 1, 0.6}, {25, 2, 1}, {60, 5, 1.7}};
static const struct left foreach[STK_PRICE_LEVELS] = {
    {20, 0.5, 0.9}, {40, 0.8, 1.4}, {80, 1.5, 2.2}};
// Of the kernels' time beyond KERNEL_NS.
static const double kernels[STK_PRICE_LEVELS] = {0.7, 1, 1.3};

static bool is_fused(const struct stk_price_how *how)
{
    return strcmp(strchr(how->text, '=') ? strchr(how->text, '=') + 1 : "fused", "fused") == 0;
}

// Can the update become the requested one?
static bool loops(const struct stk_graph_update *u, bool to_fused)
{
    return u->is_torchs && u->ops >= FEW_OPS && u->tensors > 0 && !u->is_fused &&
           u->end_ns > u->start_ns && (to_fused ? u->has_fused : !u->is_foreach);
}

static const char *optimizer_refuse(const struct stk_graph *g)
{
    bool any = false;
    for (uint32_t i = 0; i < g->update_count; i++) {
        any |= loops(&g->updates[i], true) || loops(&g->updates[i], false);
    }
    return any ? NULL : "no optimizer of torch.optim updates its tensors one by one";
}

static const char *optimizer_refuse_value(const struct stk_graph *g,
                                          const struct stk_price_how *how)
{
    for (uint32_t i = 0; i < g->update_count; i++) {
        if (loops(&g->updates[i], is_fused(how))) {
            return NULL;
        }
    }
    return is_fused(how) ? "the optimizer has no fused update" : "the optimizer uses foreach";
}

static double operations_of(const struct stk_graph_update *u)
{
    return (double)u->ops / u->tensors;
}

static double groups_of(const struct stk_graph_update *u)
{
    return ceil((double)u->tensors / GROUP);
}

// The share of passes over the tensors that one update takes instead of all operations.
static double pass_of(const struct stk_graph_update *u)
{
    return 1 / (1 + LONGER * (operations_of(u) - 1));
}

static double left_ns(const struct stk_graph *g, const struct stk_graph_update *u,
                      const struct stk_price_how *how)
{
    STK_ASSERT((unsigned)how->level < STK_PRICE_LEVELS);
    const struct left *left = is_fused(how) ? &fused[how->level] : &foreach[how->level];
    double call_ns = (double)u->call_ns, each = is_fused(how) ? u->tensors : u->ops;
    if (g->has_device) { // an operator's time is that of its launches
        double launches = groups_of(u) * (is_fused(how) ? 1 : operations_of(u));
        return call_ns * (left->calls + u->tensors + launches * left->each);
    }
    double work = left->work * (is_fused(how) ? pass_of(u) : 1);
    return call_ns * (left->calls + left->each * each) + work * (double)u->work_ns;
}

static uint32_t node_at(const struct stk_graph *g, int64_t at_ns)
{
    const struct stk_lane *lane = &g->lanes[g->driver];
    uint32_t low = lane->first, high = lane->first + lane->count;
    STK_BISECT(low, high, mid, stk_node_end(&g->nodes[mid]) <= at_ns);
    return low;
}

// Changes the thread's nodes by their part in the update.
static void shorten(struct stk_scene *s, const struct stk_graph_update *u, double share)
{
    const struct stk_graph *g = s->g;
    uint32_t end = g->lanes[g->driver].first + g->lanes[g->driver].count;
    for (uint32_t i = node_at(g, u->start_ns); i < end && g->nodes[i].start_ns < u->end_ns; i++) {
        const struct stk_node *was = &g->nodes[i];
        int64_t from = was->start_ns > u->start_ns ? was->start_ns : u->start_ns;
        int64_t to = stk_node_end(was) < u->end_ns ? stk_node_end(was) : u->end_ns;
        bool counts = (was->kind == STK_NODE_WORK || was->kind == STK_NODE_CALL) && to > from &&
                      was->dur_ns > 0;
        if (counts) {
            double gone = (double)(to - from) / (double)was->dur_ns * (1 - share);
            s->nodes[i].dur_ns = stk_price_scaled(s->nodes[i].dur_ns, gone < 1 ? 1 - gone : 0);
        }
    }
}

// Merges `count` kernels of a stream from `first` on. Kernels in between from other launches stay.
struct joined {
    uint32_t first, count;
    double ns;
};

static void join_end(struct stk_scene *s, const struct joined *j, double share)
{
    if (j->count > 1) {
        s->nodes[j->first].dur_ns = (int64_t)(KERNEL_NS + share * j->ns);
    }
}

static void join_lane(struct stk_scene *s, const struct stk_lane *lane,
                      const struct stk_graph_update *u, const struct stk_price_how *how)
{
    uint32_t most = u->tensors < GROUP ? u->tensors : GROUP;
    most = is_fused(how) ? (uint32_t)(most * operations_of(u)) : most;
    double share = kernels[how->level] * (is_fused(how) ? pass_of(u) : 1);
    struct joined j = {STK_NONE, 0, 0};
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        struct stk_node *n = &s->nodes[i];
        uint32_t call = n->kind == STK_NODE_KERNEL ? s->g->nodes[i].launch : STK_NONE;
        if (call == STK_NONE || s->g->nodes[call].start_ns < u->start_ns ||
            s->g->nodes[call].start_ns >= u->end_ns) {
            continue;
        }
        if (j.count == most || j.first == STK_NONE) {
            join_end(s, &j, share);
            j = (struct joined){i, 0, 0};
        }
        j.count++;
        j.ns += n->dur_ns > KERNEL_NS ? (double)(n->dur_ns - KERNEL_NS) : 0;
        if (i != j.first) {
            n->dur_ns = n->gap_ns = n->rest_ns = 0;
            n->launch = s->nodes[j.first].launch;
            n->lag_ns = s->nodes[j.first].lag_ns;
        }
    }
    join_end(s, &j, share);
}

static bool optimizer_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    const struct stk_graph *g = s->g;
    STK_ASSERT(g->driver < g->lane_count);
    for (uint32_t k = 0; k < g->update_count; k++) {
        const struct stk_graph_update *u = &g->updates[k];
        if (!loops(u, is_fused(how))) {
            continue;
        }
        shorten(s, u, left_ns(g, u, how) / (double)(u->end_ns - u->start_ns));
        for (uint32_t l = 0; l < g->lane_count; l++) {
            if (g->lanes[l].is_device) {
                join_lane(s, &g->lanes[l], u, how);
            }
        }
    }
    return true;
}

const struct stk_price_row stk_price_optimizer = {
    .id = "optimizer=",
    .value = "fused",
    .choices = "fused|foreach",
    .what = "update all tensors in a few calls instead of a loop over them (PyTorch)",
    .assumes = "the tensors are dense and of one type; sums are in another order",
    .is_priced_alone = true,
    .may_slow = true,
    .changes_model = true,
    .refuse = optimizer_refuse,
    .refuse_value = optimizer_refuse_value,
    .apply = optimizer_apply,
};
