// SPDX-License-Identifier: Apache-2.0
// The job's processes and threads (/proc/PID): time running and waiting for a processor, bytes read
// and written, page faults, memory; and how many processors the job may use.
//
// Each look reads every thread's schedstat: time run, time in the run queue. Kernels without it
// give the time run in units of 10 ms, and no waiting. Everything else is read at scans. If a
// thread is first seen after the job began, all its time so far counts for that look; the time of
// an ended thread since the last look is lost. Values below QUIET are not written.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/capture/parent/small_file.h"
#include "job/capture/parent/tree.h"
#include "job/capture/parent/watch.h"

#define QUIET 0.002     // of a processor
#define FILES_OPEN 256u // schedstats kept open: leaves half of the usual limit
#define TEXT 4096

struct tasks {
    struct stk_tree tree;
    double ticks_ns;                     // unit of the times in /proc/PID/stat
    bool has_schedstat, lacks_schedstat; // neither: nothing read yet
    uint32_t stated_processes, stated_threads;
    double stated_processors;
};

static bool tasks_open(struct stk_sampling *s, void **state, char *why, size_t size)
{
    struct tasks *t = stk_alloc_zero(1, sizeof *t);
    char path[STK_SMALL_PATH];
    snprintf(path, sizeof path, "%s/%d/task", s->proc, (int)s->root);
    bool is_there = access(path, R_OK) == 0;
    if (!t || !is_there || !stk_tree_init(&t->tree, s->proc, s->root, s->threads_max)) {
        snprintf(why, size, "%s",
                 is_there ? "out of memory" : "the process has ended or is hidden");
        stk_free(t);
        return false;
    }
    long per_second = sysconf(_SC_CLK_TCK);
    t->ticks_ns = 1e9 / (double)(per_second > 0 ? per_second : 100);
    *state = t;
    return true;
}

static void tasks_close(void *state)
{
    struct tasks *t = state;
    stk_tree_deinit(&t->tree);
    stk_free(t);
}

// ---- at scans ----

// Fields of a stat file after the name; the first is the state (number 3 in proc(5)).
static bool stat_fields(const char *path, unsigned long long *fields, int count, char *state)
{
    STK_ASSERT(count > 0);
    char text[1024];
    stk_small_read_once(path, text, sizeof text);
    char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || !at[2]) {
        return false;
    }
    *state = at[2];
    at += 3;
    for (int i = 0; i < count; i++) {
        char *end;
        fields[i] = (unsigned long long)strtoll(at, &end, 10);
        if (end == at) {
            return false;
        }
        at = end;
    }
    return true;
}
enum { PARENT = 0, MINOR = 6, MAJOR = 8, USER = 10, SYSTEM = 11, RESIDENT = 20, FIELDS = 21 };

static bool read_name(const struct tasks *t, struct stk_task *task)
{
    char path[STK_SMALL_PATH], name[64];
    snprintf(path, sizeof path, "%s/%d/task/%d/comm", t->tree.proc, (int)task->pid, (int)task->tid);
    stk_small_read_once(path, name, sizeof name);
    name[strcspn(name, "\n")] = 0;
    if (strncmp(name, task->name, sizeof task->name - 1) == 0) {
        return false;
    }
    snprintf(task->name, sizeof task->name, "%.16s", name);
    return true;
}

// Threads get their names after they start, so names are read again, at growing intervals.
static void scan_task(struct stk_sampling *s, struct tasks *t, struct stk_task *task)
{
    if ((task->scans & (task->scans - 1)) == 0 && (read_name(t, task) || task->scans == 1)) {
        task->track = stk_watch_thread(s, task->pid, task->tid, task->name);
    }
    if (task->fd < 0 && !t->lacks_schedstat && t->tree.open_files < FILES_OPEN) {
        char name[64];
        struct stk_small_file f;
        snprintf(name, sizeof name, "%d/task/%d/schedstat", (int)task->pid, (int)task->tid);
        if (stk_small_open(&f, t->tree.proc, name)) {
            task->fd = f.fd;
            t->tree.open_files++;
        }
    }
    char path[STK_SMALL_PATH], state;
    unsigned long long field;
    snprintf(path, sizeof path, "%s/%d/task/%d/stat", t->tree.proc, (int)task->pid, (int)task->tid);
    if (stat_fields(path, &field, 1, &state) && state == 'D') {
        stk_watch_put(s, STK_SAMPLE_OF_THREAD_BLOCKED, task->track, 1);
    }
}

