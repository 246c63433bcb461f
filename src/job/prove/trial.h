// SPDX-License-Identifier: Apache-2.0
// One run of a command: started afresh in a process group of its own, its input empty, its output
// read, its time taken from before the start to its end. Processes that it left running are
// then ended, daemons too if the kernel lists children (/proc/PID/task/TID/children), so that no
// run disturbs the next one; and all of it ends with this process, however that ends (keeper.h).
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
    // Output and error output as they come; another code than STOKER_OK ends the run. NULL: they
    // are discarded.
    enum stoker_status (*take)(void *arg, const char *bytes, size_t n, struct stoker_err *err);
    bool (*stop)(void *arg); // asked ten times a second; NULL: never
    // Called as often: whether the run is done. Then it gets SIGTERM,
    // and SIGKILL some seconds later. NULL: it runs to its end.
    bool (*is_done)(void *arg);
    // It was started: all of its processes descend from this one. NULL: nobody asks.
    void (*starts)(void *arg, pid_t root);
    void *arg;
};
struct stk_trial_result {
    uint64_t wall_ns, cpu_ns; // cpu: the command and those it waited for
    int status, signal;       // exit status; the signal that ended it, 0: none
    bool is_late;             // the timeout ended it
    bool is_done;             // it was told to end, and how it did means nothing
};
// Other codes than STOKER_OK: it could not be run (STOKER_EINPUT), `stop` or `take` ended it.
STK_MUST_CHECK enum stoker_status stk_trial_run(const struct stk_trial *trial,
                                                struct stk_trial_result *result,
                                                struct stoker_err *err);
