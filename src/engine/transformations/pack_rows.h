// SPDX-License-Identifier: Apache-2.0
// Rows that sequences are packed into. An input component becomes three: its values in rows of a
// fixed length, segment ids (int32: 1, 2, ... for the sequences of a row, 0: padding), and
// positions (int32, from 0 in each sequence). Sequences are copied when they arrive.
#pragma once

#include "engine/graph/attr.h"

#define STK_PACK_PARTS 3 // values, segment ids, positions

// The pieces of one element: for each component the first value and how many.
struct stk_pack_piece {
    int64_t from, count;
};

struct stk_pack_rows {
    int n;                       // components
    const int64_t *lengths;      // row length of each component
    const struct stk_attr *pads; // COLS: a scalar for each component; NULL: zeros
    int64_t most;                // rows that `used` and `segments` have room for
    int64_t rows, begun;         // of this group: all rows, and those with data
    int64_t *used, *segments;    // values in row r of component k: used[r * n + k]; sequences in
                                 // row r
    size_t *bytes;               // bytes per position of a component
    struct stk_shape *trailing;  // the dimensions after the first
    struct stk_block block;      // component k's parts: columns 3k, 3k + 1, 3k + 2
};

// False: no memory.
bool stk_pack_rows_open(struct stk_pack_rows *p, int n, const int64_t *lengths,
                        const struct stk_attr *pads, int64_t most);
void stk_pack_rows_free(struct stk_pack_rows *p);
// Values of element i of a column, along its first dimension. A scalar is one.
int64_t stk_pack_length(const struct stk_col *c, int64_t i);
// Starts a group of rows for elements like element i. False: no memory.
bool stk_pack_rows_begin(struct stk_pack_rows *p, struct stk_pool *pool,
                         const struct stk_block *from, int64_t i, int64_t rows);
static inline bool stk_pack_rows_is_open(const struct stk_pack_rows *p)
{
    return p->rows > 0;
}
// The first component whose dimensions after the first differ from the group's; -1: none.
int stk_pack_rows_differ(const struct stk_pack_rows *p, const struct stk_block *from, int64_t i);
// Appends pieces of element i to a row that has space for them. False: no memory.
bool stk_pack_rows_add(struct stk_pack_rows *p, int64_t row, const struct stk_block *from,
                       int64_t i, const struct stk_pack_piece *pieces);
// Pads free space and moves the rows with data to `out`, whose column j is part outputs[j]. False:
// no memory.
bool stk_pack_rows_end(struct stk_pack_rows *p, const int64_t *outputs, struct stk_block *out);
