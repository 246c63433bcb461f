// SPDX-License-Identifier: Apache-2.0
// A file in memory without a name, for what only takes files.
#pragma once

enum { STK_MEMORY_FILE_PATH = 32 };

// An open file, and in `path` what others of this process open it by. It is gone when the last
// descriptor is closed. -1 with errno. name: what tools show of it.
int stk_memory_file(const char *name, char path[STK_MEMORY_FILE_PATH]);
