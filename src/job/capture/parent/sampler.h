// SPDX-License-Identifier: Apache-2.0
// Samples a job from outside, in a thread of the process that started it: each process and thread
// of the job's tree, what its control group allows, and the machine's processors, memory, disks and
// GPUs. What it sees goes into a record of stoker's own (*.stk) of counters, which `stoker why` and
// `stoker stats machine` read beside the job's profile. The sources are rows of sources.def.
//
// It looks every `period_ns`, less often where its own cost would pass `cost_share` of one
// processor or the record grow long. It holds a bounded number of processes and threads; what it
// did not follow is counted. Nothing that goes wrong while it samples troubles the job.
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
    double cost_share;    // of one processor that it may cost; 0: 0.002
    uint32_t threads_max; // followed at a time; 0: 2048
    bool no_gpu;          // do not load NVML
    // Where things are found: "" or NULL is the usual place. For tests, and for containers that
    // see their host's elsewhere.
    const char *proc;   // "/proc"
    const char *cgroup; // "/sys/fs/cgroup"
    const char *nvml;   // "libnvidia-ml.so.1"
};

// Starts to sample the tree of processes below `root` (a child that was forked already; it may not
// have called exec yet) into a new file at `path`, conventionally "machine.stk" in the folder of
// the run. Call it from the parent after fork: it starts a thread, which blocks all signals. An
// error: the file could not be made, or no memory; the job may go on without.
STK_MUST_CHECK enum stoker_status stk_sampler_start(struct stk_sampler **out, pid_t root,
                                                    const struct stk_sampler_options *options,
                                                    const char *path, struct stoker_err *err);
// Ends the thread (at once, after a last look), closes the file and frees the sampler; `totals` may
// be NULL. Call it before the root is reaped (waitid with WNOWAIT tells that it ended), so that its
// last figures are still there; later is fine, too. An error: the file is not whole (disk full);
// what it holds can be read. Takes NULL.
STK_MUST_CHECK enum stoker_status
stk_sampler_stop(struct stk_sampler *s, struct stk_sampler_totals *totals, struct stoker_err *err);
