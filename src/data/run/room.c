// SPDX-License-Identifier: Apache-2.0
// The room of a ring that AUTOTUNE sizes; see room.h.
#include "data/run/room.h"

static int patience(const struct stk_room *s)
{
    int looks = STK_ROOM_LOOKS;
    for (int i = 1; i < s->growths && looks < STK_ROOM_LOOKS_MAX; i++) {
        looks *= 2;
    }
    return looks;
}

int stk_room_choose(struct stk_room *s, const struct stk_ring_marks *m, bool has_memory)
{
    s->idle_looks = m->low > (uint32_t)m->room / 2 ? s->idle_looks + 1 : 0;
    if (m->is_drained && has_memory && m->room < STK_ROOM_MAX) {
        s->growths++;
        s->idle_looks = 0;
        return 2 * m->room < STK_ROOM_MAX ? 2 * m->room : STK_ROOM_MAX;
    }
    if (s->idle_looks >= patience(s) && m->room > STK_ROOM_MIN) {
        s->idle_looks = 0;
        int less = m->room * 3 / 4;
        return less > STK_ROOM_MIN ? less : STK_ROOM_MIN;
    }
    return m->room;
}
