// SPDX-License-Identifier: Apache-2.0
// One run of a command; see trial.h.
#include "job/prove/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/prove/keeper.h"
#include "job/prove/left_behind.h"

enum { READS = 16 };          // at once
#define ENDING_NS 5000000000u // after SIGTERM, until a run is killed

struct running {
    const struct stk_trial *trial;
    struct stk_keeper keeper;
    int output;                 // a file descriptor; below 0: none
    uint64_t start_ns, told_ns; // told_ns: when told to end; 0: not yet
};

static enum stoker_status start(struct running *r, struct stoker_err *err)
{
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) {
        return stk_err_set(err, STOKER_ELIMIT, "can't create a pipe: %s", strerror(errno));
    }
    enum stoker_status status =
        stk_keeper_start(&r->keeper, r->trial->argv, r->trial->env, out[1], err);
    close(out[1]);
    if (status != STOKER_OK) {
        close(out[0]);
        return status;
    }
    r->start_ns = stk_clock_ns();
    r->output = out[0];
    fcntl(r->output, F_SETFL, O_NONBLOCK);
    if (r->trial->starts) {
        r->trial->starts(r->trial->arg, r->keeper.pid);
    }
    return STOKER_OK;
}

static void close_output(struct running *r)
{
    if (r->output >= 0) {
        close(r->output);
    }
    r->output = -1;
}

static uint64_t time_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

// Reads the available output, up to a limit, so that endless output doesn't prevent a look at the
// clock. Closes it at its end. A pipe has less than one call reads.
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
            close_output(r);
        } else if (errno == EAGAIN) {
            break;
        }
    }
    return status;
}

// Whether a run that was told to end has used up its time for it. Tells it to end when due.
static bool ends(struct running *r, uint64_t now_ns, struct stk_trial_result *result)
{
    if (!r->told_ns && r->trial->is_done && r->trial->is_done(r->trial->arg)) {
        r->told_ns = now_ns;
        result->is_done = true;
        stk_keeper_tell(&r->keeper);
    }
    return r->told_ns && now_ns - r->told_ns > ENDING_NS;
}

static enum stoker_status watch(struct running *r, struct stk_trial_result *result,
                                struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    while (status == STOKER_OK) {
        struct pollfd fds[2] = {{r->output, POLLIN, 0}, {r->keeper.line, POLLIN, 0}};
        poll(fds, 2, 100);
        uint64_t now_ns = stk_clock_ns();
        status = read_output(r, err);
        if (fds[1].revents) { // it has ended
            return status;
        }
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
    struct running r = {.trial = trial, .output = -1};
    struct stk_keeper_end end;
    struct stk_left_behind left;
    *result = (struct stk_trial_result){0};
    stk_left_behind_begin(&left); // in case the keeper is killed
    enum stoker_status status = start(&r, err);
    if (status == STOKER_OK) {
        status = watch(&r, result, err);
        if (!stk_keeper_end(&r.keeper, &end) && status == STOKER_OK) {
            status = stk_err_set(err, STOKER_EINPUT,
                                 "%s: stoker's process that watched it was killed", trial->argv[0]);
        }
        close_output(&r);
        result->wall_ns = end.end_ns - end.start_ns;
        result->cpu_ns = time_ns(end.used.ru_utime) + time_ns(end.used.ru_stime);
        result->status = WIFEXITED(end.wait_status) ? WEXITSTATUS(end.wait_status) : 0;
        result->signal = WIFSIGNALED(end.wait_status) ? WTERMSIG(end.wait_status) : 0;
    }
    stk_left_behind_end(&left);
    return status;
}
