// SPDX-License-Identifier: Apache-2.0
// Collects elements of the input until there are enough for a batch. They are kept as they arrive
// and joined once, so each is copied once, however small the input's blocks are.
#pragma once

#include "engine/memory/blocks.h"
#include "engine/run/iter.h"

struct stk_held {
    struct stk_block block;      // the collected elements
    struct stk_block more, rest; // empty between calls, like `parts`
    struct stk_blocks parts;     // blocks to be joined
    bool at_end;                 // the input has ended
};

void stk_held_init(struct stk_held *h);
// Collects until there are at least `least` elements, at most `most`, or the input ends. An error
// drops what was collected.
STK_MUST_CHECK enum stoker_status stk_held_fill(struct stk_held *h, struct stk_iter *it,
                                                int64_t least, int64_t most,
                                                struct stoker_err *err);
bool stk_held_drop(struct stk_held *h, int64_t n); // drops the first n. False: no memory
void stk_held_free(struct stk_held *h);
