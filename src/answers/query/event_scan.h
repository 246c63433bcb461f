// SPDX-License-Identifier: Apache-2.0
// Iterates over events that pass filters, for the tables, the groups and the search. Tracks are
// sorted by start, so a range of times is found by binary search in each; a track that fails a
// filter as a whole costs nothing; names are compared once per distinct string.
#pragma once

#include "answers/query/event_field.h"

#define STK_SCAN_FILTERS_MAX 16

enum stk_query_op { STK_OP_EQ, STK_OP_GT, STK_OP_GE, STK_OP_LT, STK_OP_LE };

// Which names of one trace pass.
struct stk_scan_names {
    bool any;             // all pass
    uint32_t only;        // this one passes, if `takes` is NULL; STK_NONE: none
    const uint8_t *takes; // per string id: non-zero passes
};

struct stk_query_scan {
    struct stk_query *q;
    // Set before stk_query_scan_begin, by the functions below or directly.
    uint32_t kinds; // bit mask
    bool on_streams, launched, nothing;
    int64_t start_min_ns, start_max_ns; // inclusive, run's time
    int64_t end_min_ns;                 // end >= this
    int64_t dur_min_ns, dur_max_ns;     // inclusive
    struct {
        enum stk_query_field field;
        enum stk_query_op op;
        int64_t value;
    } filters[STK_SCAN_FILTERS_MAX];
    int filter_count, track_filter_count; // those that depend only on the track come first
    struct stk_str device;                // p NULL: any
    struct stk_scan_names *names;         // per trace; NULL: any
    int64_t id, launch;                   // only this event; only work of this call; -1: any
    // State.
    struct stk_query_event at; // the current event
    uint32_t next, end;        // of the current track's range: the next event, its end
    uint32_t chain;            // next work of the call, STK_NONE
    bool stopped;              // interrupted
    bool (*stop)(void *arg);   // called regularly; may be NULL
    void *stop_arg;
    uint32_t countdown;
};

void stk_query_scan_init(struct stk_query_scan *s, struct stk_query *q);
// Adds a condition on a number. False: too many.
bool stk_query_scan_add(struct stk_query_scan *s, enum stk_query_field field, enum stk_query_op op,
                        int64_t value);
// Starts before the first event.
void stk_query_scan_begin(struct stk_query_scan *s);
// Goes to the next event that passes; false: at the end, or stopped.
bool stk_query_scan_next(struct stk_query_scan *s);
// Alternatively: goes to the next track with a range [at.event, end) that may contain some; check
// each with stk_query_scan_takes. Not with id or launch.
bool stk_query_scan_next_track(struct stk_query_scan *s);
bool stk_query_scan_takes(const struct stk_query_scan *s, const struct stk_query_event *v);
