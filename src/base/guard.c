// SPDX-License-Identifier: Apache-2.0
// A table of guarded ranges that the SIGBUS handler walks: it takes no lock and allocates nothing.
// A slot's range is written before `to`, which makes it valid.
#include "base/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

struct stk_guard {
    uintptr_t from, to; // atomic; to 0: the slot is free
    int is_torn;        // atomic
};

static struct stk_guard guards[STK_GUARDS_MAX];
static int used; // slots up to here were ever in use; atomic
static int hint; // no slot below this one is free; under the lock
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static bool is_installed;
static uintptr_t page;

// Maps a page of zeros where the file has none.
static bool mend(uintptr_t at)
{
    int n = __atomic_load_n(&used, __ATOMIC_ACQUIRE), why = errno;
    for (int i = 0; i < n; i++) {
        uintptr_t to = __atomic_load_n(&guards[i].to, __ATOMIC_ACQUIRE);
        uintptr_t from = __atomic_load_n(&guards[i].from, __ATOMIC_RELAXED);
        if (to && at >= from && at < to) {
            void *where = (void *)(at & ~(page - 1)); // NOLINT: the kernel gives an address
            __atomic_store_n(&guards[i].is_torn, 1, __ATOMIC_RELEASE);
            void *zeros = mmap(where, page, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            errno = why;
            return zeros != MAP_FAILED;
        }
    }
    return false;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    // Sent by another process (si_code <= 0), it isn't a fault and has no address.
    if (info->si_code > 0 && mend((uintptr_t)info->si_addr)) {
        return;
    }
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else {
        // The default: the process ends when the fault repeats, or by the signal itself.
        signal(number, SIG_DFL);
        if (info->si_code <= 0) {
            raise(number);
        }
    }
}

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    is_installed = sigaction(SIGBUS, &action, &before) == 0 &&
                   pthread_atfork(take_lock, give_lock, give_lock) == 0;
}

struct stk_guard *stk_guard_add(const void *memory, size_t size)
{
    struct stk_guard *g = NULL;
    pthread_mutex_lock(&lock);
    if (!is_installed) {
        install();
    }
    int n = __atomic_load_n(&used, __ATOMIC_RELAXED);
    while (hint < n && __atomic_load_n(&guards[hint].to, __ATOMIC_RELAXED)) {
        hint++;
    }
    if (hint < STK_GUARDS_MAX && is_installed && size) {
        g = &guards[hint];
        __atomic_store_n(&g->is_torn, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&g->from, (uintptr_t)memory, __ATOMIC_RELAXED);
        __atomic_store_n(&g->to, (uintptr_t)memory + size, __ATOMIC_RELEASE);
        __atomic_store_n(&used, hint < n ? n : hint + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return g;
}

void stk_guard_drop(struct stk_guard *g)
{
    if (g) {
        pthread_mutex_lock(&lock);
        __atomic_store_n(&g->to, 0, __ATOMIC_RELEASE);
        int at = (int)(g - guards);
        hint = at < hint ? at : hint;
        pthread_mutex_unlock(&lock);
    }
}

bool stk_guard_is_torn(const struct stk_guard *g)
{
    return g && __atomic_load_n(&g->is_torn, __ATOMIC_ACQUIRE);
}
