// SPDX-License-Identifier: Apache-2.0
// Files that stoker makes for a run and removes at its end: the hooks of a job, the trials of a
// search. If stoker is killed they stay; a later stoker finds and removes them. It never follows
// links.
#pragma once

// In the folders next to `folder`, removes hooks and incomplete profiles of dead runs; in those of
// searches (`stoker tune`), one level deeper, also trials.
void stk_leftover_sweep_beside(const char *folder);
