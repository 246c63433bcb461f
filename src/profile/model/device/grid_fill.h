// SPDX-License-Identifier: Apache-2.0
// How much of a device the kernels' grids reach.
#pragma once

#include "profile/model/analysis.h"

// Adds the share of SMs that kernels leave empty in a device's used steps. empty_ns: per string id,
// the part of it in kernels of that name. False: no memory.
bool stk_grid_fill_add(const struct stk_analysis *a, uint32_t line, int64_t *empty_ns,
                       struct stk_grid_fill *out);
