// SPDX-License-Identifier: Apache-2.0
// Limits of the control group; see cgroup.h.
#include "base/cgroup.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE 64

// The first line of a file of the group; without stdio, which allocates: the tuner reads it often.
static bool read_line(const char *path, char line[LINE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    memset(line, 0, LINE);
    ssize_t got = read(fd, line, LINE - 1);
    close(fd);
    return got > 0;
}

int64_t stk_cgroup_processors(void)
{
    char line[LINE];
    long long quota, period;
    if (!read_line("/sys/fs/cgroup/cpu.max", line) ||
        sscanf(line, "%lld %lld", &quota, &period) != 2 || quota <= 0 || period <= 0) {
        return 0;
    }
    return quota / period + (quota % period != 0);
}

uint64_t stk_cgroup_memory_left(void)
{
    char line[LINE];
    unsigned long long most, used;
    if (!read_line("/sys/fs/cgroup/memory.max", line) || sscanf(line, "%llu", &most) != 1 ||
        !read_line("/sys/fs/cgroup/memory.current", line) || sscanf(line, "%llu", &used) != 1) {
        return UINT64_MAX;
    }
    return most > used ? most - used : 0;
}
