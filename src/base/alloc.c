// SPDX-License-Identifier: Apache-2.0
// Checked allocation with a counter and fault injection. While injection is off it costs one
// relaxed load per call.
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#define LARGE_PAGE ((size_t)2 << 20) // on x86-64, and on aarch64 with small pages of 4 KB
#define SLOW_PAGE_NS 1000000

static _Atomic uint64_t allocations;
static _Atomic uint64_t fail_at; // the value of `allocations` at which one fails; 0: off
static atomic_bool fail_sticky;
static _Atomic uint64_t last_refused; // bytes of the last failed request; 0: none
static _Atomic uint64_t refusals;     // requests that the system refused
#define REFUSED_BY_CAP UINT64_MAX

// Counts one allocation; true if it must fail.
static bool count_one(void)
{
    uint64_t number = atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed) + 1;
    uint64_t at = atomic_load_explicit(&fail_at, memory_order_relaxed);
    if (__builtin_expect(at == 0, 1)) {
        return false;
    }
    return number == at ||
           (number > at && atomic_load_explicit(&fail_sticky, memory_order_relaxed));
}

// Records a result of the system for a request of that size.
static inline void *given(void *p, size_t size)
{
    if (__builtin_expect(!p, 0)) {
        uint64_t asked = size == 0 ? 1 : size < PTRDIFF_MAX ? size : PTRDIFF_MAX;
        atomic_store_explicit(&last_refused, asked, memory_order_relaxed);
        atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
    }
    return p;
}

void *stk_alloc_refuse(void)
{
    atomic_store_explicit(&last_refused, REFUSED_BY_CAP, memory_order_relaxed);
    return NULL;
}

// Pages of the process's address space, and of its memory; 0 if the system doesn't report them.
static void count_pages(uint64_t *held, uint64_t *resident)
{
    unsigned long long of_space = 0, of_memory = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%llu %llu", &of_space, &of_memory) != 2) {
        of_space = of_memory = 0;
    }
    if (f) {
        fclose(f);
    }
    *held = of_space;
    *resident = of_memory;
}

static bool is_beyond(int resource, uint64_t bytes)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           bytes > limit.rlim_cur;
}

enum stk_alloc_lack stk_alloc_lack(void)
{
    uint64_t asked = atomic_load_explicit(&last_refused, memory_order_relaxed), held, resident;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    long available = sysconf(_SC_AVPHYS_PAGES);
    if (asked == REFUSED_BY_CAP) {
        return STK_LACK_CAP;
    }
    uint64_t page = size > 0 ? (uint64_t)size : 4096;
    count_pages(&held, &resident);
    uint64_t most = asked + held * page;
    // malloc asks the system for more than requested, and some was freed since. If the machine has
    // as much left, a limit on the process was the reason.
    if (available > 0 && pages > 0 && asked < (uint64_t)available * page &&
        most < (uint64_t)pages * page) {
        most = (uint64_t)pages * page;
    }
    if (is_beyond(RLIMIT_AS, most) || is_beyond(RLIMIT_DATA, most)) {
        return STK_LACK_LIMIT;
    }
    if (asked == 0) {
        return STK_LACK_UNKNOWN;
    }
    bool too_small = pages > 0 && asked + resident * page > (uint64_t)pages * page;
    return too_small ? STK_LACK_MACHINE : STK_LACK_MEMORY;
}

// For objects beyond PTRDIFF_MAX, pointer differences are undefined.
static bool size_of_array(size_t count, size_t size, size_t *out)
{
    if (__builtin_mul_overflow(count, size, out)) {
        *out = SIZE_MAX;
    }
    return *out <= PTRDIFF_MAX;
}

void *stk_alloc(size_t size)
{
    if (count_one() || size > PTRDIFF_MAX) {
        return given(NULL, size);
    }
    return given(malloc(size ? size : 1), size);
}

void *stk_alloc_zero(size_t count, size_t size)
{
    size_t total = 0;
    if (count_one() || !size_of_array(count, size, &total)) {
        return given(NULL, total);
    }
    return given(calloc(total ? total : 1, 1), total);
}

void *stk_alloc_array(size_t count, size_t size)
{
    size_t total = 0;
    if (count_one() || !size_of_array(count, size, &total)) {
        return given(NULL, total);
    }
    return given(malloc(total ? total : 1), total);
}

#if defined(__linux__) && defined(MADV_HUGEPAGE)
static atomic_bool large_pages_slow;

// A large page costs a fifth of the small ones it replaces, about 0.2 ms, and saves later address
// look-ups. Not so in a virtual machine whose host has yet to provide the memory: small pages were
// mostly used before, but large ones take 4 ms and more. One such slow page turns them off from
// then on. Only whole pages are requested: the rest of the block would take unused memory.
static void ask_for_large_pages(void *p, size_t size)
{
    if (atomic_load_explicit(&large_pages_slow, memory_order_relaxed)) {
        return;
    }
    size_t whole = size & ~(LARGE_PAGE - 1);
    uint64_t before = stk_clock_of(CLOCK_THREAD_CPUTIME_ID);
    if (madvise(p, whole, MADV_HUGEPAGE)) {
        return;
    }
    *(volatile char *)p = 0;
    if (stk_clock_of(CLOCK_THREAD_CPUTIME_ID) - before < SLOW_PAGE_NS) {
        return;
    }
    atomic_store_explicit(&large_pages_slow, true, memory_order_relaxed);
    (void)madvise(p, whole, MADV_NOHUGEPAGE);
}
#endif

void *stk_alloc_large(size_t count, size_t size)
{
    size_t total = 0;
    if (count_one() || !size_of_array(count, size, &total)) {
        return given(NULL, total);
    }
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (total >= LARGE_PAGE && total <= SIZE_MAX - LARGE_PAGE) {
        void *p = NULL;
        if (posix_memalign(&p, LARGE_PAGE, total)) {
            return given(NULL, total);
        }
        ask_for_large_pages(p, total);
        return p;
    }
#endif
    return given(malloc(total ? total : 1), total);
}

void *stk_realloc_array(void *p, size_t count, size_t size)
{
    size_t total = 0;
    if (count_one() || !size_of_array(count, size, &total)) {
        return given(NULL, total);
    }
    return given(realloc(p, total ? total : 1), total);
}

void stk_free(void *p)
{
    free(p);
}

void stk_alloc_fail_at(uint64_t n, int sticky)
{
    atomic_store(&fail_sticky, sticky != 0);
    atomic_store(&fail_at, n ? atomic_load(&allocations) + n : 0);
}

uint64_t stk_alloc_refusals(void)
{
    return atomic_load_explicit(&refusals, memory_order_relaxed);
}

uint64_t stk_alloc_count(void)
{
    return atomic_load(&allocations);
}
