// SPDX-License-Identifier: Apache-2.0
// Seeds from the system's generator, or from the clock and process if that has none yet.
#include "base/seed.h"

#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#else
#include <sys/random.h>
#endif

#include "base/assert.h"
#include "base/clock.h"

// On Linux by system call: the C library of the oldest supported systems (glibc 2.17) has no
// function for it.
bool stk_random_fill(void *bytes, size_t n, bool may_wait)
{
    STK_ASSERT(n <= 256); // never returned in part
#ifdef __linux__
    enum { NO_WAIT = 1 }; // GRND_NONBLOCK of that library's newer headers
    return syscall(SYS_getrandom, bytes, n, may_wait ? 0 : NO_WAIT) == (long)n;
#else
    (void)may_wait; // it never waits
    return getentropy(bytes, n) == 0;
#endif
}

uint64_t stk_seed_draw(void)
{
    uint64_t seed;
    if (stk_random_fill(&seed, sizeof seed, false)) {
        return seed;
    }
    // Early boot, or a kernel without it. Multiplied, so that all bits depend on the clock.
    seed = (stk_clock_of(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40) * 0x9e3779b97f4a7c15u;
    return seed ^ seed >> 32;
}
