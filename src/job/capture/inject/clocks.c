// SPDX-License-Identifier: Apache-2.0
// The profiler's clock against the monotonic one, which all of stoker's records use.
//
// A bearing reads the profiler's clock between two readings of the monotonic one, which bounds the
// difference of the two clocks. While the difference in use is within the
// bounds it is kept, so that durations are exact. Otherwise a new one begins, and times between two
// bearings are interpolated. Bearings are taken when a window opens and closes and at
// each flush, so every record is between two of them. Limit: a clock that jumps (a step of the time
// of day) is a steep line between two bearings, and times in between are off by up to the jump.
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "job/capture/inject/inject.h"

enum { KEPT = 256, TRIES = 9, JUMP_NS = 1000000 };

static struct bearing {
    uint64_t source_ns;
    int64_t difference_ns; // source - monotonic
} kept[KEPT];
static uint32_t count; // since the reset

void stk_clocks_reset(void)
{
    count = 0;
}

static struct bearing *at(uint32_t i)
{
    return &kept[i % KEPT];
}

static void put(uint64_t source_ns, int64_t difference_ns, uint64_t width_ns)
{
    *at(count) = (struct bearing){source_ns, difference_ns};
    count++;
    struct stk_wire_clock c = {.mono_ns = (uint64_t)((int64_t)source_ns - difference_ns),
                               .source_ns = source_ns,
                               .width_ns = width_ns};
    void *room =
        stk_wire_slab_put(&stk_inject.writer, STK_WIRE_CLOCKS, sizeof c, c.mono_ns, c.mono_ns);
    if (room) {
        memcpy(room, &c, sizeof c);
    }
}

void stk_clocks_look(int (*source)(uint64_t *ns))
{
    STK_ASSERT(source);
    uint64_t best_before = 0, best_after = UINT64_MAX, best_source = 0;
    for (int i = 0; i < TRIES; i++) { // keep the tightest of these
        uint64_t ns = 0, before = stk_clock_ns();
        int result = source(&ns);
        uint64_t after = stk_clock_ns();
        if (result == 0 && after - before < best_after - best_before) {
            best_before = before;
            best_after = after;
            best_source = ns;
        }
    }
    if (best_after == UINT64_MAX) {
        return;
    }
    int64_t least = (int64_t)best_source - (int64_t)best_after;
    int64_t most = (int64_t)best_source - (int64_t)best_before;
    int64_t difference = least + (most - least) / 2;
    if (count == 1 &&
        (at(0)->difference_ns > most + JUMP_NS || at(0)->difference_ns < least - JUMP_NS)) {
        count = 0; // CUPTI's clock settles while CUDA initializes: the first bearing was too early
    }
    if (count) {
        int64_t used = at(count - 1)->difference_ns;
        difference = used < least ? least : used > most ? most : used;
    }
    put(best_source, difference, best_after - best_before);
}

uint64_t stk_clocks_mono(uint64_t source_ns)
{
    if (count == 0) {
        return source_ns;
    }
    uint32_t oldest = count > KEPT ? count - KEPT : 0, i = count - 1;
    while (i > oldest && at(i)->source_ns > source_ns) {
        i--;
    }
    const struct bearing *a = at(i), *b = at(i + 1);
    int64_t difference = a->difference_ns;
    if (i + 1 < count && source_ns > a->source_ns && b->source_ns > a->source_ns &&
        b->difference_ns != a->difference_ns) {
        double part = (double)(source_ns - a->source_ns) / (double)(b->source_ns - a->source_ns);
        difference += (int64_t)(part * (double)(b->difference_ns - a->difference_ns));
    }
    return (uint64_t)((int64_t)source_ns - difference);
}
