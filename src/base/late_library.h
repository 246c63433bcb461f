// SPDX-License-Identifier: Apache-2.0
// A shared library that is loaded when its first function is needed, so that what never needs it
// does not pay for it at start. Who uses one keeps a table of its functions; the prototypes come
// from the library's own header, and its file name holds the version that this header is for.
//
// Limits: what is loaded stays until the program ends. A load that failed is tried again.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct stk_late_call {
    const char *name;
    void *at; // address of the pointer to a function that is set
};
struct stk_late_library {
    const char *file;   // "libx.so.1"
    const char *needs;  // what needs it: "stoker view"
    const char *remedy; // what to do where it is missing, without a stop at the end
    const struct stk_late_call *calls;
    size_t call_count;
    pthread_mutex_t lock;
    bool is_loaded; // guarded by the lock
};
// A member of a table of functions, and its row: STK_LATE_MEMBER(f) is a pointer named f to what
// has f's type.
#define STK_LATE_MEMBER(f) __typeof__(&f) f;

// Sets all pointers, or none is to be called: STOKER_ELIMIT, with what is missing.
STK_MUST_CHECK enum stoker_status stk_late_library_load(struct stk_late_library *l,
                                                        struct stoker_err *err);
