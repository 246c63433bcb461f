// SPDX-License-Identifier: Apache-2.0
// What a set of fixes is worth: the replay with them against the replay without, as an interval.
// A prediction is the measured mean step, less what the profiler adds to it, times the ratio of two
// replays, which takes out most of what a replay gets wrong.
#pragma once

#include "profile/model/verdict/verdict.h"
#include "answers/replay/critical.h"
#include "answers/replay/price_row.h"
#include "answers/replay/gate.h"
#include "answers/replay/room.h"

// The graphs of a run that can be replayed, and what is known of them.
struct stk_pricing {
    const struct stk_graph *const *graphs;
    const double *wait_share; // per graph: of its collectives, what is waiting for other ranks
    uint32_t count;
    struct stk_gate gate; // the worst of all ranks
    bool leaves_steps;    // some of the reported steps do not count
    bool exposes;         // base_exposed, and `exposed` of prices, are filled
    double base_ns; // replayed mean step without a change and without the profiler: slowest rank
    double
        base_inner_ns;  // the same of those between two waits for a batch; without a device, median
    double model_share; // of the step, that runs on threads without a lane, and stays
    double base_path[STK_CRITICAL_COUNT];    // what its critical path goes to, as shares
    double base_exposed[STK_CRITICAL_COUNT]; // what its device does, or waits for
    struct stk_rooms *rooms;                 // where replays run; NULL: the gate is closed
};
// Graphs of all ranks (sum->partial of stk_replay_hook). The gate is closed as well where the
// verdict abstains: a profile that does not say where its time goes has no prices. exposes: prices
// say what the device does, or waits for, too, and each collective loses its own wait for other
// ranks; otherwise a rank's steps lie between those of all that its collectives take and those
// of none, by the share that is waiting, and graphs may be taken prices (taken.h). False: no
// memory.
bool stk_pricing_init(struct stk_pricing *p, const struct stk_run_sum *run,
                      const struct stk_verdict *verdict, bool exposes, struct stk_arena *arena);
void stk_pricing_deinit(struct stk_pricing *p);

struct stk_price {
    // Predicted step as shares of the measured one without the profiler: low <= high.
    double low, expected, high;
    double work;                     // what such a step does, over what one does now
    const char *next_bottleneck;     // NULL: not known
    double path[STK_CRITICAL_COUNT]; // of the expected step, as base_path
    double exposed[STK_CRITICAL_COUNT];
};
// The step that prices are shares of, and what of it is not the profiler's own: expected, at the
// least and at the most.
struct stk_pricing_step {
    int64_t measured_ns;
    double share, low_share, high_share;
};
struct stk_pricing_step stk_pricing_step(const struct stk_pricing *p,
                                         const struct stk_run_sum *run);
// All of a set at once; to be asked where the gate is open. False: no memory.
bool stk_price_set(const struct stk_pricing *p, const struct stk_price_asked *set, size_t count,
                   struct stk_price *out);
// Why the fix has nothing to change in any graph, or cannot be priced; NULL: it can.
const char *stk_price_refuse(const struct stk_pricing *p, const struct stk_price_asked *set);
