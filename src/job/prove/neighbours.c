// SPDX-License-Identifier: Apache-2.0
// Load from other programs; see neighbours.h. Format: proc_stat(5).
#include "job/prove/neighbours.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COUNTERS };
#define LEAST_SECONDS 0.5

void stk_neighbours_look(struct stk_neighbours *n)
{
    char text[512];
    uint64_t v[COUNTERS] = {0};
    *n = (struct stk_neighbours){0};
    int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) {
        close(fd);
    }
    if (got < 4 || memcmp(text, "cpu ", 4) != 0) {
        return;
    }
    text[got] = 0;
    char *p = text + 4;
    for (int i = 0; i < COUNTERS; i++) {
        v[i] = strtoull(p, &p, 10);
        n->all += v[i];
    }
    n->stolen = v[STEAL];
    n->busy = n->all - v[IDLE] - v[IOWAIT] - v[STEAL];
}

struct stk_neighbour_shares stk_neighbours_between(const struct stk_neighbours *before,
                                                   const struct stk_neighbours *after,
                                                   uint64_t own_cpu_ns)
{
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK),
           processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    double all = (double)(after->all - before->all) * tick;
    if (after->all < before->all || all < LEAST_SECONDS * processors) {
        return (struct stk_neighbour_shares){0};
    }
    double busy = (double)(after->busy - before->busy) * tick - (double)own_cpu_ns * 1e-9;
    double stolen = (double)(after->stolen - before->stolen) * tick;
    return (struct stk_neighbour_shares){.others = busy > 0 ? busy / all : 0,
                                         .stolen = stolen > 0 ? stolen / all : 0};
}
