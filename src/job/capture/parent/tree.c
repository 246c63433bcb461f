// SPDX-License-Identifier: Apache-2.0
// The processes and threads of a job; see tree.h. All memory is allocated at the start; what
// doesn't fit counts as lost. A scan writes new lists, sorted by number, and copies what is known
// from the old ones in one pass over both.
#include "job/capture/parent/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "job/capture/parent/small_file.h"
#include "job/capture/parent/watch.h"

#define PROCESSES_MAX 1024
#define TEXT_BYTES 65536 // read from a file of children at most

bool stk_tree_init(struct stk_tree *t, const char *proc, pid_t root, uint32_t task_max)
{
    STK_ASSERT(proc && root > 0 && task_max > 0);
    *t = (struct stk_tree){
        .proc = proc, .root = root, .task_max = task_max, .process_max = PROCESSES_MAX};
    t->tasks = stk_alloc_zero(task_max, sizeof *t->tasks);
    t->old_tasks = stk_alloc_zero(task_max, sizeof *t->tasks);
    t->processes = stk_alloc_zero(PROCESSES_MAX, sizeof *t->processes);
    t->old_processes = stk_alloc_zero(PROCESSES_MAX, sizeof *t->processes);
    t->queue = stk_alloc_zero(PROCESSES_MAX, sizeof *t->queue);
    t->text = stk_alloc(TEXT_BYTES);
    if (!t->tasks || !t->old_tasks || !t->processes || !t->old_processes || !t->queue || !t->text) {
        stk_tree_deinit(t);
        return false;
    }
    return true;
}

void stk_tree_deinit(struct stk_tree *t)
{
    for (uint32_t i = 0; t->tasks && i < t->task_count; i++) {
        if (t->tasks[i].fd >= 0) {
            close(t->tasks[i].fd);
        }
    }
    stk_free(t->tasks);
    stk_free(t->old_tasks);
    stk_free(t->processes);
    stk_free(t->old_processes);
    stk_free(t->queue);
    stk_free(t->text);
    *t = (struct stk_tree){0};
}

// ---- one scan ----

static void enqueue(struct stk_tree *t, pid_t pid)
{
    for (uint32_t i = 0; i < t->queued; i++) {
        if (t->queue[i] == pid) {
            return;
        }
    }
    if (t->queued == t->process_max) {
        t->lost++;
        return;
    }
    t->queue[t->queued++] = pid;
}

static bool is_number(const char *name)
{
    return isdigit((unsigned char)name[0]);
}

static void add_children(struct stk_tree *t, pid_t pid, pid_t tid)
{
    char path[STK_SMALL_PATH];
    snprintf(path, sizeof path, "%s/%d/task/%d/children", t->proc, (int)pid, (int)tid);
    if (access(path, R_OK)) {
        t->lacks_children |= errno == ENOENT && tid == t->root;
        return;
    }
    stk_small_read_once(path, t->text, TEXT_BYTES);
    for (char *at = t->text, *end; *at; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at) {
            break;
        }
        enqueue(t, (pid_t)child);
    }
}

static void add_task(struct stk_tree *t, pid_t pid, pid_t tid)
{
    STK_ASSERT(t->task_count <= t->task_max);
    if (t->task_count == t->task_max) {
        t->lost++;
        return;
    }
    t->tasks[t->task_count++] = (struct stk_task){.pid = pid, .tid = tid, .fd = -1};
}

// False: the process has ended.
static bool add_process(struct stk_tree *t, pid_t pid)
{
    char path[STK_SMALL_PATH];
    snprintf(path, sizeof path, "%s/%d/task", t->proc, (int)pid);
    DIR *dir = opendir(path);
    if (!dir) {
        return false;
    }
    uint32_t threads = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (is_number(e->d_name)) {
            pid_t tid = (pid_t)atoi(e->d_name);
            add_task(t, pid, tid);
            add_children(t, pid, tid);
            threads++;
        }
    }
    closedir(dir);
    if (threads && t->process_count < t->process_max) {
        t->processes[t->process_count++] = (struct stk_task_process){.pid = pid,
                                                                     .threads = threads,
                                                                     .read = STK_WATCH_UNSEEN,
                                                                     .write = STK_WATCH_UNSEEN,
                                                                     .read_calls = STK_WATCH_UNSEEN,
                                                                     .major = STK_WATCH_UNSEEN,
                                                                     .minor = STK_WATCH_UNSEEN};
    }
    return threads > 0;
}

