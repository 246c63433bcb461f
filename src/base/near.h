// SPDX-License-Identifier: Apache-2.0
// "Did you mean": how close two short words are.
#pragma once

#include <stdbool.h>

// Insertions, deletions, changes and swaps of neighbors that turn a into b (optimal string
// alignment). Words longer than 63 bytes are 99 apart.
int stk_near_distance(const char *a, const char *b);
// Close enough to be a slip: at most a third of the word, or one is the start of the other.
bool stk_near_slip(const char *typed, const char *meant);
// The nearer of the best so far (NULL: none) and a further name; a name that is no slip is never
// taken, and of equally near ones the first stays. For a loop over what may be said:
//   for (...) best = stk_near_best(typed, best, rows[i].name);
const char *stk_near_best(const char *typed, const char *best, const char *name);
