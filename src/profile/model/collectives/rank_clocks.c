// SPDX-License-Identifier: Apache-2.0
// Clock offsets between ranks (rank_clocks.h): the median, over some collectives spread evenly, of
// how much later than the median rank a rank sees their end. Limits: one offset for the whole
// recording; a drifting clock gets the offset of the middle. Ranks are compared only in collectives
// that all of them take part in.
#include "profile/model/collectives/rank_clocks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/median.h"

bool stk_clocks_begin(struct stk_clocks *c, uint32_t rank_count, size_t meetings)
{
    *c = (struct stk_clocks){.rank_count = rank_count,
                             .every = (uint32_t)(meetings / STK_CLOCK_SAMPLES) + 1};
    c->samples = stk_alloc_array((size_t)rank_count * STK_CLOCK_SAMPLES, sizeof *c->samples);
    return c->samples != NULL;
}

void stk_clocks_see(struct stk_clocks *c, const int64_t *end_ns, int64_t *scratch)
{
    if (c->seen++ % c->every != 0 || c->count == STK_CLOCK_SAMPLES) {
        return;
    }
    memcpy(scratch, end_ns, c->rank_count * sizeof *scratch);
    int64_t typical_ns = stk_median_low(scratch, c->rank_count);
    for (uint32_t r = 0; r < c->rank_count; r++) {
        int64_t *at = &c->samples[(size_t)r * STK_CLOCK_SAMPLES + c->count];
        if (__builtin_sub_overflow(end_ns[r], typical_ns, at)) {
            *at = 0; // no clock is wrong by centuries: damaged times
        }
    }
    c->count++;
}

int64_t *stk_clocks_end(struct stk_clocks *c, struct stk_arena *arena)
{
    int64_t *offsets = stk_arena_array(arena, c->rank_count, sizeof *offsets);
    STK_ASSERT(c->count <= STK_CLOCK_SAMPLES);
    for (uint32_t r = 0; r < c->rank_count && offsets; r++) {
        offsets[r] = c->count ? stk_median_low(&c->samples[(size_t)r * STK_CLOCK_SAMPLES], c->count)
                              : STK_CLOCK_UNKNOWN;
    }
    stk_free(c->samples);
    c->samples = NULL;
    return offsets;
}
