// SPDX-License-Identifier: Apache-2.0
// From the system's generator; of the clock and the process where that has nothing yet.
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

// On Linux the system call itself: the C library of the oldest supported systems (glibc 2.17) has
// no function for it.
bool stk_random_fill(void *bytes, size_t n, bool may_wait)
{
    STK_ASSERT(n <= 256); // which are never given in part
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
    // A young machine, or a kernel without. Multiplied, so that all bits follow the clock.
    seed = (stk_clock_of(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40) * 0x9e3779b97f4a7c15u;
    return seed ^ seed >> 32;
}
