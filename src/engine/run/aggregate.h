// SPDX-License-Identifier: Apache-2.0
// Counts of datasets that are open at the same time (in the cycle of an interleave). One tree of
// iterators without state, the aggregate, stands for all of them in the iterator tree, so that
// statistics, reports and the tuner see what they do. It is input 1 of the stage that opens them,
// and exists from the first one on, even while none is open.
//
// Counts of open datasets are added to the aggregate on request and when they close. A stage that
// the first dataset doesn't have, because the function returns different ones, counts from when it
// first appears.
#pragma once

#include "engine/run/iter.h"

// `it` opened `inner` next to others; `it` has room for one more input than its dataset has.
void stk_aggregate_join(struct stk_iter *it, struct stk_iter *inner);
// It is about to be closed; its counts are kept.
void stk_aggregate_leave(struct stk_iter *it, struct stk_iter *inner);
// Brings the aggregates of `it` and below up to date. Caller holds the run's tree lock.
void stk_aggregate_tell(struct stk_iter *it);
// An iterator without state, only for counts. NULL: no memory.
struct stk_iter *stk_aggregate_make(const struct stk_iter *of, struct stk_iter *parent);
