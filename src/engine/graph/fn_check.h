// SPDX-License-Identifier: Apache-2.0
// What must hold of a traced function whenever it is handed over, and how to look at one: for
// assertions, tests and the debugger. Nothing else of the program calls these.
#pragma once

#include <stdio.h>

#include "engine/graph/fn.h"

// What is wrong, in words; NULL: it is whole. Of one that is not finished, what it has so far.
const char *stk_fn_check(const struct stk_fn *fn);
// A line for each input and node, a hundred at most; to == NULL: standard error. Usable from a
// debugger.
void stk_fn_dump(const struct stk_fn *fn, FILE *to);
