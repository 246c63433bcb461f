// SPDX-License-Identifier: Apache-2.0
// A result as its JSON document: one walk over its rows (json_fields.c), for who fills a struct and
// knows nothing of JSON.
#pragma once

#include "base/sink.h"
#include "results/field.h"

// Ends with a newline; in_line: it has no other.
void stk_json_document(const struct stk_struct_info *info, const void *object, bool in_line,
                       struct stk_sink *to);
