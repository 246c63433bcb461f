// SPDX-License-Identifier: Apache-2.0
// Removing files and folders that this program made. A link is removed itself, never what it leads
// to: each level of a tree is opened as the folder that it is, and names are removed in open
// folders. Nothing else in src removes or renames, but atomic_file.c (tools/check-layers).
//
// `folder`, `above`: a descriptor of the folder with the name, or AT_FDCWD for a path. 0 is
// success, else the errno of what failed.
#pragma once

#include <stdbool.h>

// Not a removal, but what all of them begin with: a folder that the name stands for itself, not by
// a link. -1 with errno.
int stk_folder_itself(int above, const char *name);
// One file, link, pipe or socket; no folder (EISDIR). Safe in a signal's handler.
int stk_remove_file(int folder, const char *name);
// A folder that is empty.
int stk_remove_folder(int above, const char *name);
// All that a folder holds, `last` (NULL: nothing) only when the rest is gone. Anything on another
// file system, or more than 64 folders deep, stays: ENOTEMPTY.
int stk_remove_contents(int folder, const char *last);
// Of what a folder holds, the files whose names the caller knows for its own.
void stk_remove_named(int folder, bool (*is_own)(const char *name));
// A folder and all that it holds; a link to a folder is an error (ENOTDIR, ELOOP).
int stk_remove_tree(int above, const char *name);
