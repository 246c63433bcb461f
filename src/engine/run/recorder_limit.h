// SPDX-License-Identifier: Apache-2.0
// What limited a run, at its end.
#pragma once

#include "engine/run/iter.h"

// Which stage limited the run, in words: "map|train.py:12|Iterator::Batch::Map|93", which are what
// limits, where it is written ("" unknown), the stage, and its part of the time of all in percent.
// step_ns: the consumer's own time between batches. False: nothing to say.
bool stk_recorder_limit(const struct stk_iter *root, uint64_t step_ns, char *text, size_t capacity);
