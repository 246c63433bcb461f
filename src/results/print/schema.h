// SPDX-License-Identifier: Apache-2.0
// The contract of a report as a JSON Schema and as a page of the docs, from its field tables.
#pragma once

#include "results/field.h"
#include "base/sink.h"

// JSON Schema, draft 2020-12. Unknown keys are allowed: the contract grows by adding.
// The first row is the contract's name.
void stk_schema_write(const struct stk_struct_info *info, struct stk_sink *sink);
// One markdown table per object, in the order of the JSON; `name` is the contract's.
void stk_schema_describe(const struct stk_struct_info *info, const char *name,
                         struct stk_sink *sink);
