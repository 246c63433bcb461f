// SPDX-License-Identifier: Apache-2.0
// How many pieces may wait in a ring that AUTOTUNE sizes.
// If the consumer finds the ring empty after it had been full, it takes more at a time than fits,
// or the workers were held up: the capacity doubles. If most ready pieces haven't been needed for a
// while, the capacity falls; each time it had to grow, it stays twice as long, since a hold-up is
// likely to come back. A wait before the ring was ever full doesn't count: every run starts that
// way, and a larger ring would only take memory.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STK_RING_CAPACITY_MIN 8 // pieces
#define STK_RING_CAPACITY_MAX 64
#define STK_RING_CAPACITY_LOOKS 20       // looks with too many ready, before the capacity falls
#define STK_RING_CAPACITY_LOOKS_MAX 1280 // two minutes of looks

struct stk_ring_marks { // since the last look
    int capacity;
    uint32_t low;    // the fewest pieces ready
    bool is_drained; // the ring was full, then the consumer waited
};

struct stk_ring_capacity {
    int idle_looks; // in a row
    int growths;    // so far
};

// The new capacity; the present one if it should stay. has_memory: it may grow.
int stk_ring_capacity_choose(struct stk_ring_capacity *s, const struct stk_ring_marks *m,
                             bool has_memory);
