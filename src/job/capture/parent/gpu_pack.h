// SPDX-License-Identifier: Apache-2.0
// Takes what was laid out and not written, and what was torn, out of a record of the capture
// library, once its process has ended. A record that cannot be packed (a full disk) stays as it is:
// readers pass over the room.
#pragma once

#include <stdint.h>

uint64_t stk_gpu_pack(const char *path); // bytes that the file has now
