// SPDX-License-Identifier: Apache-2.0
// From the system's generator; of the clock and the process where that has nothing yet.
#include "base/seed.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

uint64_t stk_seed_draw(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) {
        return seed;
    }
    // A young machine, or a kernel without. Multiplied, so that all bits follow the clock.
    seed = (stk_clock_of(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40) * 0x9e3779b97f4a7c15u;
    return seed ^ seed >> 32;
}
