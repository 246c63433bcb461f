// SPDX-License-Identifier: Apache-2.0
// A number that tells datasets apart by what they are made of: kinds, arguments, functions and the
// values in them, the same in every process. Two things it cannot see: what is in files, and what
// functions of the embedding language do.
#pragma once

#include "engine/graph/dataset.h"

uint64_t stk_dataset_fingerprint(const struct stk_dataset *ds);
// Tells apart datasets whose elements differ, as far as that is seen at a glance: without what
// changes no element (threads, buffers, prefetch), which part of a split it is, and folders of
// files; of large values it sees type, shape and beginning.
uint64_t stk_dataset_likeness(const struct stk_dataset *ds);
