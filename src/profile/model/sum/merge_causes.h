// SPDX-License-Identifier: Apache-2.0
// Merging the causes of a part over ranks. A rank lists few functions, and so does the run, out of
// all that any rank lists. So all are gathered, and the list is cut once, at the end. If it were
// cut after each rank, it would depend on the order of the ranks, and lose functions that are small
// in each but large in total.
#pragma once

#include "base/vec.h"
#include "profile/model/summary.h"

struct stk_gathered {
    struct stk_cause sums;        // and examples; its lists of names are empty
    struct stk_vec names, owners; // struct stk_cause_name of all ranks, in their order
    bool failed;                  // no memory
};

void stk_gathered_init(struct stk_gathered *g);
void stk_gathered_add(struct stk_gathered *g, const struct stk_cause *from);
// The merged cause; frees `g`. False: no memory. Names with equal sums, and examples of equal
// length, are in the order in which they were first added.
bool stk_gathered_finish(struct stk_gathered *g, struct stk_cause *out);
