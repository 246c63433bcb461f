// SPDX-License-Identifier: Apache-2.0
// Small files that another program may have replaced: by a pipe, a device or gigabytes.
#pragma once

#include <stddef.h>

// `folder`: a descriptor that the path is relative to, or AT_FDCWD.

// Opens a plain file for reading. -1: missing, or something else; never waits for a pipe.
int stk_plain_open(int folder, const char *path);
// Contents of a plain file, at most `most` bytes, with a terminator that *n doesn't count. NULL: no
// such file, or no memory. Free with stk_free.
char *stk_plain_text(int folder, const char *path, size_t most, size_t *n);