static void put_rate(struct stk_sampling *s, enum stk_sampled id, uint32_t track, uint64_t *last,
                     uint64_t now)
{
    double rate = stk_watch_rate(last, now, s->scan_s);
    if (rate > 0) {
        stk_watch_put(s, id, track, rate);
    }
}

static void scan_io(struct stk_sampling *s, struct stk_task_process *p)
{
    char path[STK_SMALL_PATH], text[TEXT];
    uint64_t value;
    snprintf(path, sizeof path, "%s/%d/io", s->proc, (int)p->pid);
    if (!stk_small_read_once(path, text, sizeof text)) {
        return;
    }
    if (stk_small_value(text, "read_bytes:", &value)) {
        put_rate(s, STK_SAMPLE_OF_PROCESS_READ, p->track, &p->read, value);
    }
    if (stk_small_value(text, "write_bytes:", &value)) {
        put_rate(s, STK_SAMPLE_OF_PROCESS_WRITE, p->track, &p->write, value);
    }
    if (stk_small_value(text, "rchar:", &value)) {
        put_rate(s, STK_SAMPLE_OF_PROCESS_CALLS_READ, p->track, &p->read_calls, value);
    }
}

static void scan_process(struct stk_sampling *s, const struct tasks *t, struct stk_task_process *p,
                         const char *name)
{
    char path[STK_SMALL_PATH], state;
    unsigned long long f[FIELDS];
    if (p->scans == 1 || (p->scans & (p->scans - 1)) == 0) {
        p->track = stk_watch_thread(s, p->pid, 0, name);
    }
    snprintf(path, sizeof path, "%s/%d/stat", t->tree.proc, (int)p->pid);
    if (!stat_fields(path, f, FIELDS, &state)) {
        return;
    }
    if (p->scans == 1) {
        p->parent = (pid_t)f[PARENT];
        stk_watch_put(s, STK_SAMPLE_OF_PROCESS_PARENT, p->track, (double)p->parent);
    }
    stk_watch_put(s, STK_SAMPLE_OF_PROCESS_THREADS, p->track, p->threads);
    stk_watch_put(s, STK_SAMPLE_OF_PROCESS_RESIDENT, p->track,
                  (double)f[RESIDENT] * (double)sysconf(_SC_PAGESIZE));
    put_rate(s, STK_SAMPLE_OF_PROCESS_MAJOR, p->track, &p->major, f[MAJOR]);
    put_rate(s, STK_SAMPLE_OF_PROCESS_MINOR, p->track, &p->minor, f[MINOR]);
    scan_io(s, p);
}

