// SPDX-License-Identifier: Apache-2.0
// Rows as structs; see rows.h. For headers of documents: no guard, since each includes it.
#include "results/rows.h"

// clang-format off
#define OPEN(name) extern const struct stk_struct_info stk_##name##_info; struct stk_##name {
#define CLOSE };
#define FLAG(...) bool __VA_ARGS__;
#define BESIDE(...) __VA_ARGS__;
#define F(kind, member, doc) STK_HOLD_##kind member;
#define IF(kind, member, flag, doc) STK_HOLD_##kind member;
#define IF_SET(kind, member, doc) STK_HOLD_##kind member;
#define ONE_OF(member, choices, doc) const char *member;
#define WORD(type, member, choices, doc) type member;
#define MAYBE(member, doc) const char *member;
#define MAYBE_OF(member, choices, doc) const char *member;
#define MAYBE_WORD(type, member, choices, doc) type member;
#define HERE(member, size, doc) char member[size];
#define OR_NULL(kind, member, flag, doc) STK_HOLD_##kind member;
#define TEXT_OR_NULL(member, doc) const char *member;
#define OBJECT(member, sub, doc) struct stk_##sub member;
#define OBJECT_IF(member, sub, flag, doc) struct stk_##sub member;
#define INTERVAL(member, info, doc) struct stk_interval member;
#define INTERVAL_IF(member, info, flag, doc) struct stk_interval member;
#define LIST(member, sub, doc) struct stk_list member;
#define LIST_IF(member, sub, flag, doc) struct stk_list member;
#define LEFT_OUT(key, list, doc)
#define LEFT_OUT_IF(key, list, flag, doc)
#define TUPLES(member, sub, doc) struct stk_list member;
#define MERGED(member, sub, doc) struct stk_apart member;
#define APART(member, sub, doc) struct stk_apart member;
#define APART_OR_NULL(member, sub, doc) struct stk_apart member;
// clang-format on
