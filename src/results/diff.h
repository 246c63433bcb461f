// SPDX-License-Identifier: Apache-2.0
// The result of `stoker diff A B`, as plain structs in the order of the JSON contract
// (stoker.diff/1). Field tables in results/diff_fields.c. Everything lives in the result's arena.
//
// Times of parts, kernels and operations are those of one step of one device (of the host, without
// a device): sums over the used steps, divided by their number. change = B - A throughout, so that
// exchanging the sides changes its sign and nothing else.
#ifndef STK_REPORT_DIFF_H
#define STK_REPORT_DIFF_H

#include "results/report.h"

#define STK_DIFF_SCHEMA "stoker.diff/1"

struct stk_diff_verdict {
    const char *kind;        // faster|slower|equivalent|inconclusive
    const char *basis;       // median|mean; NULL where nothing was compared
    enum stk_level severity; // of a slowdown; else NONE
    enum stk_level confidence;
    const char *sentence;
    double margin_share, equivalent_share; // changes below / above it are judged so
};
struct stk_diff_reason {
    const char *id;
    bool refuses;
    const char *text, *a, *b; // a, b: what either side says; may be NULL
};
struct stk_diff_comparable {
    const char *status;      // yes|limited|no
    bool forced;             // compared although they are not comparable
    struct stk_list reasons; // struct stk_diff_reason
};
// One measure of the step's time on both sides.
struct stk_diff_measure {
    int64_t a_ns, b_ns, change_ns;
    double change_share; // B / A - 1
    bool has_interval;   // 95%
    double low_share, high_share, noise_share;
};
struct stk_diff_step {
    struct stk_diff_measure median, mean;
    const char *method;
};
struct stk_diff_side {
    struct stk_rep_profile profile;
    const char *device, *framework, *precision; // may be NULL
    uint64_t ranks, devices;
    const char *source, *scope;
    uint64_t steps, used;
    bool has_times;
    double effective;
    int64_t median_ns, mean_ns, p95_ns, min_ns, max_ns;
    bool has_busy;
    double busy_share;
    struct stk_rep_verdict verdict;
};
struct stk_diff_part {
    const char *id, *label; // label: for people, not in the JSON
    int64_t a_ns, b_ns, change_ns;
    double change_share; // of A's step
    bool has_noise;
    int64_t noise_ns;
    bool is_beyond_noise;
};
struct stk_diff_name {
    const char *name, *placement; // placement: of operations, host|device
    const char *state;            // both|new|gone
    bool in_a, in_b;
    int64_t a_ns, b_ns, change_ns;
    double a_count, b_count, change_share;
};
struct stk_diff_finding {
    const char *id, *title, *state;        // both|new|gone
    enum stk_level a_severity, b_severity; // NONE where it is not found
};
struct stk_diff_pair { // the k-th used step of either side
    bool in_a, in_b;
    int64_t a_number, a_ns, b_number, b_ns;
};
struct stk_diff {
    const char *schema;
    struct {
        const char *version;
    } stoker;
    struct stk_diff_verdict verdict;
    struct stk_diff_comparable comparable;
    bool is_compared; // else what follows up to `a` is not known
    struct stk_diff_step step;
    struct stk_list parts;    // struct stk_diff_part, all of them in order
    struct stk_list findings; // struct stk_diff_finding
    struct stk_list kernels;  // struct stk_diff_name, largest change first
    struct stk_list ops;      // the same
    struct stk_list steps;    // struct stk_diff_pair
    struct stk_diff_side a, b;
};

extern const struct stk_struct_info stk_diff_info;

#endif
