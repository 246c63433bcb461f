// SPDX-License-Identifier: Apache-2.0
// What a run says of its framework and its devices, as text.
#pragma once

#include "base/arena.h"
#include "profile/model/summary.h"

// Both: NULL where nothing is known; false: no memory.
// "pytorch": CUDA, which they all call, only where it is alone.
bool stk_run_frameworks(const struct stk_run_sum *run, struct stk_arena *arena, const char **out);
// "A100, H100": each model of the devices that were analyzed once.
bool stk_run_devices(const struct stk_run_sum *run, struct stk_arena *arena, const char **out,
                     uint64_t *count);
