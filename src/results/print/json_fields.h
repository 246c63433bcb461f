// SPDX-License-Identifier: Apache-2.0
// A struct with a field table, written as a JSON object.
#pragma once

#include "results/field.h"
#include "base/json.h"

// An object inside another value.
void stk_json_fields(struct stk_json *j, const struct stk_struct_info *info, const void *object);
