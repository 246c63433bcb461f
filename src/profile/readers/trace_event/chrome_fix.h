// SPDX-License-Identifier: Apache-2.0
// Facts that are only known at the end of the input: pairs, processes, devices, names, issues.
#pragma once

#include "profile/readers/trace_event/chrome_facts.h"
#include "profile/readers/trace_event/chrome_sink.h"

STK_MUST_CHECK enum stoker_status stk_chrome_fix(struct stk_chrome_sink *sink,
                                                 const struct stk_chrome_input *in,
                                                 struct stoker_err *err);
