// SPDX-License-Identifier: Apache-2.0
// The capture library: CUDA's driver or NVTX loads it into somebody else's process
// (CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH). It records windows of GPU work into a mapped file
// in stoker's own format.
//
//   inject_entry.c  what is exported; the process' slot; fork and exit
//   inject_state.c  what the files share
//   service.c       one thread: opens and closes windows, flushes, decodes, keeps the clocks
//   file.c          the record: laid out ahead, grown by the service, ended
//   window.c, cupti_*.c  the profiling interface: found, checked, its buffers and records
//   nvtx.c          ranges that the program and its libraries name
//   threads.c       a writer for each thread of the job that tells something
//
// Rules. Code in threads of the job (hooks) takes no lock, allocates no memory, and keeps errno;
// its only system calls get the thread's number (once) and wake the service when a buffer of
// records is full. It does nothing if it was already entered, in the child of a fork, and outside
// windows. Any failure is reported in the slot and the record, and ends the recording, never the
// job.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/capture/control.h"
#include "wire/wire_slab.h"

#define STK_EXPORT __attribute__((visibility("default")))
// In the thread's static block: the usual model may allocate at the first access.
#define STK_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

struct stk_inject {
    struct stk_control *control;
    struct stk_control_slot *slot; // NULL: not started, or nothing to record
    atomic_bool is_open;           // a window is open: hooks check this first
    atomic_bool is_dead;           // in the child of a fork, or when the process ends
    atomic_uint window;            // number of the latest, from 1
    uint64_t loaded_ns;
    struct stk_wire_slabs slabs;
    struct stk_wire_slab writer, epilogue; // of the service
    atomic_uint_least64_t hook_ns;         // time in hooks, estimated from one call in 64
    atomic_uint_least64_t hooks_lost;      // threads without a writer
};
extern struct stk_inject stk_inject;
extern STK_THREAD_LOCAL int stk_inject_inside; // this thread is in a hook or in the library

// inject_entry.c
bool stk_inject_start(void); // takes a slot; false: nothing to record

// inject_state.c
void stk_inject_refuse(enum stk_capture_state state, const char *why);
void stk_inject_wake(uint32_t *word); // increments it and wakes its waiters
static inline void stk_slot_set(uint32_t *field, uint32_t value)
{
    __atomic_store_n(field, value, __ATOMIC_RELEASE);
}
static inline void stk_slot_set64(uint64_t *field, uint64_t value)
{
    __atomic_store_n(field, value, __ATOMIC_RELEASE);
}

// service.c
void stk_service_open_now(void);      // in this thread, before the service runs
bool stk_service_start(void);         // once
bool stk_service_ask(bool open);      // waits until the window is open or closed; false: it failed
void stk_service_end(bool may_flush); // waits for its end, for a bounded time
void stk_service_forget(void);        // in the child of a fork

// file.c
bool stk_file_open(void);              // false: refused, with why
bool stk_file_reserve(uint64_t slabs); // makes that many free; false: stopped, with why
void stk_file_note(enum stk_wire_loss_kind kind, uint64_t count, const char *what);
void stk_file_end(bool is_whole);
void stk_file_forget(void); // in the child of a fork

// clocks.c: the profiler's clock against the monotonic one
void stk_clocks_reset(void);
void stk_clocks_look(int (*source)(uint64_t *ns)); // takes a bearing
uint64_t stk_clocks_mono(uint64_t source_ns);      // of a profiler time

// names.c: texts, tracks and configurations that the service has written
void stk_names_reset(void);
uint32_t stk_names_text(const char *text); // NULL: an unknown name
uint32_t stk_names_track(enum stk_wire_track_kind kind, int device, int64_t number);
uint32_t stk_names_config(const struct stk_wire_config *c);
uint64_t stk_names_hash(const char *text, size_t n);

// window.c
enum stk_window_end {
    STK_WINDOW_IN_TIME,
    STK_WINDOW_AT_EXIT, // also takes incomplete records
    STK_WINDOW_ABANDON  // the profiler must not be called any more
};
bool stk_window_open(void); // false: with why in the slot
void stk_window_turn(void); // while one is open: flush, decode
void stk_window_close(enum stk_window_end how);
bool stk_window_has_waiting(void); // buffers returned after it closed
void stk_window_drain(void);       // decodes them
void stk_window_forget(void);      // in the child of a fork

// threads.c
struct stk_inject_thread;
struct stk_inject_thread *stk_threads_mine(void); // NULL: none left
void stk_threads_event(struct stk_inject_thread *t, const char *text, size_t n,
                       enum stk_wire_event_kind kind, uint64_t start_ns, uint64_t end_ns);
void stk_threads_step(struct stk_inject_thread *t, uint64_t number, uint64_t start_ns,
                      uint64_t end_ns);
void stk_threads_fact(struct stk_inject_thread *t, const char *key, const char *value);
void stk_threads_forget(void);
// An open range of this thread.
struct stk_open_range {
    uint64_t start_ns;
    uint32_t length;
    bool is_recorded;
    char text[228];
};
struct stk_open_range *stk_threads_push(struct stk_inject_thread *t); // NULL: nested too deeply
struct stk_open_range *stk_threads_pop(struct stk_inject_thread *t);  // NULL: none is open
