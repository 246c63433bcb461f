// SPDX-License-Identifier: Apache-2.0
// Rows that sequences are packed into. A component of the input becomes three: its values in rows
// of a fixed length, segment ids (int32: 1, 2, ... for the sequences of a row, 0: padding), and
// positions (int32, from 0 in each sequence). Sequences are copied when they come.
#pragma once

#include "engine/graph/attr.h"

#define STK_PACK_PARTS 3 // values, segment ids, positions

// The pieces of one element: for each component how many values of it, and from which on.
struct stk_pack_piece {
    int64_t from, count;
};

struct stk_pack_rows {
    int n;                       // components
    const int64_t *lengths;      // of a row, for each component
    const struct stk_attr *pads; // COLS: a scalar for each component; NULL: zeros
    int64_t most;                // rows that there is space for in `used` and `segments`
    int64_t rows, begun;         // of this group: all, and those that hold something
    int64_t *used, *segments;    // values in row r of component k: used[r * n + k]; sequences in r
    size_t *bytes;               // of one position of a component
    struct stk_shape *trailing;  // the dimensions after the first
    struct stk_block block;      // component k's parts: columns 3k, 3k + 1, 3k + 2
};

// False: no memory.
bool stk_pack_rows_open(struct stk_pack_rows *p, int n, const int64_t *lengths,
                        const struct stk_attr *pads, int64_t most);
void stk_pack_rows_free(struct stk_pack_rows *p);
// Values of element i of a column, along its first dimension. A scalar is one.
int64_t stk_pack_length(const struct stk_col *c, int64_t i);
// Begins a group of rows for elements like element i. False: no memory.
bool stk_pack_rows_begin(struct stk_pack_rows *p, struct stk_pool *pool,
                         const struct stk_block *from, int64_t i, int64_t rows);
static inline bool stk_pack_rows_is_open(const struct stk_pack_rows *p)
{
    return p->rows > 0;
}
// The first component whose dimensions after the first differ from the group's; -1: none does.
int stk_pack_rows_differ(const struct stk_pack_rows *p, const struct stk_block *from, int64_t i);
// Appends pieces of element i to a row that has space for them. False: no memory.
bool stk_pack_rows_add(struct stk_pack_rows *p, int64_t row, const struct stk_block *from,
                       int64_t i, const struct stk_pack_piece *pieces);
// Pads what is free, and moves the rows that hold something to `out`, part outputs[j] of all of
// them being its column j. False: no memory.
bool stk_pack_rows_end(struct stk_pack_rows *p, const int64_t *outputs, struct stk_block *out);
