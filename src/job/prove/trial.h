// SPDX-License-Identifier: Apache-2.0
// One run of a command: started afresh in a new process group, with an empty input; its output is
// read, and its time taken from before the start to its end. Processes that it left running are
// then ended, even daemons if the kernel lists children (/proc/PID/task/TID/children), so that no
// run disturbs the next one. All of them also end when this process ends in any way (keeper.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct stk_trial {
    char *const *argv;  // NULL at the end
    char *const *env;   // NULL: this process'
    int64_t timeout_ns; // 0: none
    // Gets the output and error output as they arrive; a code other than STOKER_OK ends the run.
    // NULL: discards them.
    enum stoker_status (*take)(void *arg, const char *bytes, size_t n, struct stoker_err *err);
    bool (*stop)(void *arg); // called ten times a second; NULL: never
    // Called as often: whether the run may end. If so, it gets SIGTERM, and SIGKILL some seconds
    // later. NULL: it runs to its end.
    bool (*is_done)(void *arg);
    // Called after the start: all of the run's processes descend from `root`. May be NULL.
    void (*starts)(void *arg, pid_t root);
    void *arg;
};
struct stk_trial_result {
    uint64_t wall_ns, cpu_ns; // cpu: of the command and the processes it waited for
    int status, signal;       // the exit status; the signal that ended it, 0: none
    bool is_late;             // ended by the timeout
    bool is_done;             // told to end, so its status means nothing
};
// Other codes than STOKER_OK: it couldn't be run (STOKER_EINPUT), or `stop` or `take` ended it.
STK_MUST_CHECK enum stoker_status stk_trial_run(const struct stk_trial *trial,
                                                struct stk_trial_result *result,
                                                struct stoker_err *err);
