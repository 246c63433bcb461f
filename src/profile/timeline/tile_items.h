// SPDX-License-Identifier: Apache-2.0
// A tile under construction: its items (tl_tile.c) and its bytes (tl_tile_write.c).
#pragma once

#include "profile/timeline/timeline.h"

struct stk_tile_item {
    uint32_t event, count;
    uint16_t row;
    uint8_t flags;
};

struct stk_tile {
    const struct stk_tl_trace *x;
    const struct stk_tl_row *rows; // of the track
    bool is_counter;
    int64_t from_ns, to_ns;
    int level;
    struct stk_vec items; // struct stk_tile_item
    uint64_t merged, events;
    size_t bytes, place; // its size in bytes, and where it begins among other tiles
};

// Marks the items that are far, and sets `bytes`.
void stk_tile_measure(struct stk_tile *t);
// `bytes` of them, aligned to 8.
void stk_tile_write(const struct stk_tile *t, char *out);
