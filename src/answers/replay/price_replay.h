// SPDX-License-Identifier: Apache-2.0
// The replays behind a price: one rank's steps with a set of fixes, at some levels. They depend on
// that rank alone, so they can be made when its profile is read (taken.h).
#pragma once

#include "answers/replay/critical.h"
#include "answers/replay/price_row.h"
#include "answers/replay/room.h"
#include "answers/replay/taken.h"

// The result of one replay.
struct stk_outcome {
    struct stk_taken_step step;
    int64_t critical[STK_CRITICAL_COUNT], exposed[STK_CRITICAL_COUNT];
};

// Which step is replayed: the recorded one; the step without the profiler, varied the way a set of
// fixes says that another run may vary; the step with these fixes.
enum stk_ask_which { STK_ASK_RECORDED, STK_ASK_BEFORE, STK_ASK_AFTER };

// A requested replay: a set of fixes, at some levels.
struct stk_ask {
    const struct stk_price_asked *set;
    size_t count;
    enum stk_ask_which which;
    bool at[STK_PRICE_LEVELS];
    bool wants_path; // also compute the step's kinds of time
    bool is_bare;    // collectives take no time
    bool applies;    // no fix of the set is refused
};

// One rank at the requested levels: replayed in one of the rooms, or as taken. False: no memory.
bool stk_price_replay(struct stk_rooms *rooms, const struct stk_graph *g, const struct stk_ask *ask,
                      struct stk_outcome out[STK_PRICE_LEVELS]);
