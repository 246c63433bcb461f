// SPDX-License-Identifier: Apache-2.0
// How many pieces may wait in a ring that AUTOTUNE sizes. A consumer that finds the ring empty
// although it had been full takes more at a time than fits, or what makes the pieces was held up:
// the capacity doubles. Where most of what is ready has not been needed for a while, the capacity
// falls again; each time it had to grow, it is kept for twice as long, since what held things up
// once is likely to come back. A wait before the ring was full says nothing about its capacity:
// that is how every run begins, and more of it then would only take memory that nobody asked for.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STK_RING_CAPACITY_MIN 8 // pieces
#define STK_RING_CAPACITY_MAX 64
#define STK_RING_CAPACITY_LOOKS 20       // with too much ready, before the capacity falls
#define STK_RING_CAPACITY_LOOKS_MAX 1280 // two minutes of looks

struct stk_ring_marks { // since they were asked for last
    int capacity;
    uint32_t low;    // the least pieces that were ready
    bool is_drained; // the consumer waited after the ring had been full
};

struct stk_ring_capacity {
    int idle_looks; // in a row
    int growths;    // so far
};

// The capacity from now on; what it is, if it should stay. has_memory: may it grow?
int stk_ring_capacity_choose(struct stk_ring_capacity *s, const struct stk_ring_marks *m,
                             bool has_memory);
