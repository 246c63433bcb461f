// SPDX-License-Identifier: Apache-2.0
// The keeper process; see keeper.h. It gets orders and sends news over a socket pair. If the other
// side closes, as when its process dies, that is also an order to end everything. The command is
// reaped last, so that its process number stays in use until its group has ended.
#include "job/prove/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "job/prove/left_behind.h"

extern char **environ;

// Orders.
#define TELL 't'
#define END 'e'

struct keeping {
    char *const *argv, *const *env;
    int output, line;
    pid_t command;
    struct stk_keeper_end end;
};

static void tell(int line, const void *bytes, size_t n)
{
    while (send(line, bytes, n, MSG_NOSIGNAL) < 0 && errno == EINTR) {
        continue;
    }
}

// If the other side closed with an order unread, Linux first reports ECONNRESET once; news sent
// earlier is still in the queue.
static ssize_t hear(int line, void *bytes, size_t n)
{
    ssize_t got;
    do {
        got = recv(line, bytes, n, 0);
    } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    return got;
}

// ---- in the keeper process, and in the command ----

// In the child that becomes the command. Sends the errno of a failure through the pipe, which a
// successful start closes.
static void become(const struct keeping *k, int failure, pid_t parent)
{
    STK_ASSERT(k->argv && k->argv[0]);
    int input = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL); // this program ignores these
    signal(SIGXFSZ, SIG_DFL);
    if (getppid() == parent && input >= 0 && dup2(input, 0) >= 0 && dup2(k->output, 1) >= 0 &&
        dup2(k->output, 2) >= 0) {
        environ = k->env ? (char **)(uintptr_t)k->env : environ;
        execvp(k->argv[0], k->argv);
    }
    int error = errno;
    while (write(failure, &error, sizeof error) < 0 && errno == EINTR) {
        continue;
    }
    _exit(127);
}

// errno, or 0.
static int start_command(struct keeping *k)
{
    int failure[2], error = 0;
    if (pipe2(failure, O_CLOEXEC) != 0) {
        return errno;
    }
    pid_t parent = getpid();
    k->end.start_ns = stk_clock_ns();
    k->command = fork();
    if (k->command == 0) {
        become(k, failure[1], parent);
    }
    error = k->command < 0 ? errno : 0;
    close(failure[1]);
    ssize_t n = 0;
    while (!error && (n = read(failure[0], &error, sizeof error)) < 0 && errno == EINTR) {
        continue;
    }
    close(failure[0]);
    if (error && k->command > 0) {
        waitpid(k->command, NULL, 0);
    }
    return error;
}

static bool has_ended(const struct keeping *k)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)k->command, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == k->command;
}

// Waits until the command has ended, by itself or by an order. Its end shows on a process file
// descriptor if the system has them (Linux 5.3), else by polling every millisecond.
static void watch(struct keeping *k)
{
    struct pollfd fds[2] = {{k->line, POLLIN, 0},
                            {(int)syscall(SYS_pidfd_open, k->command, 0), POLLIN, 0}};
    while (!has_ended(k)) {
        char order = END;
        poll(fds, 2, fds[1].fd < 0 ? 1 : -1);
        if (fds[0].fd < 0 || !fds[0].revents) {
            continue;
        }
        bool is_told = hear(k->line, &order, 1) == 1 && order == TELL;
        kill(-k->command, is_told ? SIGTERM : SIGKILL);
        fds[0].fd = is_told ? fds[0].fd : -1;
    }
    k->end.end_ns = stk_clock_ns();
    if (fds[1].fd >= 0) {
        close(fds[1].fd);
    }
}

// Removes this program's signal handlers in a copy of it; ignored signals stay ignored.
static void forget_handlers(void)
{
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            signal(i, SIG_DFL);
        }
    }
}

// The whole keeper process.
static void keep(struct keeping *k)
{
    struct stk_left_behind left;
    setpgid(0, 0);
    prctl(PR_SET_NAME, "stoker-trial");
    forget_handlers();
    stk_left_behind_begin(&left);
    int error = start_command(k);
    close(k->output);
    tell(k->line, &error, sizeof error);
    if (!error) {
        watch(k);
        kill(-k->command, SIGKILL); // the rest of the group
        while (wait4(k->command, &k->end.wait_status, 0, &k->end.used) < 0 && errno == EINTR) {
            continue;
        }
        stk_left_behind_end(&left);
        tell(k->line, &k->end, sizeof k->end);
    }
    _exit(0);
}

// ---- in the calling process ----

static enum stoker_status cannot_start(const char *what, int error, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINPUT, "can't run %s: %s", what, strerror(error));
}

static void let_go(struct stk_keeper *k)
{
    close(k->line);
    while (k->pid > 0 && waitpid(k->pid, NULL, 0) < 0 && errno == EINTR) {
        continue;
    }
}

enum stoker_status stk_keeper_start(struct stk_keeper *k, char *const *argv, char *const *env,
                                    int output, struct stoker_err *err)
{
    STK_ASSERT(argv && argv[0]);
    int ends[2], error = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return cannot_start(argv[0], errno, err);
    }
    *k = (struct stk_keeper){.pid = fork(), .line = ends[0]};
    if (k->pid == 0) {
        close(ends[0]); // otherwise its own copy would keep the line open
        keep(&(struct keeping){.argv = argv, .env = env, .output = output, .line = ends[1]});
    }
    error = k->pid < 0 ? errno : 0;
    close(ends[1]);
    if (!error && hear(k->line, &error, sizeof error) != sizeof error) {
        error = ECHILD;
    }
    if (error) {
        let_go(k);
        return cannot_start(argv[0], error, err);
    }
    return STOKER_OK;
}

void stk_keeper_tell(const struct stk_keeper *k)
{
    STK_ASSERT(k->line >= 0);
    tell(k->line, &(char){TELL}, 1);
}

bool stk_keeper_end(struct stk_keeper *k, struct stk_keeper_end *end)
{
    *end = (struct stk_keeper_end){0};
    tell(k->line, &(char){END}, 1);
    bool known = hear(k->line, end, sizeof *end) == sizeof *end;
    let_go(k);
    return known;
}
