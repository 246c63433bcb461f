// SPDX-License-Identifier: Apache-2.0
// Every JSON document that stoker writes, by name: its rows, from which the JSON, the schema and
// the page are printed. To add one: a struct with its rows, a line in contracts.def, and the head
// of its page in pages/.
#pragma once

#include "results/field.h"

struct stk_contract {
    const char *name;                   // "report": `stoker schema NAME`
    const struct stk_struct_info *info; // its first row is the schema's name, "stoker.report/1"
    const char *page, *page_end;        // head of the page, as Markdown
};
extern const struct stk_contract stk_contracts[];               // ends with name NULL
const struct stk_contract *stk_contract_find(const char *name); // NULL: none
