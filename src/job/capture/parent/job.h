// SPDX-License-Identifier: Apache-2.0
// A command that runs as if started directly: in the same process group, with the same terminal,
// file descriptors, directory and signals. Signals of the terminal (Ctrl-C) reach the group, and so
// the job once; signals that another process sends to this process only are passed on.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct stk_job {
    pid_t pid;
    uint64_t start_ns, end_ns;
    int error;       // errno if it couldn't be started, else 0
    int wait_status; // once it has ended
    sigset_t before; // this process's mask; its action for SIGCHLD
    struct sigaction child_action;
};

// Blocks the signals that are passed on, until stk_job_release, so that the job's files are removed
// before a signal ends this process.
void stk_job_prepare(struct stk_job *job);
// Starts argv, found on PATH, with the environment `env`. An error: no process could be made, a
// signal came since stk_job_prepare (STOKER_EINTR), or job->error says why the command can't be
// run; then there is nothing to end.
STK_MUST_CHECK enum stoker_status stk_job_start(struct stk_job *job, char *const *argv,
                                                char *const *env, struct stoker_err *err);
// Waits until it has ended, without reaping it; calls tick(arg) every `tick_ms` meanwhile.
void stk_job_wait(struct stk_job *job, int tick_ms, void (*tick)(void *arg), void *arg);
// Reaps it; job->wait_status is how it ended.
void stk_job_end(struct stk_job *job);
// Restores the signals; one that came meanwhile takes effect.
void stk_job_release(struct stk_job *job);
// Ends this process by the job's signal, as a shell expects, without a core dump. Returns if the
// signal doesn't end processes.
void stk_job_die_as(int number);