static pid_t parent_of(struct stk_tree *t, const char *pid)
{
    char path[STK_SMALL_PATH], text[512];
    int parent;
    snprintf(path, sizeof path, "%s/%.20s/stat", t->proc, pid);
    stk_small_read_once(path, text, sizeof text);
    const char *rest = strrchr(text, ')');
    return rest && sscanf(rest + 1, " %*c %d", &parent) == 1 ? (pid_t)parent : -1;
}

// If the kernel lists no children: adds each process with a known parent, until there are no more.
static void add_by_parents(struct stk_tree *t)
{
    for (bool found = true; found;) {
        DIR *dir = opendir(t->proc);
        uint32_t before = t->queued;
        for (struct dirent *e; dir && (e = readdir(dir));) {
            pid_t parent = is_number(e->d_name) ? parent_of(t, e->d_name) : -1;
            for (uint32_t i = 0; parent > 0 && i < t->queued; i++) {
                if (t->queue[i] == parent) {
                    enqueue(t, (pid_t)atoi(e->d_name));
                    break;
                }
            }
        }
        if (dir) {
            closedir(dir);
        }
        found = t->queued > before;
    }
}

// ---- from one scan to the next ----

STK_ORDER(by_task, struct stk_task, STK_UP(pid) STK_UP(tid))

STK_ORDER(by_process, struct stk_task_process, STK_UP(pid))

static void take_over_tasks(struct stk_tree *t, uint32_t old_count)
{
    uint32_t old = 0;
    stk_sort(t->tasks, t->task_count, sizeof *t->tasks, by_task);
    for (uint32_t i = 0; i < t->task_count; i++) {
        while (old < old_count && by_task(&t->old_tasks[old], &t->tasks[i]) < 0) {
            old++;
        }
        if (old < old_count && by_task(&t->old_tasks[old], &t->tasks[i]) == 0) {
            t->tasks[i] = t->old_tasks[old];
            t->old_tasks[old].fd = -1;
        } else {
            t->new_tasks++;
        }
        t->tasks[i].scans++;
    }
    for (uint32_t i = 0; i < old_count; i++) {
        if (t->old_tasks[i].fd >= 0) {
            close(t->old_tasks[i].fd);
            t->open_files--;
        }
    }
}

static void take_over_processes(struct stk_tree *t, uint32_t old_count)
{
    uint32_t old = 0;
    stk_sort(t->processes, t->process_count, sizeof *t->processes, by_process);
    for (uint32_t i = 0; i < t->process_count; i++) {
        uint32_t threads = t->processes[i].threads;
        while (old < old_count && by_process(&t->old_processes[old], &t->processes[i]) < 0) {
            old++;
        }
        if (old < old_count && by_process(&t->old_processes[old], &t->processes[i]) == 0) {
            t->processes[i] = t->old_processes[old];
        } else {
            t->new_processes++;
        }
        t->processes[i].threads = threads;
        t->processes[i].scans++;
    }
}

void stk_tree_scan(struct stk_tree *t)
{
    struct stk_task *tasks = t->old_tasks;
    struct stk_task_process *processes = t->old_processes;
    uint32_t old_tasks = t->task_count, old_processes = t->process_count;
    t->old_tasks = t->tasks;
    t->old_processes = t->processes;
    t->tasks = tasks;
    t->processes = processes;
    t->task_count = t->process_count = t->queued = 0;
    enqueue(t, t->root);
    for (uint32_t i = 0; i < old_processes; i++) {
        enqueue(t, t->old_processes[i].pid);
    }
    if (t->lacks_children) {
        add_by_parents(t);
    }
    for (uint32_t i = 0; i < t->queued; i++) { // the loop adds to the queue
        add_process(t, t->queue[i]);
    }
    take_over_tasks(t, old_tasks);
    take_over_processes(t, old_processes);
}
