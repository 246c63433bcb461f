// SPDX-License-Identifier: Apache-2.0
// Whose code fills a part: the user's own functions and ranges, for the time that causes.c put to
// it.
#pragma once

#include "profile/model/analysis.h"

// Time of a thread (its root track) that belongs to a part.
struct stk_code_piece {
    int64_t start_ns, end_ns;
    uint32_t thread;
    uint8_t part;
};

// Is a function of the user's own, or a range that the user marked, worth naming for this part?
static inline bool stk_part_has_owner(enum stk_part part)
{
    return part == STK_PART_INPUT || part == STK_PART_HOST || part == STK_PART_SYNC ||
           part == STK_PART_COMPILE || part == STK_PART_WAIT;
}

// Finds the threads that run the user's code: sets has_users_code of the analysis and its threads,
// so that pieces of other threads needn't be kept. False: no memory.
bool stk_owners_mark_threads(struct stk_analysis *a);

// Fill sum->causes[].owners from the pieces, which are sorted. False: no memory.
bool stk_owners_fill(struct stk_analysis *a, struct stk_code_piece *pieces, size_t count);

// Fills facts.owner_calls, for the first of the host's owners. False: no memory.
bool stk_owner_calls_find(struct stk_analysis *a);
