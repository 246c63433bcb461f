// SPDX-License-Identifier: Apache-2.0
// An estimate with its interval, for proofs, searches and the ledger. views.def has two views of
// it, for the two orders in the contracts.
#pragma once

#include "results/field.h"

struct stk_interval {
    bool is_known; // for its owner: there is an estimate
    double low, estimate, high;
    bool has_bounds; // low and high are known; only for the view `ratio`
};
