// SPDX-License-Identifier: Apache-2.0
// JSON Schema (draft 2020-12) of table documents.
#ifndef STK_REPORT_TABLE_SCHEMA_H
#define STK_REPORT_TABLE_SCHEMA_H

#include "base/sink.h"

void stk_table_schema_write(struct stk_sink *sink);

#endif
