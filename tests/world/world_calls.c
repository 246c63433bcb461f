// SPDX-License-Identifier: Apache-2.0
// The calls of stoker and of the job's stand-in that wait, tell the time, start and end processes,
// or write; see world.h. The linker leads them here (tests/world.cmake). A call that would wait
// tries, and hands the turn on until it can.
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_S 1700000000 // of the calendar

#define WRAP(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

static bool is_in(void)
{
    return world && world_me >= 0;
}

static uint64_t after(uint64_t ns)
{
    return ns > WORLD_NEVER - world->now_ns ? WORLD_NEVER : world->now_ns + ns;
}

static uint64_t ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

// A signal that came ends what waits, once.
static bool is_interrupted(void)
{
    struct world_slot *s = &world->slots[world_me];
    bool is = s->is_interrupted;
    s->is_interrupted = 0;
    if (is) {
        errno = EINTR;
    }
    return is;
}

// ---- clocks ----

WRAP(int, clock_gettime, clockid_t clock, struct timespec *t)
{
    if (!world) {
        return __real_clock_gettime(clock, t);
    }
    uint64_t ns = world->now_ns;
    if (clock == CLOCK_REALTIME) {
        ns += (uint64_t)((int64_t)START_S * 1000000000 + world->skew_ns);
    } else if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID) {
        ns /= 1000;
    }
    *t = (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    return 0;
}

WRAP(time_t, time, time_t *to)
{
    struct timespec t;
    (void)__wrap_clock_gettime(CLOCK_REALTIME, &t);
    if (to) {
        *to = t.tv_sec;
    }
    return t.tv_sec;
}

WRAP(int, nanosleep, const struct timespec *t, struct timespec *left)
{
    if (!is_in()) {
        return __real_nanosleep(t, left);
    }
    world_step("nanosleep");
    uint64_t until = after(ns_of(t));
    bool is_cut = false;
    while (world->now_ns < until && !is_cut) {
        world_wait(WORLD_SLEEPS, until, NULL);
        is_cut = is_interrupted();
    }
    return is_cut ? -1 : 0;
}

WRAP(int, usleep, useconds_t us)
{
    struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    return __wrap_nanosleep(&t, NULL);
}

// ---- waiting for others ----

WRAP(int, poll, struct pollfd *fds, nfds_t n, int ms)
{
    if (!is_in()) {
        return __real_poll(fds, n, ms);
    }
    world_step("poll");
    uint64_t until = ms < 0 ? WORLD_NEVER : after((uint64_t)ms * 1000000u);
    for (;;) {
        int got = __real_poll(fds, n, 0);
        if (got != 0 || world->now_ns >= until) {
            return got;
        }
        if (is_interrupted()) {
            return -1;
        }
        world_wait(WORLD_WAITS, until, NULL);
    }
}

// True: there is something to read, or an error to get. False: a signal came.
static bool await_input(int fd)
{
    struct stat info;
    int how = fcntl(fd, F_GETFL);
    bool may_wait = fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
    while (may_wait && !(how & O_NONBLOCK) && how >= 0) {
        struct pollfd p = {fd, POLLIN, 0};
        if (__real_poll(&p, 1, 0) != 0) {
            break;
        }
        if (is_interrupted()) {
            return false;
        }
        world_wait(WORLD_WAITS, WORLD_NEVER, NULL);
    }
    return true;
}

WRAP(ssize_t, read, int fd, void *p, size_t n)
{
    return is_in() && !await_input(fd) ? -1 : __real_read(fd, p, n);
}

WRAP(ssize_t, recv, int fd, void *p, size_t n, int how)
{
    world_step("recv");
    return is_in() && !await_input(fd) ? -1 : __real_recv(fd, p, n, how);
}

WRAP(ssize_t, send, int fd, const void *p, size_t n, int how)
{
    world_step("send");
    return __real_send(fd, p, n, how);
}

WRAP(int, sigtimedwait, const sigset_t *set, siginfo_t *info, const struct timespec *t)
{
    if (!is_in()) {
        return __real_sigtimedwait(set, info, t);
    }
    world_step("sigtimedwait");
    uint64_t until = after(ns_of(t));
    for (;;) {
        int got = __real_sigtimedwait(set, info, &(struct timespec){0});
        if (got > 0) {
            return got;
        }
        if (world->now_ns >= until) {
            errno = EAGAIN;
            return -1;
        }
        (void)is_interrupted(); // what is blocked does not end it
        world_wait(WORLD_WAITS, until, NULL);
    }
}

WRAP(pid_t, wait4, pid_t pid, int *status, int how, struct rusage *used)
{
    if (!is_in()) {
        return __real_wait4(pid, status, how, used);
    }
    world_step("wait");
    for (;;) {
        pid_t got = __real_wait4(pid, status, how | WNOHANG, used);
        if (got != 0 || (how & WNOHANG)) {
            return got;
        }
        if (is_interrupted()) {
            return -1;
        }
        world_wait(WORLD_WAITS, WORLD_NEVER, NULL);
    }
}

WRAP(pid_t, waitpid, pid_t pid, int *status, int how)
{
    return __wrap_wait4(pid, status, how, NULL);
}

// ---- processes ----

WRAP(pid_t, fork, void)
{
    if (!is_in()) {
        return __real_fork();
    }
    world_step("fork");
    int slot = world_slot_take();
    pid_t pid = __real_fork();
    if (pid == 0) {
        world_enter(slot);
        return 0;
    }
    if (pid < 0) {
        world->slots[slot].state = WORLD_FREE;
    }
    while (pid > 0 && !__atomic_load_n(&world->slots[slot].tid, __ATOMIC_ACQUIRE)) {
        syscall(SYS_sched_yield);
    }
    return pid;
}

