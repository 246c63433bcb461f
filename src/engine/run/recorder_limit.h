// SPDX-License-Identifier: Apache-2.0
// What limited a run, at its end.
#pragma once

#include "engine/run/iter.h"

// The stage that limited the run: "map|train.py:12|Iterator::Batch::Map|93": the limit, its source
// line ("" unknown), the stage, and its share of all time in percent. step_ns: the consumer's own
// time between batches. False: nothing to report.
bool stk_recorder_limit(const struct stk_iter *root, uint64_t step_ns, char *text, size_t capacity);
