// SPDX-License-Identifier: Apache-2.0
// Evidence per part: which events fill it, how often, the longest stretches. Pieces of time come in
// order per device; they are put to the windows they lie in, counted in the rows of the steps, and
// neighbouring pieces of one part make one interval.
#ifndef STK_MODEL_CAUSES_H
#define STK_MODEL_CAUSES_H

#include "model/analysis.h"

// A piece of time: what it is, and the event that explains it.
struct stk_piece {
    int64_t start_ns, end_ns;
    enum stk_part part;
    uint32_t event;  // STK_NONE: nothing known
    uint32_t around; // operator around the event; without one, what ended before; or STK_NONE
};

struct stk_causes;

struct stk_causes *stk_causes_new(struct stk_analysis *a); // NULL: no memory
void stk_causes_free(struct stk_causes *c);                // takes NULL
// The windows that the next pieces are put to, in time order; `parts` of a span's window are added
// to span_parts.
void stk_causes_begin(struct stk_causes *c, const struct stk_window *windows, uint32_t count,
                      int64_t *span_parts);
// Add a piece; starts must not decrease since `begin` or `rewind`. False: no memory.
bool stk_causes_add(struct stk_causes *c, const struct stk_piece *piece);
// Start over in time, with the same windows.
bool stk_causes_rewind(struct stk_causes *c);
// Fill sum->causes.
bool stk_causes_finish(struct stk_causes *c);

#endif
