// SPDX-License-Identifier: Apache-2.0
// The one place that calls malloc: size checks, counters, and fault injection for the torture test.
// All functions return NULL on failure; none aborts.
#pragma once

#include <stddef.h>
#include <stdint.h>

void *stk_alloc(size_t size);                     // uninitialised
void *stk_alloc_zero(size_t count, size_t size);  // zeroed, overflow-checked
void *stk_alloc_array(size_t count, size_t size); // uninitialised, overflow-checked
// As stk_alloc_array, for what is large and used throughout: on large pages where the system has
// them.
void *stk_alloc_large(size_t count, size_t size);
void *stk_realloc_array(void *p, size_t count,
                        size_t size); // as realloc; old block kept on failure
void stk_free(void *p);               // takes NULL

// Why the last request failed that did, of any thread: for the text of an error. A container that
// is full, and not the system, says so with stk_alloc_refuse (NULL, for `return`).
enum stk_alloc_lack {
    STK_LACK_UNKNOWN, // nothing has failed
    STK_LACK_MEMORY,  // the system has no more, and other programs hold some of it
    STK_LACK_LIMIT,   // the process may not have more (ulimit -v)
    STK_LACK_MACHINE, // more was asked for than the machine has
    STK_LACK_CAP      // a container of this program is full
};
enum stk_alloc_lack stk_alloc_lack(void);
void *stk_alloc_refuse(void);
// Requests that the system failed since the start of the process, in all threads: an answer during
// which the figure grew may lack a part (stk_err_whole). What stk_alloc_refuse says does not count.
uint64_t stk_alloc_refusals(void);

// Test hook: the n-th allocation from now on fails (1 = the next), and every one after it if
// `sticky`. 0 switches injection off. Not thread-safe against running allocations of other threads
// in the sense of order, but safe to call.
void stk_alloc_fail_at(uint64_t n, int sticky);
// Allocations made since the start of the process.
uint64_t stk_alloc_count(void);
