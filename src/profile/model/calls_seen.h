// SPDX-License-Identifier: Apache-2.0
// Which calls of a program its profile shows by name (calls_seen.def).
#pragma once

#include "profile/store/trace.h"

// A bit for each key that a name of the trace shows.
uint32_t stk_calls_seen(const struct stk_trace *t);
// The bit of a key; 0: there is no such key.
uint32_t stk_calls_seen_bit(struct stk_str key);
