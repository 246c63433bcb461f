// SPDX-License-Identifier: Apache-2.0
// Memory of a tree of processes, from /proc: what each process has for itself, plus the largest
// part that they may share. Also the memory that is still free.
#pragma once

#include <stdint.h>
#include <sys/types.h>

// Bytes of the descendants of a process, in any process group or session; 0: unknown.
uint64_t stk_tree_memory(pid_t root);
uint64_t
stk_free_memory(void); // of the machine or the control group, whichever is less; 0: unknown
