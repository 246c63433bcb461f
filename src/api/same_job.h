// SPDX-License-Identifier: Apache-2.0
// Are two profiles of one job? Distinct rank numbers decide. Where they are absent, framework,
// profiler, model of the device, number and time of the steps, and the time of recording decide
// together.
#pragma once

#include "api/api.h"

// What a file tells of its job.
struct stk_kin {
    const struct stk_job *job;
    uint32_t frameworks;      // bits of enum stk_framework; 0: not known
    const char *device;       // model of the first; "" not known
    bool has_device;          // events of one
    bool says_rank;           // of all its ranks, by content or by name
    int32_t world_size;       // -1: not known
    uint64_t steps;           // 0: none known
    int64_t step_ns;          // median
    int64_t start_ns, end_ns; // of the recording, on the file's clock; equal: not known
};

enum stk_kinship {
    STK_KIN_NONE,      // another job
    STK_KIN_OTHER_RUN, // the same job, recorded before or after
    STK_KIN_SAME_RUN   // ranks of one run
};

// False: it tells nothing of a job (a record that goes along with others, a file that failed, or
// without events), or memory is short (*failed).
bool stk_kin_of(const struct stk_job *job, struct stk_arena *arena, struct stk_kin *out,
                bool *failed);
enum stk_kinship stk_kinship_of(const struct stk_kin *a, const struct stk_kin *b);
// On one clock, and at the same time.
bool stk_kin_overlap(const struct stk_kin *a, const struct stk_kin *b);
// Their clocks can be compared.
bool stk_kin_on_one_clock(const struct stk_kin *a, const struct stk_kin *b);
