// SPDX-License-Identifier: Apache-2.0
// Finds the profile files to read from the command line's paths. A path is a file, "-" (standard
// input) or a directory, which is searched:
//   - a TensorBoard log directory (plugins/profile/<run>/<host>.xplane.pb): the newest run;
//   - a folder of Kineto traces, one per rank (*.pt.trace.json[.gz]): the newest of each worker;
//   - Nsight Systems exports (*.sqlite; the report next to one is the same recording);
//   - other trace JSON; stoker's own recordings (*.stk).
// From a directory, files of one format are chosen, the first in this order that occurs; every file
// left out gets a reason.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define STK_INPUTS_FILES_MAX 4096     // most files chosen, over all paths
#define STK_INPUTS_DEPTH_MAX 8        // directories below the given one
#define STK_INPUTS_SCANNED_MAX 100000 // most directory entries examined
#define STK_INPUTS_LISTED_MAX 4096    // files left out that are listed; more are only counted

struct stk_input {
    const char *path;
    int32_t rank_hint;    // from the name of the file or folder, or the order of hosts; -1: unknown
    bool is_numbered;     // from the order of hosts: its name states no rank
    bool is_other_format; // left out because files of another format in its folder were chosen
    bool taken;
    const char *why; // why it was left out; if chosen: a remark, or NULL
};

struct stk_inputs {
    struct stk_input *entries; // chosen files first, by rank and name; then those left out, by name
    uint32_t count, taken;
    uint64_t left_out; // files left out, listed or not
    const char *note;  // what was chosen and what wasn't, one line; NULL if nothing to report
};

// Everything is allocated in the arena. STOKER_EINPUT: no file can be chosen (err says why);
// STOKER_EUSAGE: standard input given twice; STOKER_ELIMIT: more than STK_INPUTS_FILES_MAX.
STK_MUST_CHECK enum stoker_status stk_inputs_expand(const char *const *paths, size_t n,
                                                    struct stk_arena *arena, struct stk_inputs *out,
                                                    struct stoker_err *err);

// A profile that was read, for settling ranks.
struct stk_input_rank {
    const char *path;
    int32_t rank;      // in: from the content, -1 unknown; out: settled
    int32_t rank_hint; // the input's
};

// Settles the ranks of one run's files: from the content, else from the name's hint, else the free
// ranks in name order (then *note says so; NULL otherwise). Two files with the same rank aren't one
// run: STOKER_EUSAGE, which suggests `stoker diff`. A single file keeps its rank, known or not.
STK_MUST_CHECK enum stoker_status stk_inputs_check_ranks(struct stk_input_rank *ranks, size_t n,
                                                         struct stk_arena *arena, const char **note,
                                                         struct stoker_err *err);

// The rank in a file's name ("rank0", "rank-12", "worker3.trace", "trace_r4.json"), or -1.
int32_t stk_inputs_rank_of_name(const char *name);
