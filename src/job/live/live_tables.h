// SPDX-License-Identifier: Apache-2.0
// The newest values of a sampler's record: its tracks by id, and for each counter of a process,
// thread or device a series of its last values. Both tables are bounded. If one is full, ended
// entries are forgotten; if that isn't enough, new ones are left out and counted.
//
// A pointer into a table is valid until the next call that may add to it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "wire/samples.h"

enum {
    STK_LIVE_RING = 64, // values per counter; five seconds have 25 looks
    STK_LIVE_NAME = 48, // bytes of a name
    STK_LIVE_TRACKS = 1 << 15,
    STK_LIVE_SERIES = 1 << 14
};

struct stk_live_track {
    uint32_t id;
    int64_t process, number;
    char name[STK_LIVE_NAME];
};
struct stk_live_series {
    enum stk_sampled sample;
    int64_t process, number;
    char name[STK_LIVE_NAME];
    uint32_t count; // of all values; the last STK_LIVE_RING are kept
    int64_t time_ns[STK_LIVE_RING];
    double value[STK_LIVE_RING];
};
struct stk_live_tables {
    struct stk_map track_at, series_at;
    struct stk_vec tracks, series; // of the structs above
    uint32_t refused;              // new series since room was last made
    bool has_failed;               // no memory
    int64_t newest_ns;             // of all values
    double scan_s;                 // between scans of processes; 0: unknown
    uint64_t lost;                 // tracks and series left out
};

void stk_live_tables_init(struct stk_live_tables *t);
void stk_live_tables_deinit(struct stk_live_tables *t);
// NULL: no track has that id.
const struct stk_live_track *stk_live_track_of(const struct stk_live_tables *t, uint32_t id);
// A new one with an empty name. NULL: the id is taken, or there is no room.
struct stk_live_track *stk_live_track_add(struct stk_live_tables *t, uint32_t id, int64_t process,
                                          int64_t number);
// The series of a counter on a track (0: on none), made if new. NULL: no such track, or no room.
struct stk_live_series *stk_live_series_of(struct stk_live_tables *t, enum stk_sampled sample,
                                           uint32_t track);
// Adds a value; its time is 0 or later.
void stk_live_series_put(struct stk_live_tables *t, struct stk_live_series *s, int64_t time_ns,
                         double value);
// Whether its process has ended.
bool stk_live_series_has_ended(const struct stk_live_tables *t, const struct stk_live_series *s);
