// SPDX-License-Identifier: Apache-2.0
// The newest steps of a run that the hooks record (job/capture/parent/step_record.h), while it
// runs: each process' file is followed as it grows.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/capture/parent/step_record.h"

enum { STK_LIVE_RANKS = 256, STK_LIVE_KEPT = 512 }; // processes; steps of each

// One process that steps. Figures are of steps that the profiler did not touch; `now` are those
// that ended in the last seconds (at least the last five), `median` those that are kept.
struct stk_live_rank {
    int fd;
    uint64_t read;      // records
    uint32_t count, at; // kept records
    struct stk_steps_header head;
    struct stk_steps_record kept[STK_LIVE_KEPT];
    // since the last look:
    uint32_t recent;                      // steps that `now` is of
    uint64_t now_ns, median_ns;           // 0: not known
    double wait_share, per_second, age_s; // below 0: not known; age: since the last step's end
    bool in_window;                       // the last step was within the profiler's window
};

struct stk_live_steps {
    char *folder;
    struct stk_live_rank *ranks[STK_LIVE_RANKS];
    size_t count, lead; // lead: whose figures stand for the job: the one with the most steps
    uint64_t left_out;  // processes beyond RANKS
};

STK_MUST_CHECK enum stoker_status stk_live_steps_open(struct stk_live_steps *s, const char *folder,
                                                      struct stoker_err *err);
void stk_live_steps_close(struct stk_live_steps *s);
// What was written since; `now_ns` on the job's monotonic clock.
STK_MUST_CHECK enum stoker_status stk_live_steps_follow(struct stk_live_steps *s, int64_t now_ns,
                                                        int64_t window_ns, struct stoker_err *err);
