// SPDX-License-Identifier: Apache-2.0
// The events of a track in another order: column by column, through a worker's own memory.
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/store/build_order.h"

void *stk_order_buffer(struct stk_order_scratch *x, int which, size_t n, size_t size)
{
    STK_ASSERT(size > 0);
    size_t want;
    if (__builtin_mul_overflow(n ? n : 1, size, &want)) {
        return NULL;
    }
    if (want <= x->buffers[which].size) {
        return x->buffers[which].p;
    }
    stk_free(x->buffers[which].p);
    x->buffers[which].p = stk_alloc(want);
    x->buffers[which].size = x->buffers[which].p ? want : 0;
    return x->buffers[which].p;
}

void stk_order_scratch_free(struct stk_order_scratch *x)
{
    for (size_t i = 0; i < sizeof x->buffers / sizeof *x->buffers; i++) {
        stk_free(x->buffers[i].p);
    }
}

#define DEFINE_GATHER(type)                                                                        \
    static void gather_##type(type *column, uint32_t n, const uint32_t *order, type *temp)         \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++)                                                           \
            temp[i] = column[order[i]];                                                            \
        memcpy(column, temp, n * sizeof *column);                                                  \
    }
DEFINE_GATHER(int64_t)
DEFINE_GATHER(uint32_t)
DEFINE_GATHER(uint8_t)

// The track's long durations follow its events: a part of long_durs that no other track touches.
static bool permute_longs(struct stk_trace *t, uint32_t first, uint32_t n, const uint32_t *order,
                          struct stk_order_scratch *x)
{
    uint32_t longs = x->long_to - x->long_from, at = 0;
    if (longs == 0) {
        return true;
    }
    struct stk_long_dur *temp = stk_order_buffer(x, 2, longs, sizeof *temp);
    if (!temp) {
        return false;
    }
    for (uint32_t i = 0; i < n && at < longs; i++) {
        if (t->dur_low[first + order[i]] == UINT32_MAX) {
            temp[at++] = (struct stk_long_dur){first + i, stk_order_dur(t, x, first + order[i])};
        }
    }
    memcpy(t->long_durs + x->long_from, temp, at * sizeof *temp);
    return true;
}

bool stk_track_permute(struct stk_trace *t, uint32_t first, uint32_t n, const uint32_t *order,
                       bool depth_too, struct stk_order_scratch *x)
{
    void *temp = stk_order_buffer(x, 1, n, sizeof(int64_t));
    if (!temp || !permute_longs(t, first, n, order, x)) {
        return false;
    }
    gather_int64_t(t->start_ns + first, n, order, temp);
    gather_uint32_t(t->dur_low + first, n, order, temp);
    gather_uint32_t(t->name + first, n, order, temp);
    gather_uint32_t(t->ref + first, n, order, temp);
    gather_uint32_t(t->pos_low + first, n, order, temp);
    gather_uint8_t(t->pos_high + first, n, order, temp);
    gather_uint8_t(t->kind + first, n, order, temp);
    if (depth_too) {
        gather_uint8_t(t->depth + first, n, order, temp);
    }
    return true;
}
