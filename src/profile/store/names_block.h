// SPDX-License-Identifier: Apache-2.0
// Python functions that block a thread, and those that end another's block (names_block.def).
#pragma once

#include "base/str.h"

enum stk_block_end {
    STK_ENDED_BY_NOTHING, // the function neither blocks nor releases
    STK_ENDED_BY_PUT,
    STK_ENDED_BY_LOCK,
    STK_ENDED_BY_RESULT,
    STK_ENDED_BY_END,
    STK_ENDED_BY_CLOCK,
    STK_ENDED_BY_OUTSIDE
};
// What ends a thread's block in this Python frame.
enum stk_block_end stk_name_blocks(struct stk_str frame);
// The kind of other threads' blocks that this Python frame ends.
enum stk_block_end stk_name_lets_go(struct stk_str frame);
