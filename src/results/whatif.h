// SPDX-License-Identifier: Apache-2.0
// The result of `stoker whatif`, as plain structs in the order of the JSON contract
// (stoker.whatif/1). Field tables in results/whatif_fields.c. Everything lives in the result's
// arena.
#ifndef STK_REPORT_WHATIF_H
#define STK_REPORT_WHATIF_H

#include "results/report.h"

#define STK_WHATIF_SCHEMA "stoker.whatif/1"

struct stk_whatif_gate {
    bool ok;
    bool has_figures; // a replay was made
    double replay_error_share, worst_error_share, unexplained_share, start_error_share;
    double contended_share, inferred_share, spread_share, profiler_share;
    bool has_transplant;
    double transplant_error_share;
    struct stk_list why; // texts
};
// What a critical path goes to.
struct stk_whatif_part {
    const char *kind;
    double share;
};
struct stk_whatif_base {
    int64_t measured_ns, replayed_ns, median_ns, unprofiled_ns;
    int64_t unprofiled_low_ns, unprofiled_high_ns;
    struct stk_list path; // struct stk_whatif_part
};
struct stk_whatif_saving {
    double low_share, expected_share, high_share;
};
struct stk_whatif_scenario {
    struct stk_list fix; // texts
    int64_t low_ns, expected_ns, high_ns;
    double work;                     // of such a step, over one of now
    struct stk_whatif_saving saving; // of the same work
    const char *next_bottleneck;
    struct stk_list assumes; // texts
    struct stk_list path;    // struct stk_whatif_part, of the expected step
};
struct stk_whatif_fix {
    const char *id, *what;
    bool applies;
    const char *why; // it does not; else NULL
    bool is_asked;   // by --fix: the text lists no others
};
struct stk_whatif_target {
    int64_t target_ns, expected_ns;
    bool reached;
    struct stk_list fix; // texts
};
// A name on the critical path of the mean step, or beside it.
struct stk_whatif_path_row {
    const char *kind, *name;
    int64_t ns;
    double share, count;
    int64_t slack_ns; // beside: the least
};
struct stk_whatif_path_event {
    int64_t t_ns, dur_ns;
    const char *kind, *name, *where;
    uint32_t event; // of the trace, STK_NONE; not printed
};
struct stk_whatif_critical {
    int64_t step_ns;                      // mean, replayed
    int64_t step;                         // whose events are listed: index among those replayed
    uint64_t left_out;                    // of its events
    struct stk_list kinds, names, beside; // struct stk_whatif_path_row
    struct stk_list events;               // struct stk_whatif_path_event
};
struct stk_whatif {
    const char *schema;
    struct {
        const char *version;
    } stoker;
    struct stk_rep_profile profile;
    struct stk_whatif_gate gate;
    bool has_base;
    struct stk_whatif_base base;
    struct stk_list scenarios; // struct stk_whatif_scenario, the largest expected saving first
    struct stk_list fixes;     // struct stk_whatif_fix: all there are, in the order of the table
    bool has_critical;
    struct stk_whatif_critical critical;
    bool has_target;
    struct stk_whatif_target target;
};

extern const struct stk_struct_info stk_whatif_info;

#endif
