// SPDX-License-Identifier: Apache-2.0
// Sums of /proc/PID/statm over a group; see group_memory.h.
#include "tune/group_memory.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"

static int read_small(int folder, const char *pid, const char *name, char *to, size_t size)
{
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

// The group of a process, from behind its name, which may hold anything.
static int64_t group_of(const char *stat)
{
    const char *behind = strrchr(stat, ')');
    long long group = -1;
    return behind && sscanf(behind + 1, " %*c %*d %lld", &group) == 1 ? group : -1;
}

uint64_t stk_group_memory(int64_t group)
{
    DIR *d = opendir("/proc");
    struct dirent *e;
    unsigned long long own = 0, shared_most = 0;
    char text[1024];
    while (d && (e = readdir(d))) {
        unsigned long long resident, shared;
        if (isdigit((unsigned char)e->d_name[0]) &&
            read_small(dirfd(d), e->d_name, "stat", text, sizeof text) && group_of(text) == group &&
            read_small(dirfd(d), e->d_name, "statm", text, sizeof text) &&
            sscanf(text, "%*u %llu %llu", &resident, &shared) == 2) {
            own += resident > shared ? resident - shared : 0;
            shared_most = shared > shared_most ? shared : shared_most;
        }
    }
    if (d) {
        closedir(d);
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
