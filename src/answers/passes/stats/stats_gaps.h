// SPDX-License-Identifier: Apache-2.0
// What `stoker stats gaps` keeps of one rank: the longest gaps of its devices with exact sums of
// all (stats_gaps_find.c), and what runs between its steps (stats_gaps_between.c).
#pragma once

#include "profile/model/view.h"

struct stk_gap_row {
    int64_t start_ns, dur_ns, step;
    const char *what, *inside, *after; // NULL: unknown, or none
    const char *stack;                 // NULL: none, or not among the longest
    uint32_t line;
    int8_t part; // enum stk_part, -1 not known
    bool has_step;
};
struct stk_between_row {
    int64_t step; // the one before
    int64_t start_ns, dur_ns, fetch_ns;
    int64_t idle_ns; // of the first analyzed device; -1: none
    const char *what, *stack;
    int64_t every; // occurs every so many steps; 0: irregularly
};
struct stk_gap_sums {
    struct stk_gap_row *rows; // the longest, longest first
    size_t count;
    uint64_t gaps;    // all
    uint64_t dropped; // shorter gaps, only in the sums
    struct stk_between_row *between;
    size_t between_count;
    int64_t between_ns, steps_ns; // between_ns without fetches; of all steps that were looked at
    int64_t base_ns;              // of the trace, when the rows were made
    int64_t idle_ns, part_ns[STK_PART_COUNT];
    uint64_t part_gaps[STK_PART_COUNT];
};

// False: no memory.
bool stk_gaps_find(const struct stk_analysis *view, struct stk_arena *arena,
                   struct stk_gap_sums *out);
bool stk_gaps_between_steps(const struct stk_analysis *view, struct stk_arena *arena,
                            struct stk_gap_sums *out);
