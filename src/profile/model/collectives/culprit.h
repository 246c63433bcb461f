// SPDX-License-Identifier: Apache-2.0
// Which ranks the others wait for, from how late each comes to its collectives.
#pragma once

#include "profile/model/summary.h"

struct stk_lateness { // of one rank
    int64_t late_ns;  // after the typical rank of its collectives, over all of them
    int64_t worst_ns; // the part of it in one step
    int64_t held_ns;  // waiting of all ranks in collectives that it was last to enter
};
struct stk_latenesses {
    struct stk_lateness *ranks; // rank_count
    int64_t held_ns;            // of all ranks
};

// The ranks that are clearly later than the others, latest first; else the one that causes most
// waiting. Called once all collectives are matched. Sets late_count and late_ranks (indices, in the
// arena) of the run's straggler, its rank, held_share and recurring_share. False: no memory.
bool stk_culprit_find(struct stk_run_sum *run, const struct stk_latenesses *l,
                      struct stk_arena *arena);
// "rank 3", "ranks 3 and 9", "host node2 (ranks 16 to 23)": the straggler. NULL: no memory.
const char *stk_culprit_text(const struct stk_run_sum *run, struct stk_arena *arena);
// Their numbers, as "3,9". NULL: no memory.
const char *stk_culprit_ranks(const struct stk_run_sum *run, struct stk_arena *arena);
// The host all of whose ranks in the run are late, if others run elsewhere; else NULL.
const char *stk_culprit_host(const struct stk_run_sum *run);
bool stk_culprit_is(const struct stk_run_sum *run, int32_t rank); // is that rank one of them?
