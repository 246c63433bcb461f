// SPDX-License-Identifier: Apache-2.0
// How the work of a step grows with its batch, from the profiles of one job with two sizes.
#pragma once

#include "answers/replay/graph.h"

#define STK_BATCH_CLASSES 32 // of work: what of enum stk_node_what, fetches and copies are

struct stk_batch_fit {
    double times; // of the batch that was measured, over that of the graph
    // Per class: the part of its time that grows in proportion with the batch; negative: not known.
    double grows[STK_BATCH_CLASSES];
};

// The class of a node; -1: it does not grow with the batch.
int stk_batch_class(const struct stk_node *n);
// NULL, or why the other profile tells nothing of this job: a step of it does other work.
const char *stk_batch_fit(const struct stk_graph *g, const struct stk_graph *other, double times,
                          struct stk_batch_fit *out);
