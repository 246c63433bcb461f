// SPDX-License-Identifier: Apache-2.0
// Pieces of a sloppy ring that were written side by side into one buffer, because a batch follows:
// they come in the order in which they are done, and are given out group by group, each group when
// the last of its pieces is there. A batch then is its buffer, and nothing is copied; an element
// that takes long holds up its own group alone.
//
// Open at a time are at most as many groups as workers, and one: each holds a piece that is not
// done yet. Only the consumer's thread comes here.
#pragma once

#include "engine/run/ring.h"

struct stk_regroup {
    struct stk_regroup_group *open; // the oldest first
    struct stk_regroup_held *turn;  // pieces of the group that is given out, by their places
    struct stk_regroup_held *spare; // used again, with the arrays of their blocks
    struct stk_regroup_group *spare_groups;
};

// Takes the piece out of its slot, which is left empty. False: no memory, the piece is as it was.
bool stk_regroup_take(struct stk_regroup *g, struct stk_piece *p);
// The next piece of the group whose turn it is; NULL: no group is complete.
struct stk_piece *stk_regroup_turn(struct stk_regroup *g);
void stk_regroup_pop(struct stk_regroup *g); // that piece is used up
// After the last piece: gives out the oldest group as it is. NULL: none left.
struct stk_piece *stk_regroup_flush(struct stk_regroup *g);
void stk_regroup_free(struct stk_regroup *g);
