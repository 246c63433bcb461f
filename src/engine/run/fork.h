// SPDX-License-Identifier: Apache-2.0
// Forks: a child doesn't have its parent's threads, so iterators that need them can't continue.
#pragma once

unsigned stk_fork_count(void); // in this process, since the first call
