// SPDX-License-Identifier: Apache-2.0
// The rows of an interval, in the two orders that contracts have.
#include "results/field_rows.h"
#include "results/interval.h"

static const struct stk_field interval_fields[] = {
    ROW("low", REAL, stk_interval, low, NULL, NULL, "the least"),
    ROW("estimate", REAL, stk_interval, estimate, NULL, NULL, "the estimate"),
    ROW("high", REAL, stk_interval, high, NULL, NULL, "the most"), END};
const struct stk_struct_info stk_interval_info = {"interval", sizeof(struct stk_interval),
                                                  interval_fields};

static const struct stk_field ratio_fields[] = {
    ROW("estimate", REAL, stk_interval, estimate, NULL, NULL, "the estimate"),
    ROW_IF("low", REAL, stk_interval, low, has_bounds, NULL, "95%, from four pairs on"),
    ROW_IF("high", REAL, stk_interval, high, has_bounds, NULL, "95%, from four pairs on"), END};
const struct stk_struct_info stk_ratio_info = {"ratio", sizeof(struct stk_interval), ratio_fields};
