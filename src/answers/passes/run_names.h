// SPDX-License-Identifier: Apache-2.0
// The framework and the devices of a run, as text.
#pragma once

#include "base/arena.h"
#include "profile/model/summary.h"

// Both: NULL if unknown; false: no memory. "pytorch"; CUDA, which all frameworks call, only if it
// is alone.
bool stk_run_frameworks(const struct stk_run_sum *run, struct stk_arena *arena, const char **out);
// "A100, H100": each model of the analyzed devices once.
bool stk_run_devices(const struct stk_run_sum *run, struct stk_arena *arena, const char **out,
                     uint64_t *count);
