// SPDX-License-Identifier: Apache-2.0
// Merging the causes of a part over ranks. A rank names few functions, the run as many, of all that
// any rank names: so all are gathered, and the list is cut once, at the end. Cut after each rank,
// it would depend on the order of the ranks and lose what is small everywhere and large in sum.
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
// The cause of all that was added; frees. False: no memory. Names with equal sums are in the order
// in which they were first added, examples of equal length in that order too.
bool stk_gathered_finish(struct stk_gathered *g, struct stk_cause *out);
