// SPDX-License-Identifier: Apache-2.0
// Files that are written beside their name and renamed at the end: there is never half a file of
// that name, and several writers do not meet. What a writer that was killed left behind is removed
// by the next one for the same name.
//
// A file that is being written is called NAME.NODE.PID.N.part, after the machine and process, and
// flock'd. One of this machine is left behind if nobody holds its lock. Of another machine's, whose
// locks a network file system may not show, it must not have been written to for an hour, too.
#ifndef STK_BASE_ATOMIC_FILE_H
#define STK_BASE_ATOMIC_FILE_H

#include <stdbool.h>

struct stk_atomic_file {
    char *path, *concurrent; // the name to come, and that until then
    int fd;                  // to write to; whoever takes it closes it and says so with -1
    int lock;                // a descriptor; below 0: none
};

// Makes the file to write, which is nobody else's: what already has its name, a link above all, is
// left alone, and another name taken. Others leave it alone from now on. Removes what is left of
// dead writers. Returns 0, or the errno of what failed, where nothing is left to close.
int stk_atomic_file_open(struct stk_atomic_file *b, const char *path);
// Renames or removes the file, and lets go of all in any case. 0, or the errno of what failed. All
// zero is nothing.
int stk_atomic_file_close(struct stk_atomic_file *b, bool keeps);
// Gives a plain file another name, on another file system too. What has that name already, a link
// above all, is replaced by it. 0, or the errno of what failed.
int stk_atomic_file_move(const char *from, const char *to);

#endif
