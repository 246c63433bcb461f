// SPDX-License-Identifier: Apache-2.0
// A locked file in a folder shows that a process needs the folder: the lock ends with its holder,
// however that ends.
#pragma once

#define STK_MARK "lock" // the file's name

// Marks a new folder (a file descriptor) as needed, until the mark is released or the process ends.
// -1: it couldn't be marked, and never counts as abandoned.
int stk_mark_put(int folder);
// Releases it; the file is removed with its folder.
void stk_mark_release(int mark);
// Takes over the mark of a folder whose creator is dead; release it later. -1: the folder is
// needed, or has no mark. needed: a path; processes that have it in their environment need the
// folder.
int stk_mark_take(int folder, const char *needed);
