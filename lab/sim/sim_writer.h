// SPDX-License-Identifier: Apache-2.0
// A writer makes a profile of one rank, in one dialect, from a run's rows: it omits what its
// producer doesn't record, and rounds times in the same way.
#ifndef SIM_WRITER_H
#define SIM_WRITER_H

#include "sim_job.h"
#include "sim_random.h"
#include "sim_row.h"
#include "sim_run.h"

struct sim_writer {
    const char *name, *suffix, *summary;
    enum sim_profiler profiler;
    // Opens a rank's file; exits with a message if it can't be written.
    void *(*open)(const char *path, const struct sim_job *job, uint32_t rank);
    void (*see)(void *writer, const struct sim_row *row); // of this rank
    void (*close)(void *writer);
};

#define X(name) extern const struct sim_writer sim_writer_##name;
#include "sim_writers.def"
#undef X

// By name; NULL: unknown.
const struct sim_writer *sim_writer_find(const char *name);
// The dialect of the job's framework.
const struct sim_writer *sim_writer_of(const struct sim_job *job);

// A rank's process and thread numbers, the same in all dialects.
static inline uint32_t sim_writer_pid(uint32_t rank)
{
    return 4000 + rank;
}

static inline uint32_t sim_writer_tid(uint32_t rank, uint32_t thread)
{
    return sim_writer_pid(rank) + (thread ? 100000 + thread : 0);
}

// How far ahead a rank's host clock is.
static inline int64_t sim_writer_clock_ns(const struct sim_job *job, uint32_t rank)
{
    uint64_t host = rank / (uint32_t)job->ranks_per_host;
    double unit = sim_unit(sim_key((uint64_t)job->seed, host, UINT64_C(0xc10c)));
    return (int64_t)((2 * unit - 1) * job->clock_ms * 1e6);
}

static const uint32_t sim_writer_streams[] = {7, 20, 24}; // compute, input, collectives

#endif
