// SPDX-License-Identifier: Apache-2.0
// Rows as field tables; see rows.h. For sources, behind the document's header.
#include "results/field_rows.h"
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
#undef END
// clang-format off
#define STK_ROWS_AT(member) offsetof(STK_ROWS_STRUCT, member)
#define OPEN static const struct stk_field STK_ROWS_PASTE(T, _fields)[] = {
#define CLOSE(name)                                                                                \
    {NULL, STK_ROW_TEXT, 0, 0, NULL, NULL, NULL, false}};                                          \
    const struct stk_struct_info STK_ROWS_PASTE(STK_ROWS_PASTE(stk_, T), _info) = {                \
        name, sizeof(STK_ROWS_STRUCT), STK_ROWS_PASTE(T, _fields)};
#define FLAG(flag)
#define F(kind, member, doc) {#member, STK_ROW_##kind, STK_ROWS_AT(member), STK_FIELD_ALWAYS, NULL, NULL, doc, false},
#define IF(kind, member, flag, doc) {#member, STK_ROW_##kind, STK_ROWS_AT(member), STK_ROWS_AT(flag), NULL, NULL, doc, false},
#define ONE_OF(member, choices, doc) {#member, STK_ROW_TEXT, STK_ROWS_AT(member), STK_FIELD_ALWAYS, NULL, choices, doc, false},
#define WORD(member, choices, doc) {#member, STK_ROW_WORD, STK_ROWS_AT(member), STK_FIELD_ALWAYS, NULL, choices, doc, false},
#define MAYBE(member, doc) {#member, STK_ROW_TEXT, STK_ROWS_AT(member), STK_FIELD_IF_SET, NULL, NULL, doc, false},
#define MAYBE_OF(member, choices, doc) {#member, STK_ROW_TEXT, STK_ROWS_AT(member), STK_FIELD_IF_SET, NULL, choices, doc, false},
#define HERE(member, size, doc) {#member, STK_ROW_HERE, STK_ROWS_AT(member), STK_FIELD_IF_SET, NULL, NULL, doc, false},
#define OR_NULL(kind, member, flag, doc) {#member, STK_ROW_##kind, STK_ROWS_AT(member), STK_ROWS_AT(flag), NULL, NULL, doc, true},
#define TEXT_OR_NULL(member, doc) {#member, STK_ROW_TEXT, STK_ROWS_AT(member), STK_FIELD_IF_SET, NULL, NULL, doc, true},
#define OBJECT(member, sub, doc) {#member, STK_ROW_OBJECT, STK_ROWS_AT(member), STK_FIELD_ALWAYS, &stk_##sub##_info, NULL, doc, false},
#define OBJECT_IF(member, sub, flag, doc) {#member, STK_ROW_OBJECT, STK_ROWS_AT(member), STK_ROWS_AT(flag), &stk_##sub##_info, NULL, doc, false},
#define INTERVAL(member, info, doc) OBJECT(member, info, doc)
#define INTERVAL_IF(member, info, flag, doc) OBJECT_IF(member, info, flag, doc)
#define LIST(member, sub, doc) {#member, STK_ROW_LIST, STK_ROWS_AT(member), STK_FIELD_ALWAYS, &stk_##sub##_info, NULL, doc, false},
#define LIST_IF(member, sub, flag, doc) {#member, STK_ROW_LIST, STK_ROWS_AT(member), STK_ROWS_AT(flag), &stk_##sub##_info, NULL, doc, false},
#define LEFT_OUT(key, list, doc) {#key, STK_ROW_LEFT_OUT, STK_ROWS_AT(list), STK_FIELD_ALWAYS, NULL, NULL, doc, false},
#define LEFT_OUT_IF(key, list, flag, doc) {#key, STK_ROW_LEFT_OUT, STK_ROWS_AT(list), STK_ROWS_AT(flag), NULL, NULL, doc, false},
#define TUPLES(member, sub, doc) {#member, STK_ROW_TUPLES, STK_ROWS_AT(member), STK_FIELD_ALWAYS, &stk_##sub##_info, NULL, doc, false},
#define MERGED(member, sub, doc) {#member, STK_ROW_MERGED, STK_ROWS_AT(member), STK_FIELD_ALWAYS, &stk_##sub##_info, NULL, doc, false},
#define APART_OR_NULL(member, sub, doc) {#member, STK_ROW_APART, STK_ROWS_AT(member), STK_FIELD_IF_SET, &stk_##sub##_info, NULL, doc, true},
// clang-format on
