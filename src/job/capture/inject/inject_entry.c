// SPDX-License-Identifier: Apache-2.0
// The functions that CUDA's driver, NVTX and the Python hooks call, and the handlers of fork and
// exit. Whichever call comes first takes the process's slot.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/capture/inject/inject.h"

STK_EXPORT int InitializeInjection(void);
STK_EXPORT int stoker_capture_window(int open);
STK_EXPORT void stoker_capture_step(uint64_t number, uint64_t start_ns, uint64_t end_ns);
STK_EXPORT void stoker_capture_fetch(const char *iterator, uint64_t start_ns, uint64_t end_ns);
STK_EXPORT void stoker_capture_framework(const char *name);
STK_EXPORT const char *stoker_capture_why(void);

static atomic_int started; // 0 no, 1 in progress, 2 yes, 3 nothing to record
static bool has_handlers;

// The child has neither the service's thread nor CUDA. If it initializes CUDA itself, it is a
// process like any other.
static void in_child(void)
{
    atomic_store(&stk_inject.is_open, false);
    atomic_store(&stk_inject.is_dead, true);
    stk_inject.slot = NULL;
    stk_threads_forget();
    stk_window_forget();
    stk_service_forget();
    stk_file_forget();
    atomic_store(&started, 0);
}

static void at_exit(void)
{
    if (stk_inject.slot && !atomic_load(&stk_inject.is_dead)) {
        // Inside a hook, the profiler may hold a lock that a flush needs.
        stk_service_end(stk_inject_inside == 0);
    }
}

static struct stk_control *map_control(void)
{
    const char *path = getenv(STK_CONTROL_VARIABLE);
    int fd = path && *path == '/' ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) {
        return NULL;
    }
    struct stk_control *c = NULL;
    if (lseek(fd, 0, SEEK_END) >= (off_t)sizeof *c) {
        void *at = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        c = at == MAP_FAILED ? NULL : at;
    }
    close(fd);
    if (c && (memcmp(c->magic, STK_CONTROL_MAGIC, sizeof c->magic) != 0 ||
              c->version != STK_CONTROL_VERSION || c->bytes != sizeof *c)) {
        munmap(c, sizeof *c);
        c = NULL;
    }
    return c;
}

static bool take_slot(struct stk_control *c)
{
    uint32_t n = __atomic_fetch_add(&c->claimed, 1, __ATOMIC_RELAXED);
    if (n >= STK_CONTROL_SLOTS) {
        return false;
    }
    stk_inject.slot = &c->slots[n];
    stk_slot_set(&stk_inject.slot->state, STK_CAPTURE_LOADED);
    stk_slot_set64(&stk_inject.slot->pid, (uint64_t)getpid());
    return true;
}

static bool start(void)
{
    struct stk_control *c = stk_inject.control ? stk_inject.control : map_control();
    if (!c) {
        return false;
    }
    stk_inject.control = c;
    stk_inject.loaded_ns = stk_clock_ns();
    if (!take_slot(c)) {
        return false;
    }
    atomic_store(&stk_inject.is_dead, false);
    if (!has_handlers) {
        has_handlers = true;
        pthread_atfork(NULL, NULL, in_child);
        atexit(at_exit);
    }
    return true;
}

bool stk_inject_start(void)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&started, &none, 1)) {
        int error = errno;
        atomic_store(&started, start() ? 2 : 3);
        errno = error;
    }
    return atomic_load(&started) == 2;
}

// CUDA's driver calls this once during its initialization, before any context exists: the only
// moment from which everything can be recorded.
int InitializeInjection(void)
{
    int error = errno;
    stk_inject_inside++;
    if (stk_inject_start()) {
        if (stk_inject.control->at_start) {
            stk_service_open_now();
        }
        stk_service_start();
    }
    stk_inject_inside--;
    errno = error;
    return 1;
}

// ---- for the Python hooks, in the thread that makes the steps ----

// Opens (1) or closes (0) a window of this process, which from now on ignores the parent's clock.
// Returns 0 on success.
int stoker_capture_window(int open)
{
    if (!stk_inject_start() || !stk_service_start()) {
        return -1;
    }
    stk_slot_set(&stk_inject.slot->is_led, 1);
    return stk_service_ask(open != 0) ? 0 : -1;
}

const char *stoker_capture_why(void)
{
    return stk_inject.slot && stk_inject.slot->why[0] ? stk_inject.slot->why
                                                      : "the capture library is not in use";
}

void stoker_capture_step(uint64_t number, uint64_t start_ns, uint64_t end_ns)
{
    struct stk_inject_thread *t;
    if (atomic_load(&stk_inject.is_open) && !stk_inject_inside && (t = stk_threads_mine())) {
        stk_threads_step(t, number, start_ns, end_ns);
    }
}

// Records a fetch of a batch from an iterator, with the name that the framework's profiler gives
// it.
void stoker_capture_fetch(const char *iterator, uint64_t start_ns, uint64_t end_ns)
{
    struct stk_inject_thread *t;
    if (atomic_load(&stk_inject.is_open) && !stk_inject_inside && (t = stk_threads_mine())) {
        stk_threads_event(t, iterator, strlen(iterator), STK_WIRE_INPUT, start_ns, end_ns);
    }
}

void stoker_capture_framework(const char *name)
{
    struct stk_inject_thread *t;
    if (atomic_load(&stk_inject.is_open) && !stk_inject_inside && (t = stk_threads_mine())) {
        stk_threads_fact(t, STK_WIRE_FRAMEWORK, name);
    }
}
