// SPDX-License-Identifier: Apache-2.0
// Which stages hold a run's memory, for the error of one that found none: elements that stages keep
// (shuffle, cache, batches being made), and those ready in rings. The latter is an estimate: ready
// pieces times the size of the last measured one.
#pragma once

#include "engine/run/iter.h"

// The stage now keeps elements of this many bytes.
static inline void stk_holders_note(struct stk_iter *it, uint64_t bytes)
{
    __atomic_store_n(&it->stats.kept_bytes, bytes, __ATOMIC_RELAXED);
}
// Adds to an out-of-memory error what holds most of the budget and how to reduce it. Adds nothing
// if no stage holds much.
void stk_holders_tell(struct stk_iter *root, struct stoker_err *err);
