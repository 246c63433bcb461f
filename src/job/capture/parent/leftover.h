// SPDX-License-Identifier: Apache-2.0
// What stoker makes for the time of a run, and removes at its end: the hooks of a job, the trials
// of a search. Where stoker is killed they stay; the next stoker that comes by finds and removes
// them. No link is followed, neither to find nor to remove.
#pragma once

// Removes, of dead runs in the folders beside `folder`, the hooks and the profiles that were not
// written to the end; of searches (`stoker tune`) one level deeper the trials, too.
void stk_leftover_sweep_beside(const char *folder);
