// SPDX-License-Identifier: Apache-2.0
// A process between this one and a command. It starts the command in a process group of its own,
// and acts as init for all that the command starts (left_behind.h). All of that ends
// once the command has ended, or once this process has, however that ends: a killed `stoker prove`
// leaves nothing running.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

struct stk_keeper {
    pid_t pid; // whose descendants all processes of the command are
    int line;  // a socket to it; readable: the command has ended
};

// How the command ended.
struct stk_keeper_end {
    uint64_t start_ns, end_ns; // from before its start
    int wait_status;
    struct rusage used; // by it and those that it waited for
};

// Starts argv, found on PATH, with the environment `env` (NULL: this process'), an empty input, and
// `output` for both of its streams. An error: it cannot be run, and nothing is left to end.
STK_MUST_CHECK enum stoker_status stk_keeper_start(struct stk_keeper *k, char *const *argv,
                                                   char *const *env, int output,
                                                   struct stoker_err *err);
// Tells the command's group to end (SIGTERM).
void stk_keeper_tell(const struct stk_keeper *k);
// Ends all that is left, waits for it, and says how the command ended. False: nobody knows, for the
// keeper was killed.
bool stk_keeper_end(struct stk_keeper *k, struct stk_keeper_end *end);
