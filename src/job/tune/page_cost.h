// SPDX-License-Identifier: Apache-2.0
// The cost of getting a page of memory from this machine's system and returning it, which a job
// pays for each page that its allocator doesn't keep.
#pragma once

// Seconds per page, measured at each call in some milliseconds; 0: no memory. Limits: measured in
// one thread that has the machine's caches to itself; on a busy machine, the least of some tries.
double stk_page_cost_s(void);
