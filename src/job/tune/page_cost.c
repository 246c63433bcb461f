// SPDX-License-Identifier: Apache-2.0
// Allocates, touches and frees pages; see page_cost.h.
#include "job/tune/page_cost.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"

enum { PAGES = 256, TRIES = 5 };

// Nanoseconds for all of them; 0: no memory.
static uint64_t try_once(size_t page)
{
    STK_ASSERT(page > 0);
    uint64_t start_ns = stk_clock_ns();
    char *block =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        return 0;
    }
    madvise(block, PAGES * page, MADV_NOHUGEPAGE); // a large page has another cost
    for (size_t i = 0; i < PAGES; i++) {
        ((volatile char *)block)[i * page] = 1;
    }
    munmap(block, PAGES * page);
    return stk_clock_ns() - start_ns;
}

double stk_page_cost_s(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t least_ns = 0;
    for (int i = 0; i < TRIES; i++) {
        uint64_t ns = try_once(page);
        least_ns = ns && (!least_ns || ns < least_ns) ? ns : least_ns;
    }
    return (double)least_ns * 1e-9 / PAGES;
}
