// SPDX-License-Identifier: Apache-2.0
// Reduces gradients while the backward pass still runs: a collective begins when its own gradients
// are ready, not after the last of all.
//
// Method: of a step's kernels before its first collective, the last part by time is the backward
// pass. A collective's gradients are ready when the backward pass has done the same share as this
// and the earlier collectives have of all collectives' time. Collectives run one after another; a
// single one is assumed to be cut into buckets. In the replay they take only the time that remains
// after the backward pass. Collectives and kernels that run in parallel slow each other down by
// published shares (Daydream, Echo), or at best not at all.
//
// Limits: which kernels belong to the backward pass is a prior; at least half of them do.
#include "base/assert.h"
#include "answers/replay/price_collectives.h"

#define BESIDE 0.1 // of a step's kernels: more during collectives is overlap already

static const struct {
    double backward;     // share of the kernels before the first collective
    double buckets;      // pieces of a single collective
    double comm, kernel; // slow-down when running in parallel
} levels[STK_PRICE_LEVELS] = {{0.8, 16, 0, 0}, {0.667, 8, 0.17, 0.15}, {0.5, 3, 0.34, 0.38}};

static const char *comm_overlap_refuse(const struct stk_graph *g)
{
    struct stk_comm_walk w = stk_comm_walk(g, g->nodes);
    struct stk_step_comm c;
    uint32_t steps = 0, late = 0;
    while (stk_comm_next(&w, &c)) {
        steps++;
        late += c.before_ns > 0 && c.beside_ns < BESIDE * c.before_ns;
    }
    return steps == 0 ? "no gradient collective can overlap kernels"
           : late * 2 > steps
               ? NULL
               : "the collectives overlap kernels already, or no kernels run before them";
}

// The collectives' remaining time when the backward pass is done.
static double left_behind(const struct stk_scene *s, const struct stk_step_comm *c,
                          double backward_ns, enum stk_price_level level)
{
    STK_ASSERT((unsigned)level < STK_PRICE_LEVELS && c->first <= c->end);
    double end_ns = 0, done_ns = 0, slower = 1 + levels[level].comm;
    uint32_t parts = c->count > 1 ? 1 : (uint32_t)levels[level].buckets;
    for (uint32_t i = c->first; i < c->end; i++) {
        double ns = (double)s->nodes[i].dur_ns / parts;
        for (uint32_t k = 0; k < parts && s->nodes[i].kind == STK_NODE_COLLECTIVE; k++) {
            done_ns += ns;
            double ready_ns = backward_ns * done_ns / c->total_ns;
            end_ns = ready_ns > end_ns ? ready_ns : end_ns;
            // Collectives that no kernel overlaps run at full speed.
            double beside_ns = ns * slower, room_ns = backward_ns - end_ns;
            end_ns += beside_ns <= room_ns ? beside_ns
                      : room_ns > 0        ? room_ns + ns - room_ns / slower
                                           : ns;
        }
    }
    return end_ns > backward_ns ? end_ns - backward_ns : 0;
}

static void overlap(struct stk_scene *s, const struct stk_step_comm *c, enum stk_price_level level)
{
    double backward_ns = levels[level].backward * c->before_ns, done_ns = 0;
    double covered = c->total_ns < backward_ns ? c->total_ns / backward_ns : 1;
    double slower = 1 + levels[level].kernel * covered;
    double left_ns = left_behind(s, c, backward_ns * slower, level);
    double stays = c->total_ns > 0 && left_ns < c->total_ns ? left_ns / c->total_ns : 1;
    if (stays >= 1) {
        return;
    }
    for (uint32_t i = c->first; i < c->end; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind == STK_NODE_COLLECTIVE) {
            n->dur_ns = stk_price_scaled(n->dur_ns, stays);
        }
    }
    for (uint32_t i = c->kernels; i < c->k_end && done_ns < c->before_ns; i++) {
        struct stk_node *n = &s->nodes[i];
        bool counts = n->kind == STK_NODE_KERNEL;
        done_ns += counts ? (double)(n->dur_ns + n->gap_ns) : 0;
        if (counts && done_ns > c->before_ns - backward_ns) {
            n->dur_ns = stk_price_scaled(n->dur_ns, slower);
        }
    }
}

static bool comm_overlap_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    struct stk_comm_walk w = stk_comm_walk(s->g, s->nodes);
    struct stk_step_comm c;
    while (stk_comm_next(&w, &c)) {
        if (c.before_ns > 0 && c.beside_ns < BESIDE * c.before_ns) {
            overlap(s, &c, how->level);
        }
    }
    return true;
}

const struct stk_price_row stk_price_comm_overlap = {
    .id = "comm-overlap",
    .what = "reduce gradients while the backward pass runs",
    .assumes = "collectives reduce all of the backward pass's gradients, in its order",
    .is_priced_alone = true,
    .refuse = comm_overlap_refuse,
    .apply = comm_overlap_apply,
};
