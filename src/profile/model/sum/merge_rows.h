// SPDX-License-Identifier: Apache-2.0
// Merging structs whose members are rows of a table of sums (profile/model/summed.def): the
// operators, and a function per struct. Merging is associative, so ranks may be merged in groups
// and then the groups, in rank order; summed.def lists the operators that don't depend on the
// order.
//
// Limits: a sum of times saturates at INT64_MAX; sums of counts have 64 bits and don't saturate.
#pragma once

#include "profile/model/intervals.h"
#include "profile/model/summary.h"

// The merge of a's member and b's. A double is never NaN: MAX and MIN rely on it.
#define STK_MERGE_SUM(a, b) ((a) + (b))
#define STK_MERGE_TIME(a, b) stk_add_ns(a, b)
#define STK_MERGE_MAX(a, b) ((b) > (a) ? (b) : (a))
#define STK_MERGE_MIN(a, b) ((b) < (a) ? (b) : (a))
#define STK_MERGE_OR(a, b) ((a) | (b))
#define STK_MERGE_AND(a, b) ((a) & (b))
#define STK_MERGE_FIRST(a, b) ((a) ? (a) : (b))
// Does b's member win, so that its followers are b's? If they are equal, a's stays.
#define STK_TAKES_MAX(a, b) ((b) > (a))
#define STK_TAKES_FIRST(a, b) (!(a) && (b))

// The statements of a row, in a function with a and b, pointers to structs with these members.
#define STK_MERGE_MEMBER(operator, type, name) a->name = STK_MERGE_##operator(a->name, b->name);
#define STK_MERGE_FOLLOW(type, name, operator, leader)                                             \
    a->name = STK_TAKES_##operator(a->leader, b->leader) ? b->name : a->name;

// Merges `b` into `a`, for each struct of summed.def: stk_facts_merge and others.
#define BEGIN(tag) void tag##_merge(struct tag *a, const struct tag *b);
#define END(tag)
#define MEMBER(operator, type, name)
#define ARRAY(operator, type, name, count)
#define FOLLOW(type, name, operator, leader)
#define FOLLOWS(type, name, count, operator, leader)
#define STRUCT(tag, name)
#define STRUCTS(tag, name, count)
#define LIST(tag, name, count)
#include "profile/model/summed.def"
#undef BEGIN
#undef END
#undef MEMBER
#undef ARRAY
#undef FOLLOW
#undef FOLLOWS
#undef STRUCT
#undef STRUCTS
#undef LIST

// The longer one; if equal, a.
void stk_example_merge(struct stk_example *a, const struct stk_example *b);
// The list whose first function was compiled again more often; if equal, a's.
void stk_recompiled_merge(struct stk_recompiled *a, const struct stk_recompiled *b);
