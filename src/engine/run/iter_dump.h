// SPDX-License-Identifier: Apache-2.0
// Trees of iterators as text, for the debugger: what each stage gave, holds and waits for.
#pragma once

#include <stdio.h>

#include "engine/run/iter.h"

// One line per stage, inputs below it; to == NULL: stderr. Takes no lock.
void stk_iter_dump(const struct stk_iter *it, FILE *to);
