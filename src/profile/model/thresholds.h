// SPDX-License-Identifier: Apache-2.0
// The figures that the model decides by: one table (profile/model/thresholds.def), each with its
// reason.
#pragma once

enum stk_threshold_id {
#define T(name, value, unit, reason) STK_T_##name,
#include "profile/model/thresholds.def"
#undef T
    STK_T_COUNT
};
double stk_threshold_value(enum stk_threshold_id id); // in the unit of its row
