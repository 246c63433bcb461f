// SPDX-License-Identifier: Apache-2.0
// Evidence per part: which events fill it, how often, the longest stretches. Pieces of time come in
// order per device. They are assigned to their windows and added to the rows of the steps;
// neighboring pieces of one part make one interval. Several threads may each fill their own, merged
// afterwards: the result is the same as if one had taken all pieces in that order.
#pragma once

#include "profile/model/analysis.h"

struct stk_causes;

struct stk_causes *stk_causes_new(struct stk_analysis *a); // NULL: no memory
void stk_causes_free(struct stk_causes *c);                // takes NULL
// The windows that pieces are assigned to, in time order. They must outlive this. Called once.
// False: no memory.
bool stk_causes_begin(struct stk_causes *c, const struct stk_window *windows, uint32_t count);
// Add a piece of time: its part, the event that explains it (STK_NONE: not known), and the operator
// around the event; else the event that ended before it; or STK_NONE. Starts must not decrease
// since `begin` or `rewind`. False: no memory.
bool stk_causes_add(struct stk_causes *c, int64_t start_ns, int64_t end_ns, enum stk_part part,
                    uint32_t event, uint32_t around);
// Start over in time, with the same windows.
void stk_causes_rewind(struct stk_causes *c);
// No more pieces: add the windows' parts to the rows of their steps, those of a span to span_parts.
void stk_causes_settle(struct stk_causes *c, int64_t *span_parts);
// Add the pieces of `from`, which has settled. False: no memory.
bool stk_causes_merge(struct stk_causes *into, const struct stk_causes *from);
// Fill sum->causes. All pieces are settled and merged.
bool stk_causes_finish(struct stk_causes *c);
