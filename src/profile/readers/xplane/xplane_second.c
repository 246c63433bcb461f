// SPDX-License-Identifier: Apache-2.0
// Stats that are read a second time (xplane_second.h).
//
// Method: every known writer puts the id first, so one load of eight bytes holds a stat's tag, its
// size and its id, and a table by id says whether it is wanted. What is written otherwise is parsed
// as a whole.
#include "profile/readers/xplane/xplane_second.h"

#include "base/word.h"

#define TAG_STAT_ID (1 << 3 | STK_PB_VARINT)

static enum stk_xp_second second_of_id(const struct stk_xp_plane *plane, int64_t id)
{
    if ((uint64_t)id < plane->stat_ids.dense_count) {
        return (enum stk_xp_second)plane->second_by_id[id];
    }
    uint32_t at = stk_xp_ids_get(&plane->stat_ids, id);
    return at == STK_NONE
               ? STK_XP_SECOND_NONE
               : ((const struct stk_xp_stat_meta *)stk_vec_at(&plane->stat_metas, at))->second;
}

// Passes over stats that are not wanted, as they are usually written.
static const uint8_t *skip(const struct stk_xp_second_walk *w, const uint8_t *p)
{
    const uint8_t *table = w->plane->second_by_id;
    uint64_t known = w->plane->stat_ids.dense_count;
    while (p < w->end && w->readable - p >= 8) {
        uint64_t word = stk_word_load8(p); // its tag, its size, the tag of the id, the id
        uint64_t size = word >> 8 & 0x7f, two = word >> 31 & 1;
        uint64_t id = (word >> 24 & 0x7f) | (two ? word >> 25 & 0x3f80 : 0);
        uint64_t field = word >> 3 & 0xf;
        bool plain = (word & 0xff8087) == (STK_PB_LEN | TAG_STAT_ID << 16) && !(two & word >> 39) &&
                     field != 0 && (w->number == 0 || field == w->number);
        if (!plain || size < 2 + two || id >= known || (w->wanted >> table[id] & 1) ||
            (size_t)(w->end - p) < size + 2) {
            break;
        }
        p += size + 2;
    }
    return p;
}

enum stk_xp_second stk_xp_second_next(struct stk_xp_second_walk *w, struct stk_xp_value *value)
{
    for (w->p = skip(w, w->p); w->p < w->end; w->p = skip(w, w->p)) {
        struct stk_pb_cursor c = {w->p, w->end};
        struct stk_pb_field f;
        int64_t id;
        if (stk_pb_next(&c, &f) != STK_PB_FIELD) {
            w->p = w->end;
            break;
        }
        w->p = c.p;
        if ((w->number && f.number != w->number) || f.wire != STK_PB_LEN ||
            !stk_xp_stat_parse(w->plane, f.data, (size_t)f.value, &id, value)) {
            continue;
        }
        enum stk_xp_second second = second_of_id(w->plane, id);
        if (w->wanted >> second & 1) {
            return second;
        }
    }
    return STK_XP_SECOND_NONE;
}
