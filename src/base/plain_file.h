// SPDX-License-Identifier: Apache-2.0
// Small files of which nobody knows what they are by now: another program may have put a pipe, a
// device or gigabytes in their place.
#pragma once

#include <stddef.h>

// `folder`: a descriptor that the path begins at, or AT_FDCWD.

// A plain file, to be read. -1: there is none, or it is something else; a pipe is not waited for.
int stk_plain_open(int folder, const char *path);
// What a plain file holds, at most `most` bytes of it, ended by a zero; *n without that. NULL:
// there is none, or no memory. Freed with stk_free.
char *stk_plain_text(int folder, const char *path, size_t most, size_t *n);
