// SPDX-License-Identifier: Apache-2.0
// The parts of each device's time as pieces in order, and the critical path of a step, for exports;
// kept for each rank while it is summarized.
#pragma once

#include "answers/export/export.h"
#include "profile/model/view.h"

struct stk_export_parts {
    struct stk_export_piece *v; // by device and time, in the trace's time
    size_t count;
    struct stk_path_pieces path;
};
// A view's `see` (needs its gaps): *partial is a struct stk_export_parts.
STK_MUST_CHECK enum stoker_status stk_export_parts_see(const struct stk_analysis *view,
                                                       struct stk_arena *arena, void **partial,
                                                       struct stoker_err *err);
