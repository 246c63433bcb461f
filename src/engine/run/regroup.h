// SPDX-License-Identifier: Apache-2.0
// Regroups pieces of a sloppy ring that were written next to each other into one buffer, for a
// batch that follows. Pieces arrive in any order; a group is returned when its last piece arrives.
// Its buffer is then the batch, with no copy. A slow element delays only its own group.
//
// At most one more group is open than there are workers, because each holds a piece that isn't
// done. Only the consumer's thread calls this.
#pragma once

#include "engine/run/ring.h"

struct stk_regroup {
    struct stk_regroup_group *open; // oldest first
    struct stk_regroup_held *turn;  // pieces of the group being returned, by place
    struct stk_regroup_held *spare; // kept for reuse, with their blocks' arrays
    struct stk_regroup_group *spare_groups;
};

// Moves the piece out of its slot. False: no memory; the piece is unchanged.
bool stk_regroup_take(struct stk_regroup *g, struct stk_piece *p);
// The next piece of the group being returned; NULL: no group is complete.
struct stk_piece *stk_regroup_turn(struct stk_regroup *g);
void stk_regroup_pop(struct stk_regroup *g); // drops that piece
// After the last piece: returns the oldest group, even if incomplete. NULL: none left.
struct stk_piece *stk_regroup_flush(struct stk_regroup *g);
void stk_regroup_free(struct stk_regroup *g);
