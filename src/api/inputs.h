// SPDX-License-Identifier: Apache-2.0
// What the user gave on the command line -> the profile files to read. A path is a file, "-"
// (standard input) or a directory, which is searched:
//   - a TensorBoard log directory (plugins/profile/<run>/<host>.xplane.pb): the newest run;
//   - a folder of Kineto traces, one per rank (*.pt.trace.json[.gz]): the newest of each worker;
//   - Nsight Systems exports (*.sqlite; the report beside one is the same recording);
//   - other trace JSON; records of stoker (*.stk).
// Files of one format are taken from a directory, the first of that order that occurs; every file
// that is not taken says why.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define STK_INPUTS_FILES_MAX 4096     // taken, over all paths
#define STK_INPUTS_DEPTH_MAX 8        // directories below the given one
#define STK_INPUTS_SCANNED_MAX 100000 // directory entries looked at
#define STK_INPUTS_LISTED_MAX 4096    // files not taken that are listed; more are counted

struct stk_input {
    const char *path;
    int32_t rank_hint;    // by the file's or folder's name, or by sorted host; -1 unknown
    bool is_numbered;     // by sorted host: its name tells no rank
    bool is_other_format; // not taken, since files of another format in its folder were
    bool taken;
    const char *why; // why it is not taken; if taken: a remark, or NULL
};

struct stk_inputs {
    struct stk_input *entries; // taken first, by rank and name; then those left out, by name
    uint32_t count, taken;
    uint64_t left_out; // files not taken, listed or not
    const char *note;  // what was chosen and what not, one line; NULL if nothing to say
};

// Everything is allocated in the arena. STOKER_EINPUT if nothing at all can be taken (the message
// says why), STOKER_EUSAGE if standard input is given twice, STOKER_ELIMIT beyond
// STK_INPUTS_FILES_MAX.
STK_MUST_CHECK enum stoker_status stk_inputs_expand(const char *const *paths, size_t n,
                                                    struct stk_arena *arena, struct stk_inputs *out,
                                                    struct stoker_err *err);

// One profile that was read, for the ranks to be settled.
struct stk_input_rank {
    const char *path;
    int32_t rank;      // in: as the content says, -1 unknown; out: settled
    int32_t rank_hint; // of the input
};

// Settle the ranks of the files of one run: what the content says, else the name's hint, else the
// free ranks in the order of names (*note then says so; NULL otherwise). Two files of one rank are
// not one run: STOKER_EUSAGE, which suggests `stoker diff`. A single file keeps its rank, known or
// not.
STK_MUST_CHECK enum stoker_status stk_inputs_check_ranks(struct stk_input_rank *ranks, size_t n,
                                                         struct stk_arena *arena, const char **note,
                                                         struct stoker_err *err);

// Rank in a file's name ("rank0", "rank-12", "worker3.trace", "trace_r4.json"), or -1.
int32_t stk_inputs_rank_of_name(const char *name);
