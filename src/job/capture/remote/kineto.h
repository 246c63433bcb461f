// SPDX-License-Identifier: Apache-2.0
// A window of a running PyTorch job by Kineto's on-demand protocol: this process acts as the daemon
// (dynolog), and answers one request of the job with what to record.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { STK_KINETO_PATH = 4096 };

// The settings of a process, from its environment.
struct stk_kineto_job {
    bool is_known;                    // its environment and user can be read
    uid_t uid;                        // its user
    bool listens;                     // KINETO_USE_DAEMON is set
    char socket_dir[STK_KINETO_PATH]; // KINETO_IPC_SOCKET_DIR; "": the abstract name
    char trace_dir[STK_KINETO_PATH];  // KINETO_ONDEMAND_TRACE_DIR; "": /tmp
};
void stk_kineto_look(pid_t pid, struct stk_kineto_job *out);

struct stk_kineto_plan {
    pid_t pid;
    const struct stk_kineto_job *job;
    const char *trace; // absolute, ends in ".json"; Kineto puts "_PID" before that
    uint64_t duration_ms;
    uint64_t ask_ms, write_ms;  // how long to wait for its request; after the window, for its file
    bool (*is_cancelled)(void); // asked several times a second
    void (*told)(void *arg, const char *what); // reports what it waits for; may be NULL
    void *told_arg;
};
// Writes the trace's path into path[STK_KINETO_PATH]. STOKER_ELIMIT: the job didn't ask or wrote
// nothing in time, or there is another daemon. STOKER_EINTR: canceled.
STK_MUST_CHECK enum stoker_status stk_kineto_capture(const struct stk_kineto_plan *plan, char *path,
                                                     struct stoker_err *err);
