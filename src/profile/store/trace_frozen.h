// SPDX-License-Identifier: Apache-2.0
// A trace in a file of arrays (base/frozen.h), so that it need not be read from the profile again.
// A thawed trace equals the frozen one, except that its columns are in the map.
#pragma once

#include "base/frozen.h"
#include "profile/store/trace.h"

void stk_trace_freeze(const struct stk_trace *t, struct stk_frost *f);
// NULL: no memory, or the map contains no trace (thaw->failed). The caller frees it before the map
// is closed.
struct stk_trace *stk_trace_thaw(struct stk_thaw *thaw);

// Texts: the caller knows how many there are when it thaws.
void stk_text_freeze(struct stk_frost *f, const char *text); // NULL: ""
const char *stk_text_thaw(struct stk_thaw *thaw);            // in the map, NUL-terminated
