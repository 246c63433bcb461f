// SPDX-License-Identifier: Apache-2.0
// The library's one thread. Between windows it sleeps until it is woken; in a window it wakes every
// half second to have the profiler's buffers flushed, decodes them and takes a bearing of the
// clocks; after a window it wakes a few more times for records of work that was still running. It
// measures its own processor time inside and outside windows, and reports it in the slot.
//
// Requests come from the parent through the process's slot (order), or from hooks in the same
// process (wanted), which wait until it is done.
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "job/capture/inject/inject.h"

#define TURN_NS UINT64_C(500000000)
enum { LOOKS_AFTER = 4 };
#define ASK_NS UINT64_C(5000000000)  // the longest that a hook waits for a window
#define EXIT_NS UINT64_C(3000000000) // ... that an ending process waits for the last records

static struct {
    atomic_int is_started;
    atomic_uint done;  // a futex: incremented after each request
    atomic_int wanted; // by hooks: 1 open, 0 closed
    atomic_int ends;   // 1: end, 2: end without a flush
    atomic_bool has_ended;
    int after;                  // wakes left after a window
    uint64_t cpu_ns, moment_ns; // at the last update of the slot's sums
} service;

static void futex_wait(uint32_t *word, uint32_t seen, uint64_t ns)
{
    struct timespec t = stk_clock_moment(ns);
    syscall(SYS_futex, word, FUTEX_WAIT, seen, ns ? &t : NULL, NULL, 0);
}

static uint64_t cpu_ns(void)
{
    return stk_clock_of(CLOCK_THREAD_CPUTIME_ID);
}

// Adds the time since the last call to the sums inside or outside windows. Time in hooks counts
// inside: outside windows they only check whether one is open.
static void account(bool was_open)
{
    struct stk_control_slot *s = stk_inject.slot;
    uint64_t now_ns = stk_clock_ns(), cpu = cpu_ns();
    uint64_t own = cpu - service.cpu_ns;
    uint64_t hooks = atomic_exchange(&stk_inject.hook_ns, 0);
    if (was_open) {
        s->own_inside_ns += own + hooks;
        s->inside_ns += now_ns - service.moment_ns;
    } else {
        s->own_outside_ns += own + hooks;
        s->outside_ns += now_ns - service.moment_ns;
    }
    service.cpu_ns = cpu;
    service.moment_ns = now_ns;
}

static void open_window(void)
{
    struct stk_control_slot *s = stk_inject.slot;
    if (stk_window_open()) {
        s->windows++;
        atomic_fetch_add(&stk_inject.window, 1);
        atomic_store(&stk_inject.is_open, true);
        stk_slot_set(&s->state, STK_CAPTURE_OPEN);
    }
}

static void close_window(enum stk_window_end how)
{
    atomic_store(&stk_inject.is_open, false);
    service.after = LOOKS_AFTER;
    stk_window_close(how);
    struct stk_control_slot *s = stk_inject.slot;
    if (__atomic_load_n(&s->state, __ATOMIC_RELAXED) == STK_CAPTURE_OPEN) {
        stk_slot_set(&s->state, STK_CAPTURE_CLOSED);
    }
}

static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

