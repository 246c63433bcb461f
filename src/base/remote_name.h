// SPDX-License-Identifier: Apache-2.0
// Names of files that begin with a scheme, "s3://bucket/x": only stoker.data in Python reads those,
// and "no such file" alone would send people to look for a typing error.
#pragma once

#include <string.h>

// What to add to the message of a file that could not be opened: text, or nothing.
static inline const char *stk_remote_hint(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
    return n > 0 && strncmp(name + n, "://", 3) == 0
               ? "; remote paths are not read here: map stoker.data.remote.fetch over the names"
               : "";
}
