// SPDX-License-Identifier: Apache-2.0
// A thread that takes parts of the large copies of a run (engine/memory/split.h) while another
// thread makes them: one core alone does not use all of the memory's bandwidth. It is started by
// the first such copy, helps one at a time, and only where the run's permits leave a processor for
// it. What it does not come to, being late or missing, the one who asked does alone.
#pragma once

#include "engine/run/run.h"

struct stk_helper *stk_helper_open(struct stk_run *run); // NULL: no memory, and no help
void stk_helper_close(struct stk_helper *h);             // joins its thread; takes NULL
// Of a run's pool; `helper` is a struct stk_helper. False: nothing is done, the caller is alone.
bool stk_helper_split(void *helper, const struct stk_split *work);
