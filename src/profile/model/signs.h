// SPDX-License-Identifier: Apache-2.0
// What a profile shows of how the job is written: signs.def, and how often and how long each was
// seen. Rules choose their advice by it.
#ifndef STK_MODEL_SIGNS_H
#define STK_MODEL_SIGNS_H

#include "base/arena.h"
#include "profile/store/trace.h"

enum stk_sign {
#define S(id, meaning) STK_SIGN_##id,
#include "profile/model/signs.def"
    STK_SIGN_COUNT
};

struct stk_sign_sum {
    uint64_t count;   // events
    uint64_t outer;   // of these, those that are not inside another of the same sign
    int64_t ns;       // of those that are not inside another of the same sign
    int64_t work_ns;  // of those that hold no other of the same sign and take TINY_CALL_US or more
};

// Per string id: enum stk_sign + 1 of host events with this name, 0: none. In the arena; NULL: no
// memory.
const uint8_t *stk_signs_classify(const struct stk_trace *t, struct stk_arena *arena);

#endif
