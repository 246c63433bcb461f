// SPDX-License-Identifier: Apache-2.0
// `stoker run --level 1` from outside the job: finds the capture library, sets the variables that
// make CUDA's driver load it, opens windows by the clock, and sums up what the library did.
//
// If the Python hooks see steps in a process, they open its window. In all other processes windows
// open at once, by the clock, counted from the first process that initializes CUDA.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "job/capture/control.h"
#include "job/capture/parent/hooks.h"

struct stk_gpu_plan {
    uint64_t after_ns; // from the start of CUDA to the window; 0: at once
    uint64_t for_ns;   // how long it is open; 0: to the end of the job
    uint64_t every_ns; // from one to the next; 0: one window
    bool has_after;    // requested, so it also applies to processes with hooks
};

enum { STK_GPU_WHYS = 4, STK_GPU_VARIABLES = 3 };

// Sums of all processes.
struct stk_gpu_totals {
    uint32_t processes, recorded, windows, left_out_processes;
    uint32_t cupti_version; // of the last process that has one
    uint64_t inside_ns, outside_ns, own_inside_ns, own_outside_ns, profiler_ns;
    uint64_t records, dropped, left_out, bytes;
    uint32_t why_count;
    char why[STK_GPU_WHYS][sizeof(((struct stk_control_slot *)0)->why)];
};

struct stk_gpu_windows {
    struct stk_gpu_plan plan;
    struct stk_control *control; // NULL: level 0; why_not says why
    struct stk_guard *guard;     // guards its mapping: the job may truncate the file
    const char *folder;
    const struct stk_hooks *hooks;
    char *control_path;
    char *variables[STK_GPU_VARIABLES + 1]; // "NAME=value", ends with NULL
    uint64_t first_ns;                      // when a process with CUDA was first seen; 0: not yet
    bool is_open;
    uint64_t next_ns; // time of the next change; 0: not by the clock
    char why_not[400];
};

// Makes the control file next to the hooks. If that fails, g->control is NULL and g->why_not a
// sentence: the run goes on without it. `folder`, the run's, and `hooks` must stay valid.
void stk_gpu_start(struct stk_gpu_windows *g, const char *folder, const struct stk_hooks *hooks,
                   const struct stk_gpu_plan *plan);
// This process's environment, with the variables of a started run. Free with stk_free, as one
// block, before stk_gpu_end. NULL: no memory.
char **stk_gpu_environment(const struct stk_gpu_windows *g);
// Called regularly while the job runs: opens and closes windows by the clock.
void stk_gpu_tick(struct stk_gpu_windows *g, uint64_t now_ns);
// After the job: sums up, packs the records (gpu_pack.h), frees. Also for one that never started.
void stk_gpu_end(struct stk_gpu_windows *g, struct stk_gpu_totals *totals);
