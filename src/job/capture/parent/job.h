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

// Blocks the signals that are passed on, until stk_job_release: what is made for the job is removed
// before one of them ends this process.
void stk_job_prepare(struct stk_job *job);
// Starts argv, found on PATH, with the environment `env`. An error: no process could be made, a
// signal came since stk_job_prepare (STOKER_EINTR), or job->error says why the command cannot be
// run; nothing is left to end then.
STK_MUST_CHECK enum stoker_status stk_job_start(struct stk_job *job, char *const *argv,
                                                char *const *env, struct stoker_err *err);
// Waits until it has ended, and leaves it to be reaped; calls tick(arg) every `tick_ms` meanwhile.
void stk_job_wait(struct stk_job *job, int tick_ms, void (*tick)(void *arg), void *arg);
// Reaps it; job->wait_status is how it ended.
void stk_job_end(struct stk_job *job);
// Signals are as they were; one that came meanwhile takes effect.
void stk_job_release(struct stk_job *job);
// Ends this process by the job's signal, as a shell expects of who stood for it; without a core.
// Returns where the signal does not end processes.
void stk_job_die_as(int number);
