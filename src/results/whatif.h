// SPDX-License-Identifier: Apache-2.0
// The result of `stoker whatif`: the structs of whatif.def. Everything lives in the result's arena.
#pragma once

#include "results/report.h"

#define STK_WHATIF_SCHEMA "stoker.whatif/1"

// A name (or only a kind) on the critical path of the mean step, or off it.
struct stk_whatif_path_row {
    const char *kind, *name;
    int64_t ns;
    double share, count;
    int64_t slack_ns; // off the path: the smallest
};

#include "results/rows_struct.h"
#include "results/whatif.def"
#include "results/rows_end.h"
