// SPDX-License-Identifier: Apache-2.0
// What a run of `stoker run` was, as plain structs in the order of the JSON contract
// (stoker.run/1). Rows in results/run_fields.c; job/capture/parent/run_json.c fills it.
#ifndef STK_RESULTS_RUN_H
#define STK_RESULTS_RUN_H

#include "results/field.h"

#define STK_RUN_SCHEMA "stoker.run/1"

struct stk_run_doc_steps {
    uint64_t count;
    int64_t median_ns;
    const char *source;
};
struct stk_run_doc_input {
    int64_t wait_ns;
    double wait_share;
};
struct stk_run_doc_window {
    uint64_t first_step, steps;
    const char *profile;
    bool has_slowdown;
    double slowdown_share;
};
struct stk_run_doc_gpu {
    uint64_t processes, windows;
    int64_t window_ns;
    uint64_t records, dropped, left_out, bytes;
    bool has_cupti, has_inside, has_outside;
    uint64_t cupti_version;
    double overhead_share_in_windows, cupti_share_in_windows, overhead_share_outside;
};
struct stk_run_doc_predicted {
    double low_share, expected_share, high_share;
};
struct stk_run_doc_compared {
    const char *dir;
    int64_t step_ns, free_step_ns;
    double input_cost_share;
    bool has_said, has_predicted;
    double why_input_wait_share;
    struct stk_run_doc_predicted predicted;
};
struct stk_run_doc {
    const char *schema;
    struct stk_list command; // texts
    int64_t exit_status, signal;
    const char *dir, *framework;
    struct stk_list hooks; // texts
    const char *input_mode;
    struct stk_run_doc_steps steps;
    bool has_input, has_window, has_gpu, has_overhead, has_compared;
    struct stk_run_doc_input input;
    struct stk_run_doc_window window;
    struct stk_run_doc_gpu gpu;
    double overhead_share;
    struct stk_run_doc_compared compared;
    uint64_t ranks;
    int64_t wall_ns;
    struct stk_list warnings; // texts
};
extern const struct stk_struct_info stk_run_info;

#endif
