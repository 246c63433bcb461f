// SPDX-License-Identifier: Apache-2.0
// Rows as structs; see rows.h. For headers of documents: no guard, each includes it for itself.
#include "results/rows.h"

#undef OPEN
#undef CLOSE
#undef FLAG
#undef F
#undef IF
#undef ONE_OF
#undef WORD
#undef MAYBE
#undef MAYBE_OF
#undef HERE
#undef OR_NULL
#undef TEXT_OR_NULL
#undef OBJECT
#undef OBJECT_IF
#undef INTERVAL
#undef INTERVAL_IF
#undef LIST
#undef LIST_IF
#undef LEFT_OUT
#undef LEFT_OUT_IF
#undef TUPLES
#undef MERGED
#undef APART_OR_NULL
// clang-format off
#define OPEN STK_ROWS_STRUCT {
#define CLOSE(name) }; extern const struct stk_struct_info STK_ROWS_PASTE(STK_ROWS_PASTE(stk_, T), _info);
#define FLAG(flag) bool flag;
#define F(kind, member, doc) STK_HOLD_##kind member;
#define IF(kind, member, flag, doc) STK_HOLD_##kind member;
#define ONE_OF(member, choices, doc) const char *member;
#define WORD(member, choices, doc) unsigned member;
#define MAYBE(member, doc) const char *member;
#define MAYBE_OF(member, choices, doc) const char *member;
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
#define APART_OR_NULL(member, sub, doc) struct stk_apart member;
// clang-format on
