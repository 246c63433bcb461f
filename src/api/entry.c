// SPDX-License-Identifier: Apache-2.0
// Checks shared by the entry points of include/stoker that read profiles.
#include <stdio.h>

#include "api/api.h"

enum stoker_status stk_entry_paths(const char *entry, const char *const *paths, size_t count,
                                   const void *out, struct stoker_err *err)
{
    char text[160];
    if (!out || !paths || count == 0) {
        snprintf(text, sizeof text, "%s needs paths and a pointer for the result", entry);
        return stk_err_misuse(err, text);
    }
    for (size_t i = 0; i < count; i++) {
        if (!paths[i]) {
            snprintf(text, sizeof text, "%s: a path is NULL", entry);
            return stk_err_misuse(err, text);
        }
    }
    return STOKER_OK;
}
