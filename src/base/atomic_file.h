// SPDX-License-Identifier: Apache-2.0
// Files written under a temporary name and renamed at the end: a file with the final name is always
// complete, and writers don't clash. The next writer of the same name removes what a killed writer
// left.
//
// A file being written is called NAME.NODE.PID.N.part, after the machine and process, and is
// flock'd. If it is from this machine, it is abandoned when no process holds its lock. A network
// file system may not show another machine's locks, so such a file must also be unchanged for an
// hour.
#pragma once

#include <stdbool.h>

struct stk_atomic_file {
    char *path, *concurrent; // the final name, and the temporary one
    int fd;                  // to write to; whoever takes it over closes it and sets -1
    int lock;                // a descriptor; negative: none
};

// Creates a new file to write: if its name already exists, even as a link, that file is untouched
// and another name is chosen. Other writers will leave it alone. Removes what dead writers left.
// Returns 0, or the errno of the failure, with nothing left to close.
int stk_atomic_file_open(struct stk_atomic_file *b, const char *path);
// Renames or removes the file, and releases everything in any case. Returns 0, or the errno of the
// failure. Does nothing if all zero.
int stk_atomic_file_close(struct stk_atomic_file *b, bool keeps);
// Is a file of this name being written, by its lock? It will be renamed then.
bool stk_atomic_file_is_open(const char *path);
// Renames a plain file, even to another file system. Replaces what has that name, even a link.
// Returns 0, or the errno of the failure.
int stk_atomic_file_move(const char *from, const char *to);
