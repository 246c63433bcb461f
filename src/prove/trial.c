// SPDX-License-Identifier: Apache-2.0
// One run of a command; see trial.h. The end of the command is seen by a descriptor of its process
// where the system has them (Linux 5.3), else by asking every millisecond.
#include "prove/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "prove/left_behind.h"

extern char **environ;

enum { READS = 16 };          // in one go
#define ENDING_NS 5000000000u // that a run has to end by itself once it is told

struct running {
    const struct stk_trial *trial;
    pid_t child;
    int output, ended;          // descriptors; below 0: none
    uint64_t start_ns, told_ns; // told to end; 0: not yet
    bool is_over;
    struct stk_left_behind left;
    struct rusage used;
    int wait_status;
};

// In the child. What fails is told by the number of the error, over the pipe that a successful
// start closes.
static void start_command(const struct stk_trial *t, int output, int failure, pid_t parent)
{
    int input = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL); // this program ignores these
    signal(SIGXFSZ, SIG_DFL);
    if (getppid() == parent && input >= 0 && dup2(input, 0) >= 0 && dup2(output, 1) >= 0 &&
        dup2(output, 2) >= 0) {
        environ = t->env ? (char **)(uintptr_t)t->env : environ;
        execvp(t->argv[0], t->argv);
    }
    int error = errno;
    while (write(failure, &error, sizeof error) < 0 && errno == EINTR) {
        continue;
    }
    _exit(127);
}

static enum stoker_status cannot_start(const struct stk_trial *t, int error, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINPUT, "%s cannot be run: %s", t->argv[0], strerror(error));
}

static enum stoker_status start(struct running *r, struct stoker_err *err)
{
    int out[2], failure[2], error = 0;
    if (pipe2(out, O_CLOEXEC) != 0) {
        return cannot_start(r->trial, errno, err);
    }
    if (pipe2(failure, O_CLOEXEC) != 0) {
        error = errno;
        close(out[0]);
        close(out[1]);
        return cannot_start(r->trial, error, err);
    }
    pid_t parent = getpid();
    r->start_ns = stk_clock_ns();
    r->child = fork();
    if (r->child == 0) {
        start_command(r->trial, out[1], failure[1], parent);
    }
    error = r->child < 0 ? errno : 0;
    close(out[1]);
    close(failure[1]);
    ssize_t n = 0;
    while (!error && (n = read(failure[0], &error, sizeof error)) < 0 && errno == EINTR) {
        continue;
    }
    close(failure[0]);
    if (error) {
        close(out[0]);
        if (r->child > 0) {
            waitpid(r->child, NULL, 0);
        }
        return cannot_start(r->trial, error, err);
    }
    r->output = out[0];
    fcntl(r->output, F_SETFL, O_NONBLOCK);
    r->ended = (int)syscall(SYS_pidfd_open, r->child, 0);
    return STOKER_OK;
}

// What is there of the output, up to a limit: who writes without end does not keep the clock from
// being looked at. What has ended is closed. A pipe holds less than one go takes.
static enum stoker_status read_output(struct running *r, struct stoker_err *err)
{
    char bytes[65536];
    enum stoker_status status = STOKER_OK;
    for (int i = 0; i < READS && r->output >= 0 && status == STOKER_OK; i++) {
        ssize_t n = read(r->output, bytes, sizeof bytes);
        if (n > 0) {
            status =
                r->trial->take ? r->trial->take(r->trial->arg, bytes, (size_t)n, err) : STOKER_OK;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(r->output);
            r->output = -1;
        } else if (errno == EAGAIN) {
            break;
        }
    }
    return status;
}

// Whether a run that was told to end had its time for it; tells it where that is due.
static bool ends(struct running *r, uint64_t now_ns, struct stk_trial_result *result)
{
    if (!r->told_ns && r->trial->is_done && r->trial->is_done(r->trial->arg)) {
        r->told_ns = now_ns;
        result->is_done = true;
        kill(-r->child, SIGTERM);
    }
    return r->told_ns && now_ns - r->told_ns > ENDING_NS;
}

static enum stoker_status watch(struct running *r, struct stk_trial_result *result,
                                struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    while (status == STOKER_OK) {
        struct pollfd fds[2] = {{r->output, POLLIN, 0}, {r->ended, POLLIN, 0}};
        poll(fds, 2, r->ended < 0 ? 1 : 100);
        uint64_t now_ns = stk_clock_ns();
        if (wait4(r->child, &r->wait_status, WNOHANG, &r->used) == r->child) {
            result->wall_ns = now_ns - r->start_ns;
            r->is_over = true;
            return read_output(r, err);
        }
        status = read_output(r, err);
        if (status == STOKER_OK && r->trial->stop && r->trial->stop(r->trial->arg)) {
            status = stk_err_set(err, STOKER_EINTR, "interrupted");
        }
        if (r->trial->timeout_ns && now_ns - r->start_ns > (uint64_t)r->trial->timeout_ns) {
            result->is_late = !r->told_ns;
            return status;
        }
        if (status == STOKER_OK && ends(r, now_ns, result)) {
            return status;
        }
    }
    return status;
}

enum stoker_status stk_trial_run(const struct stk_trial *trial, struct stk_trial_result *result,
                                 struct stoker_err *err)
{
    struct running r = {.trial = trial, .output = -1, .ended = -1};
    *result = (struct stk_trial_result){0};
    stk_left_behind_begin(&r.left);
    enum stoker_status status = start(&r, err);
    if (status != STOKER_OK) {
        stk_left_behind_end(&r.left);
        return status;
    }
    status = watch(&r, result, err);
    kill(-r.child, SIGKILL); // what is left of the group
    if (!r.is_over) {
        while (wait4(r.child, &r.wait_status, 0, &r.used) < 0 && errno == EINTR) {
            continue;
        }
        result->wall_ns = stk_clock_ns() - r.start_ns;
    }
    stk_left_behind_end(&r.left);
    if (r.output >= 0) {
        close(r.output);
    }
    if (r.ended >= 0) {
        close(r.ended);
    }
    result->cpu_ns = (uint64_t)(r.used.ru_utime.tv_sec + r.used.ru_stime.tv_sec) * 1000000000u +
                     (uint64_t)(r.used.ru_utime.tv_usec + r.used.ru_stime.tv_usec) * 1000u;
    result->status = WIFEXITED(r.wait_status) ? WEXITSTATUS(r.wait_status) : 0;
    result->signal = WIFSIGNALED(r.wait_status) ? WTERMSIG(r.wait_status) : 0;
    return status;
}
