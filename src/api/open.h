// SPDX-License-Identifier: Apache-2.0
// A run whose traces stay in memory, for queries about single events: queries, exports, the viewer.
// Reading, rank numbers, clocks and selections are as in collect.c.
#pragma once

#include "api/api.h"

// One selected rank. Several may share a trace (a profile of several processes).
struct stk_open_rank {
    const struct stk_rank_sum *sum; // sum->in_rank: which processes of the trace belong to it
    const struct stk_job *job;
    const struct stk_trace *trace;
    int64_t shift_ns; // add to the trace's times: time since the run's first event
};

struct stk_open_run {
    struct stk_collected in;
    struct stk_open_rank *ranks; // in the order of in.run->ranks
    uint32_t rank_count;
};

// Starts zeroed; free it with stk_open_run_free even after a failure. With options->redact, the
// traces show replaced strings. STOKER_ELIMIT: the traces would take more than three quarters of
// the machine's memory. `hook` may be NULL.
STK_MUST_CHECK enum stoker_status stk_open_run_read(struct stk_open_run *o,
                                                    const char *const *paths, size_t count,
                                                    const struct stoker_why_options *options,
                                                    const struct stk_view_hook *hook,
                                                    struct stoker_err *err);
void stk_open_run_free(struct stk_open_run *o);
// Three quarters of the machine's memory.
uint64_t stk_open_cap_bytes(void);
