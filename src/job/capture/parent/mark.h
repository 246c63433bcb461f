// SPDX-License-Identifier: Apache-2.0
// A locked file in a folder says that somebody needs it, and for how long: the lock ends with its
// holder, however he ends.
#pragma once

#define STK_MARK "lock" // the file's name

// `folder`: a descriptor.
// Marks a new one as needed, until the mark is released or the process ends. -1: it could not be
// marked, and is never treated as abandoned.
int stk_mark_put(int folder);
// Lets go of it; the file is removed with its folder.
void stk_mark_release(int mark);
// The mark of a folder whose maker is dead, to be released; -1: it is needed, or has none. needed:
// the path that processes which still need it have in their environment.
int stk_mark_take(int folder, const char *needed);
