// SPDX-License-Identifier: Apache-2.0
// A result as its JSON document: one walk over its rows (json_fields.c). The code that fills the
// struct needn't handle JSON.
#pragma once

#include "base/sink.h"
#include "results/field.h"

// Ends with a newline; in_line: the only one.
void stk_json_document(const struct stk_struct_info *info, const void *object, bool in_line,
                       struct stk_sink *to);
