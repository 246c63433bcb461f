// SPDX-License-Identifier: Apache-2.0
// The elements of an interleave with threads: many turns at once if they are cheap to copy, else
// parts of one turn after the other.
#include "engine/transformations/interleave_impl.h"

// Some elements of one dataset. If it isn't the first part, only what is already there.
static enum stoker_status next_part(struct stk_iter *it, int64_t want, bool is_first,
                                    struct stk_block *out, struct stoker_err *err)
{
    struct stk_interleave *p = *(struct stk_interleave **)it->state;
    struct stk_interleave_slot *slot;
    enum stoker_status s = stk_interleave_turn(p, is_first, &slot, err);
    return s == STOKER_OK && slot ? stk_interleave_take(p, slot, want, out, err) : s;
}

enum stoker_status stk_interleave_next(struct stk_interleave *p, int64_t want,
                                       struct stk_block *out, struct stoker_err *err)
{
    struct stk_interleave_slot *slot = NULL;
    enum stoker_status s = p->is_begun ? STOKER_OK : stk_interleave_begin(p, err);
    s = s == STOKER_OK ? stk_interleave_turn(p, true, &slot, err) : s;
    if (s != STOKER_OK || !slot) {
        return s;
    }
    return stk_interleave_is_flat(&slot->pieces[slot->first].block)
               ? stk_interleave_turns(p, slot, want, out, err)
               : stk_parts_collect(&p->parts, p->it, want, out, next_part, err);
}

enum stoker_status stk_interleave_skip(struct stk_interleave *p, int64_t n, int64_t *done,
                                       struct stoker_err *err)
{
    struct stk_block block = {0};
    enum stoker_status s = p->is_begun ? STOKER_OK : stk_interleave_begin(p, err);
    while (s == STOKER_OK && *done < n) {
        stk_block_clear(&block);
        s = next_part(p->it, n - *done, true, &block, err);
        *done += block.n;
        if (block.n == 0) {
            break;
        }
    }
    stk_block_free(&block);
    return s;
}
