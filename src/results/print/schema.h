// SPDX-License-Identifier: Apache-2.0
// The contract of a report as a JSON Schema and as a page of the docs, from its field tables.
#ifndef STK_REPORT_SCHEMA_H
#define STK_REPORT_SCHEMA_H

#include "results/field.h"
#include "base/json.h"
#include "base/sink.h"

// JSON Schema, draft 2020-12. Unknown keys are allowed: the contract grows by adding.
void stk_schema_write(const struct stk_struct_info *info, const char *id, struct stk_sink *sink);
// The schema of one struct, as an object in a larger schema.
void stk_schema_object(struct stk_json *j, const struct stk_struct_info *info);
// One markdown table per object, in the order of the JSON.
void stk_schema_describe(const struct stk_struct_info *info, struct stk_sink *sink);

#endif
