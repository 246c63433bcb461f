// SPDX-License-Identifier: Apache-2.0
// What a host thread was inside of, as one line of text.
#pragma once

#include "profile/model/view.h"

#define STK_HOST_STACKS 256 // an analysis makes so many at most: each looks back some way

// "train_step > aten::linear > aten::addmm": the event and what is around it on its row, outermost
// first, the innermost eight. NULL: no memory.
const char *stk_host_stack_text(const struct stk_analysis *view, uint32_t event,
                                struct stk_arena *arena);
