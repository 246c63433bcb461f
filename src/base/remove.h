// SPDX-License-Identifier: Apache-2.0
// Removes files and folders that this program made. A link is removed itself, never its target:
// each level of a tree is opened as a real folder, and names are removed in open folders. Nothing
// else in src removes or renames files, except atomic_file.c (tools/check-layers).
//
// `folder`, `above`: a descriptor of the folder with the name, or AT_FDCWD for a path. Returns 0,
// or the errno of the failure.
#pragma once

#include <stdbool.h>

// Not a removal, but the first step of all of them: opens a folder that isn't a link. -1 with
// errno.
int stk_folder_itself(int above, const char *name);
// One file, link, pipe or socket; not a folder (EISDIR). Safe in a signal handler.
int stk_remove_file(int folder, const char *name);
// An empty folder.
int stk_remove_folder(int above, const char *name);
// Everything in a folder, `last` (NULL: nothing) only when the rest is gone. Anything on another
// file system, or more than 64 folders deep, stays: ENOTEMPTY.
int stk_remove_contents(int folder, const char *last);
// The files in a folder whose names the caller recognizes as its own.
void stk_remove_named(int folder, bool (*is_own)(const char *name));
// A folder and everything in it; a link to a folder is an error (ENOTDIR, ELOOP).
int stk_remove_tree(int above, const char *name);
