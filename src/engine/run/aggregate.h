// SPDX-License-Identifier: Apache-2.0
// The counts of datasets that are open side by side (in the cycle of an interleave): one tree of
// iterators without state, the aggregate, stands for all of them in the iterator tree, so that what
// they do is seen by statistics, reports and the tuner. It is input 1 of the stage that opened
// them, and is there from the first of them on, whether any is open or not.
//
// The open ones' counts are added to the aggregate on request and when they close. Stages that
// are not there in the first dataset, since a function gives different ones, count where they are
// met.
#pragma once

#include "engine/run/iter.h"

// `inner` was opened beside others by `it`, which has room for one more input than its dataset.
void stk_aggregate_join(struct stk_iter *it, struct stk_iter *inner);
// It is about to be closed; its counts stay.
void stk_aggregate_leave(struct stk_iter *it, struct stk_iter *inner);
// Brings all aggregates from `it` on up to date. The run's tree lock is held.
void stk_aggregate_tell(struct stk_iter *it);
// An iterator without state, to keep counts in; NULL: no memory.
struct stk_iter *stk_aggregate_make(const struct stk_iter *of, struct stk_iter *parent);
