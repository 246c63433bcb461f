// SPDX-License-Identifier: Apache-2.0
// Shorthands to write field tables with, for files that hold nothing else.
#ifndef STK_REPORT_FIELD_ROWS_H
#define STK_REPORT_FIELD_ROWS_H

#include "results/field.h"

// clang-format off
// A row: key, kind, struct, member. `_IF`: known only where the bool member says so.
#define ROW(key, kind, type, member, sub, choices, doc)                                            \
    {key, STK_FIELD_##kind, offsetof(struct type, member), STK_FIELD_ALWAYS, sub, choices, doc}
#define ROW_IF(key, kind, type, member, has, sub, doc)                                             \
    {key, STK_FIELD_##kind, offsetof(struct type, member), offsetof(struct type, has), sub, NULL, doc}
#define ROW_MAYBE(key, type, member, choices, doc)                                                 \
    {key, STK_FIELD_TEXT, offsetof(struct type, member), STK_FIELD_IF_SET, NULL, choices, doc}
// A row of a struct without a name of its own, `outer` inside `type`.
#define INNER(type, outer, member) offsetof(struct type, outer.member) - offsetof(struct type, outer)
#define SUB(key, kind, type, outer, member, choices, doc)                                          \
    {key, STK_FIELD_##kind, INNER(type, outer, member), STK_FIELD_ALWAYS, NULL, choices, doc}
#define SUB_IF(key, kind, type, outer, member, has, doc)                                           \
    {key, STK_FIELD_##kind, INNER(type, outer, member), INNER(type, outer, has), NULL, NULL, doc}
#define END {NULL, STK_FIELD_TEXT, 0, 0, NULL, NULL, NULL}
#define INFO(id, bytes) static const struct stk_struct_info id = {#id, bytes, id##_fields}
#define SIZE_OF(type, member) sizeof(((struct type *)0)->member)
// clang-format on

#endif
