// SPDX-License-Identifier: Apache-2.0
// The answer to `stoker whatif`: gate, base, scenarios, available fixes, the path to a target.
#pragma once

#include "answers/replay/price.h"
#include "results/whatif.h"

struct stk_whatif_asked {
    const char *fixes; // "a,b": one scenario of all; NULL: each alone
    int64_t target_ns; // 0: none
    int threads;       // 0: all CPU cores this process may use
    bool wants_pairs;  // if each fix is priced alone: also pairs of the best
    bool wants_all;    // only the list, no scenarios
    bool wants_path;   // only the critical path
};
// Fills all but schema, version and profile. An unknown fix is STOKER_EUSAGE.
STK_MUST_CHECK enum stoker_status stk_whatif_make(const struct stk_run_sum *run,
                                                  const struct stk_verdict *verdict,
                                                  const struct stk_whatif_asked *asked,
                                                  struct stk_arena *arena, struct stk_whatif *out,
                                                  struct stoker_err *err);
