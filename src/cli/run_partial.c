// SPDX-License-Identifier: Apache-2.0
// The partial of a run (run_partial.h). While the job runs, a separate process writes it: the one
// that runs the job passes signals on and must not wait for a disk.
//
// Limits: the writer runs at low priority, but takes memory like any other process. A window
// of stoker run is a few steps.
#include "cli/run_partial.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "cli/cli.h"
#include "cli/screen.h"
#include "job/capture/parent/folder.h"
#include "stoker/partial.h"
#include "wire/partial.h"

#define NAME STK_PARTIAL_OF_RUN
#define NICE 19

// Only calls that are allowed after a fork in a program with threads.
_Noreturn static void become_writer(const char *folder, const char *path)
{
    const char *argv[] = {"stoker", "partial", "--quiet", "--threads", "1",
                          "-o",     path,      "--",      folder,      NULL};
    sigset_t none;
    int nothing = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; nothing >= 0 && fd <= STDERR_FILENO; fd++) {
        dup2(nothing, fd);
    }
    signal(SIGINT, SIG_IGN); // Ctrl-C is for the job
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpriority(PRIO_PROCESS, 0, NICE);
    execv("/proc/self/exe", (char **)argv);
    _exit(STK_EXIT_LIMIT);
}

void stk_run_partial_start(struct stk_run_partial *p, const char *folder)
{
    if (p->was_started) {
        return;
    }
    p->was_started = true;
    char *path = stk_folder_path(folder, NAME);
    pid_t pid = path ? fork() : -1;
    if (pid == 0) {
        become_writer(folder, path);
    }
    p->writer = pid > 0 ? pid : 0;
    stk_free(path);
}

void stk_run_partial_wait(struct stk_run_partial *p)
{
    STK_ASSERT(p->writer >= 0);
    if (p->writer) {
        waitpid(p->writer, NULL, 0);
        p->writer = 0;
    }
}

void stk_run_partial_write(const char *folder)
{
    struct stoker_why_options options;
    struct stk_output output;
    struct stoker_err err;
    STK_ASSERT(folder);
    char *path = stk_folder_path(folder, NAME);
    int code = path ? stk_output_open(&output, path, false) : stk_fail_nomem();
    if (code != STK_EXIT_DONE) {
        stk_free(path);
        return;
    }
    stoker_why_options_default(&options);
    enum stoker_status status =
        stoker_partial(&folder, 1, &options, stk_output_write, &output, &err);
    (void)stk_output_end(&output, status, &err);
    stk_free(path);
}
