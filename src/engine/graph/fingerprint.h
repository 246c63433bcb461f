// SPDX-License-Identifier: Apache-2.0
// Numbers that identify datasets by what they are made of: kinds, arguments, functions and values;
// the same in every process. They don't cover the contents of files, or what functions of the
// embedding language do.
#pragma once

#include "engine/graph/dataset.h"

uint64_t stk_dataset_fingerprint(const struct stk_dataset *ds);
// Equal for datasets that probably give the same elements. Ignores what doesn't change elements
// (threads, buffers, prefetch), the part of a split, and the folders of files. Hashes only type,
// shape and beginning of large values.
uint64_t stk_dataset_likeness(const struct stk_dataset *ds);
