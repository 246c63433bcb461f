// SPDX-License-Identifier: Apache-2.0
// The newest steps of a running job, from the hooks' records (job/capture/parent/step_record.h):
// follows each process's file as it grows.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/capture/parent/step_record.h"

enum { STK_LIVE_RANKS = 256, STK_LIVE_KEPT = 512 }; // processes; steps of each

// One stepping process. Figures cover steps without work of the profiler: `now` those that ended in
// the last seconds (at least the last five), `median` all kept ones.
struct stk_live_rank {
    int fd;
    uint64_t read;      // records
    uint32_t count, at; // kept records
    struct stk_steps_header head;
    struct stk_steps_record kept[STK_LIVE_KEPT];
    // since the last look:
    uint32_t recent;                      // steps in `now`
    uint64_t now_ns, median_ns;           // 0: unknown
    double wait_share, per_second, age_s; // below 0: unknown; age: since the last step's end
    bool in_window;                       // the last step was within the profiler's window
};

struct stk_live_steps {
    char *folder;
    struct stk_live_rank *ranks[STK_LIVE_RANKS];
    size_t count, lead; // lead: the one with the most steps, whose figures represent the job
    uint64_t left_out;  // processes beyond RANKS
};

STK_MUST_CHECK enum stoker_status stk_live_steps_open(struct stk_live_steps *s, const char *folder,
                                                      struct stoker_err *err);
void stk_live_steps_close(struct stk_live_steps *s);
// Reads what was written since the last call; `now_ns` is on the job's monotonic clock.
STK_MUST_CHECK enum stoker_status stk_live_steps_follow(struct stk_live_steps *s, int64_t now_ns,
                                                        int64_t window_ns, struct stoker_err *err);
