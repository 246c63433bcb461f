// SPDX-License-Identifier: Apache-2.0
// A window: subscribes to CUPTI, switches kinds of records on, flushes and decodes buffers, and at
// the end undoes all of it. Runs in the service's thread (or, for a window from the start, in the
// one that initializes CUDA).
//
// Between windows nothing is switched on and nobody is subscribed, so the program can use a
// profiler of its own. CUPTI is not shut down (cuptiFinalize): with CUDA graphs that crashes before
// CUDA 12.6, and it is only allowed inside a call of the program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/capture/inject/cupti.h"
#include "job/capture/inject/inject.h"

#define DRAIN_NS UINT64_C(1000000000) // to wait for the last records
#define DRAIN_STEP_NS 5000000
enum { FORCED = 1, SLABS_OF_BUFFER = 32, DEVICE_BUFFERS = 20, TOLD = 4 };

static const uint32_t kinds[] = {STK_CUPTI_KERNEL, STK_CUPTI_MEMCPY,   STK_CUPTI_MEMCPY2,
                                 STK_CUPTI_MEMSET, STK_CUPTI_OVERHEAD, STK_CUPTI_SYNC};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static struct {
    void *subscriber;
    uint64_t start_ns;
    uint64_t records, dropped; // before this window
    uint64_t own_ns;
    uint64_t told[TOLD]; // losses that were reported
    bool has_facts;
} window;

// ---- losses ----

static void tell(int which, uint64_t sum, enum stk_wire_loss_kind kind, const char *what)
{
    if (sum > window.told[which]) {
        struct stk_wire_loss loss = {.count = sum - window.told[which], .kind = kind};
        loss.what = stk_names_text(what);
        void *room = stk_wire_slab_put(&stk_inject.writer, STK_WIRE_LOSSES, sizeof loss, 0, 0);
        if (room) {
            memcpy(room, &loss, sizeof loss);
            window.told[which] = sum;
        }
    }
}

static uint64_t dropped_now(void)
{
    return stk_cupti_sums.profiler_dropped + stk_cupti_sums.without_time + stk_cupti_sums.unknown +
           stk_cupti_buffers_lost() + atomic_load(&stk_inject.slabs.lost);
}

static void tell_losses(void)
{
    struct stk_control_slot *s = stk_inject.slot;
    tell(0, stk_cupti_sums.profiler_dropped + stk_cupti_buffers_lost(), STK_WIRE_DROPPED,
         "CUPTI ran out of buffers: record fewer steps");
    tell(1, stk_cupti_sums.without_time + stk_cupti_sums.unknown, STK_WIRE_DROPPED,
         "CUPTI records have no time, or an unknown kind");
    tell(2, atomic_load(&stk_inject.slabs.lost), STK_WIRE_DROPPED,
         "the record ran out of space: its limit was reached, or the disk is full");
    stk_slot_set64(&s->records, stk_cupti_sums.records);
    stk_slot_set64(&s->dropped, dropped_now());
    stk_slot_set64(&s->left_out, stk_cupti_sums.left_out);
    stk_slot_set64(&s->profiler_ns, stk_cupti_sums.overhead_ns);
    stk_wire_slab_commit(&stk_inject.writer);
}

// ---- buffers ----

static int source(uint64_t *ns)
{
    return stk_cupti.timestamp(ns);
}

void stk_window_drain(void)
{
    struct stk_cupti_buffer *next;
    stk_clocks_look(source);
    for (struct stk_cupti_buffer *b = stk_cupti_buffers_waiting(); b; b = next) {
        next = stk_cupti_buffers_next(b);
        if (stk_file_reserve(SLABS_OF_BUFFER)) {
            stk_cupti_decode(b);
        }
        stk_cupti_buffers_give(b);
    }
    tell_losses();
}

bool stk_window_has_waiting(void)
{
    return stk_cupti_buffers_have_waiting();
}

