// SPDX-License-Identifier: Apache-2.0
// Memory that a tree of processes holds, from /proc: what each process has for itself, and the
// largest part that they may share. What the system has free for more.
#pragma once

#include <stdint.h>
#include <sys/types.h>

// Bytes of the descendants of a process, in any process group or session; 0: unknown.
uint64_t stk_tree_memory(pid_t root);
uint64_t stk_free_memory(void); // of the machine or the control group, the less; 0: unknown
