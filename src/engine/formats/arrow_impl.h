// SPDX-License-Identifier: Apache-2.0
// Shared by the files that read Arrow's arrays (arrow.h).
#pragma once

#include "engine/formats/arrow.h"

// An array that columns point into; released with the last of them.
struct stk_arrow_held {
    int refs; // atomic
    struct ArrowArray array;
    struct stk_buf *mapped; // held, or NULL
};

// Elements [first, first + n) of an array, and how they form rows: row i has those from bounds[i]
// to bounds[i + 1], counted from `first`; without bounds, one each.
struct stk_arrow_view {
    const struct ArrowSchema *schema;
    const struct ArrowArray *array;
    int64_t first, n, rows;
    int64_t *bounds;    // rows + 1; owned
    uint8_t *is_hidden; // n: 1 where a struct or list around the element is null; owned; or NULL
};

struct stk_arrow_taking {
    const struct stk_arrow_import *from;
    struct stk_arrow_held *held;
    int leaf; // which
    struct stk_arrow_view view;
    struct stk_arrow_rows *out;
    struct stoker_err *err;
};

static inline const struct stk_arrow_leaf *stk_arrow_leaf_of(const struct stk_arrow_taking *t)
{
    return &t->from->leaves[t->leaf];
}
void stk_arrow_drop_held(void *held); // drops a reference to a struct stk_arrow_held
// A buffer over the array's memory that keeps it alive. NULL: no memory.
struct stk_buf *stk_arrow_buf(struct stk_arrow_taking *t, const void *data, size_t size,
                              bool is_readonly);
enum stoker_status stk_arrow_damage(const struct stk_arrow_taking *t, const char *what);
enum stoker_status stk_arrow_no_memory(const struct stk_arrow_taking *t);
// Is element i of the view itself null?
bool stk_arrow_is_null(const struct stk_arrow_view *v, int64_t i);
bool stk_arrow_may_be_null(const struct stk_arrow_view *v); // May any element be null?
// Handles a null at element i of the view: its row fails unless the leaf has a fill value. False:
// no memory.
bool stk_arrow_note_null(struct stk_arrow_taking *t, int64_t i);
// Converts the view, now at the leaf, to `n` scalars in *out.
STK_MUST_CHECK enum stoker_status stk_arrow_values(struct stk_arrow_taking *t, struct stk_col *out);
