// SPDX-License-Identifier: Apache-2.0
// Lists of parts for the report, shared by the analyses of steps and of the breakdown.
#pragma once

#include "answers/passes/pass.h"

// All parts in order with their share of wall_ns (struct stk_rep_part). false: out of memory.
bool stk_parts_shares(const int64_t *parts, int64_t wall_ns, struct stk_arena *arena,
                      struct stk_list *out);
// Parts that are not 0, as key -> ns (struct stk_entry). false: out of memory.
bool stk_parts_map(const int64_t *parts, struct stk_arena *arena, struct stk_list *out);
