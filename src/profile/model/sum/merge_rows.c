// SPDX-License-Identifier: Apache-2.0
// The merge function of each struct of summed.def, generated from its rows; see merge_rows.h.
#include "profile/model/sum/merge_rows.h"

#include <stddef.h>
#include <string.h>

void stk_example_merge(struct stk_example *a, const struct stk_example *b)
{
    *a = b->name && (!a->name || b->dur_ns > a->dur_ns) ? *b : *a;
}

void stk_recompiled_merge(struct stk_recompiled *a, const struct stk_recompiled *b)
{
    if (b->name && (!a->name || b->later > a->later)) {
        memcpy(a, b, STK_RECOMPILED * sizeof *a);
    }
}

// A row must be above its leader: if the leader were merged first, b's value would never be taken.
#define BEFORE(name, leader)                                                                       \
    _Static_assert(__builtin_offsetof(__typeof__(*a), name) <                                      \
                       __builtin_offsetof(__typeof__(*a), leader),                                 \
                   #name " must stand above " #leader);
#define EACH(count, statement)                                                                     \
    for (size_t i = 0; i < (size_t)(count); i++) {                                                 \
        statement                                                                                  \
    }

#define BEGIN(tag)                                                                                 \
    void tag##_merge(struct tag *a, const struct tag *b)                                           \
    {
#define END(tag) }
#define MEMBER STK_MERGE_MEMBER
#define ARRAY(operator, type, name, count) EACH(count, STK_MERGE_MEMBER(operator, type, name[i]))
#define FOLLOW(type, name, operator, leader)                                                       \
    BEFORE(name, leader) STK_MERGE_FOLLOW(type, name, operator, leader)
#define FOLLOWS(type, name, count, operator, leader)                                               \
    BEFORE(name, leader) EACH(count, STK_MERGE_FOLLOW(type, name[i], operator, leader[i]))
#define STRUCT(tag, name) tag##_merge(&a->name, &b->name);
#define STRUCTS(tag, name, count) EACH(count, STRUCT(tag, name[i]))
#define LIST(tag, name, count) tag##_merge(a->name, b->name);
#include "profile/model/summed.def"
