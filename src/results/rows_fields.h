// SPDX-License-Identifier: Apache-2.0
// Rows as field tables; see rows.h. For the one source file with the tables.
#include "results/rows.h"

// clang-format off
// The fields of a struct stand in a function, where `row` can be its name.
#define STK_ROWS_AT(member) offsetof(row, member)
#define STK_ROWS_OPEN(linkage, name, of) static const struct stk_field *name##_fields(void); \
    linkage const struct stk_struct_info stk_##name##_info = {sizeof(struct stk_##of), name##_fields}; \
    static const struct stk_field *name##_fields(void) { \
        typedef struct stk_##of row; static const struct stk_field fields[] = {
#define OPEN(name) STK_ROWS_OPEN(, name, name)
#define VIEW(name, of) STK_ROWS_OPEN(static, name, of) // of views.def, for the tables after it
#define CLOSE {NULL, STK_ROW_TEXT, 0, 0, NULL, NULL, NULL, false}}; return fields; }
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
// clang-format on
