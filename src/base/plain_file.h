// SPDX-License-Identifier: Apache-2.0
// Small files of which nobody knows what they are by now: another program may have put a pipe, a
// device or gigabytes in their place.
#pragma once

#include <stddef.h>

// `folder`: a descriptor that the path begins at, or AT_FDCWD.

// Opens a plain file for reading. -1: missing, or something else; never waits for a pipe.
int stk_plain_open(int folder, const char *path);
// Content of a plain file, at most `most` bytes, ended by a zero that *n doesn't count. NULL: no
// such file, or no memory. Free with stk_free.
char *stk_plain_text(int folder, const char *path, size_t most, size_t *n);
