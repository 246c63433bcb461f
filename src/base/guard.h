// SPDX-License-Identifier: Apache-2.0
// Mapped files that are cut short while they are read. Touching a page that is gone raises SIGBUS,
// which would end the process; under a guard the page reads as zeros instead, what is written
// to it is lost, and the guard says that it happened. Who reads must look (stk_guard_is_torn)
// before it believes what it read.
//
// A guard lasts as long as the mapping: from before the first look at it, and while anybody holds a
// view of it. The first guard installs a handler for SIGBUS, process-wide and for good. Faults
// elsewhere are passed on to the handler there was before.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Guards at a time: about as many as Linux allows mappings (vm.max_map_count).
#define STK_GUARDS_MAX 65536

struct stk_guard;

// NULL: there are too many, or the handler could not be installed, and the memory is not guarded.
// Drop it before the memory is unmapped.
struct stk_guard *stk_guard_add(const void *memory, size_t size);
void stk_guard_drop(struct stk_guard *g);          // takes NULL
bool stk_guard_is_torn(const struct stk_guard *g); // takes NULL
