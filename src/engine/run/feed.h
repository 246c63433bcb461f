// SPDX-License-Identifier: Apache-2.0
// Reads an input through a block of its own, for stages whose blocks have other sizes than the
// input's, or that look at elements before they pass them on.
#pragma once

#include "engine/run/pull.h"

struct stk_feed {
    struct stk_block block;
    int64_t used; // elements of the block already taken
    bool at_end;
};

static inline int64_t stk_feed_left(const struct stk_feed *f)
{
    return f->block.n - f->used;
}
// Reads at least one element if none is left; none afterwards: the end. An error stands for the
// next element and consumes it.
STK_MUST_CHECK enum stoker_status stk_feed_fill(struct stk_feed *f, struct stk_iter *from,
                                                int64_t want, struct stoker_err *err);
// Takes up to n of the remaining elements, shared. STOKER_ENOMEM: nothing was taken.
STK_MUST_CHECK enum stoker_status stk_feed_take(struct stk_feed *f, int64_t n,
                                                struct stk_block *out, struct stoker_err *err);
// Skips n elements, buffered ones first. Like stk_iter_skip.
STK_MUST_CHECK enum stoker_status stk_feed_skip(struct stk_feed *f, struct stk_iter *from,
                                                int64_t n, int64_t *done, struct stoker_err *err);
void stk_feed_free(struct stk_feed *f);
