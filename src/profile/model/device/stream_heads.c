// SPDX-License-Identifier: Apache-2.0
// Heads of streams (stream_heads.h).
#include "profile/model/device/stream_heads.h"

void stk_stream_heads_find(const struct stk_analysis *a, const struct stk_device_line *line,
                           struct stk_stream_head *heads)
{
    for (uint32_t i = 0; i < line->op_count; i++) {
        const struct stk_device_op *op = &line->ops[i];
        struct stk_stream_head *h = &heads[stk_stream_of(a->t, op->event)];
        bool is_linked = stk_launch_of(a, op->event) != STK_NONE;
        h->is_torn |= h->linked && !is_linked && op->start_ns < a->whole_until_ns;
        h->behind_ns = is_linked && !h->linked ? op->start_ns : h->behind_ns;
        h->linked += is_linked;
        if (!h->linked) {
            h->end_ns = h->count && h->end_ns > op->end_ns ? h->end_ns : op->end_ns;
            h->count++;
        }
    }
}
