// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the distance between two short words.
#pragma once

#include <stdbool.h>

// Insertions, deletions, changes and swaps of neighbors that turn a into b (optimal string
// alignment). Words longer than 63 bytes are 99 apart.
int stk_near_distance(const char *a, const char *b);
// Close enough to be a typo: at most a third of the word, or one is the start of the other.
bool stk_near_slip(const char *typed, const char *meant);
// The nearer of the best so far (NULL: none) and another name; a name that can't be a typo is never
// chosen, and of equally near ones the first stays. For a loop over the allowed names:
//   for (...) best = stk_near_best(typed, best, rows[i].name);
const char *stk_near_best(const char *typed, const char *best, const char *name);
