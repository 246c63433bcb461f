// SPDX-License-Identifier: Apache-2.0
// What a job's input costs: compares a run with free input with a normal run of the same job. That
// is the given folder, or the newest one next to the run's own with the same command.
#pragma once

#include "job/capture/parent/run_out.h"

// Fills run->compared if there is such a run. wanted: its folder, or NULL. If a given folder can't
// be read, an error is printed.
void stk_run_compare(struct stk_run *run, const char *wanted, uint64_t warmup);
