// SPDX-License-Identifier: Apache-2.0
// A thread that takes parts of a run's large copies (engine/memory/split.h) while another thread
// does the rest: one core can't use all of the memory bandwidth. The first such copy starts it. It
// helps one thread at a time, and only if the run's permits leave a core for it. If it is late or
// missing, the caller does the work alone.
#pragma once

#include "engine/run/run.h"

struct stk_helper *stk_helper_open(struct stk_run *run); // NULL: no memory, so no help
void stk_helper_close(struct stk_helper *h);             // joins its thread; takes NULL
// For a run's pool; `helper` is a struct stk_helper. False: nothing was done; the caller does it.
bool stk_helper_split(void *helper, const struct stk_split *work);
