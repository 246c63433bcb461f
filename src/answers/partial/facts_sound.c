// SPDX-License-Identifier: Apache-2.0
// Checks the facts of a rank that were read from a partial: what merging and the rules rely on.
// The functions are made of the rows of summed.def: a time is not negative, and a count has the
// bound that times have. Texts that belong together are there together.
#include "answers/partial/code_rank.h"

static bool is_count(uint64_t v)
{
    return v <= STK_CODE_NUMBER_MOST;
}

static bool is_example_sound(const struct stk_example *x)
{
    return x->dur_ns >= 0;
}

static bool is_recompiled_sound(const struct stk_recompiled *x)
{
    bool ok = x->ns >= 0 && (x->changed_count == 0 || x->changed[0].name);
    for (int i = 0; i < STK_CHANGED; i++) {
        const struct stk_changed *c = &x->changed[i];
        ok &= !c->name || (c->type_count > 0 && c->types[0]);
    }
    return ok;
}

#define is_sound_stk_example is_example_sound
#define is_sound_stk_recompiled is_recompiled_sound
#define BEGIN(tag)                                                                                 \
    static bool is_sound_##tag(const struct tag *x)                                                \
    {                                                                                              \
        bool ok = true;
#define END(tag)                                                                                   \
    return ok;                                                                                     \
    }
#define IS_AND(v) true
#define IS_FIRST(v) true
#define IS_MAX(v) true
#define IS_MIN(v) true
#define IS_OR(v) true
#define IS_SUM is_count
#define IS_TIME(v) ((v) >= 0)
#define MEMBER(operator, type, name) ok &= IS_##operator(x->name);
#define ARRAY(operator, type, name, count)                                                         \
    for (size_t i = 0; i < (size_t)(count); i++) {                                                 \
        ok &= IS_##operator(x->name[i]);                                                           \
    }
#define FOLLOW(type, name, operator, leader)
#define FOLLOWS(type, name, count, operator, leader)
#define STRUCT(tag, name) ok &= is_sound_##tag(&x->name);
#define STRUCTS(tag, name, count)                                                                  \
    for (size_t i = 0; i < (size_t)(count); i++) {                                                 \
        ok &= is_sound_##tag(&x->name[i]);                                                         \
    }
#define LIST(tag, name, count) STRUCTS(tag, name, count)
#include "profile/model/summed.def"

bool stk_facts_are_sound(const struct stk_facts *facts)
{
    bool ok = is_sound_stk_facts(facts);
    for (int i = 0; i < STK_TOLD_PLACES; i++) {
        ok &= facts->told_permille[i] <= 1000;
    }
    return ok;
}

bool stk_workers_are_sound(const struct stk_worker_sum *workers)
{
    return is_sound_stk_worker_sum(workers);
}
