// SPDX-License-Identifier: Apache-2.0
// The advice of rule host-bound, chosen by what the profile shows.
#pragma once

#include "answers/rules/host_fix_rows.h"

// Why the host is late.
#define STK_HOST_ALLOCATES 1u    // allocating and freeing device memory
#define STK_HOST_LAUNCHES 2u     // launch calls
#define STK_HOST_CODE 4u         // Python and the framework
#define STK_HOST_BLOCKED 16u     // a queue, a lock, sleep
#define STK_HOST_NOT_RECORDED 8u // between the batches in an input pipeline's own record

// The rule's thresholds after STK_FROM_DEVICE and STK_FROM_HOST.
enum {
    STK_HOST_FROM_LEADS = STK_FROM_HOST + 1,
    STK_HOST_FROM_ALLOC,
    STK_HOST_FROM_BRIEF,
    STK_HOST_FROM_UNLINKED,
    STK_HOST_FROM_EAGER,
    STK_HOST_FROM_SHORT,
    STK_HOST_FROM_CALLS,
    STK_HOST_FROM_SIGN,
    STK_HOST_FROM_ROUND,
    STK_HOST_FROM_INSIDE,
    STK_HOST_FROM_PLACED
};
extern const struct stk_threshold stk_host_thresholds[]; // ends with name == NULL
// Whether graph launches take most of the time in which the device waits for launches.
bool stk_host_graphs_lead(const struct stk_rule_ctx *ctx);
// `losses`: of STK_HOST_ALLOCATES etc.
void stk_host_fixes_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                           uint32_t losses);
