// SPDX-License-Identifier: Apache-2.0
// Shared by the files that read Arrow's arrays (arrow.h).
#pragma once

#include "engine/formats/arrow.h"

// An array that columns refer to: released with the last of them.
struct stk_arrow_held {
    int refs; // atomic
    struct ArrowArray array;
    struct stk_buf *mapped; // held, or NULL
};

// Elements [first, first + n) of an array, and how rows are in them: row i has those from bounds[i]
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
void stk_arrow_drop_held(void *held); // a reference of it: struct stk_arrow_held
// A buffer over memory of the array, which it holds. NULL: no memory.
struct stk_buf *stk_arrow_buf(struct stk_arrow_taking *t, const void *data, size_t size,
                              bool is_readonly);
enum stoker_status stk_arrow_damage(const struct stk_arrow_taking *t, const char *what);
enum stoker_status stk_arrow_no_memory(const struct stk_arrow_taking *t);
// Is element i of the view null itself?
bool stk_arrow_is_null(const struct stk_arrow_view *v, int64_t i);
bool stk_arrow_may_be_null(const struct stk_arrow_view *v); // any of it
// Element i of the view is null: its row fails, or the leaf has a value for it. False: no memory.
bool stk_arrow_note_null(struct stk_arrow_taking *t, int64_t i);
// The values of the view, which is at the leaf, as `n` scalars. *out holds them.
STK_MUST_CHECK enum stoker_status stk_arrow_values(struct stk_arrow_taking *t, struct stk_col *out);
