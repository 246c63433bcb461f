// SPDX-License-Identifier: Apache-2.0
// A number that tells datasets apart by what they are made of: kinds, arguments, functions and the
// values in them, the same in every process. Two things it cannot see: what is in files, and what
// functions of the embedding language do.
#pragma once

#include "engine/graph/dataset.h"

uint64_t stk_dataset_fingerprint(const struct stk_dataset *ds);
// Equal for datasets that probably give the same elements. Ignores what doesn't change elements
// (threads, buffers, prefetch), the part of a split, and folders of files. Of large values it
// hashes type, shape and beginning.
uint64_t stk_dataset_likeness(const struct stk_dataset *ds);
