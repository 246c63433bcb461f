// SPDX-License-Identifier: Apache-2.0
// Prices computed from a rank's graph while it exists, so that nobody needs the graph later: a
// replay of every fix that a diagnosis may suggest, one at a time. A partial stores them. Limits:
// sets of several fixes, and values that no fix names, can't be priced afterwards.
#pragma once

#include "answers/replay/gate.h"
#include "answers/replay/price_row.h"

// The duration of a rank's steps in a replay.
struct stk_taken_step {
    double mean_ns;                 // negative: a cycle
    double inner_ns;                // a second measure (price_replay.c)
    bool is_even, needs_no_batches; // as stk_scene
};

struct stk_taken_price {
    const char *text;    // of the fix: "input-free"
    const char *refused; // why it has nothing to change; NULL: it was replayed
    struct stk_taken_step after[STK_PRICE_LEVELS];
    struct stk_taken_step before[STK_PRICE_LEVELS]; // if the fix varies the step without it
};

// stk_graph.taken. Without prices if the gate is closed.
struct stk_taken {
    struct stk_gate gate;
    struct stk_taken_step recorded, unprofiled;
    struct stk_taken_step untouched[STK_PRICE_LEVELS]; // for a fix that has nothing to change
    struct stk_taken_price *prices;
    uint32_t price_count;
    const struct stk_taken *bare; // the same if collectives take no time; NULL: no collectives
};

// NULL: it wasn't taken.
const struct stk_taken_price *stk_taken_find(const struct stk_taken *t, const char *text);
