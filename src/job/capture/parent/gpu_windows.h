// SPDX-License-Identifier: Apache-2.0
// `stoker run --level 1` from outside of the job: where the capture library is, what the job's
// environment tells CUDA's driver, when windows open by the clock, and what the library did.
//
// In a process that the Python hooks see stepping these open the window; in others it opens by the
// clock, counted from the first process that initializes CUDA, in all of them at once.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "job/capture/control.h"
#include "job/capture/parent/hooks.h"

struct stk_gpu_plan {
    uint64_t after_ns; // from the start of CUDA to the window; 0: at once
    uint64_t for_ns;   // that it is open; 0: to the end of the job
    uint64_t every_ns; // from one to the next; 0: one window
    bool has_after;    // it was asked for, so processes with hooks are held to it, too
};

enum { STK_GPU_WHYS = 4, STK_GPU_VARIABLES = 3 };

// Sums of all processes.
struct stk_gpu_totals {
    uint32_t processes, recorded, windows, left_out_processes;
    uint32_t cupti_version; // of the last that has one
    uint64_t inside_ns, outside_ns, own_inside_ns, own_outside_ns, profiler_ns;
    uint64_t records, dropped, left_out, bytes;
    uint32_t why_count;
    char why[STK_GPU_WHYS][sizeof(((struct stk_control_slot *)0)->why)];
};

struct stk_gpu_windows {
    struct stk_gpu_plan plan;
    struct stk_control *control; // NULL: level 0, and why_not says why
    struct stk_guard *guard;     // of it: the job may cut its file short
    const char *folder;
    const struct stk_hooks *hooks;
    char *control_path;
    char *variables[STK_GPU_VARIABLES + 1]; // "NAME=value", ends with NULL
    uint64_t first_ns;                      // a process with CUDA was seen first; 0: none yet
    bool is_open;
    uint64_t next_ns; // that the state changes; 0: not by the clock
    char why_not[400];
};

// Lays out the control file beside the hooks. Where something is in the way, g->control is NULL and
// g->why_not a sentence: the run goes on without. `folder`, which is the run's, and `hooks` must
// stay.
void stk_gpu_start(struct stk_gpu_windows *g, const char *folder, const struct stk_hooks *hooks,
                   const struct stk_gpu_plan *plan);
// This process' environment with the variables of a run that was started, or as it is. Freed with
// stk_free, in one piece, before stk_gpu_end. NULL: no memory.
char **stk_gpu_environment(const struct stk_gpu_windows *g);
// Now and then while the job runs: opens and closes windows by the clock.
void stk_gpu_tick(struct stk_gpu_windows *g, uint64_t now_ns);
// The job has ended: sums up, packs the records (gpu_pack.h), frees. Takes one that never started.
void stk_gpu_end(struct stk_gpu_windows *g, struct stk_gpu_totals *totals);
