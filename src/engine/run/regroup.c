// SPDX-License-Identifier: Apache-2.0
// Puts pieces back in place order, group by group; see regroup.h.
#include "engine/run/regroup.h"

#include "base/alloc.h"
#include "base/assert.h"

struct stk_regroup_held {
    struct stk_piece piece;
    struct stk_regroup_held *next;
};

struct stk_regroup_group {
    uint64_t id;
    int64_t placed; // elements placed, including failed ones
    struct stk_regroup_held *pieces, *last;
    struct stk_regroup_group *next;
};

static struct stk_regroup_group **group_of(struct stk_regroup *g, uint64_t id)
{
    struct stk_regroup_group **at = &g->open;
    while (*at && (*at)->id != id) {
        at = &(*at)->next;
    }
    return at;
}

// Inserts by place; most arrive in order.
static void insert(struct stk_regroup_group *group, struct stk_regroup_held *h)
{
    struct stk_regroup_held **at = &group->pieces;
    if (group->last && group->last->piece.place.first < h->piece.place.first) {
        at = &group->last->next;
    }
    while (*at && (*at)->piece.place.first < h->piece.place.first) {
        at = &(*at)->next;
    }
    h->next = *at;
    *at = h;
    group->last = h->next ? group->last : h;
}

static void give_out(struct stk_regroup *g, struct stk_regroup_group **at)
{
    struct stk_regroup_group *group = *at;
    STK_ASSERT(!g->turn);
    g->turn = group->pieces;
    *at = group->next;
    *group = (struct stk_regroup_group){.next = g->spare_groups};
    g->spare_groups = group;
}

static struct stk_regroup_held *new_held(struct stk_regroup *g)
{
    struct stk_regroup_held *h = g->spare;
    g->spare = h ? h->next : NULL;
    return h ? h : stk_alloc_zero(1, sizeof *h);
}

static void spare(struct stk_regroup *g, struct stk_regroup_held *h)
{
    h->next = g->spare;
    g->spare = h;
}

static struct stk_regroup_group *new_group(struct stk_regroup *g)
{
    struct stk_regroup_group *group = g->spare_groups;
    if (!group) {
        return stk_alloc_zero(1, sizeof *group);
    }
    g->spare_groups = group->next;
    group->next = NULL;
    return group;
}

bool stk_regroup_take(struct stk_regroup *g, struct stk_piece *p)
{
    struct stk_regroup_group **at = group_of(g, p->place.group);
    struct stk_regroup_held *h = new_held(g);
    if (h && !*at) {
        *at = new_group(g);
    }
    if (!h || !*at) {
        if (h) {
            spare(g, h);
        }
        return false;
    }
    struct stk_regroup_group *group = *at;
    group->id = p->place.group;
    group->placed += p->place.count;
    STK_ASSERT(p->place.count > 0 && group->placed <= p->place.of);
    struct stk_block array = h->piece.block;
    h->piece = *p;
    *p = (struct stk_piece){.block = array, .is_done = true, .count = p->count}; // an empty piece
                                                                                 // with the right
                                                                                 // count
    insert(group, h);
    if (group->placed == h->piece.place.of) {
        give_out(g, at);
    }
    return true;
}

struct stk_piece *stk_regroup_turn(struct stk_regroup *g)
{
    return g->turn ? &g->turn->piece : NULL;
}

void stk_regroup_pop(struct stk_regroup *g)
{
    struct stk_regroup_held *h = g->turn;
    g->turn = h->next;
    stk_piece_reset(&h->piece);
    spare(g, h);
}

struct stk_piece *stk_regroup_flush(struct stk_regroup *g)
{
    if (!g->turn && g->open) {
        give_out(g, &g->open);
    }
    return stk_regroup_turn(g);
}

void stk_regroup_free(struct stk_regroup *g)
{
    while (stk_regroup_flush(g)) {
        stk_regroup_pop(g);
    }
    while (g->spare) {
        struct stk_regroup_held *h = new_held(g);
        stk_piece_clear(&h->piece);
        stk_free(h);
    }
    while (g->spare_groups) {
        stk_free(new_group(g));
    }
}
