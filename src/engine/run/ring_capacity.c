// SPDX-License-Identifier: Apache-2.0
// The capacity of a ring that AUTOTUNE sizes; see ring_capacity.h.
#include "engine/run/ring_capacity.h"

#include "base/assert.h"

static int looks_before_less(const struct stk_ring_capacity *s)
{
    int looks = STK_RING_CAPACITY_LOOKS;
    for (int i = 1; i < s->growths && looks < STK_RING_CAPACITY_LOOKS_MAX; i++) {
        looks *= 2;
    }
    return looks;
}

int stk_ring_capacity_choose(struct stk_ring_capacity *s, const struct stk_ring_marks *m,
                             bool has_memory)
{
    STK_ASSERT(m->capacity > 0 && m->low <= (uint32_t)m->capacity);
    s->idle_looks = m->low > (uint32_t)m->capacity / 2 ? s->idle_looks + 1 : 0;
    if (m->is_drained && has_memory && m->capacity < STK_RING_CAPACITY_MAX) {
        s->growths++;
        s->idle_looks = 0;
        return 2 * m->capacity < STK_RING_CAPACITY_MAX ? 2 * m->capacity : STK_RING_CAPACITY_MAX;
    }
    if (s->idle_looks >= looks_before_less(s) && m->capacity > STK_RING_CAPACITY_MIN) {
        s->idle_looks = 0;
        int less = m->capacity * 3 / 4;
        return less > STK_RING_CAPACITY_MIN ? less : STK_RING_CAPACITY_MIN;
    }
    return m->capacity;
}
