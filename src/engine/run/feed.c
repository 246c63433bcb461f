// SPDX-License-Identifier: Apache-2.0
// Reads inputs block by block through a block of the reader's own; see feed.h.
#include "engine/run/feed.h"

#include "base/assert.h"

enum stoker_status stk_feed_fill(struct stk_feed *f, struct stk_iter *from, int64_t want,
                                 struct stoker_err *err)
{
    if (stk_feed_left(f) > 0 || f->at_end) {
        return STOKER_OK;
    }
    STK_ASSERT(f->used >= 0 && f->used <= f->block.n);
    f->used = 0;
    enum stoker_status s = stk_iter_next(from, want, &f->block, err);
    f->at_end = s == STOKER_OK && f->block.n == 0;
    return s;
}

enum stoker_status stk_feed_take(struct stk_feed *f, int64_t n, struct stk_block *out,
                                 struct stoker_err *err)
{
    int64_t left = stk_feed_left(f);
    STK_ASSERT(n >= 0 && left >= 0);
    n = n < left ? n : left;
    if (f->used == 0 && n == f->block.n) {
        stk_block_move(out, &f->block);
        stk_block_clear(&f->block);
        return STOKER_OK;
    }
    if (!stk_block_slice(out, &f->block, f->used, n)) {
        return stk_err_nomem(err);
    }
    f->used += n;
    return STOKER_OK;
}

enum stoker_status stk_feed_skip(struct stk_feed *f, struct stk_iter *from, int64_t n,
                                 int64_t *done, struct stoker_err *err)
{
    int64_t left = stk_feed_left(f), held = n < left ? n : left, more = 0;
    enum stoker_status s = STOKER_OK;
    STK_ASSERT(n >= 0 && held >= 0);
    f->used += held;
    if (n > held && !f->at_end) {
        s = stk_iter_skip(from, n - held, &more, err);
        f->at_end = s == STOKER_OK && more < n - held;
    }
    *done = held + more;
    return s;
}

void stk_feed_free(struct stk_feed *f)
{
    stk_block_free(&f->block);
}
