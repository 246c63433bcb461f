// SPDX-License-Identifier: Apache-2.0
// Starts a command and waits for it; see job.h. Takes signals one by one from a blocked set with
// sigtimedwait(), which shows the sender: the kernel (for the terminal; the job got these itself)
// or a process. A signal that a process sends to the whole group reaches the job twice; the two
// can't be distinguished.
#include "job/capture/parent/job.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"

extern char **environ;

static const int passed_on[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                                SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

static void passed_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
        sigaddset(set, passed_on[i]);
    }
}

// In the child. Sends the errno of a failure through the pipe, which a successful start closes.
static void start_command(const struct stk_job *job, char *const *argv, char *const *env,
                          int failure)
{
    STK_ASSERT(argv && argv[0] && failure >= 0);
    signal(SIGPIPE, SIG_DFL); // this program ignores these
    signal(SIGXFSZ, SIG_DFL);
    sigaction(SIGCHLD, &job->child_action, NULL);
    sigprocmask(SIG_SETMASK, &job->before, NULL);
    environ = (char **)(uintptr_t)env;
    execvp(argv[0], argv);
    int error = errno;
    while (write(failure, &error, sizeof error) < 0 && errno == EINTR) {
        continue;
    }
    _exit(127);
}

void stk_job_prepare(struct stk_job *job)
{
    sigset_t set;
    STK_ASSERT(job);
    *job = (struct stk_job){0};
    passed_set(&set);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &job->child_action);
    sigprocmask(SIG_BLOCK, &set, &job->before);
}

void stk_job_release(struct stk_job *job)
{
    STK_ASSERT(job->pid >= 0 || job->error);
    sigaction(SIGCHLD, &job->child_action, NULL);
    sigprocmask(SIG_SETMASK, &job->before, NULL);
}

// Is a signal pending that would have ended this process, and with it the job?
static bool is_told_to_end(void)
{
    static const int ending[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    sigset_t pending;
    bool is_told = false;
    sigpending(&pending);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
        is_told |= sigismember(&pending, ending[i]) == 1;
    }
    return is_told;
}

enum stoker_status stk_job_start(struct stk_job *job, char *const *argv, char *const *env,
                                 struct stoker_err *err)
{
    STK_ASSERT(argv && argv[0]);
    int failure[2];
    if (is_told_to_end()) {
        return stk_err_set(err, STOKER_EINTR, "interrupted before %s was started", argv[0]);
    }
    if (pipe2(failure, O_CLOEXEC) != 0) {
        job->error = errno;
        return stk_err_set(err, STOKER_ELIMIT, "can't create a pipe: %s", strerror(job->error));
    }
    job->start_ns = stk_clock_ns();
    job->pid = fork();
    if (job->pid == 0) {
        start_command(job, argv, env, failure[1]);
    }
    job->error = job->pid < 0 ? errno : 0;
    close(failure[1]);
    ssize_t n = 0;
    while (!job->error && (n = read(failure[0], &job->error, sizeof job->error)) < 0 &&
           errno == EINTR) {
        continue;
    }
    close(failure[0]);
    if (job->error) {
        if (job->pid > 0) {
            waitpid(job->pid, NULL, 0);
        }
        return stk_err_set(err, STOKER_EINPUT, "can't run %s: %s", argv[0], strerror(job->error));
    }
    return STOKER_OK;
}

static bool has_ended(const struct stk_job *job)
{
    STK_ASSERT(job->pid > 0);
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)job->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == job->pid;
}

void stk_job_wait(struct stk_job *job, int tick_ms, void (*tick)(void *arg), void *arg)
{
    STK_ASSERT(tick_ms > 0 && tick);
    sigset_t set;
    struct timespec every = stk_clock_moment((uint64_t)tick_ms * 1000000u);
    passed_set(&set);
    while (!has_ended(job)) {
        siginfo_t info;
        int number = sigtimedwait(&set, &info, &every);
        if (number < 0) {
            if (tick) {
                tick(arg);
            }
        } else if (number != SIGCHLD && info.si_code <= 0) { // from a process, not the terminal
            kill(job->pid, number);
        }
    }
    job->end_ns = stk_clock_ns();
}

void stk_job_end(struct stk_job *job)
{
    STK_ASSERT(job->pid > 0);
    while (waitpid(job->pid, &job->wait_status, 0) < 0 && errno == EINTR) {
        continue;
    }
}

void stk_job_die_as(int number)
{
    sigset_t set;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0); // the limit doesn't apply to cores through a pipe
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}
