// SPDX-License-Identifier: Apache-2.0
// Joins a block from small ones, for stages that take a few elements from each of many places.
#pragma once

#include "engine/run/iter.h"

#define STK_PARTS 64

struct stk_parts {
    struct stk_block parts[STK_PARTS];
};

// Calls `next` for parts until there are `want` elements, or it returns none or an error, or the
// parts are used up; then joins them. Like an iterator's next.
STK_MUST_CHECK enum stoker_status
stk_parts_collect(struct stk_parts *p, struct stk_iter *it, int64_t want, struct stk_block *out,
                  enum stoker_status (*next)(struct stk_iter *it, int64_t want, bool is_first,
                                             struct stk_block *out, struct stoker_err *err),
                  struct stoker_err *err);
void stk_parts_free(struct stk_parts *p);
