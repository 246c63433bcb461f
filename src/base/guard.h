// SPDX-License-Identifier: Apache-2.0
// Mapped files that are truncated while they are read. Touching a missing page raises SIGBUS, which
// would end the process. Under a guard the page reads as zeros instead, writes to it are lost, and
// the guard records that it happened. Readers must check stk_guard_is_torn before they trust what
// they read.
//
// A guard lasts as long as the mapping is used: from before the first read until the last view of
// it is gone. The first guard installs a handler for SIGBUS, process-wide and for good. Faults
// elsewhere are passed on to the previous handler.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Most guards: about as many as Linux allows mappings (vm.max_map_count).
#define STK_GUARDS_MAX 65536

struct stk_guard;

// NULL: too many guards, or the handler couldn't be installed; the memory isn't guarded. Drop it
// before unmapping the memory.
struct stk_guard *stk_guard_add(const void *memory, size_t size);
void stk_guard_drop(struct stk_guard *g);          // takes NULL
bool stk_guard_is_torn(const struct stk_guard *g); // takes NULL
