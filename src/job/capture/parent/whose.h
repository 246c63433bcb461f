// SPDX-License-Identifier: Apache-2.0
// Who else can replace a file. Trusted are this user, root, and
// the groups with write access to a folder: they can replace the job's program anyway. A folder
// that everybody can write to is trusted only if the sticky bit protects others' names.
//
// Limit: in a user namespace that does not know all users, unknown users count as
// root, as they can't be distinguished from it.
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

// A file of this user, or of root.
bool stk_is_own(const struct stat *info);
// Whether any user of the machine could replace other users' files in this folder.
bool stk_is_open_to_all(const struct stat *folder);
// Whether only trusted users can change where an absolute path without links leads, or write into
// that folder.
bool stk_is_safe_path(const char *path);
