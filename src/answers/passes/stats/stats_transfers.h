// SPDX-License-Identifier: Apache-2.0
// A part of stats_transfers.c: data that goes to the host and back (stats_ping_pong.c).
#pragma once

#include "profile/model/view.h"
#include "answers/passes/stats/stats.h"

struct stk_ping_pong_row {
    const char *first_op, *second_op; // that asked for the copies; empty: not known
    uint64_t pairs;
    int64_t bytes, total_ns; // of one copy; of both copies of all pairs
    uint32_t line;
    bool down_first; // to the host and back, else to the device and back
};
struct stk_ping_pong {
    struct stk_ping_pong_row *v;
    size_t count;
};
// False: no memory.
bool stk_ping_pong_find(const struct stk_analysis *view, struct stk_arena *arena,
                        struct stk_ping_pong *out);
