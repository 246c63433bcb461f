// SPDX-License-Identifier: Apache-2.0
// Takes the prices of a rank's graph while it is there (taken.h).
#pragma once

#include "answers/replay/taken.h"

// The prices of all fixes of src/fixes/text; the graph learns of them. Both live in the arena.
// False: no memory.
bool stk_prices_take(struct stk_graph *g, struct stk_arena *arena);
// Whether that price is among them.
bool stk_price_is_taken(const char *text);
