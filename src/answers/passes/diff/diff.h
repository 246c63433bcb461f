// SPDX-License-Identifier: Apache-2.0
// `stoker diff`: an analysis of two results. It makes the comparison from the data that each side
// kept of its traces (stk_diff_hook), and from its report.
#pragma once

#include "profile/model/view.h"
#include "answers/passes/pass.h"
#include "results/diff.h"

// Both sides must have been collected with this hook.
extern const struct stk_view_hook stk_diff_hook;

struct stk_diff_input {
    const struct stk_pass_ctx *pass;
    const struct stk_report *report;
};
// Fills `out` except schema and version. `force`: compare even incomparable sides. `limit`: rows of
// long lists, 0: all.
STK_MUST_CHECK enum stoker_status stk_diff_make(const struct stk_diff_input *a,
                                                const struct stk_diff_input *b, bool force,
                                                uint64_t limit, struct stk_arena *arena,
                                                struct stk_diff *out, struct stoker_err *err);
