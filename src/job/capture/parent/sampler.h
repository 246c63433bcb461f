// SPDX-License-Identifier: Apache-2.0
// Samples a job from outside, in a thread of the process that started it: each process and thread
// of the job's tree, what its control group allows, and the machine's processors, memory, disks and
// GPUs. It writes counters to a record in stoker's own format (*.stk), which `stoker why` and
// `stoker stats machine` read together with the job's profile. The sources are rows of sources.def.
//
// It looks every `period_ns`, less often if its own cost would exceed `cost_share` of one processor
// or the record gets long. It follows a bounded number of processes and threads, and counts the
// others. Its failures never affect the job.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "job/capture/parent/totals.h"

struct stk_sampler;

// All zeros: the defaults.
struct stk_sampler_options {
    uint64_t period_ns;   // 0: 200 ms
    double cost_share;    // its most, of one processor; 0: 0.002
    uint32_t threads_max; // followed at a time; 0: 2048
    bool no_gpu;          // do not load NVML
    // Where to find things: "" or NULL is the usual place. For tests, and for containers that see
    // those of their host elsewhere.
    const char *proc;   // "/proc"
    const char *cgroup; // "/sys/fs/cgroup"
    const char *nvml;   // "libnvidia-ml.so.1"
};

// Starts to sample the tree of processes below `root` (an already forked child, which may not have
// called exec yet) into a new file at `path`, by convention "machine.stk" in the folder of the run.
// Call it from the parent after fork: it starts a thread, which blocks all signals. An error: the
// file couldn't be made, or no memory; the job may go on without it.
STK_MUST_CHECK enum stoker_status stk_sampler_start(struct stk_sampler **out, pid_t root,
                                                    const struct stk_sampler_options *options,
                                                    const char *path, struct stoker_err *err);
// Ends the thread (at once, after a last look), closes the file and frees the sampler; `totals` may
// be NULL. Call it before the root is reaped (waitid with WNOWAIT shows that it ended), so that its
// last figures still exist; later is also fine. An error: the file is incomplete (disk full), but
// readable. Takes NULL.
STK_MUST_CHECK enum stoker_status
stk_sampler_stop(struct stk_sampler *s, struct stk_sampler_totals *totals, struct stoker_err *err);
