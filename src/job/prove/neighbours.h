// SPDX-License-Identifier: Apache-2.0
// The processor time that other programs, and other virtual machines on the host, used during a
// run: the difference of Linux' counters in /proc/stat before and after it, minus the run's own
// use.
// Limits: counters tick a hundred times a second, so runs below half a second are not judged; in a
// container the counters are those of the machine; without /proc/stat all shares are 0.
#pragma once

#include <stdint.h>

struct stk_neighbours {
    uint64_t busy, stolen, all; // ticks since the machine started
};
struct stk_neighbour_shares {
    double others, stolen; // of the time of all processors
};
void stk_neighbours_look(struct stk_neighbours *n);
// The shares between two readings, if the run used this much processor time meanwhile.
struct stk_neighbour_shares stk_neighbours_between(const struct stk_neighbours *before,
                                                   const struct stk_neighbours *after,
                                                   uint64_t own_cpu_ns);
