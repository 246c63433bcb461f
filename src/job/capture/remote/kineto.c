// SPDX-License-Identifier: Apache-2.0
// Kineto's on-demand protocol, the daemon's side; see kineto.h.
//
// Format: datagrams over a UNIX socket named "dynolog", abstract or a file in
// KINETO_IPC_SOCKET_DIR: u64 bytes of payload, char type[32], payload, in the machine's byte order.
// The job sends "req" (i32 type, i32 n, i64 job, i32 pids[n]: its own first, then its ancestors)
// when it starts and every five seconds; the answer "req" contains lines KEY=VALUE, or none if
// there is nothing to do. "ctxt" (i32 gpu, i32 pid, i64 job) is answered with an i32, the number of
// its instance. Versions seen: torch 2.13 (which sends no "ctxt"). Specified by libkineto's and
// dynolog's sources.
//
// Only the job gets requests: other processes that ask meanwhile get an empty answer, as from the
// daemon. Every user of the machine can send to the abstract name, so only messages of this user,
// of root and of the job's user count (SCM_CREDENTIALS: the kernel names the sender).
#include "job/capture/remote/kineto.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/remove.h"

enum { ENVIRONMENT_MAX = 1 << 20, MESSAGE_MAX = 4096, PIDS_MAX = 256, TICK_MS = 100 };
static const char daemon_name[] = "dynolog";

struct message {
    uint64_t bytes;
    char type[32];
    char payload[MESSAGE_MAX];
};
#define HEAD offsetof(struct message, payload)
_Static_assert(HEAD == 40, "a message's head as Kineto has it");

struct kineto_daemon {
    int fd;
    uid_t job_uid;
    struct sockaddr_un own; // if it is a file, it is removed at the end
    bool is_file;
};

// ---- the job's environment ----

static void see_variable(const char *text, struct stk_kineto_job *out)
{
    static const char use[] = "KINETO_USE_DAEMON=", dir[] = "KINETO_IPC_SOCKET_DIR=",
                      trace[] = "KINETO_ONDEMAND_TRACE_DIR=";
    if (strncmp(text, use, sizeof use - 1) == 0) {
        out->listens = text[sizeof use - 1] && strcmp(text + sizeof use - 1, "0") != 0;
    } else if (strncmp(text, dir, sizeof dir - 1) == 0) {
        snprintf(out->socket_dir, sizeof out->socket_dir, "%s", text + sizeof dir - 1);
    } else if (strncmp(text, trace, sizeof trace - 1) == 0) {
        snprintf(out->trace_dir, sizeof out->trace_dir, "%s", text + sizeof trace - 1);
    }
}

// The real user of a process, as in its messages' credentials.
static bool find_user(pid_t pid, uid_t *uid)
{
    char path[64], line[256];
    unsigned found;
    bool ok = false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !ok && fgets(line, sizeof line, f)) {
        ok = sscanf(line, "Uid: %u", &found) == 1;
    }
    if (f) {
        fclose(f);
    }
    *uid = ok ? (uid_t)found : (uid_t)-1;
    return ok;
}

void stk_kineto_look(pid_t pid, struct stk_kineto_job *out)
{
    char path[64];
    memset(out, 0, sizeof *out);
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = stk_alloc(ENVIRONMENT_MAX);
    size_t n = 0;
    for (ssize_t k = 1; text && fd >= 0 && k > 0 && n < ENVIRONMENT_MAX - 1;
         n += k > 0 ? (size_t)k : 0) {
        k = read(fd, text + n, ENVIRONMENT_MAX - 1 - n);
    }
    out->is_known = n > 0 && find_user(pid, &out->uid);
    for (size_t at = 0; at < n; at += strlen(text + at) + 1) {
        text[n] = 0;
        see_variable(text + at, out);
    }
    if (fd >= 0) {
        close(fd);
    }
    stk_free(text);
}

// ---- the socket ----

static socklen_t address_of(const char *dir, struct sockaddr_un *out)
{
    STK_ASSERT(dir);
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    if (!*dir) { // abstract: a zero before the name, and one after it, count
        memcpy(out->sun_path + 1, daemon_name, sizeof daemon_name);
        return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + sizeof daemon_name);
    }
    int n = snprintf(out->sun_path, sizeof out->sun_path, "%s/%s", dir, daemon_name);
    return n > 0 && (size_t)n < sizeof out->sun_path ? (socklen_t)sizeof *out : 0;
}

// A socket file without a listener was left by a killed daemon.
static bool is_deserted(const struct sockaddr_un *at, socklen_t n)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct stat st;
    bool deserted = fd >= 0 && lstat(at->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
                    connect(fd, (const struct sockaddr *)at, n) != 0 && errno == ECONNREFUSED;
    if (fd >= 0) {
        close(fd);
    }
    return deserted;
}

