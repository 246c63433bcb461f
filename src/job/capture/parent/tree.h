// SPDX-License-Identifier: Apache-2.0
// The processes and threads of a job, followed from scan to scan: those below its root, and those
// seen there before that still live (daemons, which lose their parent).
//
// Children come from /proc/PID/task/TID/children if the kernel has it, else from every process's
// parent. A process that ends within a scan interval may be missed.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STK_TREE_NAME 17 // bytes of a thread's name, with the final zero

struct stk_task {
    pid_t pid, tid;
    int fd;         // of its schedstat; -1: open it each time
    uint32_t track; // 0: not yet
    uint32_t scans; // scans that found it
    uint64_t cpu_ns, wait_ns;
    bool is_known; // read at least once
    char name[STK_TREE_NAME];
};

struct stk_task_process {
    pid_t pid, parent;
    uint32_t track, threads, scans;
    uint64_t read, write, read_calls, major, minor; // previous values
    double cpu;                                     // processor seconds since the previous scan
};

struct stk_tree {
    const char *proc;
    pid_t root;
    struct stk_task *tasks, *old_tasks; // by process, then thread
    struct stk_task_process *processes, *old_processes;
    uint32_t task_count, task_max, process_count, process_max;
    pid_t *queue; // processes still to scan
    uint32_t queued;
    char *text;          // of a file
    bool lacks_children; // the kernel does not list them
    uint32_t open_files;
    uint64_t lost;                     // threads and processes that didn't fit
    uint64_t new_tasks, new_processes; // in all scans
};

bool stk_tree_init(struct stk_tree *t, const char *proc, pid_t root, uint32_t task_max);
void stk_tree_deinit(struct stk_tree *t);
// Finds the present processes and threads. What is known of earlier ones is kept.
void stk_tree_scan(struct stk_tree *t);
