// SPDX-License-Identifier: Apache-2.0
// Stage names, in the style of tf.data's iterators: "Iterator::Prefetch::Batch::Map", from the last
// one to the source.
#pragma once

#include "engine/run/iter.h"

#define STK_STAGE_NAME 512
#define STK_STAGE_DEPTH 64 // most stages in a name

void stk_stage_name(const struct stk_iter *it, char text[STK_STAGE_NAME]);
