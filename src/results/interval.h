// SPDX-License-Identifier: Apache-2.0
// An estimate with what it is within, as proofs, searches and the ledger have it: two views of it
// in views.def, in the two orders that contracts have.
#pragma once

#include "results/field.h"

struct stk_interval {
    bool is_known; // for who keeps it: the estimate is one
    double low, estimate, high;
    bool has_bounds; // low and high are known: for the view `ratio` alone
};
