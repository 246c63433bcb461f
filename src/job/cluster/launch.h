// SPDX-License-Identifier: Apache-2.0
// Whether this process is one of several that an MPI launcher started (mpirun, srun), judged only
// by its environment, without loading a library.
#pragma once

#include <stdbool.h>

#include "base/err.h"

#define STK_LAUNCH_VARIABLE "STOKER_MPI" // "off", or the path of the MPI library

enum stk_launcher { STK_LAUNCHER_NONE, STK_LAUNCHER_OPEN_MPI, STK_LAUNCHER_OTHER };
struct stk_launch {
    enum stk_launcher by;
    long size;        // started processes
    const char *name; // of the variable with the size
};

// by == NONE: this process is alone, or STOKER_MPI=off. STOKER_EUSAGE: srun started several that
// can't find each other.
STK_MUST_CHECK enum stoker_status stk_launch_find(struct stk_launch *out, struct stoker_err *err);
// Refuses processes that can't see each other: each is "rank 0 of 1", although `size` were started.
enum stoker_status stk_launch_refuse_singletons(const struct stk_launch *l, struct stoker_err *err);
