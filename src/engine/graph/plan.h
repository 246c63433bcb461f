// SPDX-License-Identifier: Apache-2.0
// The plan of a pipeline as text: its stages, the operations of their functions with types, shapes
// and source lines, and what was rewritten and why.
#pragma once

#include <stdio.h>

#include "engine/graph/dataset.h"
#include "engine/graph/rewrite_log.h"

// Of the dataset as it stands: hand it a rewritten one. False: no memory.
bool stk_plan_write(struct stk_rewrite_log *out, const struct stk_dataset *ds);
// For the debugger, a line for each dataset, inputs below it: kind, who holds it, the specs of its
// elements, where it was written. to == NULL: standard error.
void stk_dataset_dump(const struct stk_dataset *ds, FILE *to);
