// SPDX-License-Identifier: Apache-2.0
// Signs of how the job's code is written (signs.def), with how often and how long each was seen.
// Rules choose their advice by them.
#pragma once

#include "base/arena.h"
#include "profile/store/trace.h"

enum stk_sign {
#define S(id, meaning) STK_SIGN_##id,
#include "profile/model/signs.def"
    STK_SIGN_COUNT
};

// Per string id: enum stk_sign + 1 of host events with this name, 0: none. In the arena; NULL: no
// memory.
const uint8_t *stk_signs_classify(const struct stk_trace *t, struct stk_arena *arena);
