// SPDX-License-Identifier: Apache-2.0
// What a device (or the CPU, without a device) does at each moment of the recording: consecutive
// pieces, each with its part. Built only when a viewer asks for it (struct stk_view_hook).
//
//   sum/ribbon.c          the pieces of a rank, from its summary
//   sum/ribbon_settle.c   what is known only once all ranks are there: waiting in collectives, and
//   waits
//                         that a record of stoker.data holds
//   idle/owner_pieces.c   the user's function of each piece
#pragma once

#include "profile/model/analysis.h"

#define STK_RIBBON_NOTHING STK_PART_COUNT // no part: before the first step's work, or not recorded

// A piece lasts until the next one begins, the last one until the ribbon ends.
struct stk_ribbon_piece {
    int64_t start_ns;       // in the trace's time
    uint32_t event, around; // what fills it, and the operator around that; STK_NONE
    uint32_t owner;         // event of the user's own function that contains it; STK_NONE
    uint8_t part;           // enum stk_part, or STK_RIBBON_NOTHING
    bool used;              // it counts in the report's parts; set by stk_ribbon_settle
};

struct stk_ribbon {
    uint32_t device; // index into the rank's devices; STK_NONE: the host
    struct stk_ribbon_piece *pieces;
    size_t count;
    int64_t end_ns;
};

struct stk_ribbons {
    struct stk_ribbon *v;
    size_t count;
};

static inline int64_t stk_ribbon_end(const struct stk_ribbon *r, size_t piece)
{
    return piece + 1 < r->count ? r->pieces[piece + 1].start_ns : r->end_ns;
}

// One for each analyzed device of the rank, or one of its host. False: no memory.
bool stk_ribbons_make(const struct stk_analysis *a, struct stk_arena *arena,
                      struct stk_ribbons *out);
// The rows of the merged run that a ribbon is settled with. Their times are the trace's plus
// shift_ns.
struct stk_ribbon_rows {
    const struct stk_step *steps; // of its device, in order; none: its whole span is one row
    size_t count;
    const struct stk_device_sum *device; // of the merged run; NULL: the host
    const struct stk_rank_sum *rank;     // its collectives are matched
    int64_t base_ns;                     // of the trace: collectives have absolute times
    int64_t shift_ns;
};
// Cuts the pieces where steps begin and end, and makes their sums agree with the parts of the rows.
// False: no memory.
bool stk_ribbon_settle(struct stk_ribbon *r, const struct stk_ribbon_rows *rows,
                       struct stk_arena *arena);
// owner_pieces.c: sets `owner` of each piece, only to functions that the summary names as owners of
// the piece's part. False: no memory.
bool stk_owner_pieces_name(const struct stk_analysis *a, struct stk_ribbon *r);
