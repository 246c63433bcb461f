// SPDX-License-Identifier: Apache-2.0
// Stats that are read a second time (xplane_second.h).
//
// Method: every known writer puts the id first, so one load of eight bytes holds a stat's tag, its
// size and its id, and a table by id shows whether it is wanted. Stats in another form are parsed
// completely.
#include "profile/readers/xplane/xplane_second.h"

#include "base/word.h"

#define TAG_STAT_ID (1 << 3 | STK_PB_VARINT)
#define TAG_STAT_U64 (3 << 3 | STK_PB_VARINT)
#define TAG_STAT_I64 (4 << 3 | STK_PB_VARINT)
#define TAG_STAT_REF (7 << 3 | STK_PB_VARINT)

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

// A stat in the usual form.
struct usual {
    const uint8_t *value, *end; // the field after the id; end NULL: another form
    enum stk_xp_second second;
};

static inline struct usual usual_at(const struct stk_xp_second_walk *w, const uint8_t *p)
{
    struct usual none = {NULL, NULL, STK_XP_SECOND_NONE};
    if (p >= w->end || w->readable - p < 8) {
        return none;
    }
    uint64_t word = stk_word_load8(p); // its tag, its size, the tag of the id, the id
    uint64_t size = word >> 8 & 0x7f, two = word >> 31 & 1;
    uint64_t id = (word >> 24 & 0x7f) | (two ? word >> 25 & 0x3f80 : 0);
    uint64_t field = word >> 3 & 0xf;
    bool plain = (word & 0xff8087) == (STK_PB_LEN | TAG_STAT_ID << 16) && !(two & word >> 39) &&
                 field != 0 && (w->number == 0 || field == w->number);
    if (!plain || size < 2 + two || id >= w->plane->stat_ids.dense_count ||
        (size_t)(w->end - p) < size + 2) {
        return none;
    }
    return (struct usual){p + 4 + two, p + 2 + size,
                          (enum stk_xp_second)w->plane->second_by_id[id]};
}

// The value of an integer stat, or of one that refers to a text. False: it is neither.
static inline bool value_of(const struct stk_xp_plane *plane, const struct usual *u,
                            struct stk_xp_value *value)
{
    uint64_t bits;
    struct stk_pb_cursor c = {u->value + 1, u->end};
    uint8_t tag = u->value < u->end ? *u->value : 0;
    if ((tag != TAG_STAT_U64 && tag != TAG_STAT_I64 && tag != TAG_STAT_REF) ||
        stk_pb_varint(&c, &bits) != STK_PB_FIELD || c.p != u->end) {
        return false;
    }
    if (tag != TAG_STAT_REF) {
        *value = (struct stk_xp_value){.type = tag == TAG_STAT_U64 ? STK_XP_U64 : STK_XP_I64,
                                       .bits = bits};
        return true;
    }
    uint32_t at = stk_xp_ids_get(&plane->stat_ids, (int64_t)bits);
    const struct stk_xp_stat_meta *m = at == STK_NONE ? NULL : stk_vec_at(&plane->stat_metas, at);
    *value = (struct stk_xp_value){.type = STK_XP_REF, .text = m ? m->name : STK_STR("")};
    return true;
}

// The next wanted stat, if it and all before it are in the usual form; else w->p is at the first
// one that isn't.
static enum stk_xp_second next_usual(struct stk_xp_second_walk *w, struct stk_xp_value *value)
{
    struct usual u;
    while ((u = usual_at(w, w->p)).end) {
        if (w->wanted >> u.second & 1) {
            if (!value_of(w->plane, &u, value)) {
                break;
            }
            w->p = u.end;
            return u.second;
        }
        w->p = u.end;
    }
    return STK_XP_SECOND_NONE;
}

enum stk_xp_second stk_xp_second_next(struct stk_xp_second_walk *w, struct stk_xp_value *value)
{
    enum stk_xp_second found;
    while ((found = next_usual(w, value)) == STK_XP_SECOND_NONE && w->p < w->end) {
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
    return found;
}
