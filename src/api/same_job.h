// SPDX-License-Identifier: Apache-2.0
// Do two profiles belong to one job? Distinct rank numbers decide. Without them, framework,
// profiler, device model, number and time of steps, and the time of recording decide together.
#pragma once

#include "api/api.h"

// What a file says about its job.
struct stk_kin {
    const struct stk_job *job;
    uint32_t frameworks;      // bits of enum stk_framework; 0: unknown
    const char *device;       // model of the first; "": unknown
    bool has_device;          // it has device events
    bool says_rank;           // states all its ranks, by content or by name
    int32_t world_size;       // -1: unknown
    uint64_t steps;           // 0: unknown
    int64_t step_ns;          // median
    int64_t start_ns, end_ns; // of the recording, on the file's clock; equal: unknown
};

enum stk_kinship {
    STK_KIN_NONE,      // another job
    STK_KIN_OTHER_RUN, // the same job, recorded earlier or later
    STK_KIN_SAME_RUN   // ranks of one run
};

// False: it says nothing about a job (a recording that accompanies others, a failed file, or one
// without events), or memory is short (*failed).
bool stk_kin_of(const struct stk_job *job, struct stk_arena *arena, struct stk_kin *out,
                bool *failed);
enum stk_kinship stk_kinship_of(const struct stk_kin *a, const struct stk_kin *b);
// Are they on one clock, and from the same time?
bool stk_kin_overlap(const struct stk_kin *a, const struct stk_kin *b);
// Can their clocks be compared?
bool stk_kin_on_one_clock(const struct stk_kin *a, const struct stk_kin *b);
