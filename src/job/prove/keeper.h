// SPDX-License-Identifier: Apache-2.0
// A process between this one and a command. It starts the command in a new process group, and acts
// as init for all processes that the command starts (left_behind.h). All of them end when the
// command ends, or when this process does in any way: a killed `stoker prove` leaves nothing
// running.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

struct stk_keeper {
    pid_t pid; // the ancestor of all processes of the command
    int line;  // a socket to it; readable: the command has ended
};

// How the command ended.
struct stk_keeper_end {
    uint64_t start_ns, end_ns; // from before its start
    int wait_status;
    struct rusage used; // by it and the processes it waited for
};

// Starts argv, found on PATH, with the environment `env` (NULL: this process's), an empty input,
// and `output` for both output streams. An error: it can't be run, and there is nothing to end.
STK_MUST_CHECK enum stoker_status stk_keeper_start(struct stk_keeper *k, char *const *argv,
                                                   char *const *env, int output,
                                                   struct stoker_err *err);
// Tells the command's group to end (SIGTERM).
void stk_keeper_tell(const struct stk_keeper *k);
// Ends all remaining processes, waits for them, and returns how the command ended. False: unknown,
// since the keeper was killed.
bool stk_keeper_end(struct stk_keeper *k, struct stk_keeper_end *end);
