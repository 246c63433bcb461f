// SPDX-License-Identifier: Apache-2.0
// The call stack of a host thread, as one line of text.
#pragma once

#include "profile/model/view.h"

#define STK_HOST_STACKS 256 // at most this many per analysis, since each looks back some way

// "train_step > aten::linear > aten::addmm": the event and those around it in its row, outermost
// first, at most the innermost eight. NULL: no memory.
const char *stk_host_stack_text(const struct stk_analysis *view, uint32_t event,
                                struct stk_arena *arena);
