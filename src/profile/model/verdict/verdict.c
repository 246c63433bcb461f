// SPDX-License-Identifier: Apache-2.0
// The names of the reasons for no verdict. The decision is in verdict_decide.c.
#include "profile/model/verdict/verdict.h"

#include "base/assert.h"

const char *stk_reason_key(enum stk_reason reason)
{
    STK_ASSERT((unsigned)reason < STK_REASON_COUNT);
    static const char *const keys[STK_REASON_COUNT] = {
#define R(id, key, sentence) [STK_REASON_##id] = key,
#include "profile/model/verdict/reasons.def"
#undef R
    };
    return keys[reason];
}
