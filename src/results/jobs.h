// SPDX-License-Identifier: Apache-2.0
// What `stoker why` found where profiles are not of one job, as plain structs in the order of the
// JSON contract (stoker.jobs/1). Field tables in results/jobs_fields.c. Everything lives in the
// result's arena.
#ifndef STK_REPORT_JOBS_H
#define STK_REPORT_JOBS_H

#include "results/report.h"

#define STK_JOBS_SCHEMA "stoker.jobs/1"

// The most valuable finding.
struct stk_jobs_finding {
    const char *id, *title;
    enum stk_level severity;
    bool has_low, has_expected, has_high;
    double low_share, expected_share, high_share; // of the step
};
struct stk_jobs_job {
    const char *label;                       // for people, not in the JSON: short name of its files
    struct stk_list paths;                   // texts
    const char *format, *framework, *device; // may be NULL
    uint64_t ranks, devices, steps;
    bool has_times;
    int64_t median_ns;
    const char *note;  // which of several runs was taken; may be NULL
    const char *error; // why there is no verdict; else NULL
    bool has_verdict, has_finding;
    struct stk_rep_verdict verdict;
    struct stk_jobs_finding finding;
};
struct stk_jobs_skipped {
    const char *path, *why;
};
struct stk_jobs {
    const char *schema;
    struct {
        const char *version;
    } stoker;
    struct stk_list jobs;    // struct stk_jobs_job
    struct stk_list skipped; // struct stk_jobs_skipped
    const char *pick;        // for people, not in the JSON: the command that takes the first job
};

extern const struct stk_struct_info stk_jobs_info;

#endif
