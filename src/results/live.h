// SPDX-License-Identifier: Apache-2.0
// A moment of a running job as `stoker top` gives it, as plain structs in the order of the JSON
// contract (stoker.live/1). Rows in results/live_fields.c; job/live/live_json.c fills it. Counters
// are entries (struct stk_entry) with the names of docs/sampler.md behind the point.
#ifndef STK_RESULTS_LIVE_H
#define STK_RESULTS_LIVE_H

#include "results/field.h"

#define STK_LIVE_SCHEMA "stoker.live/1"

struct stk_live_doc_finding {
    const char *id, *title, *evidence;
};
struct stk_live_doc_rank {
    bool has_rank, has_now, has_median, has_rate, has_wait, has_age;
    int64_t rank;
    uint64_t pid;
    const char *framework; // NULL: not known
    uint64_t steps;
    int64_t step_now_ns, step_median_ns;
    double steps_per_second, input_wait_share, since_last_step_s;
    const char *window;
};
struct stk_live_doc_thread {
    int64_t tid;
    const char *name;
    double cpu, queue;
    bool is_blocked;
};
struct stk_live_doc_process {
    int64_t pid;
    const char *name;
    bool has_parent;
    int64_t parent;
    double cpu, queue;
    struct stk_list counters, busiest_threads;
};
// A disk or a GPU.
struct stk_live_doc_thing {
    int64_t number;
    const char *name;
    struct stk_list counters;
};
struct stk_live_doc {
    const char *schema;
    int64_t time_ns;
    const char *state, *sentence;
    const char *folder; // NULL: no run's
    const char *sampled_by;
    struct stk_list findings; // struct stk_live_doc_finding
    struct stk_list ranks;    // struct stk_live_doc_rank
    bool has_machine;         // what follows is known
    double window_s;
    struct stk_list job, machine; // counters
    struct stk_list processes;    // struct stk_live_doc_process; left_out: beyond these
    struct stk_list disks, gpus;  // struct stk_live_doc_thing
    struct stk_list absent;       // texts
};
extern const struct stk_struct_info stk_live_info;

#endif
