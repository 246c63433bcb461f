// SPDX-License-Identifier: Apache-2.0
// Collects elements until there are enough; see held.h.
#include "engine/run/held.h"

#include "base/assert.h"
#include "engine/run/holders.h"
#include "engine/run/pull.h"

void stk_held_init(struct stk_held *h)
{
    stk_blocks_init(&h->parts, SIZE_MAX / sizeof(struct stk_block));
}

static uint64_t held_bytes(const struct stk_held *h)
{
    uint64_t bytes = stk_block_bytes(&h->block);
    for (size_t i = 0; i < h->parts.list.count; i++) {
        bytes += stk_block_bytes(stk_vec_at(&h->parts.list, i));
    }
    return bytes;
}

enum stoker_status stk_held_fill(struct stk_held *h, struct stk_iter *it, int64_t least,
                                 int64_t most, struct stoker_err *err)
{
    struct stk_blocks *parts = &h->parts;
    enum stoker_status s = STOKER_OK;
    bool ok = true;
    while (ok && !h->at_end && h->block.n + parts->n < least) {
        s = stk_iter_next(it->in[0], most - h->block.n - parts->n, &h->more, err);
        h->at_end = s == STOKER_OK && h->more.n == 0;
        if (s != STOKER_OK || h->at_end) {
            break;
        }
        if (h->block.n + parts->n == 0) {
            stk_block_move(&h->block, &h->more);
        } else {
            ok = (parts->n > 0 || stk_blocks_add(parts, &h->block)) &&
                 stk_blocks_add(parts, &h->more);
        }
    }
    stk_block_clear(&h->more);
    if (s == STOKER_OK && ok && parts->n > 0) {
        ok = stk_blocks_join(parts, it->run->pool, &h->block);
    }
    if (s == STOKER_ELIMIT || s == STOKER_ENOMEM || !ok) {
        stk_holders_note(it, held_bytes(h));
    }
    if (s != STOKER_OK || !ok) { // the bad element's batch is lost with it
        stk_block_clear(&h->block);
        stk_blocks_clear(parts);
    }
    return ok ? s : stk_stage_no_memory(it, err);
}

bool stk_held_drop(struct stk_held *h, int64_t n)
{
    STK_ASSERT(n >= 0 && n <= h->block.n);
    if (!stk_block_slice(&h->rest, &h->block, n, h->block.n - n)) {
        return false;
    }
    stk_block_move(&h->block, &h->rest);
    stk_block_clear(&h->rest);
    return true;
}

void stk_held_free(struct stk_held *h)
{
    stk_block_free(&h->block);
    stk_block_free(&h->more);
    stk_block_free(&h->rest);
    stk_blocks_free(&h->parts);
}
