// SPDX-License-Identifier: Apache-2.0
// Invariants of a traced function, and a dump of one: for assertions, tests and the debugger only.
#pragma once

#include <stdio.h>

#include "engine/graph/fn.h"

// What is wrong, in words; NULL: nothing. Of an unfinished function, the part that is built is
// checked.
const char *stk_fn_check(const struct stk_fn *fn);
// One line for each input and node, at most 100; to == NULL: stderr. Usable from a debugger.
void stk_fn_dump(const struct stk_fn *fn, FILE *to);
