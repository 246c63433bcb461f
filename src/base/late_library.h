// SPDX-License-Identifier: Apache-2.0
// A shared library loaded when its first function is needed, so programs that never need it don't
// pay for it at startup. Users keep a table of its functions; the prototypes come from the
// library's own header, and its file name has the version that this header is for.
//
// Limits: a loaded library stays until the program ends. A failed load is retried.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct stk_late_call {
    const char *name;
    void *at; // address of the function pointer to set
};
struct stk_late_library {
    const char *file;   // "libx.so.1"
    const char *needs;  // what needs it: "stoker view"
    const char *remedy; // what to do if it is missing; no final period
    const struct stk_late_call *calls;
    size_t call_count;
    pthread_mutex_t lock;
    bool is_loaded; // guarded by the lock
};
// A member of a function table, and its row: STK_LATE_MEMBER(f) is a pointer named f with f's type.
#define STK_LATE_MEMBER(f) __typeof__(&f) f;

// Sets all pointers. On failure call none of them: STOKER_ELIMIT, with what is missing.
STK_MUST_CHECK enum stoker_status stk_late_library_load(struct stk_late_library *l,
                                                        struct stoker_err *err);
