// SPDX-License-Identifier: Apache-2.0
// The gain of a set of fixes: the replay with them against the replay without, as an interval. A
// prediction is the measured mean step, minus profiling overhead, times the ratio of the two
// replays, which cancels most replay errors.
#pragma once

#include "profile/model/verdict/verdict.h"
#include "answers/replay/critical.h"
#include "answers/replay/price_row.h"
#include "answers/replay/gate.h"
#include "answers/replay/room.h"

// The graphs of a run that can be replayed, and their properties.
struct stk_pricing {
    const struct stk_graph *const *graphs;
    const double *wait_share; // per graph: the waiting part of its collectives
    uint32_t count;
    struct stk_gate gate; // the worst of all ranks
    bool leaves_steps;    // some of the reported steps are excluded
    bool exposes;         // base_exposed, and `exposed` of prices, are filled
    double base_ns; // replayed mean step without a change and without the profiler: slowest rank
    double base_inner_ns; // the same between two waits for a batch; without a device: median
    double model_share;   // of the step: runs on threads without a lane, and stays
    double base_path[STK_CRITICAL_COUNT];    // the critical path's kinds of time, as shares
    double base_exposed[STK_CRITICAL_COUNT]; // the device's work or wait, as shares
    struct stk_rooms *rooms;                 // where replays run; NULL: the gate is closed
};
// Graphs of all ranks (sum->partial of stk_replay_hook). The gate is also closed if the verdict
// abstains: a profile that doesn't show where its time goes has no prices. exposes: prices also
// show the device's work or wait, and each collective loses its own wait for other ranks. Otherwise
// a rank's steps are interpolated between all and none of its collectives' time, by the share that
// is waiting, and graphs may have taken prices (taken.h). False: no memory.
bool stk_pricing_init(struct stk_pricing *p, const struct stk_run_sum *run,
                      const struct stk_verdict *verdict, bool exposes, struct stk_arena *arena);
void stk_pricing_deinit(struct stk_pricing *p);

struct stk_price {
    // Predicted step as shares of the measured one without the profiler: low <= high.
    double low, expected, high;
    double work;                     // work of such a step over that of the current one
    const char *next_bottleneck;     // NULL: not known
    double path[STK_CRITICAL_COUNT]; // of the expected step, as base_path
    double exposed[STK_CRITICAL_COUNT];
};
// The step that prices are shares of, without profiling overhead: expected, smallest and largest.
struct stk_pricing_step {
    int64_t measured_ns;
    double share, low_share, high_share;
};
struct stk_pricing_step stk_pricing_step(const struct stk_pricing *p,
                                         const struct stk_run_sum *run);
// Prices all fixes of a set together; the gate must be open. False: no memory.
bool stk_price_set(const struct stk_pricing *p, const struct stk_price_asked *set, size_t count,
                   struct stk_price *out);
// Why the fix has nothing to change in any graph, or can't be priced; NULL: it can.
const char *stk_price_refuse(const struct stk_pricing *p, const struct stk_price_asked *set);
