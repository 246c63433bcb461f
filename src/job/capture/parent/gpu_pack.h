// SPDX-License-Identifier: Apache-2.0
// Removes unused and incomplete blocks from a record of the capture library, once its process has
// ended. A record that can't be packed (full disk) stays unchanged: readers skip unused blocks.
#pragma once

#include <stdint.h>

uint64_t stk_gpu_pack(const char *path); // returns the new file size in bytes
