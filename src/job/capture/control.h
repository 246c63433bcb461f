// SPDX-License-Identifier: Apache-2.0
// How `stoker run --level 1` and the capture library inside the job's processes communicate: one
// file, created by the parent and mapped by all (its path is in STOKER_CAPTURE). Each process takes
// a slot. All fields except texts are read and written atomically; texts are written once, before
// the field that announces them.
#pragma once

#include <stdint.h>

#define STK_CONTROL_MAGIC "stkctl\1"
#define STK_CONTROL_VARIABLE "STOKER_CAPTURE"
enum { STK_CONTROL_VERSION = 1, STK_CONTROL_SLOTS = 256 };

enum stk_capture_state {
    STK_CAPTURE_LOADED = 1, // no window yet
    STK_CAPTURE_OPEN,
    STK_CAPTURE_CLOSED,  // at least one window has ended
    STK_CAPTURE_REFUSED, // see why
    STK_CAPTURE_STOPPED  // it recorded, but can't continue: see why
};

struct stk_control_slot {
    uint64_t pid;    // 0: slot not taken; written last
    uint32_t wake;   // a futex: incremented when there is something to do
    uint32_t order;  // from the parent; 1: have a window open
    uint32_t state;  // enum stk_capture_state
    uint32_t is_led; // hooks in the process open and close windows; ignore the order
    uint32_t windows, cupti_version;
    uint64_t inside_ns, outside_ns;         // time inside and outside windows, since loading
    uint64_t own_inside_ns, own_outside_ns; // the library's own processor time
    uint64_t profiler_ns;                   // CUPTI's own time in windows, as it reports
    uint64_t records, dropped, left_out, bytes;
    char file[96];     // file name of its record in the folder; "": none
    char library[160]; // where CUPTI was found
    char why[256];
};

struct stk_control {
    char magic[8];
    uint32_t version, bytes; // of this struct
    uint32_t at_start;       // 1: open a window as soon as CUDA is initialized
    uint32_t claimed;        // slots taken, plus processes that found none
    uint64_t limit_bytes;    // for the record of one process
    char folder[4096];       // of the records
    struct stk_control_slot slots[STK_CONTROL_SLOTS];
};
