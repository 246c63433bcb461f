// SPDX-License-Identifier: Apache-2.0
// Blocks kept as they arrive and joined once, so each element is copied once, however small the
// blocks are.
#pragma once

#include "base/vec.h"
#include "engine/memory/col.h"

struct stk_blocks {
    struct stk_vec list; // struct stk_block
    int64_t n;           // elements in all blocks
};

void stk_blocks_init(struct stk_blocks *b, size_t blocks_max);
bool stk_blocks_add(struct stk_blocks *b, struct stk_block *more); // moves the block. False: no
                                                                   // memory
// Moves all elements into one block. False: no memory, and they are lost.
bool stk_blocks_join(struct stk_blocks *b, struct stk_pool *pool, struct stk_block *to);
void stk_blocks_clear(struct stk_blocks *b);
void stk_blocks_free(struct stk_blocks *b);
