// SPDX-License-Identifier: Apache-2.0
// The parts of stats_launches.c: the queue of launched work (stats_queue.c), regions in which the
// device waits for launches (stats_launch_regions.c), slow runtime calls (stats_slow_calls.c).
#pragma once

#include "profile/model/view.h"
#include "answers/passes/stats/stats.h"

// ---- work launched and not yet begun ----

struct stk_queue {
    int64_t *launches, *starts; // both sorted; a launch never after its start
    size_t count;
};
// Of the device's selected operations with a launch call. False: no memory; deinit in any case.
bool stk_queue_collect(const struct stk_analysis *view, uint32_t line, struct stk_spans *selected,
                       struct stk_queue *queue);
void stk_queue_deinit(struct stk_queue *queue);

struct stk_queue_bin {
    int64_t start_ns, dur_ns, most;
    double mean; // over time
};
// Divides the queue's time into `count` equal parts; bins has room for them. Returns their number:
// 0 if no time passes.
size_t stk_queue_bins(const struct stk_queue *queue, struct stk_queue_bin *bins, size_t count);

// ---- regions in which the device runs dry ----

struct stk_launch_region {
    int64_t start_ns, dur_ns, busy_ns, idle_ns, step; // idle_ns: before late kernels
    uint64_t kernels, late; // late: operations launched after the device had nothing left to do
    const char *thread;     // launched the first; empty: unknown
    uint32_t line;
    bool has_step;
};
struct stk_launch_regions {
    struct stk_launch_region *v; // by start, device by device
    size_t count;
    uint64_t left_out; // with less idle time than those
    int64_t idle_ns;   // of all
};
STK_MUST_CHECK enum stoker_status stk_launch_regions_find(const struct stk_analysis *view,
                                                          struct stk_name_cache *names,
                                                          struct stk_arena *arena,
                                                          struct stk_launch_regions *out,
                                                          struct stoker_err *err);

// ---- runtime calls ----

struct stk_call_row {
    const char *name;
    uint64_t count, slow_count;
    int64_t total_ns, median_ns, p95_ns, max_ns;
    int64_t slow_ns, slow_busy_ns; // of slow calls; while some device was busy
};
struct stk_calls {
    struct stk_call_row *v;
    size_t count;
    int64_t buffer_full_ns; // the profiler's "Command Buffer Full"; -1: not recorded
};
STK_MUST_CHECK enum stoker_status stk_calls_sum(const struct stk_analysis *view,
                                                struct stk_name_cache *names,
                                                struct stk_arena *arena, struct stk_calls *out,
                                                struct stoker_err *err);
