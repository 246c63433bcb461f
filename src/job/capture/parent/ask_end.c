// SPDX-License-Identifier: Apache-2.0
// Ends a job; see ask_end.h. The job is stopped while its workers are ended, so that it doesn't
// report that they died. Both kinds of signals that are pending when it continues are handled by
// number, SIGTERM before SIGCHLD.
//
// Limits: workers are known by their name, which PyTorch gives them from 2.6 on; and only those of
// the command itself. Of a shell or a launcher, the training process is a child, and how it ends is
// its parent's business.
#include "job/capture/parent/ask_end.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "job/capture/parent/small_file.h"
#include "job/capture/parent/tree.h"

#define WORKER "pt_data_worker" // the name that torch.utils.data gives them
#define TASKS_MAX 4096

// Is the signal's bit set in a line of /proc/PID/status, "SigCgt:\t0000000000004002"?
static bool has_signal(const char *status, const char *line, int number)
{
    const char *at = strstr(status, line);
    return at && strtoull(at + strlen(line), NULL, 16) >> (number - 1) & 1;
}

static bool ends_at_once(pid_t pid)
{
    char path[64], status[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    return stk_small_read_once(path, status, sizeof status) > 0 &&
           !has_signal(status, "SigCgt:", SIGTERM) && !has_signal(status, "SigIgn:", SIGTERM) &&
           !has_signal(status, "SigBlk:", SIGTERM);
}

static bool is_worker_of(pid_t pid, pid_t parent)
{
    char path[64], text[512];
    int of = -1;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid); // "7 (pt_data_worker) S 6 ..."
    if (stk_small_read_once(path, text, sizeof text) == 0) {
        return false;
    }
    const char *name = strchr(text, '('), *rest = strrchr(text, ')');
    bool is_named = name && strncmp(name + 1, WORKER ")", sizeof WORKER) == 0;
    return is_named && rest && sscanf(rest + 1, " %*c %d", &of) == 1 && of == parent;
}

static void end_workers(pid_t parent)
{
    struct stk_tree tree;
    if (!stk_tree_init(&tree, "/proc", parent, TASKS_MAX)) {
        return;
    }
    stk_tree_scan(&tree);
    if (tree.lacks_children) { // found out by the first scan
        stk_tree_scan(&tree);
    }
    for (uint32_t i = 0; i < tree.process_count; i++) {
        if (is_worker_of(tree.processes[i].pid, parent)) {
            kill(tree.processes[i].pid, SIGKILL);
        }
    }
    stk_tree_deinit(&tree);
}

void stk_ask_to_end(pid_t pid)
{
    STK_ASSERT(pid > 0);
    bool at_once = ends_at_once(pid);
    if (at_once) {
        kill(pid, SIGSTOP);
        end_workers(pid);
    }
    kill(pid, SIGTERM);
    if (at_once) {
        kill(pid, SIGCONT);
    }
}
