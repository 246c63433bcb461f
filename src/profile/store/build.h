// SPDX-License-Identifier: Apache-2.0
// Building a trace. A reader opens one builder; each of its workers opens a shard, to which only
// that worker writes: its rows, strings and tracks. finish() merges the shards in their order,
// sorts each track, assigns sub-rows and depths, and links host calls with device work.
//
//   builder -- shard 0: rows, strings, tracks     finish -> trace (columns)
//           \- shard 1: ...
//
// Rows are kept in the form of columns, 26 bytes each, and freed as finish() copies them, so the
// peak stays near the larger of rows and columns, not their sum. All strings passed in are copied.
#pragma once

#include "profile/store/trace.h"

struct stk_build;
struct stk_shard;

// At most so many tracks and devices per trace. Events of further tracks are left out, and rows of
// further devices are kept without a device. Both are reported (tracks-left-out, devices-left-out).
// Without the caps, a few bytes of a file could take a kilobyte of memory each.
#define STK_TRACKS_MAX (1u << 17)
#define STK_DEVICES_MAX 4096u

// One event. Fill all members; zero-initialise and set what is known.
struct stk_row {
    int64_t start_ns; // in the file's clock; the smallest that isn't derived becomes base_ns
    int64_t dur_ns;   // >= 0
    uint64_t pos;     // position of the record in the decompressed input (< 2^40)
    uint32_t name;    // shard string id
    uint32_t track;   // shard track id
    uint8_t kind;     // enum stk_kind, or STK_KIND_UNSET: decided at finish by track and name
};

// Optional values of an event.
struct stk_row_ext {
    bool has_corr;
    int64_t corr;  // host<->device correlation, unique per process
    int64_t value; // see STK_EXT_VALUE
    uint8_t dir, src_mem, dst_mem, flags;
};

// What identifies a track. Two shards with the same key mean the same track.
struct stk_track_key {
    enum stk_track_kind kind;
    int64_t process;    // the file's process id; processes with equal ids are one
    int64_t device;     // device number for device tracks, -1 for host tracks
    int64_t id;         // thread, stream or line id
    struct stk_str sid; // string id if the file has no number; empty otherwise
};

STK_MUST_CHECK enum stoker_status stk_build_new(struct stk_build **out, struct stoker_err *err);
void stk_build_free(struct stk_build *b); // takes NULL; after finish too
// A new shard; order of creation is the order of its rows for equal times. Call from one thread.
struct stk_shard *stk_build_shard(struct stk_build *b); // NULL: no memory

// Hot path, one thread per shard. Failures (memory) are remembered and returned by finish.
uint32_t stk_shard_intern(struct stk_shard *s, const char *p, size_t n);
struct stk_str stk_shard_text(const struct stk_shard *s, uint32_t id); // borrowed until the next
uint32_t stk_shard_track(struct stk_shard *s, const struct stk_track_key *key);
void stk_shard_add(struct stk_shard *s, const struct stk_row *row, const struct stk_row_ext *ext);
// Make *config the value of an ext without one (STK_EXT_CONFIG). Not for runtime calls.
void stk_shard_set_config(struct stk_shard *s, const struct stk_launch_config *config,
                          struct stk_row_ext *ext);
// The same with details, whose texts are string ids of the shard. Not for runtime calls.
void stk_shard_add_detailed(struct stk_shard *s, const struct stk_row *row,
                            const struct stk_row_ext *ext, const struct stk_detail *details,
                            size_t count);
// Count records that are read but not stored (metadata, flows), by kind.
void stk_shard_count(struct stk_shard *s, enum stk_kind kind, uint64_t n);
// Count an issue; events_lost: events dropped with it, more than n if one issue costs many (an
// unreadable table). They are added to the trace's `dropped`, while stk_shard_count makes them part
// of `read`. note may be empty.
void stk_shard_issue(struct stk_shard *s, enum stk_issue_id id, uint64_t n, uint64_t events_lost,
                     int64_t offset, struct stk_str note);
// True once memory ran out, or the cap of rows or strings was hit: stop early.
bool stk_shard_failed(const struct stk_shard *s);
// Discard everything this shard holds (speculation that failed).
void stk_shard_reset(struct stk_shard *s);

// Facts about processes, devices and tracks; from one thread, before finish. The last one wins.
void stk_build_process(struct stk_build *b, int64_t process, int32_t rank, struct stk_str name,
                       struct stk_str host); // rank -1 and empty strings leave values as they are
struct stk_device_facts {
    struct stk_str source_id, name;
    enum stk_device_kind kind;
    int32_t sm_count, cc_major, cc_minor;
    int64_t memory_bytes;
    struct stk_device_limits limits;
};
void stk_build_device(struct stk_build *b, int64_t process, int64_t device,
                      const struct stk_device_facts *facts);
void stk_build_track_name(struct stk_build *b, const struct stk_track_key *key,
                          struct stk_str name);
// Change the kind of a track (a thread that turns out to be a stream), before finish. device -1 for
// host tracks.
void stk_build_track_becomes(struct stk_build *b, const struct stk_track_key *key,
                             enum stk_track_kind kind, int64_t device);
// Rows of process `process` (all its tracks) belong to `to`: for readers that learn only at the end
// which process drives a device. Facts are given for `to`. Not transitive; the last one wins.
void stk_build_process_becomes(struct stk_build *b, int64_t process, int64_t to);
// A program in the profile, then its arguments in order; from one thread, before finish. False: the
// program isn't kept, and must not get arguments; the caller counts it as left out.
#define STK_PROGRAMS_MAX 8192u
#define STK_ARGUMENTS_MAX (1u << 18) // of all programs
bool stk_build_program(struct stk_build *b, struct stk_str name, int64_t id);
// False: there is no room for it, and the program is removed.
bool stk_build_argument(struct stk_build *b, struct stk_str name, struct stk_str type);
// Marks the last kept program as one that computes gradients.
void stk_build_program_differentiates(struct stk_build *b);
// Count a program that wasn't kept.
void stk_build_program_left_out(struct stk_build *b);
// Whole-trace facts.
struct stk_build_facts {
    const char *format;      // reader's name (static)
    struct stk_str producer; // "" unknown
    struct stk_str host;
    int32_t rank, world_size; // -1 unknown
    uint32_t framework_hint;  // bits of enum stk_framework
    struct stk_told_texts told;
    int64_t clock_base_ns; // added to the trace's base_ns (Kineto baseTimeNanoseconds)
};
void stk_build_facts(struct stk_build *b, const struct stk_build_facts *facts);

// The input ends early; whole_until_ns is in the file's clock, or INT64_MIN or INT64_MAX (struct
// stk_trace). Without this call, an input with the issue truncated or compression-damaged counts as
// cut at an unknown place. The last call wins.
void stk_build_cut(struct stk_build *b, enum stk_cut cut, int64_t whole_until_ns);

// Merge, sort, link. On success *out is the trace (takes: the caller frees it); the builder is
// empty and must still be freed. `threads` bounds the workers used.
STK_MUST_CHECK enum stoker_status stk_build_finish(struct stk_build *b, int threads,
                                                   struct stk_trace **out, struct stoker_err *err);
