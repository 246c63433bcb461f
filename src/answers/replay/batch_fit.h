// SPDX-License-Identifier: Apache-2.0
// How the work of a step grows with its batch, from the profiles of one job with two sizes.
#pragma once

#include "answers/replay/graph.h"

#define STK_BATCH_CLASSES 32 // of work: of enum stk_node_what, fetches and copies

struct stk_batch_fit {
    double times; // the measured batch's size over the graph's
    // Per class: the part of its time that grows in proportion to the batch; negative: unknown.
    double grows[STK_BATCH_CLASSES];
};

// The class of a node; -1: doesn't grow with the batch.
int stk_batch_class(const struct stk_node *n);
// NULL, or why the other profile doesn't fit this job: its steps do other work.
const char *stk_batch_fit(const struct stk_graph *g, const struct stk_graph *other, double times,
                          struct stk_batch_fit *out);
