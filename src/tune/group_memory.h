// SPDX-License-Identifier: Apache-2.0
// Memory that a process group holds, from /proc: what each process has for itself, and the largest
// part that they may share. What the system has free for more.
#ifndef STK_TUNE_GROUP_MEMORY_H
#define STK_TUNE_GROUP_MEMORY_H

#include <stdint.h>

uint64_t stk_group_memory(int64_t group); // bytes; 0: unknown
uint64_t stk_free_memory(void); // of the machine or the control group, the less; 0: unknown

#endif
