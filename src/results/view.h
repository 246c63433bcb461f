// SPDX-License-Identifier: Apache-2.0
// What the pages of `stoker view` ask for before anything else (stoker.view/1), with the tracks of
// the time line; and a run's folder while the job may still write to it (stoker.view.run/1). Rows
// in results/view_fields.c; profile/timeline, serve and cli fill them.
#ifndef STK_RESULTS_VIEW_H
#define STK_RESULTS_VIEW_H

#include "results/field.h"

#define STK_VIEW_SCHEMA "stoker.view/1"
#define STK_VIEW_RUN_SCHEMA "stoker.view.run/1"

struct stk_view_doc_clock {
    bool has_rank;
    int64_t rank, zero_ns;
};
struct stk_view_doc_track {
    int64_t id;
    const char *label, *group;
    bool has_rank;
    int64_t rank;
    const char *device; // NULL: none
    uint64_t rows, events;
};
struct stk_view_doc_tracks {
    bool has_timeline;
    int64_t first_ns, last_ns;
    uint64_t events;
    struct stk_list clocks;  // struct stk_view_doc_clock
    struct stk_list tracks;  // struct stk_view_doc_track
    const char *no_timeline; // why there is none; NULL: there is
};
extern const struct stk_struct_info stk_view_tracks_info;

struct stk_view_doc_extra {
    const char *kind, *name;
};
struct stk_view_doc {
    const char *schema;
    bool is_served; // else it is of a single file
    int64_t level;  // of a single file
    bool is_single;
    struct stk_list tables, can; // texts
    struct stk_list extras;      // struct stk_view_doc_extra
    bool from_cache;
    struct stk_apart tracks; // struct stk_view_doc_tracks
};
extern const struct stk_struct_info stk_view_info;

// The longest step of a stretch.
struct stk_view_run_doc_step {
    uint64_t number;
    int64_t end_ns, dur_ns, wait_ns;
    uint64_t flags;
};
struct stk_view_run_doc_process {
    bool has_rank, has_wait;
    int64_t rank;
    uint64_t pid, count;
    int64_t step_ns, first_ns, last_ns, wait_ns;
    uint64_t window_first, window_steps, window_state;
    const char *framework, *notes;
    uint64_t every;
    struct stk_list steps; // struct stk_view_run_doc_step
};
struct stk_view_run_doc {
    const char *schema;
    struct stk_list processes;     // struct stk_view_run_doc_process
    struct stk_apart run, machine; // documents of their own
};
extern const struct stk_struct_info stk_view_run_info;

#endif
