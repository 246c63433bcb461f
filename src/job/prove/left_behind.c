// SPDX-License-Identifier: Apache-2.0
// Ends descendants of an ended command; see left_behind.h.
#include "job/prove/left_behind.h"

#include "base/assert.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 200, PAUSE_US = 10000 };

// Calls see(l, pid) for each child of any thread of this process; returns their number.
static int each_child(struct stk_left_behind *l, void (*see)(struct stk_left_behind *l, pid_t pid))
{
    char path[64];
    int count = 0;
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof path, "/proc/self/task/%.16s/children", e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
        for (int pid; f && fscanf(f, "%d", &pid) == 1; count++) {
            see(l, (pid_t)pid);
        }
        if (f) {
            fclose(f);
        }
    }
    if (d) {
        closedir(d);
    }
    return count;
}

static bool is_other(const struct stk_left_behind *l, pid_t pid)
{
    for (int i = 0; i < l->other_count; i++) {
        if (l->others[i] == pid) {
            return true;
        }
    }
    return false;
}

static void keep(struct stk_left_behind *l, pid_t pid)
{
    STK_ASSERT(l->other_count >= 0 && l->other_count <= STK_LEFT_BEHIND_OTHERS);
    if (l->other_count < STK_LEFT_BEHIND_OTHERS) {
        l->others[l->other_count++] = pid;
    } else {
        l->is_off = true;
    }
}

static void end_one(struct stk_left_behind *l, pid_t pid)
{
    if (!is_other(l, pid)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, WNOHANG);
    }
}

void stk_left_behind_begin(struct stk_left_behind *l)
{
    *l = (struct stk_left_behind){0};
    prctl(PR_GET_CHILD_SUBREAPER, &l->was_reaper);
    each_child(l, keep);
    if (!l->is_off) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
}

void stk_left_behind_end(struct stk_left_behind *l)
{
    for (int i = 0; !l->is_off && i < TRIES && each_child(l, end_one) > l->other_count; i++) {
        usleep(i ? PAUSE_US : 0); // when killed, they pass on their own children
    }
    prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)l->was_reaper);
}
