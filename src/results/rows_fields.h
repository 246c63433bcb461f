// SPDX-License-Identifier: Apache-2.0
// Rows as field tables; see rows.h. For the one source that holds them.
#include "results/rows.h"

// clang-format off
#define STK_ROWS_AT(member) offsetof(STK_ROWS_STRUCT, member)
#define STK_ROWS_OPEN(id) static const struct stk_field id##_fields[] = {
#define STK_ROWS_END(linkage, id) {NULL, STK_ROW_TEXT, 0, 0, NULL, NULL, NULL, false}}; \
    linkage const struct stk_struct_info stk_##id##_info = {sizeof(STK_ROWS_STRUCT), id##_fields};
// So that T is replaced first.
#define STK_ROWS_OPEN_T(id) STK_ROWS_OPEN(id)
#define STK_ROWS_END_T(id) STK_ROWS_END(, id)
#define OPEN STK_ROWS_OPEN_T(T)
#define CLOSE STK_ROWS_END_T(T)
#define FLAG(...)
#define BESIDE(...)
#define F(kind, member, doc) {#member, STK_ROW_##kind, STK_ROWS_AT(member), STK_FIELD_ALWAYS, NULL, NULL, doc, false},
#define IF(kind, member, flag, doc) {#member, STK_ROW_##kind, STK_ROWS_AT(member), STK_ROWS_AT(flag), NULL, NULL, doc, false},
#define IF_SET(kind, member, doc) {#member, STK_ROW_##kind, STK_ROWS_AT(member), STK_FIELD_IF_SET, NULL, NULL, doc, false},
#define ONE_OF(member, choices, doc) {#member, STK_ROW_TEXT, STK_ROWS_AT(member), STK_FIELD_ALWAYS, NULL, choices, doc, false},
#define WORD(type, member, choices, doc) {#member, STK_ROW_WORD, STK_ROWS_AT(member), STK_FIELD_ALWAYS, NULL, choices, doc, false},
#define MAYBE(member, doc) IF_SET(TEXT, member, doc)
#define MAYBE_OF(member, choices, doc) {#member, STK_ROW_TEXT, STK_ROWS_AT(member), STK_FIELD_IF_SET, NULL, choices, doc, false},
#define MAYBE_WORD(type, member, choices, doc) {#member, STK_ROW_WORD, STK_ROWS_AT(member), STK_FIELD_IF_SET, NULL, choices, doc, false},
#define HERE(member, size, doc) IF_SET(HERE, member, doc)
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
#define APART(member, sub, doc) {#member, STK_ROW_APART, STK_ROWS_AT(member), STK_FIELD_ALWAYS, &stk_##sub##_info, NULL, doc, false},
#define APART_OR_NULL(member, sub, doc) {#member, STK_ROW_APART, STK_ROWS_AT(member), STK_FIELD_IF_SET, &stk_##sub##_info, NULL, doc, true},
// Of views.def, for the tables behind it.
#define VIEW(id) STK_ROWS_OPEN(id)
#define END_VIEW(id) STK_ROWS_END(static, id)
// clang-format on
