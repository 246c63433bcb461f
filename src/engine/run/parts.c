// SPDX-License-Identifier: Apache-2.0
// Joins small blocks; see parts.h.
#include "engine/run/parts.h"

enum stoker_status
stk_parts_collect(struct stk_parts *p, struct stk_iter *it, int64_t want, struct stk_block *out,
                  enum stoker_status (*next)(struct stk_iter *it, int64_t want, bool is_first,
                                             struct stk_block *out, struct stoker_err *err),
                  struct stoker_err *err)
{
    const struct stk_block *list[STK_PARTS];
    enum stoker_status s = next(it, want, true, out, err);
    if (s != STOKER_OK || out->n == 0 || out->n == want) {
        return s;
    }
    stk_block_move(&p->parts[0], out);
    list[0] = &p->parts[0];
    int64_t n = p->parts[0].n;
    int count = 1;
    while (s == STOKER_OK && count < STK_PARTS && n < want) {
        struct stk_block *part = &p->parts[count];
        stk_block_clear(part);
        s = next(it, want - n, false, part, err);
        if (s != STOKER_OK || part->n == 0) {
            break;
        }
        n += part->n;
        list[count++] = part;
    }
    if (count == 1) {
        stk_block_move(out, &p->parts[0]);
    } else if (!stk_block_concat(out, it->run->pool, list, count)) {
        s = stk_stage_no_memory(it, err);
    }
    for (int i = 0; i < count; i++) {
        stk_block_clear(&p->parts[i]);
    }
    return s;
}

void stk_parts_free(struct stk_parts *p)
{
    for (int i = 0; i < STK_PARTS; i++) {
        stk_block_free(&p->parts[i]);
    }
}
