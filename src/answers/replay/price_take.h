// SPDX-License-Identifier: Apache-2.0
// Takes the prices of a rank's graph while it exists (taken.h).
#pragma once

#include "answers/replay/taken.h"

// Computes the prices of all fixes in src/fixes/text and stores them with the graph. Both are in
// the arena. False: no memory.
bool stk_prices_take(struct stk_graph *g, struct stk_arena *arena);
// Whether that price was taken.
bool stk_price_is_taken(const char *text);