static enum stoker_status open_daemon(struct kineto_daemon *d, const char *dir,
                                      struct stoker_err *err)
{
    socklen_t n = address_of(dir, &d->own);
    int one = 1;
    d->is_file = *dir != 0;
    if (!n) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "the job's KINETO_IPC_SOCKET_DIR is too long for a socket name: %.200s",
                           dir);
    }
    d->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (d->fd < 0) {
        return stk_err_set(err, STOKER_ELIMIT, "can't create a socket: %s", strerror(errno));
    }
    if (d->is_file && is_deserted(&d->own, n)) {
        (void)stk_remove_file(AT_FDCWD, d->own.sun_path);
    }
    if (bind(d->fd, (struct sockaddr *)&d->own, n) != 0) {
        d->is_file = false; // not ours
        return errno == EADDRINUSE
                   ? stk_err_set(
                         err, STOKER_ELIMIT,
                         "another daemon already serves the job (dynolog, or another `stoker "
                         "capture`). Stop it, or use it")
                   : stk_err_set(err, STOKER_ELIMIT,
                                 "can't create the daemon's socket in %.200s: %s",
                                 *dir ? dir : "the abstract namespace", strerror(errno));
    }
    if (d->is_file && d->job_uid != geteuid()) { // sending needs write permission
        (void)!lchown(d->own.sun_path, d->job_uid, (gid_t)-1);
    }
    (void)!setsockopt(d->fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof one);
    return STOKER_OK;
}

static void close_daemon(struct kineto_daemon *d)
{
    if (d->fd >= 0) {
        close(d->fd);
        if (d->is_file) {
            (void)stk_remove_file(AT_FDCWD, d->own.sun_path);
        }
    }
}

// ---- messages ----

static bool is_trusted(const struct kineto_daemon *d, const struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR((struct msghdr *)m, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(c), sizeof who);
            return who.uid == geteuid() || who.uid == 0 || who.uid == d->job_uid;
        }
    }
    return false;
}

// The next message; 0: none in time. Skips invalid messages and those of other users.
static size_t receive(struct kineto_daemon *d, struct message *m, struct sockaddr_un *from,
                      socklen_t *from_n, int ms)
{
    struct pollfd in = {.fd = d->fd, .events = POLLIN};
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    if (poll(&in, 1, ms) <= 0) {
        return 0;
    }
    struct iovec at = {m, sizeof *m};
    struct msghdr h = {.msg_name = from,
                       .msg_namelen = sizeof *from,
                       .msg_iov = &at,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    ssize_t n = recvmsg(d->fd, &h, 0);
    *from_n = h.msg_namelen;
    if (n < (ssize_t)HEAD || (h.msg_flags & MSG_TRUNC) || m->bytes != (uint64_t)n - HEAD ||
        !is_trusted(d, &h)) {
        return 0;
    }
    m->type[sizeof m->type - 1] = 0;
    return (size_t)n;
}

static bool answer(struct kineto_daemon *d, const char *type, const char *payload, size_t bytes,
                   const struct sockaddr_un *to, socklen_t to_n)
{
    STK_ASSERT(bytes <= MESSAGE_MAX);
    struct message m = {.bytes = bytes};
    snprintf(m.type, sizeof m.type, "%s", type);
    memcpy(m.payload, payload, bytes);
    return sendto(d->fd, &m, HEAD + bytes, MSG_NOSIGNAL, (const struct sockaddr *)to, to_n) ==
           (ssize_t)(HEAD + bytes);
}

// Does the request come from this process? Its own number is the first in it.
static bool asks(const struct message *m, pid_t pid)
{
    struct {
        int32_t type, count;
        int64_t job;
    } head;
    int32_t first;
    if (m->bytes < sizeof head + sizeof first) {
        return false;
    }
    memcpy(&head, m->payload, sizeof head);
    memcpy(&first, m->payload + sizeof head, sizeof first);
    return head.count >= 1 && head.count <= PIDS_MAX &&
           m->bytes >= sizeof head + (size_t)head.count * sizeof first && first == (int32_t)pid;
}

static int write_config(const struct stk_kineto_plan *plan, char *text, size_t size)
{
    return snprintf(text, size,
                    "ACTIVITIES_LOG_FILE=%s\n"
                    "ACTIVITIES_DURATION_MSECS=%llu\n"
                    "ACTIVITIES_WARMUP_PERIOD_SECS=1\n"
                    "PROFILE_REPORT_INPUT_SHAPES=true\n"
                    "PROFILE_WITH_STACK=false\n",
                    plan->trace, (unsigned long long)plan->duration_ms);
}

// A zombie is not alive.
static bool is_alive(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    text[n > 0 ? n : 0] = 0;
    const char *state = strrchr(text, ')');
    return state && state[1] == ' ' && state[2] != 'Z' && state[2] != 'X';
}

static enum stoker_status cancelled(struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINTR, "interrupted");
}

