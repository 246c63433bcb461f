// SPDX-License-Identifier: Apache-2.0
// Thread count and run-to-completion helpers over POSIX threads. Workers block all signals except
// faults, so that an interrupt always reaches the thread that started them.
#include "base/thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/cgroup.h"
#include "base/str.h"

#define THREADS_MAX 64

static int64_t affinity_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
    return sysconf(_SC_NPROCESSORS_ONLN); // more than 1024 processors
}

// STOKER_THREADS; 0 unless set to a positive number.
static int64_t wished_threads(void)
{
    int64_t count;
    const char *wish = getenv("STOKER_THREADS");
    return wish && stk_str_to_i64(stk_str_from(wish), &count) && count > 0 ? count : 0;
}

int stk_thread_count(void)
{
    int64_t count = wished_threads();
    if (count == 0) {
        count = affinity_processors();
        int64_t quota = stk_cgroup_processors();
        if (quota > 0 && quota < count) {
            count = quota;
        }
    }
    return count < 1 ? 1 : count > THREADS_MAX ? THREADS_MAX : (int)count;
}

struct worker {
    pthread_t thread;
    void (*fn)(void *arg, int index);
    void *arg;
    int index;
};

static void *run_worker(void *p)
{
    struct worker *w = p;
    w->fn(w->arg, w->index);
    return NULL;
}

bool stk_thread_block_signals(sigset_t *before)
{
    sigset_t all;
    const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP};
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        sigdelset(&all, faults[i]); // if blocked, they would end the process without calling a
                                    // handler
    }
    return pthread_sigmask(SIG_SETMASK, &all, before) == 0;
}

void stk_thread_run(int n, void (*fn)(void *arg, int index), void *arg)
{
    STK_ASSERT(fn);
    struct worker workers[THREADS_MAX];
    int started = 0, wanted = n < THREADS_MAX ? n : THREADS_MAX;
    int64_t wish = wished_threads();
    if (wish > 0 && wish < wanted) {
        wanted = (int)wish;
    }
    sigset_t before;
    bool masked = n > 1 && stk_thread_block_signals(&before);
    while (started < wanted - 1) {
        struct worker *w = &workers[started];
        *w = (struct worker){.fn = fn, .arg = arg, .index = started + 1};
        if (pthread_create(&w->thread, NULL, run_worker, w)) {
            break;
        }
        started++;
    }
    if (masked) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (n > 0) {
        fn(arg, 0);
    }
    for (int index = started + 1; index < n; index++) {
        fn(arg, index);
    }
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

struct tasks {
    void (*fn)(void *arg, size_t task);
    void *arg;
    size_t count;
    atomic_size_t next;
};

static void take_tasks(void *arg, int index)
{
    struct tasks *tasks = arg;
    size_t task;
    (void)index;
    while ((task = atomic_fetch_add(&tasks->next, 1)) < tasks->count) {
        tasks->fn(tasks->arg, task);
    }
}

void stk_thread_each(int threads, size_t count, void (*fn)(void *arg, size_t task), void *arg)
{
    STK_ASSERT(fn);
    struct tasks tasks = {.fn = fn, .arg = arg, .count = count};
    int n = threads < 1 ? 1 : (size_t)threads < count ? threads : (int)count;
    stk_thread_run(n > 0 ? n : 1, take_tasks, &tasks);
}
