// SPDX-License-Identifier: Apache-2.0
// Shorthands to write field tables with, for files that hold nothing else.
#ifndef STK_REPORT_FIELD_ROWS_H
#define STK_REPORT_FIELD_ROWS_H

#include "results/field.h"

// clang-format off
// Kinds of rows: a type and its shape.
#define STK_ROW_TEXT STK_TYPE_TEXT, STK_SHAPE_ONE
#define STK_ROW_HERE STK_TYPE_TEXT, STK_SHAPE_HERE
#define STK_ROW_WORD STK_TYPE_WORD, STK_SHAPE_ONE
#define STK_ROW_NS STK_TYPE_NS, STK_SHAPE_ONE
#define STK_ROW_COUNT STK_TYPE_COUNT, STK_SHAPE_ONE
#define STK_ROW_NUMBER STK_TYPE_NUMBER, STK_SHAPE_ONE
#define STK_ROW_BYTES STK_TYPE_BYTES, STK_SHAPE_ONE
#define STK_ROW_SHARE STK_TYPE_SHARE, STK_SHAPE_ONE
#define STK_ROW_RATIO STK_TYPE_RATIO, STK_SHAPE_ONE
#define STK_ROW_REAL STK_TYPE_REAL, STK_SHAPE_ONE
#define STK_ROW_BOOL STK_TYPE_BOOL, STK_SHAPE_ONE
#define STK_ROW_OBJECT STK_TYPE_OBJECT, STK_SHAPE_ONE
#define STK_ROW_LIST STK_TYPE_OBJECT, STK_SHAPE_LIST
#define STK_ROW_TEXTS STK_TYPE_TEXT, STK_SHAPE_LIST
#define STK_ROW_WORDS STK_TYPE_TEXT, STK_SHAPE_LINE
#define STK_ROW_NUMBERS STK_TYPE_NUMBER, STK_SHAPE_LINE
#define STK_ROW_REALS STK_TYPE_REAL, STK_SHAPE_LINE
#define STK_ROW_NS_MAP STK_TYPE_NS, STK_SHAPE_MAP
#define STK_ROW_COUNT_MAP STK_TYPE_COUNT, STK_SHAPE_MAP
#define STK_ROW_REAL_MAP STK_TYPE_REAL, STK_SHAPE_MAP
#define STK_ROW_TEXT_MAP STK_TYPE_TEXT, STK_SHAPE_MAP
#define STK_ROW_REAL_MEMBERS STK_TYPE_REAL, STK_SHAPE_MEMBERS
#define STK_ROW_APART STK_TYPE_OBJECT, STK_SHAPE_APART
#define STK_ROW_MERGED STK_TYPE_OBJECT, STK_SHAPE_MERGED
#define STK_ROW_TUPLES STK_TYPE_OBJECT, STK_SHAPE_TUPLES
#define STK_ROW_CELL_MAP STK_TYPE_ANY, STK_SHAPE_CELL_MAP
#define STK_ROW_CELL_ROWS STK_TYPE_ANY, STK_SHAPE_CELL_ROWS
#define STK_ROW_VALUES STK_TYPE_ANY, STK_SHAPE_VALUES
#define STK_ROW_LEFT_OUT STK_TYPE_COUNT, STK_SHAPE_LEFT_OUT
// A row: key, kind, struct, member. `_IF`: known only where the bool member says so.
#define ROW(key, kind, type, member, sub, choices, doc)                                            \
    {key, STK_ROW_##kind, offsetof(struct type, member), STK_FIELD_ALWAYS, sub, choices, doc, false}
#define ROW_IF(key, kind, type, member, has, sub, doc)                                             \
    {key, STK_ROW_##kind, offsetof(struct type, member), offsetof(struct type, has), sub, NULL, doc, false}
#define ROW_MAYBE(key, type, member, choices, doc)                                                 \
    {key, STK_ROW_TEXT, offsetof(struct type, member), STK_FIELD_IF_SET, NULL, choices, doc, false}
// An enum of base/terms.h, absent where its value is none of the list's.
#define ROW_MAYBE_WORD(key, type, member, list, doc)                                               \
    {key, STK_ROW_WORD, offsetof(struct type, member), STK_FIELD_IF_SET, NULL, STK_CHOICES(list), doc, false}
// A row of a struct without a name of its own, `outer` inside `type`.
#define INNER(type, outer, member) offsetof(struct type, outer.member) - offsetof(struct type, outer)
#define SUB(key, kind, type, outer, member, choices, doc)                                          \
    {key, STK_ROW_##kind, INNER(type, outer, member), STK_FIELD_ALWAYS, NULL, choices, doc, false}
#define SUB_IF(key, kind, type, outer, member, has, doc)                                           \
    {key, STK_ROW_##kind, INNER(type, outer, member), INNER(type, outer, has), NULL, NULL, doc, false}
#define END {NULL, STK_ROW_TEXT, 0, 0, NULL, NULL, NULL, false}
#define INFO(id, bytes) static const struct stk_struct_info id = {#id, bytes, id##_fields}
#define SIZE_OF(type, member) sizeof(((struct type *)0)->member)
// clang-format on

#endif
