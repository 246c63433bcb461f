// SPDX-License-Identifier: Apache-2.0
// Forks: threads of the parent are not there in the child, so what needs them cannot go on.
#pragma once

unsigned stk_fork_count(void); // of this process, since the first call
