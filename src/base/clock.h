// SPDX-License-Identifier: Apache-2.0
// Clocks in nanoseconds. CLOCK_MONOTONIC for durations, CLOCK_THREAD_CPUTIME_ID and
// CLOCK_PROCESS_CPUTIME_ID for CPU time, CLOCK_REALTIME only to relate a run to the calendar.
#pragma once

#include <stdint.h>
#include <time.h>

// 0 if the system lacks the clock.
static inline uint64_t stk_clock_of(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec
                                         : 0;
}

// Monotonic: the clock of all of stoker's own times.
static inline uint64_t stk_clock_ns(void)
{
    uint64_t now = 0;
    // Retry a failed call: a time of 0 would look like hours of waiting.
    for (int i = 0; !now && i < 3; i++) {
        now = stk_clock_of(CLOCK_MONOTONIC);
    }
    return now;
}

// For tests and benchmarks.
static inline double stk_clock_seconds(clockid_t clock)
{
    return (double)stk_clock_of(clock) * 1e-9;
}

// A time in the form that timed waits take.
static inline struct timespec stk_clock_moment(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}