void stk_window_turn(void)
{
    stk_cupti.flush(0);
    stk_window_drain();
    window.has_facts = window.has_facts || stk_device_facts_write();
    stk_file_reserve(0);
}

// Records arrive when their work is done, so those of running kernels come a little later.
static void flush_all(void)
{
    uint64_t end_ns = stk_clock_ns() + DRAIN_NS;
    const struct timespec step = stk_clock_moment(DRAIN_STEP_NS);
    stk_cupti.flush(0);
    while (stk_cupti_buffers_out() && stk_clock_ns() < end_ns) {
        stk_window_drain();
        nanosleep(&step, NULL);
        stk_cupti.flush(0);
    }
}

// ---- open and close ----

// The kind "calls" is on, and unwanted calls are switched off one by one. The other way doesn't
// work: a call that is switched on while its kind is off records nothing in an existing context,
// and switching the kind on forgets earlier choices (seen with CUPTI 13.0).
static void leave_out_calls(void)
{
    for (uint32_t cbid = 1; cbid < STK_CUPTI_CALLS_MAX; cbid++) {
        if (stk_cupti_call_is_unwanted(STK_CUPTI_DOMAIN_RUNTIME, cbid)) {
            stk_cupti.runtime_call(cbid, false);
        }
        if (stk_cupti_call_is_unwanted(STK_CUPTI_DOMAIN_DRIVER, cbid)) {
            stk_cupti.driver_call(cbid, false);
        }
    }
}

// Whether this CUPTI can switch off single calls, which then cost nothing.
static bool has_single_calls(void)
{
    return stk_cupti.runtime_call && stk_cupti.driver_call;
}

static void switch_off(void)
{
    for (int i = 0; i < KINDS; i++) {
        stk_cupti.disable(kinds[i]);
    }
    stk_cupti.disable(STK_CUPTI_RUNTIME);
    stk_cupti.disable(STK_CUPTI_DRIVER);
}

// Only the kinds for kernels and for runtime calls must work.
static int switch_on(void)
{
    int result = stk_cupti.enable(STK_CUPTI_RUNTIME);
    (void)stk_cupti.enable(STK_CUPTI_DRIVER);
    if (has_single_calls()) {
        leave_out_calls();
    }
    for (int i = 0; i < KINDS && result == STK_CUPTI_OK; i++) {
        int code = stk_cupti.size[kinds[i]] ? stk_cupti.enable(kinds[i]) : STK_CUPTI_OK;
        result = kinds[i] == STK_CUPTI_KERNEL ? code : result;
    }
    return result;
}

static bool refuse(int code)
{
    char why[200];
    if (code == STK_CUPTI_OTHER_SUBSCRIBER) {
        snprintf(why, sizeof why,
                 "another profiler is using CUPTI (the program's own, nsys or ncu)");
    } else if (code == STK_CUPTI_NOT_INITIALIZED) {
        snprintf(why, sizeof why,
                 "CUPTI version %u doesn't start: it is newer than the driver, or there is no GPU",
                 stk_cupti.api_version);
    } else if (code == STK_CUPTI_INSUFFICIENT_PRIVILEGES) {
        snprintf(why, sizeof why, "the driver doesn't allow profiling (insufficient privileges)");
    } else {
        snprintf(why, sizeof why, "CUPTI version %u doesn't start (error %d)",
                 stk_cupti.api_version, code);
    }
    stk_inject_refuse(STK_CAPTURE_REFUSED, why);
    return false;
}

static void callback(void *arg, int domain, uint32_t id, const void *data)
{
    (void)arg;
    (void)domain;
    (void)id;
    (void)data;
}

// Several processes share a GPU through a server: tracing kernels may hang older GPUs.
static bool is_mps(void)
{
    return getenv("CUDA_MPS_PIPE_DIRECTORY") || access("/tmp/nvidia-mps/control", F_OK) == 0;
}