void stk_service_open_now(void)
{
    sigset_t before;
    if (atomic_load(&service.is_started)) {
        return;
    }
    block_signals(&before);
    stk_slot_set(&stk_inject.slot->order, 1);
    service.moment_ns = stk_clock_ns();
    service.cpu_ns = cpu_ns();
    open_window();
    account(true);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool wants_window(const struct stk_control_slot *s)
{
    return __atomic_load_n(&s->is_led, __ATOMIC_ACQUIRE)
               ? atomic_load(&service.wanted) != 0
               : __atomic_load_n(&s->order, __ATOMIC_ACQUIRE) != 0;
}

static void end(int how)
{
    STK_ASSERT(how == 1 || how == 2);
    bool was_open = atomic_load(&stk_inject.is_open);
    if (was_open) {
        close_window(how == 1 ? STK_WINDOW_AT_EXIT : STK_WINDOW_ABANDON);
    } else if (how == 1 && (service.after || stk_window_has_waiting())) {
        stk_window_turn();
    }
    account(was_open);
    stk_file_end(true);
    atomic_store(&service.has_ended, true);
}

// A refused window isn't tried again until it is requested again.
static void turn(bool *refused)
{
    struct stk_control_slot *s = stk_inject.slot;
    bool wants = wants_window(s), was_open = atomic_load(&stk_inject.is_open);
    *refused = *refused && wants;
    account(was_open);
    if (was_open &&
        (!wants || s->state != STK_CAPTURE_OPEN)) { // just closed, or the record is full
        close_window(STK_WINDOW_IN_TIME);
        *refused = wants;
        account(true);
    } else if (was_open) {
        stk_window_turn();
        account(true);
    } else if (wants && !*refused) {
        open_window();
        *refused = !atomic_load(&stk_inject.is_open);
        account(!*refused);
    } else if (service.after) {
        service.after--;
        stk_window_turn();
        account(false);
    } else if (stk_window_has_waiting()) {
        stk_window_drain();
        account(false);
    }
}

static void *serve(void *arg)
{
    struct stk_control_slot *s = arg;
    bool refused = s->state == STK_CAPTURE_REFUSED;
    stk_inject_inside = 1;
    service.cpu_ns = cpu_ns();
    service.moment_ns = stk_clock_ns();
    for (;;) {
        uint32_t seen = __atomic_load_n(&s->wake, __ATOMIC_ACQUIRE);
        int how = atomic_load(&service.ends);
        if (how) {
            end(how);
            stk_inject_wake((uint32_t *)&service.done);
            return NULL;
        }
        turn(&refused);
        stk_inject_wake((uint32_t *)&service.done);
        bool looks = atomic_load(&stk_inject.is_open) || service.after;
        futex_wait(&s->wake, seen, looks ? TURN_NS : 0);
    }
}

bool stk_service_start(void)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&service.is_started, &none, 1)) {
        return true;
    }
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t before;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 1 << 20);
    block_signals(&before);
    int error = pthread_create(&thread, &attr, serve, stk_inject.slot);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (error) {
        stk_inject_refuse(STK_CAPTURE_REFUSED, "no thread could be started in the process");
        atomic_store(&service.is_started, 0);
    }
    return error == 0;
}

// Waits until the condition holds or the time has passed.
static bool wait_done(uint64_t most_ns, bool (*holds)(void))
{
    uint64_t end_ns = stk_clock_ns() + most_ns;
    for (;;) {
        uint32_t seen = atomic_load(&service.done);
        uint64_t now_ns = stk_clock_ns();
        if (holds() || now_ns >= end_ns) {
            return holds();
        }
        futex_wait((uint32_t *)&service.done, seen, end_ns - now_ns);
    }
}

static bool is_open(void)
{
    uint32_t state = __atomic_load_n(&stk_inject.slot->state, __ATOMIC_ACQUIRE);
    return atomic_load(&stk_inject.is_open) || state == STK_CAPTURE_REFUSED;
}

static bool is_closed(void)
{
    return !atomic_load(&stk_inject.is_open) &&
           __atomic_load_n(&stk_inject.slot->state, __ATOMIC_ACQUIRE) != STK_CAPTURE_OPEN;
}

static bool has_ended(void)
{
    return atomic_load(&service.has_ended);
}

bool stk_service_ask(bool open)
{
    if (open && stk_inject.slot->state == STK_CAPTURE_REFUSED) {
        stk_slot_set(&stk_inject.slot->state, STK_CAPTURE_LOADED);
    }
    atomic_store(&service.wanted, open);
    stk_inject_wake(&stk_inject.slot->wake);
    wait_done(ASK_NS, open ? is_open : is_closed);
    return atomic_load(&stk_inject.is_open) == open;
}

void stk_service_end(bool may_flush)
{
    atomic_store(&service.ends, may_flush ? 1 : 2);
    if (atomic_load(&service.is_started)) {
        stk_inject_wake(&stk_inject.slot->wake);
        wait_done(may_flush ? EXIT_NS : EXIT_NS / 10, has_ended);
    }
    atomic_store(&stk_inject.is_dead, true);
}

void stk_service_forget(void)
{
    atomic_store(&service.is_started, 0);
    service.after = 0;
    atomic_store(&service.wanted, 0);
    atomic_store(&service.ends, 0);
    atomic_store(&service.has_ended, false);
}
