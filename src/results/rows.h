// SPDX-License-Identifier: Apache-2.0
// A document's objects as lists of rows, each of which is a member of a struct and a field of the
// contract (field.h). NAME.def holds them, and is included twice: behind rows_struct.h it is the
// structs, behind rows_fields.h their tables. An object of NAME.def:
//
//   #define T tune_doc_place
//   OPEN                                      struct stk_tune_doc_place {
//   MAYBE(file, "of the call")                    const char *file; // NULL: absent
//   FLAG(has_line)                                bool has_line;
//   IF(NUMBER, line, has_line, "of the call")     int64_t line;
//   F(TEXT, text, "what to write there")          const char *text;
//   CLOSE("code")                             };
//   #undef T
//
// F: always there; kinds are those of field_rows.h. IF, ..._IF: where the flag says so.
#ifndef STK_RESULTS_ROWS_H
#define STK_RESULTS_ROWS_H

#include "results/interval.h"

#define STK_ROWS_PASTE_(a, b) a##b
#define STK_ROWS_PASTE(a, b) STK_ROWS_PASTE_(a, b)
#define STK_ROWS_STRUCT struct STK_ROWS_PASTE(stk_, T)

// What holds a value of each kind.
#define STK_HOLD_TEXT const char *
#define STK_HOLD_NS int64_t
#define STK_HOLD_COUNT uint64_t
#define STK_HOLD_NUMBER int64_t
#define STK_HOLD_BYTES uint64_t
#define STK_HOLD_SHARE double
#define STK_HOLD_RATIO double
#define STK_HOLD_REAL double
#define STK_HOLD_BOOL bool
#define STK_HOLD_WORDS struct stk_list
#define STK_HOLD_REALS struct stk_list
#define STK_HOLD_REAL_MAP struct stk_list
#define STK_HOLD_TEXT_MAP struct stk_list
#define STK_HOLD_REAL_MEMBERS struct stk_list

#endif
