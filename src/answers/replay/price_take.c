// SPDX-License-Identifier: Apache-2.0
// Taking prices (price_take.h).
#include "answers/replay/price_take.h"

#include <string.h>

#include "answers/replay/price_replay.h"
#include "fixes/fixes.h"

// Levels of an input wait that no fix has.
static const char *const levels[] = {STK_PRICE_INPUT_HALF, STK_PRICE_INPUT_EIGHTH};
#define LEVELS (sizeof levels / sizeof levels[0])

bool stk_price_is_taken(const char *text)
{
    bool is = false;
    for (size_t i = 0; i < LEVELS; i++) {
        is |= strcmp(levels[i], text) == 0;
    }
    for (int i = 0; i < stk_fix_row_count; i++) {
        const char *price = stk_fix_rows[i].price;
        is |= price && strcmp(price, text) == 0;
    }
    return is;
}

// Replays the steps with a fix, or without, at the levels of `ask`. False: no memory.
static bool take(struct stk_rooms *rooms, const struct stk_graph *g, const struct stk_ask *ask,
                 struct stk_taken_step out[STK_PRICE_LEVELS])
{
    struct stk_outcome o[STK_PRICE_LEVELS];
    bool ok = stk_price_replay(rooms, g, ask, o);
    for (int level = 0; ok && level < STK_PRICE_LEVELS; level++) {
        out[level] = o[level].step;
    }
    return ok;
}

// `like`: the prices with collectives while those without are taken, or NULL.
static bool take_base(struct stk_rooms *rooms, const struct stk_graph *g,
                      const struct stk_taken *like, struct stk_taken *t)
{
    struct stk_taken_step step[STK_PRICE_LEVELS] = {0};
    struct stk_ask ask = {
        .which = STK_ASK_RECORDED, .at = {[STK_PRICE_EXPECTED] = true}, .is_bare = like != NULL};
    bool ok = take(rooms, g, &ask, step);
    t->recorded = step[STK_PRICE_EXPECTED];
    ask.which = STK_ASK_BEFORE;
    ok = ok && take(rooms, g, &ask, step);
    t->unprofiled = step[STK_PRICE_EXPECTED];
    ask =
        (struct stk_ask){.which = STK_ASK_AFTER, .at = {true, true, true}, .is_bare = like != NULL};
    return ok && take(rooms, g, &ask, t->untouched);
}

static bool take_fix(struct stk_rooms *rooms, const struct stk_graph *g, const char *text,
                     const struct stk_taken *like, struct stk_taken *t)
{
    struct stk_price_asked set;
    struct stoker_err ignored;
    struct stk_taken_price *price = &t->prices[t->price_count];
    stk_err_init(&ignored);
    if (stk_price_parse(text, &set, &ignored) != STOKER_OK) {
        return true;
    }
    struct stk_ask ask = {.set = &set,
                          .count = 1,
                          .which = STK_ASK_AFTER,
                          .at = {!like, true, !like},
                          .is_bare = like != NULL,
                          .applies = true};
    bool is_open = set.fix->needs_peers; // known once all ranks are here
    *price = (struct stk_taken_price){.text = text};
    price->refused = like      ? stk_taken_find(like, text)->refused
                     : is_open ? NULL
                               : stk_price_refuse_in(g, &set);
    t->price_count++;
    bool ok = price->refused || take(rooms, g, &ask, price->after);
    ask.which = STK_ASK_BEFORE;
    ask.at[STK_PRICE_LOW] = ask.at[STK_PRICE_HIGH] = true;
    ask.at[STK_PRICE_EXPECTED] = false;
    return ok && (!set.fix->vary || take(rooms, g, &ask, price->before));
}

// All prices that a diagnosis may need: a finding states that of its first fix, which may be any
// fix.
static bool take_fixes(struct stk_rooms *rooms, const struct stk_graph *g,
                       const struct stk_taken *like, struct stk_taken *t)
{
    bool ok = true;
    for (int i = 0; ok && i < stk_fix_row_count; i++) {
        const char *text = stk_fix_rows[i].price;
        if (text && !stk_taken_find(t, text)) {
            ok = take_fix(rooms, g, text, like, t);
        }
    }
    for (size_t i = 0; ok && i < LEVELS; i++) {
        ok = take_fix(rooms, g, levels[i], like, t);
    }
    return ok;
}

static struct stk_taken *take_all(struct stk_rooms *rooms, const struct stk_graph *g,
                                  const struct stk_taken *like, struct stk_arena *arena)
{
    const size_t most = (size_t)stk_fix_row_count + LEVELS;
    struct stk_taken *t = stk_arena_alloc(arena, sizeof *t);
    if (!t || !(t->prices = stk_arena_array(arena, most, sizeof *t->prices))) {
        return NULL;
    }
    return take_base(rooms, g, like, t) && take_fixes(rooms, g, like, t) ? t : NULL;
}

static struct stk_taken *take_open(struct stk_graph *g, struct stk_arena *arena)
{
    const struct stk_graph *const graphs[] = {g};
    struct stk_rooms *rooms = stk_rooms_new(graphs, 1);
    bool has_collectives = stk_price_finds(g, STK_NODE_COLLECTIVE, -1);
    struct stk_taken *t = rooms ? take_all(rooms, g, NULL, arena) : NULL;
    if (t && has_collectives) {
        t->bare = take_all(rooms, g, t, arena);
        t = t->bare ? t : NULL;
    }
    stk_rooms_free(rooms);
    return t;
}

bool stk_prices_take(struct stk_graph *g, struct stk_arena *arena)
{
    struct stk_gate gate;
    if (!stk_gate_check(g, &gate)) {
        return false;
    }
    struct stk_taken *t = gate.ok ? take_open(g, arena) : stk_arena_alloc(arena, sizeof *t);
    if (t) {
        t->gate = gate;
    }
    g->taken = t;
    return t != NULL;
}
