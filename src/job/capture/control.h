// SPDX-License-Identifier: Apache-2.0
// What `stoker run --level 1` and the capture library inside of the job's processes tell each
// other: one file, laid out by the parent, mapped by all (its path is in STOKER_CAPTURE). Each
// process takes a slot. All fields but texts are read and written atomically; texts are written
// once, before what says that they are there.
#pragma once

#include <stdint.h>

#define STK_CONTROL_MAGIC "stkctl\1"
#define STK_CONTROL_VARIABLE "STOKER_CAPTURE"
enum { STK_CONTROL_VERSION = 1, STK_CONTROL_SLOTS = 256 };

enum stk_capture_state {
    STK_CAPTURE_LOADED = 1, // no window yet
    STK_CAPTURE_OPEN,
    STK_CAPTURE_CLOSED,  // at least one window is over
    STK_CAPTURE_REFUSED, // why says what is in the way
    STK_CAPTURE_STOPPED  // it recorded, and cannot go on: why
};

struct stk_control_slot {
    uint64_t pid;    // 0: not taken yet; written last
    uint32_t wake;   // grows when there is something to do: a futex
    uint32_t order;  // of the parent: 1 a window is to be open
    uint32_t state;  // enum stk_capture_state
    uint32_t is_led; // hooks inside of the process open and close windows; the order is ignored
    uint32_t windows, cupti_version;
    uint64_t inside_ns, outside_ns;         // time in windows, and since loading outside of them
    uint64_t own_inside_ns, own_outside_ns; // what the library took itself of the processors
    uint64_t profiler_ns;                   // that CUPTI says it took, in windows
    uint64_t records, dropped, left_out, bytes;
    char file[96];     // its record, a name in the folder; "" none
    char library[160]; // that CUPTI was found in
    char why[256];
};

struct stk_control {
    char magic[8];
    uint32_t version, bytes; // of this struct
    uint32_t at_start;       // 1: a process opens a window as soon as it initializes CUDA
    uint32_t claimed;        // slots; more than there are: processes that found none
    uint64_t limit_bytes;    // of a process' record
    char folder[4096];       // of the records
    struct stk_control_slot slots[STK_CONTROL_SLOTS];
};
