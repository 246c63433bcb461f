// SPDX-License-Identifier: Apache-2.0
// Reads folders without following links.
#pragma once

#include <stdbool.h>

// Opens a folder of this user in the folder `above`; the caller closes it. -1: not this user's
// folder.
int stk_own_folder(int above, const char *name);
// Calls see(folder, name, its path) for each wanted name in an open folder with the path `path`;
// reads at most 10,000 names.
typedef void stk_see_name(int folder, const char *name, const char *path);
void stk_each_name(int folder, const char *path, bool (*wants)(const char *name),
                   stk_see_name *see);
