// SPDX-License-Identifier: Apache-2.0
// Looking through folders without following links.
#pragma once

#include <stdbool.h>

// Opens a folder of this user in the folder `above`; the caller closes it. -1: not this user's
// folder.
int stk_own_folder(int above, const char *name);
// Calls see(folder, name, path of it) for each name in an open folder that is wanted, `path` being
// the folder's; 10,000 names at most are looked at.
typedef void stk_see_name(int folder, const char *name, const char *path);
void stk_each_name(int folder, const char *path, bool (*wants)(const char *name),
                   stk_see_name *see);