static enum stoker_status ended(const struct stk_kineto_plan *plan, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINPUT, "process %d ended before its window was over",
                       (int)plan->pid);
}

// Answers requests until the job has its order.
static enum stoker_status give_orders(struct kineto_daemon *d, const struct stk_kineto_plan *plan,
                                      struct stoker_err *err)
{
    uint64_t end_ns = stk_clock_ns() + plan->ask_ms * 1000000u;
    static struct message m;
    char config[MESSAGE_MAX];
    int n = write_config(plan, config, sizeof config);
    if (n < 0 || (size_t)n >= sizeof config) {
        return stk_err_set(err, STOKER_EUSAGE, "%.200s: the trace's name is too long", plan->trace);
    }
    while (stk_clock_ns() < end_ns) {
        struct sockaddr_un from;
        socklen_t from_n;
        if (plan->is_cancelled && plan->is_cancelled()) {
            return cancelled(err);
        }
        if (!receive(d, &m, &from, &from_n, TICK_MS)) {
            if (!is_alive(plan->pid)) {
                return ended(plan, err);
            }
            continue;
        }
        int32_t instance = 1;
        bool is_its = strcmp(m.type, "req") == 0 && asks(&m, plan->pid);
        if (strcmp(m.type, "ctxt") == 0) {
            answer(d, "ctxt", (const char *)&instance, sizeof instance, &from, from_n);
        } else if (is_its && answer(d, "req", config, (size_t)n, &from, from_n)) {
            return STOKER_OK;
        } else if (strcmp(m.type, "req") == 0) {
            answer(d, "req", "", 0, &from, from_n);
        }
    }
    return stk_err_set(err, STOKER_ELIMIT,
                       "process %d made no request within %llu s: it is not a PyTorch job, has "
                       "not imported torch yet, or has a torch without Kineto",
                       (int)plan->pid, (unsigned long long)(plan->ask_ms / 1000));
}

// ---- the trace file ----

// A complete trace ends with a brace. Depending on its version, Kineto writes under a temporary
// name or in place, so the end must be checked.
static bool is_whole(const char *path)
{
    char end[16];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    bool whole = false;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 2) {
        off_t at = st.st_size > (off_t)sizeof end ? st.st_size - (off_t)sizeof end : 0;
        ssize_t n = pread(fd, end, sizeof end, at);
        while (n > 0 && (end[n - 1] == '\n' || end[n - 1] == ' ' || end[n - 1] == '\r')) {
            n--;
        }
        whole = n > 0 && end[n - 1] == '}';
    }
    if (fd >= 0) {
        close(fd);
    }
    return whole;
}

static off_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : -1;
}

static enum stoker_status await_file(struct kineto_daemon *d, const struct stk_kineto_plan *plan,
                                     char *path, struct stoker_err *err)
{
    STK_ASSERT(strlen(plan->trace) > 5);
    uint64_t end_ns = stk_clock_ns() + (plan->duration_ms + plan->write_ms) * 1000000u;
    size_t stem = strlen(plan->trace) - 5; // without ".json"
    off_t before = -1;
    snprintf(path, STK_KINETO_PATH, "%.*s_%d.json", (int)stem, plan->trace, (int)plan->pid);
    while (stk_clock_ns() < end_ns) {
        static struct message m;
        struct sockaddr_un from;
        socklen_t from_n;
        if (plan->is_cancelled && plan->is_cancelled()) {
            return cancelled(err);
        }
        if (receive(d, &m, &from, &from_n, TICK_MS)) { // others wait for an answer meanwhile
            if (strcmp(m.type, "req") == 0) {
                answer(d, "req", "", 0, &from, from_n);
            }
            continue;
        }
        off_t now = size_of(path);
        if (now >= 0 && now == before && is_whole(path)) {
            return STOKER_OK;
        }
        before = now;
        if (!is_alive(plan->pid)) {
            return ended(plan, err);
        }
    }
    return stk_err_set(err, STOKER_ELIMIT,
                       "process %d accepted the request but wrote no trace within %llu s. Look for "
                       "Kineto's lines in its own output",
                       (int)plan->pid, (unsigned long long)(plan->write_ms / 1000));
}

enum stoker_status stk_kineto_capture(const struct stk_kineto_plan *plan, char *path,
                                      struct stoker_err *err)
{
    struct kineto_daemon d = {.fd = -1, .job_uid = plan->job->uid};
    enum stoker_status status = open_daemon(&d, plan->job->socket_dir, err);
    if (status == STOKER_OK) {
        if (plan->told) {
            plan->told(plan->told_arg,
                       "waiting for the job: it checks for requests every five seconds");
        }
        status = give_orders(&d, plan, err);
    }
    if (status == STOKER_OK) {
        if (plan->told) {
            plan->told(plan->told_arg, "recording");
        }
        status = await_file(&d, plan, path, err);
    }
    close_daemon(&d);
    return status;
}
