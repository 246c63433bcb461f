// SPDX-License-Identifier: Apache-2.0
// What other programs, and other machines on the same host, took of the processors during a run:
// Linux' counters of /proc/stat before and after it, less what the run itself used.
// Limits: counters tick a hundred times a second, so runs below half a second are not judged; in a
// container the counters are those of the machine; where there is no /proc/stat all shares are 0.
#pragma once

#include <stdint.h>

struct stk_neighbours {
    uint64_t busy, stolen, all; // ticks since the machine started
};
struct stk_neighbour_shares {
    double others, stolen; // of the time of all processors
};
void stk_neighbours_look(struct stk_neighbours *n);
// Between two looks, in which a run used this much processor time.
struct stk_neighbour_shares stk_neighbours_between(const struct stk_neighbours *before,
                                                   const struct stk_neighbours *after,
                                                   uint64_t own_cpu_ns);
