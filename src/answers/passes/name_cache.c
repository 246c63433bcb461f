// SPDX-License-Identifier: Apache-2.0
// Names of a trace as C strings; see name_cache.h.
#include "answers/passes/name_cache.h"

#include "base/alloc.h"
#include "base/assert.h"

bool stk_name_cache_init(struct stk_name_cache *c, const struct stk_trace *t,
                         struct stk_arena *arena)
{
    c->text = stk_alloc_zero((size_t)t->strings.count + 1, sizeof *c->text);
    c->t = t;
    c->arena = arena;
    return c->text != NULL;
}

void stk_name_cache_deinit(struct stk_name_cache *c)
{
    stk_free(c->text);
}

const char *stk_name_cache_get(struct stk_name_cache *c, uint32_t id)
{
    STK_ASSERT(id < c->t->strings.count);
    if (!c->text[id]) {
        struct stk_str s = stk_strpool_get(&c->t->strings, id);
        c->text[id] = stk_arena_strndup(c->arena, s.p, s.n);
    }
    return c->text[id];
}
