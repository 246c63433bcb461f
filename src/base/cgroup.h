// SPDX-License-Identifier: Apache-2.0
// Limits of the control group that the process runs in: a container's limits. Only version 2, as
// seen from inside a container, where its own group is mounted at the root.
#pragma once

#include <stdint.h>

int64_t stk_cgroup_processors(void);   // cores allowed by its quota, rounded up; 0: unlimited
uint64_t stk_cgroup_memory_left(void); // bytes left below its limit; UINT64_MAX: unlimited
