// SPDX-License-Identifier: Apache-2.0
// The plan of a pipeline as text: its stages, the operations of their functions with types, shapes
// and source lines, and what was rewritten and why.
#pragma once

#include <stdio.h>

#include "engine/graph/dataset.h"
#include "engine/graph/rewrite_log.h"

// Of the dataset as given: pass a rewritten one. False: no memory.
bool stk_plan_write(struct stk_rewrite_log *out, const struct stk_dataset *ds);
// For the debugger: one line per dataset, inputs below it, with kind, reference count, specs and
// source line. to == NULL: stderr.
void stk_dataset_dump(const struct stk_dataset *ds, FILE *to);
