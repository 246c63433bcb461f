// SPDX-License-Identifier: Apache-2.0
// A command that runs as if nobody stood between it and who started it: in the same process group,
// with the same terminal, descriptors, directory and signals. What the terminal sends (Ctrl-C)
// reaches its group, so the job, once; what another process sends to this one alone is passed on.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct stk_job {
    pid_t pid;
    uint64_t start_ns, end_ns;
    int error;       // errno where it could not be started, else 0
    int wait_status; // once it has ended
    sigset_t before; // this process' mask, and what it does on SIGCHLD
    struct sigaction child_action;
};

// Starts argv, found on PATH, with the environment `env`. From here to stk_job_end this process
// blocks the signals that it passes on. An error: no process could be made, or job->error says why
// the command cannot be run; nothing is left to end then.
STK_MUST_CHECK enum stoker_status stk_job_start(struct stk_job *job, char *const *argv,
                                                char *const *env, struct stoker_err *err);
// Waits until it has ended, and leaves it to be reaped; calls tick(arg) every `tick_ms` meanwhile.
void stk_job_wait(struct stk_job *job, int tick_ms, void (*tick)(void *arg), void *arg);
// Reaps it; job->wait_status is how it ended. Signals are as they were.
void stk_job_end(struct stk_job *job);
// Ends this process by the job's signal, as a shell expects of who stood for it; without a core.
// Returns where the signal does not end processes.
void stk_job_die_as(int number);