// How many numbers a list of ranges contains: 5 for "0-3,8". 0: invalid.
static uint32_t count_ranges(const char *text)
{
    uint32_t count = 0;
    while (*text >= '0' && *text <= '9') {
        char *end;
        long first = strtol(text, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        count += last >= first && last - first < 65536 ? (uint32_t)(last - first) + 1 : 0;
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

// The processors that the busiest process may use: a shell around the job says little.
static void state_processors(struct stk_sampling *s, struct tasks *t)
{
    char path[STK_SMALL_PATH], text[TEXT];
    const struct stk_task_process *most = t->tree.processes;
    for (uint32_t i = 1; i < t->tree.process_count; i++) {
        const struct stk_task_process *p = &t->tree.processes[i];
        most = p->cpu > most->cpu ? p : most;
    }
    if (t->tree.process_count == 0) {
        return;
    }
    snprintf(path, sizeof path, "%s/%d/status", t->tree.proc, (int)most->pid);
    stk_small_read_once(path, text, sizeof text);
    const char *list = strstr(text, "\nCpus_allowed_list:");
    double count = list ? count_ranges(list + 19 + strspn(list + 19, " \t")) : 0;
    count = s->quota > 0 && s->quota < count ? s->quota : count;
    if (count > 0 && count != t->stated_processors) {
        stk_watch_put(s, STK_SAMPLE_OF_JOB_PROCESSORS, 0, count);
        t->stated_processors = count;
    }
}

static void state_counts(struct stk_sampling *s, struct tasks *t)
{
    struct stk_tree *tree = &t->tree;
    if (tree->process_count != t->stated_processes) {
        stk_watch_put(s, STK_SAMPLE_OF_JOB_PROCESSES, 0, tree->process_count);
        t->stated_processes = tree->process_count;
    }
    if (tree->task_count != t->stated_threads) {
        stk_watch_put(s, STK_SAMPLE_OF_JOB_THREADS, 0, tree->task_count);
        t->stated_threads = tree->task_count;
    }
    s->totals.threads_seen = tree->new_tasks;
    s->totals.processes_seen = tree->new_processes;
    s->totals.lost = tree->lost;
}

static void tasks_scan(struct stk_sampling *s, void *state)
{
    struct tasks *t = state;
    struct stk_tree *tree = &t->tree;
    stk_tree_scan(tree);
    uint32_t at = 0;
    for (uint32_t i = 0; i < tree->process_count; i++) {
        const char *name = "";
        while (at < tree->task_count && tree->tasks[at].pid < tree->processes[i].pid) {
            at++;
        }
        for (; at < tree->task_count && tree->tasks[at].pid == tree->processes[i].pid; at++) {
            scan_task(s, t, &tree->tasks[at]);
            if (tree->tasks[at].tid == tree->processes[i].pid || !*name) {
                name = tree->tasks[at].name;
            }
        }
        scan_process(s, t, &tree->processes[i], name);
    }
    state_processors(s, t);
    state_counts(s, t);
    for (uint32_t i = 0; i < tree->process_count; i++) {
        tree->processes[i].cpu = 0;
    }
}

// ---- at looks ----

static bool read_times(struct tasks *t, const struct stk_task *task, uint64_t *cpu_ns,
                       uint64_t *wait_ns)
{
    char path[STK_SMALL_PATH], text[128], state;
    unsigned long long cpu, wait, f[FIELDS];
    if (!t->lacks_schedstat) {
        const struct stk_small_file open = {task->fd};
        snprintf(path, sizeof path, "%s/%d/task/%d/schedstat", t->tree.proc, (int)task->pid,
                 (int)task->tid);
        size_t n = task->fd >= 0 ? stk_small_read(&open, text, sizeof text)
                                 : stk_small_read_once(path, text, sizeof text);
        if (n && sscanf(text, "%llu %llu", &cpu, &wait) == 2) {
            *cpu_ns = cpu;
            *wait_ns = wait;
            t->has_schedstat = true;
            return true;
        }
    }
    snprintf(path, sizeof path, "%s/%d/task/%d/stat", t->tree.proc, (int)task->pid, (int)task->tid);
    if (!stat_fields(path, f, FIELDS, &state)) {
        return false; // it has ended
    }
    t->lacks_schedstat = !t->has_schedstat; // the thread exists, but its schedstat doesn't
    *cpu_ns = (uint64_t)((double)(f[USER] + f[SYSTEM]) * t->ticks_ns);
    *wait_ns = 0;
    return true;
}

static double share_of(uint64_t now, uint64_t before, double seconds)
{
    STK_ASSERT(seconds >= 0);
    return now > before && seconds > 0 ? (double)(now - before) * 1e-9 / seconds : 0;
}

static void tasks_look(struct stk_sampling *s, void *state)
{
    struct tasks *t = state;
    double all_cpu = 0, all_wait = 0;
    uint32_t process = 0;
    for (uint32_t i = 0; i < t->tree.task_count; i++) {
        struct stk_task *task = &t->tree.tasks[i];
        uint64_t cpu_ns, wait_ns;
        if (!read_times(t, task, &cpu_ns, &wait_ns)) {
            continue;
        }
        double cpu = share_of(cpu_ns, task->cpu_ns, s->look_s);
        double wait = share_of(wait_ns, task->wait_ns, s->look_s);
        task->cpu_ns = cpu_ns;
        task->wait_ns = wait_ns;
        cpu = cpu < 1 ? cpu : 1;
        wait = task->is_known || wait < 1 ? wait : 1;
        task->is_known = true;
        while (process < t->tree.process_count && t->tree.processes[process].pid < task->pid) {
            process++;
        }
        if (process < t->tree.process_count && t->tree.processes[process].pid == task->pid) {
            t->tree.processes[process].cpu += cpu * s->look_s;
        }
        all_cpu += cpu;
        all_wait += wait;
        if (cpu >= QUIET) {
            stk_watch_put(s, STK_SAMPLE_OF_THREAD_CPU, task->track, cpu);
        }
        if (wait >= QUIET && !t->lacks_schedstat) {
            stk_watch_put(s, STK_SAMPLE_OF_THREAD_QUEUE, task->track, wait);
        }
    }
    if (s->look_s > 0) {
        stk_watch_put(s, STK_SAMPLE_OF_JOB_CPU, 0, all_cpu);
        if (!t->lacks_schedstat) {
            stk_watch_put(s, STK_SAMPLE_OF_JOB_QUEUE, 0, all_wait);
        }
    }
}

const struct stk_watch stk_watch_tasks = {.name = "tasks",
                                          .open = tasks_open,
                                          .scan = tasks_scan,
                                          .look = tasks_look,
                                          .close = tasks_close};
