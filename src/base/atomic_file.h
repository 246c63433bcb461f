// SPDX-License-Identifier: Apache-2.0
// Files that are written under a temporary name and renamed at the end: a file with the final name
// is always complete, and writers don't clash. The next writer of the same name removes what a
// killed writer left.
//
// A file that is being written is called NAME.NODE.PID.N.part, after the machine and process, and
// flock'd. One of this machine is abandoned if nobody holds its lock. A network file system may not
// show another machine's locks, so such a file must also be unchanged for an hour.
#pragma once

#include <stdbool.h>

struct stk_atomic_file {
    char *path, *concurrent; // the name to come, and that until then
    int fd;                  // to write to; its new owner closes it and sets -1
    int lock;                // a descriptor; below 0: none
};

// Makes the file to write, which is nobody else's: what already has its name, a link above all, is
// left alone, and another name taken. Others leave it alone from now on. Removes what is left of
// dead writers. Returns 0, or the errno of what failed, where nothing is left to close.
int stk_atomic_file_open(struct stk_atomic_file *b, const char *path);
// Renames or removes the file, and lets go of all in any case. 0, or the errno of what failed. All
// zero is nothing.
int stk_atomic_file_close(struct stk_atomic_file *b, bool keeps);
// Whether somebody writes the file at this moment, by its name and lock: it is to get another name.
bool stk_atomic_file_is_open(const char *path);
// Gives a plain file another name, on another file system too. What has that name already, a link
// above all, is replaced by it. 0, or the errno of what failed.
int stk_atomic_file_move(const char *from, const char *to);