static bool prepare(void)
{
    char why[240] = "";
    if (is_mps()) {
        stk_inject_refuse(STK_CAPTURE_REFUSED, "under MPS, tracing kernels can hang the job");
        return false;
    }
    if (!stk_cupti_load(why, sizeof why)) {
        stk_inject_refuse(STK_CAPTURE_REFUSED, why);
        return false;
    }
    struct stk_control_slot *s = stk_inject.slot;
    stk_slot_set(&s->cupti_version, stk_cupti.api_version);
    if (!stk_cupti_buffers_open()) {
        stk_inject_refuse(STK_CAPTURE_REFUSED, "out of memory for the profiler's buffers");
        return false;
    }
    return true;
}

static bool give_up(int code)
{
    switch_off();
    stk_cupti.unsubscribe(window.subscriber);
    return code == STK_CUPTI_OK ? false : refuse(code);
}

bool stk_window_open(void)
{
    void *function = NULL;
    void (*call)(void *, int, uint32_t, const void *) = callback;
    uint64_t now = 0;
    if (!prepare()) {
        return false;
    }
    memcpy(&function, &call, sizeof function);
    int code = stk_cupti.subscribe(&window.subscriber, function, NULL);
    if (code != STK_CUPTI_OK) {
        return refuse(code);
    }
    if (!stk_file_open() || !stk_file_reserve(SLABS_OF_BUFFER)) { // which set why
        return give_up(STK_CUPTI_OK);
    }
    size_t limit = DEVICE_BUFFERS, size = sizeof limit;
    if (stk_cupti.thread_ids) {
        stk_cupti.thread_ids(STK_CUPTI_THREAD_OF_SYSTEM);
    }
    if (stk_cupti.attribute) { // limits its device memory; must come before a context
        stk_cupti.attribute(STK_CUPTI_POOL_LIMIT, &size, &limit);
    }
    stk_clocks_look(source);
    window.start_ns = stk_clock_ns();
    stk_cupti_window_begins(source(&now) == STK_CUPTI_OK ? now : 0);
    code = stk_cupti.callbacks(stk_cupti_request_buffer, stk_cupti_take_buffer);
    code = code == STK_CUPTI_OK ? switch_on() : code;
    if (code != STK_CUPTI_OK) {
        return give_up(code);
    }
    window.records = stk_cupti_sums.records;
    window.dropped = dropped_now();
    window.own_ns = stk_inject.slot->own_inside_ns;
    return true;
}

static void put_window(void)
{
    struct stk_wire_window w = {.start_ns = window.start_ns,
                                .dur_ns = stk_clock_ns() - window.start_ns,
                                .number = atomic_load(&stk_inject.window),
                                .records = stk_cupti_sums.records - window.records,
                                .dropped = dropped_now() - window.dropped,
                                .own_ns = stk_inject.slot->own_inside_ns - window.own_ns};
    void *room = stk_wire_slab_put(&stk_inject.writer, STK_WIRE_WINDOWS, sizeof w, w.start_ns,
                                   w.start_ns + w.dur_ns);
    if (room) {
        memcpy(room, &w, sizeof w);
    }
}

void stk_window_close(enum stk_window_end how)
{
    if (how != STK_WINDOW_ABANDON) {
        switch_off();
        flush_all();
    }
    if (how == STK_WINDOW_AT_EXIT) {
        stk_cupti.flush(FORCED);
    }
    if (how != STK_WINDOW_ABANDON) {
        stk_cupti.unsubscribe(window.subscriber);
    }
    window.has_facts = window.has_facts || stk_device_facts_write();
    stk_window_drain();
    put_window();
    stk_wire_slab_commit(&stk_inject.writer);
}

void stk_window_forget(void)
{
    memset(&window, 0, sizeof window);
    stk_cupti_buffers_forget();
    stk_cupti_records_reset();
    stk_cupti_calls_reset();
}
