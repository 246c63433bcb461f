// SPDX-License-Identifier: Apache-2.0
// A document's objects as lists of rows, each a member of a struct and a field of the contract
// (field.h). NAME.def has them, and is included twice: between rows_struct.h and rows_end.h it
// makes the structs, after rows_fields.h their tables. Rows are only ever added. An object of
// NAME.def:
//
//   OPEN(tune_doc_place)                      struct stk_tune_doc_place {
//   MAYBE(file, "of the call")                    const char *file; // NULL: absent
//   FLAG(has_line)                                bool has_line;
//   IF(NUMBER, line, has_line, "of the call")     int64_t line;
//   F(TEXT, text, "what to write there")          const char *text;
//   BESIDE(uint32_t at)                           uint32_t at; // not in the contract
//   CLOSE                                     };
//
// F: always present. IF, ..._IF: if the flag is set. IF_SET, MAYBE...: if it is set itself. WORD:
// an enum, by the names of its values in order.
#pragma once

#include "results/interval.h"

// Kinds of rows: the C type of a value; its type, its shape, and whether the contract excludes
// values below 0 that its type allows.
#define STK_HOLD_TEXT const char *
#define STK_HOLD_NS int64_t
#define STK_HOLD_COUNT uint64_t
#define STK_HOLD_NUMBER int64_t
#define STK_HOLD_BYTES uint64_t
#define STK_HOLD_SHARE double
#define STK_HOLD_RATIO double
#define STK_HOLD_REAL double
#define STK_HOLD_BOOL bool
#define STK_HOLD_NS_FROM_0 int64_t
#define STK_HOLD_NUMBER_FROM_0 int64_t
#define STK_HOLD_RATIO_FROM_0 double
#define STK_HOLD_REAL_FROM_0 double
#define STK_HOLD_TEXTS struct stk_list
#define STK_HOLD_WORDS struct stk_list
#define STK_HOLD_NUMBERS struct stk_list
#define STK_HOLD_REALS struct stk_list
#define STK_HOLD_NS_MAP struct stk_list
#define STK_HOLD_COUNT_MAP struct stk_list
#define STK_HOLD_REAL_MAP struct stk_list
#define STK_HOLD_TEXT_MAP struct stk_list
#define STK_HOLD_REAL_MEMBERS struct stk_list
#define STK_HOLD_CELL_MAP struct stk_list
#define STK_HOLD_CELL_ROWS const struct stk_table *
#define STK_HOLD_VALUES struct stk_list
#define STK_ROW_TEXT STK_TYPE_TEXT, STK_SHAPE_ONE, false
#define STK_ROW_HERE STK_TYPE_TEXT, STK_SHAPE_HERE, false
#define STK_ROW_WORD STK_TYPE_WORD, STK_SHAPE_ONE, false
#define STK_ROW_NS STK_TYPE_NS, STK_SHAPE_ONE, false
#define STK_ROW_COUNT STK_TYPE_COUNT, STK_SHAPE_ONE, false
#define STK_ROW_NUMBER STK_TYPE_NUMBER, STK_SHAPE_ONE, false
#define STK_ROW_BYTES STK_TYPE_BYTES, STK_SHAPE_ONE, false
#define STK_ROW_SHARE STK_TYPE_SHARE, STK_SHAPE_ONE, false
#define STK_ROW_RATIO STK_TYPE_RATIO, STK_SHAPE_ONE, false
#define STK_ROW_REAL STK_TYPE_REAL, STK_SHAPE_ONE, false
#define STK_ROW_BOOL STK_TYPE_BOOL, STK_SHAPE_ONE, false
#define STK_ROW_NS_FROM_0 STK_TYPE_NS, STK_SHAPE_ONE, true
#define STK_ROW_NUMBER_FROM_0 STK_TYPE_NUMBER, STK_SHAPE_ONE, true
#define STK_ROW_RATIO_FROM_0 STK_TYPE_RATIO, STK_SHAPE_ONE, true
#define STK_ROW_REAL_FROM_0 STK_TYPE_REAL, STK_SHAPE_ONE, true
#define STK_ROW_OBJECT STK_TYPE_OBJECT, STK_SHAPE_ONE, false
#define STK_ROW_LIST STK_TYPE_OBJECT, STK_SHAPE_LIST, false
#define STK_ROW_TEXTS STK_TYPE_TEXT, STK_SHAPE_LIST, false
#define STK_ROW_WORDS STK_TYPE_TEXT, STK_SHAPE_LINE, false
#define STK_ROW_NUMBERS STK_TYPE_NUMBER, STK_SHAPE_LINE, false
#define STK_ROW_REALS STK_TYPE_REAL, STK_SHAPE_LINE, false
#define STK_ROW_NS_MAP STK_TYPE_NS, STK_SHAPE_MAP, false
#define STK_ROW_COUNT_MAP STK_TYPE_COUNT, STK_SHAPE_MAP, false
#define STK_ROW_REAL_MAP STK_TYPE_REAL, STK_SHAPE_MAP, false
#define STK_ROW_TEXT_MAP STK_TYPE_TEXT, STK_SHAPE_MAP, false
#define STK_ROW_REAL_MEMBERS STK_TYPE_REAL, STK_SHAPE_MEMBERS, false
#define STK_ROW_APART STK_TYPE_OBJECT, STK_SHAPE_APART, false
#define STK_ROW_MERGED STK_TYPE_OBJECT, STK_SHAPE_MERGED, false
#define STK_ROW_TUPLES STK_TYPE_OBJECT, STK_SHAPE_TUPLES, false
#define STK_ROW_CELL_MAP STK_TYPE_ANY, STK_SHAPE_CELL_MAP, false
#define STK_ROW_CELL_ROWS STK_TYPE_ANY, STK_SHAPE_CELL_ROWS, false
#define STK_ROW_VALUES STK_TYPE_ANY, STK_SHAPE_VALUES, false
#define STK_ROW_LEFT_OUT STK_TYPE_COUNT, STK_SHAPE_LEFT_OUT, false
