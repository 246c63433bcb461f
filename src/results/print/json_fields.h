// SPDX-License-Identifier: Apache-2.0
// A struct with a field table, written as a JSON object.
#ifndef STK_OUT_JSON_FIELDS_H
#define STK_OUT_JSON_FIELDS_H

#include "results/field.h"
#include "base/json.h"

// A whole document, with the end of its line.
void stk_json_document(const struct stk_struct_info *info, const void *object, bool in_line,
                       struct stk_sink *to);
// An object inside of something else.
void stk_json_fields(struct stk_json *j, const struct stk_struct_info *info, const void *object);

#endif
