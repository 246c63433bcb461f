// SPDX-License-Identifier: Apache-2.0
// The own time of PyTorch's operators on a thread, without those that they call, as events are read
// in time order.
#pragma once

#include "profile/model/summary.h"

#define STK_OPERATORS 32 // open ones, one inside the other; deeper ones count for the one around

struct stk_operators {
    struct {
        int64_t end_ns, own_ns;
    } open[STK_OPERATORS];
    uint32_t count;
};

// An operator begins.
void stk_operators_open(struct stk_operators *o, int64_t start_ns, int64_t end_ns,
                        struct stk_sign_sum *sum);
// Counts those that ended by t_ns; INT64_MAX: all.
void stk_operators_close(struct stk_operators *o, int64_t t_ns, struct stk_sign_sum *sum);
