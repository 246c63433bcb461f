// SPDX-License-Identifier: Apache-2.0
// The only place that calls malloc: size checks, counters, and fault injection for the torture
// test. All functions return NULL on failure; none aborts.
#pragma once

#include <stddef.h>
#include <stdint.h>

void *stk_alloc(size_t size);                     // uninitialized
void *stk_alloc_zero(size_t count, size_t size);  // zeroed, overflow-checked
void *stk_alloc_array(size_t count, size_t size); // uninitialized, overflow-checked
// Like stk_alloc_array, for large arrays that are used throughout: on large pages if the system has
// them.
void *stk_alloc_large(size_t count, size_t size);
void *stk_realloc_array(void *p, size_t count,
                        size_t size); // like realloc; keeps the old block on failure
void stk_free(void *p);               // takes NULL

// Why the last failed request, of any thread, failed: for an error's text. A full container, as
// opposed to the system, reports itself with stk_alloc_refuse (returns NULL, for `return`).
enum stk_alloc_lack {
    STK_LACK_UNKNOWN, // nothing has failed
    STK_LACK_MEMORY,  // the system has none left, partly used by other programs
    STK_LACK_LIMIT,   // the process may not have more (ulimit -v)
    STK_LACK_MACHINE, // the request exceeds the machine's memory
    STK_LACK_CAP      // a container of this program is full
};
enum stk_alloc_lack stk_alloc_lack(void);
void *stk_alloc_refuse(void);
// Requests that the system refused since the process started, in all threads: a result may lack a
// part if this grew meanwhile (stk_err_whole). Doesn't count stk_alloc_refuse.
uint64_t stk_alloc_refusals(void);

// Test hook: the n-th allocation from now on fails (1 = the next), and with `sticky` every one
// after it. 0 switches injection off. Safe to call while other threads allocate, but then the order
// is undefined.
void stk_alloc_fail_at(uint64_t n, int sticky);
// Allocations since the process started.
uint64_t stk_alloc_count(void);
