// SPDX-License-Identifier: Apache-2.0
// Who else can put something of his own in the place of a file. Trusted are this user, root, and
// the groups that a folder lets write: these can replace the job's program as well. Of a folder
// that everybody may write to nobody is trusted but where the sticky bit keeps others' names.
//
// Limit: in a user namespace that does not know all users, those that it does not know count as
// root, for they cannot be told from it.
#ifndef STK_CAPTURE_PARENT_WHOSE_H
#define STK_CAPTURE_PARENT_WHOSE_H

#include <stdbool.h>
#include <sys/stat.h>

// A file of this user, or of root.
bool stk_is_own(const struct stat *info);
// Whether each user of the machine could replace names in this folder that are not his.
bool stk_is_open_to_all(const struct stat *folder);
// Whether nobody but those trusted can change where an absolute path without links leads to, nor
// write into the folder that it names.
bool stk_is_safe_path(const char *path);

#endif
