// SPDX-License-Identifier: Apache-2.0
// Layouts of Examples. Records of one file mostly differ in their values only: their lengths, and
// all bytes between the values (tags, lengths, names), are those of a record before. Such a record
// needs no walk over its fields: the bytes between are compared, the values taken from their
// places.
//
// What is kept is the trace of one walk, so a record that it fits gives what the walk would give.
// Only records whose every feature is of fixed length, there, and held in the usual way (packed in
// one run, or one text) have a layout.
#pragma once

#include "engine/formats/example_impl.h"

#define STK_EXAMPLE_LAYOUTS 4 // kept, by the record's length: integers take a byte more or less
#define STK_EXAMPLE_LAYOUT_STEPS 128
#define STK_EXAMPLE_LAYOUT_FRAMES 2048

struct stk_example_step {
    uint32_t frame, size; // bytes before the value, and of it
    uint32_t feature;     // STK_EXAMPLE_UNKNOWN: one that is not asked for
};

struct stk_example_layout {
    size_t size;          // of a record
    uint32_t count, tail; // steps, 0: there is no layout; bytes after the last value
    uint32_t frame_bytes; // while it is made
    const uint8_t *at;    // while it is built: after the last value
    struct stk_example_step steps[STK_EXAMPLE_LAYOUT_STEPS];
    char frames[STK_EXAMPLE_LAYOUT_FRAMES]; // the bytes between the values, concatenated
};

struct stk_example_layouts {
    struct stk_example_layout items[STK_EXAMPLE_LAYOUTS];
    size_t seen[STK_EXAMPLE_LAYOUTS]; // length of the last record that had no layout
    int credit;                       // earned by records that fit, spent on making layouts
};

void stk_example_layouts_init(struct stk_example_layouts *l);
// The row of a record of a known layout, written to place b->rows. False: it has none; what was
// written does not count.
bool stk_example_layouts_take(struct stk_example_layouts *l, const struct stk_example_batch *b,
                              const struct stk_record *record);
// Where to note the walk over this record; NULL: not worth it.
struct stk_example_layout *stk_example_layouts_begin(struct stk_example_layouts *l,
                                                     const struct stk_record *record);
// A value, in the order of the walk. False: there is no room, the layout is given up.
bool stk_example_layout_note(struct stk_example_layout *l, uint32_t feature,
                             struct stk_example_span value);
// The walk gave a row, whose features are all noted.
void stk_example_layout_end(struct stk_example_layout *l, const struct stk_record *record);
