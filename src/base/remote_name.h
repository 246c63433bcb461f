// SPDX-License-Identifier: Apache-2.0
// File names that start with a scheme, "s3://bucket/x": only stoker.data in Python reads those, and
// "no such file" alone would make people look for a typo.
#pragma once

#include <string.h>

// What to add to the error of a file that couldn't be opened: a text, or nothing.
static inline const char *stk_remote_hint(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
    return n > 0 && strncmp(name + n, "://", 3) == 0
               ? "; remote paths are not read here: map stoker.data.remote.fetch over the names"
               : "";
}
