// SPDX-License-Identifier: Apache-2.0
// Opens, cancels and ends what a tree of iterators shares. See run.h.
#pragma once

#include "engine/run/run.h"

STK_MUST_CHECK enum stoker_status
stk_run_open(struct stk_run **out, const struct stk_run_options *options, struct stoker_err *err);
void stk_run_drop(struct stk_run *run); // takes NULL
void stk_run_cancel(struct stk_run *run);
