// SPDX-License-Identifier: Apache-2.0
// State of the reader of XSpace profiles (xplane.c) while it reads one. It is shared by the two
// ways to read (a plain file in place, anything else in order) and by the processing of planes.
#pragma once

#include "profile/readers/reader.h"
#include "profile/readers/xplane/xplane_plane.h"

#define STK_XP_SPACE_PLANES 1
#define STK_XP_SPACE_ERRORS 2
#define STK_XP_SPACE_WARNINGS 3
#define STK_XP_SPACE_HOSTNAMES 4

// Planes with rows that a profile may hold.
#define STK_XP_PLANES_MAX ((size_t)1 << 14)
// Longest text of the profiler that is kept.
#define STK_XP_TEXT_MAX ((uint64_t)4096)

struct stk_xp_reading {
    const struct stk_read_ctx *ctx;
    struct stk_build *build;
    struct stk_shard *notes; // issues of the structure
    struct stk_arena arena;  // strings of the collected planes
    struct stk_arena kept;   // strings needed to the end
    struct stk_vec planes;   // struct stk_xp_plane: the collected ones
    struct stk_vec lines;    // struct stk_xp_line: theirs
    // Names of devices, and their numbers in the order of the names' ids.
    struct stk_strpool device_names;
    struct stk_vec device_numbers; // int64_t
    struct stk_map numbers_in_use; // of the devices
    struct stk_pb_source source;
    struct stk_xp_trouble trouble;
    struct stk_str cut_note; // what the cut removed besides events
    uint64_t event_lines, plane_count, done_bytes, total_bytes; // planes with lines
    int64_t min_timestamp_ns, profile_start_ns;
    struct stk_str host, jax_version;
    struct stk_told_texts told; // by the hooks of `stoker run`
    uint32_t framework_hint;
    bool has_texts;         // the profiler's texts were seen, which come after all planes
    bool ends_badly;        // the following bytes aren't a field of a space
    struct stoker_err *err; // never NULL
};

// Scans a plane whose payload is in r->source and adds it to those already read.
STK_MUST_CHECK enum stoker_status stk_xp_add_plane(struct stk_xp_reading *r,
                                                   struct stk_pb_walk *walk, uint64_t offset,
                                                   uint64_t size, bool cut);
// Decodes the collected lines, passes on the facts of their planes, and frees them.
STK_MUST_CHECK enum stoker_status stk_xp_finish_planes(struct stk_xp_reading *r);
// A text of the profiler itself: errors, warnings, host names.
STK_MUST_CHECK enum stoker_status stk_xp_add_text(struct stk_xp_reading *r, const char *bytes,
                                                  size_t n, uint32_t field, uint64_t offset);
// Remember that the space itself is cut or malformed at this place (nothing for other steps).
void stk_xp_note_space(struct stk_xp_reading *r, enum stk_pb_step step, uint64_t offset);

// xplane_program.c: passes the compiled programs of the plane at [offset, offset + size) to the
// builder.
STK_MUST_CHECK enum stoker_status stk_xp_read_programs(struct stk_xp_reading *r,
                                                       struct stk_pb_walk *walk, uint64_t offset,
                                                       uint64_t size);
// xplane_intake.c: input that can only be read in order, one plane in memory at a time.
STK_MUST_CHECK enum stoker_status stk_xp_read_in_order(struct stk_xp_reading *r);
