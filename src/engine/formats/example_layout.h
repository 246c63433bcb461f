// SPDX-License-Identifier: Apache-2.0
// Layouts of Examples. Records of one file mostly differ only in their values: their lengths, and
// all bytes between the values (tags, lengths, names), match an earlier record's. Such a record
// needs no walk over its fields: the bytes between are compared, and the values are read from known
// places.
//
// A layout records the trace of one walk, so a record that matches gives the same result. A record
// has a layout only if every feature is present, has a fixed length, and is stored in the usual way
// (packed in one run, or one text).
#pragma once

#include "engine/formats/example_impl.h"

#define STK_EXAMPLE_LAYOUTS 4 // kept, by record length: an integer may take a byte more or less
#define STK_EXAMPLE_LAYOUT_STEPS 128
#define STK_EXAMPLE_LAYOUT_FRAMES 2048

struct stk_example_step {
    uint32_t frame, size; // bytes before the value; bytes of the value
    uint32_t feature;     // STK_EXAMPLE_UNKNOWN: not requested
};

struct stk_example_layout {
    size_t size;          // of a record
    uint32_t count, tail; // steps, 0: no layout; bytes after the last value
    uint32_t frame_bytes; // while it is built
    const uint8_t *at;    // while it is built: after the last value
    struct stk_example_step steps[STK_EXAMPLE_LAYOUT_STEPS];
    char frames[STK_EXAMPLE_LAYOUT_FRAMES]; // the bytes between the values, concatenated
};

struct stk_example_layouts {
    struct stk_example_layout items[STK_EXAMPLE_LAYOUTS];
    size_t seen[STK_EXAMPLE_LAYOUTS]; // length of the last record without a layout
    int credit;                       // earned by records that fit, spent on building layouts
};

void stk_example_layouts_init(struct stk_example_layouts *l);
// Reads a record with a known layout into row b->rows. False: it has none; ignore what was written.
bool stk_example_layouts_take(struct stk_example_layouts *l, const struct stk_example_batch *b,
                              const struct stk_record *record);
// The layout in which to note the walk over this record; NULL: not worth it.
struct stk_example_layout *stk_example_layouts_begin(struct stk_example_layouts *l,
                                                     const struct stk_record *record);
// Notes a value, in the order of the walk. False: no room; the layout is given up.
bool stk_example_layout_note(struct stk_example_layout *l, uint32_t feature,
                             struct stk_example_span value);
// The walk succeeded, and all of its features are noted.
void stk_example_layout_end(struct stk_example_layout *l, const struct stk_record *record);
