// SPDX-License-Identifier: Apache-2.0
// Waiting in the collectives of one rank, the time of host collectives, and the gradients of its
// steps (stats_comm_sums.c), for the tables (stats_comm.c).
#pragma once

#include "profile/model/view.h"

struct stk_comm_wait {
    int64_t wait_ns;      // own duration above the shortest in its group, -1 not known
    int32_t last_rank;    // index of the rank that came last, -1 not known
    uint32_t last_device; // of that rank
};
struct stk_comm_host { // collectives on the host, by name
    const char *name;
    uint64_t count;
    int64_t total_ns, bytes; // bytes: sum, -1 not known of all
};
struct stk_comm_sums {
    struct stk_comm_wait *waits; // parallel to the rank's collectives
    struct stk_comm_host *host;
    uint32_t host_count;
    int64_t exposed_ns; // union per device, inside the selection
    // Gradients of the used host steps, and the number of these steps; 0: no shapes recorded.
    int64_t gradient_elements, gradient_bytes; // bytes: -1 not known of all
    int64_t gradient_steps;
};

// *partial: struct stk_comm_sums.
STK_MUST_CHECK enum stoker_status stk_comm_sums_see(const struct stk_analysis *view,
                                                    struct stk_arena *arena, void **partial,
                                                    struct stoker_err *err);
