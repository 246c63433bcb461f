// SPDX-License-Identifier: Apache-2.0
// An estimate with what it lies within, as proofs, searches and the ledger have it. Rows in
// results/interval_fields.c.
#ifndef STK_RESULTS_INTERVAL_H
#define STK_RESULTS_INTERVAL_H

#include "results/field.h"

struct stk_interval {
    bool is_known; // for who keeps it: the estimate is one
    double low, estimate, high;
    bool has_bounds; // low and high are known: for stk_ratio_info alone
};
extern const struct stk_struct_info stk_interval_info; // low, estimate, high
extern const struct stk_struct_info stk_ratio_info;    // estimate; low and high where there are any

#endif
