// SPDX-License-Identifier: Apache-2.0
// Prices that are taken of a rank's graph while it is there, so that nobody needs the graph later:
// the replays of every fix that a diagnosis may give, one at a time. A partial holds them.
// Limits: sets of several fixes, and values that no fix names, can't be priced afterwards.
#pragma once

#include "answers/replay/gate.h"
#include "answers/replay/price_row.h"

// What the steps of a rank take in a replay.
struct stk_taken_step {
    double mean_ns;                 // negative: a circle
    double inner_ns;                // a second measure (price_replay.c)
    bool is_even, needs_no_batches; // as stk_scene
};

struct stk_taken_price {
    const char *text;    // of the fix: "input-free"
    const char *refused; // why it has nothing to change; NULL: it was replayed
    struct stk_taken_step after[STK_PRICE_LEVELS];
    struct stk_taken_step before[STK_PRICE_LEVELS]; // where the fix varies the step without it
};

// stk_graph.taken. Without prices if the gate is closed.
struct stk_taken {
    struct stk_gate gate;
    struct stk_taken_step recorded, unprofiled;
    struct stk_taken_step untouched[STK_PRICE_LEVELS]; // where a fix has nothing to change
    struct stk_taken_price *prices;
    uint32_t price_count;
    const struct stk_taken *bare; // the same where collectives take no time; NULL: no collectives
};

// NULL: it was not taken.
const struct stk_taken_price *stk_taken_find(const struct stk_taken *t, const char *text);
