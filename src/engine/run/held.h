// SPDX-License-Identifier: Apache-2.0
// Elements of the input that are held until there are enough of them for a batch. They are held as
// they come and joined once, so that each is copied once, however small the input's blocks.
#pragma once

#include "engine/memory/blocks.h"
#include "engine/run/iter.h"

struct stk_held {
    struct stk_block block;      // what is held
    struct stk_block more, rest; // empty between calls, as are the blocks
    struct stk_blocks parts;     // what is to be held
    bool at_end;                 // of the input
};

void stk_held_init(struct stk_held *h);
// Until `least` elements are held, or the end of the input; at most `most` of them. An error takes
// with it what was held.
STK_MUST_CHECK enum stoker_status stk_held_fill(struct stk_held *h, struct stk_iter *it,
                                                int64_t least, int64_t most,
                                                struct stoker_err *err);
bool stk_held_drop(struct stk_held *h, int64_t n); // the first n. False: no memory
void stk_held_free(struct stk_held *h);
