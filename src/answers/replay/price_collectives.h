// SPDX-License-Identifier: Apache-2.0
// Shared by the what-ifs of collectives: the collectives of a step, and the kernels before them and
// overlapping them.
#pragma once

#include "answers/replay/price_row.h"

// For the lane with most of the collectives' time, and the one with most of the kernels'.
struct stk_step_comm {
    uint32_t first, end;     // nodes of the collectives' lane in the step
    uint32_t count;          // collectives among them
    double total_ns;         // their time in the scene
    uint32_t kernels, k_end; // nodes of the kernels' lane
    double before_ns;        // kernels that end before the first collective begins, in the scene
    double beside_ns;        // kernels that begin until the last one ends
};

// Walks over the steps of a graph, in order; `nodes` are the scene's.
struct stk_comm_walk {
    const struct stk_graph *g;
    const struct stk_node *nodes;
    uint32_t comm, compute, at_comm, at_compute, step;
};
struct stk_comm_walk stk_comm_walk(const struct stk_graph *g, const struct stk_node *nodes);
// The next step with a collective; false at the end.
bool stk_comm_next(struct stk_comm_walk *w, struct stk_step_comm *out);
