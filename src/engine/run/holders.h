// SPDX-License-Identifier: Apache-2.0
// Which stages hold the memory of a run, for the error of one that found none: the elements that
// stages keep (shuffle, cache, batches in the making), and those that are ready in rings. The
// latter are an estimate: pieces that are ready, by the size of the last ones measured.
#pragma once

#include "engine/run/iter.h"

// The stage keeps elements of so many bytes now.
static inline void stk_holders_note(struct stk_iter *it, uint64_t bytes)
{
    __atomic_store_n(&it->stats.kept_bytes, bytes, __ATOMIC_RELAXED);
}
// Adds to the error of a run without memory what holds most of the budget, and what would change
// that. Nothing where no stage holds much.
void stk_holders_tell(struct stk_iter *root, struct stoker_err *err);