WRAP(int, kill, pid_t pid, int number)
{
    world_step("kill");
    int result = __real_kill(pid, number);
    if (is_in()) {
        world->freed += result != 0 && errno == ESRCH && number != 0;
        world_changed();
        world_settle();
    }
    return result;
}

WRAP(void, _exit, int status)
{
    world_leave();
    syscall(SYS_exit_group, status);
    abort();
}

// ---- threads ----

struct start {
    int slot;
    void *(*fn)(void *);
    void *arg;
};

static void *run_thread(void *arg)
{
    struct start s = *(struct start *)arg;
    free(arg);
    world_enter(s.slot);
    void *result = s.fn(s.arg);
    world->slots[world_me].state = WORLD_FREE;
    world_changed();
    world_leave();
    return result;
}

WRAP(int, pthread_create, pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
    if (!is_in()) {
        return __real_pthread_create(t, a, fn, arg);
    }
    struct start *s = malloc(sizeof *s);
    *s = (struct start){world_slot_take(), fn, arg};
    int slot = s->slot, error = __real_pthread_create(t, a, run_thread, s);
    while (!error && !__atomic_load_n(&world->slots[slot].tid, __ATOMIC_ACQUIRE)) {
        syscall(SYS_sched_yield);
    }
    return error;
}

WRAP(int, pthread_join, pthread_t t, void **result)
{
    while (is_in() && pthread_tryjoin_np(t, result) == EBUSY) {
        bool is_alone = true; // then the thread has only its own end left to do
        for (int i = 0; i < WORLD_SLOTS; i++) {
            is_alone &= i == world_me || world->slots[i].pid != getpid() ||
                        world->slots[i].state == WORLD_FREE ||
                        world->slots[i].state == WORLD_LEAVES;
        }
        if (is_alone) {
            return __real_pthread_join(t, result);
        }
        world_wait(WORLD_WAITS, WORLD_NEVER, NULL);
    }
    return is_in() ? 0 : __real_pthread_join(t, result);
}

WRAP(int, pthread_mutex_lock, pthread_mutex_t *m)
{
    while (is_in() && pthread_mutex_trylock(m) == EBUSY) {
        world_wait(WORLD_WAITS, WORLD_NEVER, NULL);
    }
    return is_in() ? 0 : __real_pthread_mutex_lock(m);
}

WRAP(int, pthread_mutex_unlock, pthread_mutex_t *m)
{
    if (is_in()) {
        world_changed();
    }
    return __real_pthread_mutex_unlock(m);
}

static int wait_on(pthread_cond_t *c, pthread_mutex_t *m, uint64_t until)
{
    __wrap_pthread_mutex_unlock(m);
    world_wait(WORLD_ON_COND, until, c);
    __wrap_pthread_mutex_lock(m);
    return world->now_ns >= until ? ETIMEDOUT : 0;
}

WRAP(int, pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *m)
{
    return is_in() ? wait_on(c, m, WORLD_NEVER) : __real_pthread_cond_wait(c, m);
}

WRAP(int, pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
    return is_in() ? wait_on(c, m, ns_of(t)) : __real_pthread_cond_timedwait(c, m, t);
}

static void wake(const pthread_cond_t *c)
{
    for (int i = 0; is_in() && i < WORLD_SLOTS; i++) {
        struct world_slot *s = &world->slots[i];
        if (s->state == WORLD_ON_COND && s->pid == getpid() && s->cond == (uint64_t)(uintptr_t)c) {
            s->state = WORLD_READY;
        }
    }
}

WRAP(int, pthread_cond_signal, pthread_cond_t *c)
{
    wake(c);
    return __real_pthread_cond_signal(c);
}

WRAP(int, pthread_cond_broadcast, pthread_cond_t *c)
{
    wake(c);
    return __real_pthread_cond_broadcast(c);
}

// ---- writing ----

// True: there is no room for it.
static bool is_refused(const char *name, int fd)
{
    struct stat info;
    world_step(name);
    if (!is_in() || !world->is_full || (fd >= 0 && (fstat(fd, &info) || !S_ISREG(info.st_mode)))) {
        return false;
    }
    errno = ENOSPC;
    return true;
}

WRAP(ssize_t, write, int fd, const void *p, size_t n)
{
    return is_refused("write", fd) ? -1 : __real_write(fd, p, n);
}

WRAP(ssize_t, pwrite64, int fd, const void *p, size_t n, off_t at)
{
    return is_refused("pwrite", fd) ? -1 : __real_pwrite64(fd, p, n, at);
}

WRAP(int, mkdir, const char *path, mode_t mode)
{
    return is_refused("mkdir", -1) ? -1 : __real_mkdir(path, mode);
}

WRAP(int, mkdirat, int above, const char *name, mode_t mode)
{
    return is_refused("mkdirat", -1) ? -1 : __real_mkdirat(above, name, mode);
}

WRAP(char *, mkdtemp, char *path)
{
    return is_refused("mkdtemp", -1) ? NULL : __real_mkdtemp(path);
}

WRAP(int, open64, const char *path, int how, mode_t mode)
{
    return (how & O_CREAT) && is_refused("open", -1) ? -1 : __real_open64(path, how, mode);
}

WRAP(int, openat64, int above, const char *name, int how, mode_t mode)
{
    return (how & O_CREAT) && is_refused("openat", -1) ? -1
                                                       : __real_openat64(above, name, how, mode);
}

WRAP(int, rename, const char *from, const char *to)
{
    world_step("rename");
    return __real_rename(from, to);
}

WRAP(int, unlinkat, int above, const char *name, int how)
{
    world_step("unlinkat");
    return __real_unlinkat(above, name, how);
}
