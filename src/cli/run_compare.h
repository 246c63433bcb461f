// SPDX-License-Identifier: Apache-2.0
// What a job's input costs: a run whose input was free beside one as it is. Which one: the folder
// that is named, or the newest beside the run's own whose command was the same.
#pragma once

#include "job/capture/parent/run_out.h"

// Fills run->compared where there is such a run. wanted: its folder, or NULL. If a given folder
// can't be read, an error is printed.
void stk_run_compare(struct stk_run *run, const char *wanted, uint64_t warmup);
