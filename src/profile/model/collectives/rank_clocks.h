// SPDX-License-Identifier: Apache-2.0
// How far the ranks' clocks differ, from the ends of collectives: all ranks leave them together.
#pragma once

#include "profile/model/summary.h"

#define STK_CLOCK_UNKNOWN INT64_MIN
#define STK_CLOCK_SAMPLES 64 // collectives a rank: their median needs no more

struct stk_clocks {
    int64_t *samples; // rank_count x STK_CLOCK_SAMPLES: a rank's end after the typical one
    uint32_t count, seen, every, rank_count;
};

// Room for the samples of about `meetings` collectives. False: no memory.
bool stk_clocks_begin(struct stk_clocks *c, uint32_t rank_count, size_t meetings);
// The ends of a collective on all ranks, in their order. `scratch` has room for as many.
void stk_clocks_see(struct stk_clocks *c, const int64_t *end_ns, int64_t *scratch);
// The offset of each rank's clock from that of the median rank, in the arena; all are
// STK_CLOCK_UNKNOWN if no collective was seen. NULL: no memory. Frees the samples.
int64_t *stk_clocks_end(struct stk_clocks *c, struct stk_arena *arena);
