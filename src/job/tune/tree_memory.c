// SPDX-License-Identifier: Apache-2.0
// Sums /proc/PID/statm over a tree; see tree_memory.h. First reads the parents of all processes;
// then repeatedly marks processes with a marked parent, until there are no more.
#include "job/tune/tree_memory.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cgroup.h"
#include "base/sort.h"
#include "base/vec.h"

enum { PROCESSES = 1 << 22 }; // on a machine, at most

struct process {
    int pid, parent;
    bool is_below;
};

static int read_small(int folder, const char *pid, const char *name, char *to, size_t size)
{
    STK_ASSERT(size > 1);
    char path[300];
    snprintf(path, sizeof path, "%s/%s", pid, name);
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, to, size - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    to[n > 0 ? n : 0] = 0;
    return n > 0;
}

// The parent of a process, after its name, which may contain any character; 0: unknown.
static int parent_of(const char *stat)
{
    const char *name_end = strrchr(stat, ')');
    int parent = 0;
    return name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

// Lists all processes by number; incomplete if memory runs out.
static void list(DIR *proc, struct stk_vec *to)
{
    const struct dirent *e;
    char text[1024];
    while ((e = readdir(proc))) {
        if (isdigit((unsigned char)e->d_name[0]) &&
            read_small(dirfd(proc), e->d_name, "stat", text, sizeof text)) {
            struct process *p = stk_vec_push(to);
            if (!p) {
                break;
            }
            *p = (struct process){.pid = atoi(e->d_name), .parent = parent_of(text)};
        }
    }
    stk_sort(to->items, to->count, sizeof(struct process), by_pid);
}

static void mark(struct process *all, size_t n, pid_t root)
{
    for (bool found = true; found;) {
        found = false;
        for (size_t i = 0; i < n; i++) {
            if (all[i].is_below) {
                continue;
            }
            const struct process key = {.pid = all[i].parent};
            const struct process *parent = bsearch(&key, all, n, sizeof key, by_pid);
            all[i].is_below = all[i].parent == root || (parent && parent->is_below);
            found |= all[i].is_below;
        }
    }
}

uint64_t stk_tree_memory(pid_t root)
{
    STK_ASSERT(root > 0);
    DIR *proc = opendir("/proc");
    struct stk_vec found;
    unsigned long long own = 0, shared_most = 0;
    char name[16], text[256];
    stk_vec_init(&found, sizeof(struct process), PROCESSES);
    if (proc) {
        list(proc, &found);
    }
    struct process *all = found.items;
    mark(all, found.count, root);
    for (size_t i = 0; i < found.count; i++) {
        unsigned long long resident, shared;
        snprintf(name, sizeof name, "%d", all[i].pid);
        if (all[i].is_below && read_small(dirfd(proc), name, "statm", text, sizeof text) &&
            sscanf(text, "%*u %llu %llu", &resident, &shared) == 2) {
            own += resident > shared ? resident - shared : 0;
            shared_most = shared > shared_most ? shared : shared_most;
        }
    }
    stk_vec_deinit(&found);
    if (proc) {
        closedir(proc);
    }
    return (own + shared_most) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t stk_free_memory(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f) &&
           sscanf(line, "MemAvailable: %llu", &kilobytes) != 1) {
        continue;
    }
    if (f) {
        fclose(f);
    }
    uint64_t left = stk_cgroup_memory_left(), machine = kilobytes * 1024;
    return left < machine ? left : machine;
}
