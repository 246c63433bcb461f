// SPDX-License-Identifier: Apache-2.0
// map with threads; implements the kind "map".
#pragma once

#include "engine/graph/dataset.h"

struct stk_pmap;

// seeds: for stk_eval; borrowed.
STK_MUST_CHECK enum stoker_status stk_pmap_open(struct stk_pmap **out, struct stk_iter *it,
                                                struct stk_fn *fn, const uint64_t *seeds,
                                                struct stoker_err *err);
void stk_pmap_close(struct stk_pmap *m); // takes NULL
STK_MUST_CHECK enum stoker_status stk_pmap_next(struct stk_pmap *m, int64_t want,
                                                struct stk_block *out, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_pmap_skip(struct stk_pmap *m, int64_t n, int64_t *done,
                                                struct stoker_err *err);
// A batch of `size` follows: writes results next to each other. Call it before the first `next`.
void stk_pmap_group(struct stk_pmap *m, int64_t size);
// The same for any stage: the hint passes stages that keep blocks, down to the map.
void stk_iter_hint_group(struct stk_iter *it, int64_t size);
