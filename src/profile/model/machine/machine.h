// SPDX-License-Identifier: Apache-2.0
// What a run's sampler recorded of the job and its machine (machine.stk, wire/samples.def). Such a
// record isn't a rank of the run: it goes with the profile of the same time, like the records of a
// loader's workers.
//
// stk_machine_see keeps all samples. stk_machine_look computes figures over a
// range of time: the profile's, once it is known.
#pragma once

#include <math.h>

#include "base/arena.h"
#include "profile/store/trace.h"
#include "wire/samples.h"

struct stk_machine_series {
    enum stk_sampled sample;
    const struct stk_sample_info *info; // of the sample
    int64_t process;                    // of a thread or process
    int64_t number;   // thread (0: the process as a whole), disk, GPU; see wire/samples.h
    const char *name; // of the thread, disk or GPU; "" of the machine and the job
    uint32_t first, count;
};

struct stk_machine {
    int64_t first_ns, last_ns; // of its samples, in the time of the day
    struct stk_machine_series *series;
    uint32_t series_count, sample_count;
    int64_t *time_ns;                               // of each sample, in the time of the day
    double *value;                                  // whole, or as a float has it
    const struct stk_machine_series *looks, *scans; // may be NULL
};

// Below 2^52 each whole number is a double.
static inline bool stk_machine_is_whole(double value)
{
    return value > -0x1p52 && value < 0x1p52 && (double)(int64_t)value == value &&
           !(value == 0 && signbit(value));
}

// Is this such a record?
bool stk_machine_is_record(const struct stk_trace *t);
// NULL: no memory.
struct stk_machine *stk_machine_see(const struct stk_trace *t, struct stk_arena *arena);

// Figures of a counter over a range: the mean over time, the largest and the last value. `samples`
// 0: nothing was written. That means 0 for counters written at each look or scan, else unknown.
struct stk_machine_figure {
    double mean, most, last;
    uint32_t samples;
};
struct stk_machine_process {
    int64_t pid, parent; // parent -1: not known
    const char *name;
    double cpu, queue; // CPU cores that its threads ran on, and waited for
    double busiest;    // of its threads' `cpu`
    const char *busiest_name;
    uint32_t threads, active;  // seen in the range; those that took a hundredth of a core
    double read, write, major; // per second
    double resident;           // bytes, the most
};
struct stk_machine_view {
    const struct stk_machine *machine;
    int64_t from_ns, to_ns; // time of the day
    bool is_of_profile;     // else it is of the whole run
    uint32_t looks;
    struct stk_machine_figure *figures;    // of each series
    struct stk_machine_process *processes; // by cpu and queue, most first
    uint32_t process_count;
    uint32_t left_out; // other records of this kind, of other hosts or times
};

// from_ns to to_ns is clipped to the record. If fewer than two samples are in it, the whole record
// is used. NULL: no memory.
struct stk_machine_view *stk_machine_look(const struct stk_machine *m, int64_t from_ns,
                                          int64_t to_ns, struct stk_arena *arena);
// The figure of a counter of the machine or the job; NULL: it was not recorded.
const struct stk_machine_figure *stk_machine_figure_of(const struct stk_machine_view *v,
                                                       enum stk_sampled sample);
// The same of a disk or GPU: `number` as in the series.
const struct stk_machine_figure *stk_machine_figure_at(const struct stk_machine_view *v,
                                                       enum stk_sampled sample, int64_t number);
// Mean, 0 where nothing was recorded.
double stk_machine_mean(const struct stk_machine_view *v, enum stk_sampled sample);
// Share of its time that the job would save at most if its runnable threads found its cores free;
// 0 where nothing was recorded.
double stk_machine_crowded_share(const struct stk_machine_view *v);
// Share of the looks in the range at which any bit of `mask` of a GPU (or the job) was set.
double stk_machine_share_of_bits(const struct stk_machine_view *v,
                                 const struct stk_machine_series *s, uint64_t mask);
