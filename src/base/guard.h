// SPDX-License-Identifier: Apache-2.0
// Mapped files that are cut short while they are read. Touching a page that is gone raises SIGBUS,
// which would end the process; under a guard the page reads as zeros instead, what is written
// to it is lost, and the guard says that it happened. Who reads must look (stk_guard_is_torn)
// before it believes what it read.
//
// The first guard installs a handler for SIGBUS, process-wide and for good. Faults elsewhere are
// passed on to the handler there was before. At most 4096 mappings are guarded at a time.
#ifndef STK_BASE_GUARD_H
#define STK_BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct stk_guard;

// NULL: there are too many, and the memory is not guarded. Drop it before the memory is unmapped.
struct stk_guard *stk_guard_add(const void *memory, size_t size);
void stk_guard_drop(struct stk_guard *g);          // takes NULL
bool stk_guard_is_torn(const struct stk_guard *g); // takes NULL

#endif
