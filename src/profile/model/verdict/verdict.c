// SPDX-License-Identifier: Apache-2.0
// The names of verdicts and of the reasons for none. The decision is in verdict_decide.c.
#include "profile/model/verdict/verdict.h"

#include "base/assert.h"

const char *stk_verdict_key(enum stk_verdict_kind kind)
{
    STK_ASSERT((unsigned)kind < STK_VERDICT_COUNT);
    static const char *const keys[STK_VERDICT_COUNT] = {
        [STK_VERDICT_INPUT] = "input-bound",
        [STK_VERDICT_HOST] = "host-bound",
        [STK_VERDICT_SYNC] = "sync-bound",
        [STK_VERDICT_TRANSFER] = "transfer-bound",
        [STK_VERDICT_COMMUNICATION] = "communication-bound",
        [STK_VERDICT_STRAGGLER] = "straggler",
        [STK_VERDICT_COMPUTE] = "compute-bound",
        [STK_VERDICT_COLD] = "cold-start",
        [STK_VERDICT_MIXED] = "mixed",
        [STK_VERDICT_CANNOT_TELL] = "cannot-tell",
    };
    return keys[kind];
}

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
