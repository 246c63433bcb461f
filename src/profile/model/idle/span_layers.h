// SPDX-License-Identifier: Apache-2.0
// Time that at least one of several sets covers, and that at least two do. O(intervals log sets).
#pragma once

#include "profile/model/intervals.h"

struct stk_layer {
    struct stk_spans once, twice;
};

#define STK_LAYERS 33 // for 2^32 sets

// Sets are joined like the digits of a binary counter: level[i] holds 2^i of them, or none. So an
// interval is joined at most once per level.
struct stk_layers {
    bool counts_two; // else `twice` stays empty
    struct stk_layer level[STK_LAYERS];
    struct stk_spans both, next;
};

void stk_layers_init(struct stk_layers *l, bool counts_two);
void stk_layers_deinit(struct stk_layers *l);
// Takes the set, which is empty then. False: no memory.
bool stk_layers_add(struct stk_layers *l, struct stk_spans *set);
// All that was added, as one; the caller frees it with stk_layer_deinit. False: no memory.
bool stk_layers_end(struct stk_layers *l, struct stk_layer *all);
void stk_layer_deinit(struct stk_layer *layer);
