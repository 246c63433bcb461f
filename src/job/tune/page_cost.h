// SPDX-License-Identifier: Apache-2.0
// What it costs on this machine to take a page of memory from the system and to give it back: what
// a job pays for each one that its allocator does not keep.
#pragma once

// Seconds a page, measured each time in some milliseconds; 0 where there is no memory. Limits: of
// one thread, with the machine's caches to itself; of a busy machine the least of some tries.
double stk_page_cost_s(void);
